//! Words of other languages for a timeout that are the name of a setting here: `超时时间 30 秒`, `Zeitüberschreitung: 30 s`.

/// Words that name a setting as well as an error.
const TIMEOUTS: [&str; 12] = [
    "超时",
    "超時",
    "逾时",
    "逾時",
    "タイムアウト",
    "시간 초과",
    "시간초과",
    "타임아웃",
    "zeitüberschreitung",
    "тайм-аут",
    "таймаут",
    "zaman aşimi",
];
/// The same of a limit alone, which may have its number right behind it.
const LIMITS: [&str; 3] = ["tidsgräns", "tempo limite", "time-out"];
/// Behind a word: the name of the setting, whatever follows.
const NAMES: [&str; 16] = [
    "设置", "设定", "設定", "設置", "配置", "自动", "自動", "参数", "參數", "阈值", "上限", "限制", "설정",
    "값", "ayari", "değeri",
];
/// Behind a word: the name of the setting, where a number or nothing follows.
const LABELS: [&str; 12] = [
    "时间",
    "時間",
    "时长",
    "值",
    "値",
    "秒数",
    "시간",
    "süresi",
    "wert",
    "värde",
    "waarde",
    "значение",
];
/// Before a word: it is set.
const SETTERS: [&str; 6] = ["设置", "设定", "設定", "設置", "指定", "配置"];
/// Between a word and its value.
const SIGNS: [&str; 11] = [
    ":",
    "：",
    "=",
    "已设置为",
    "设置为",
    "设为",
    "为",
    "是",
    "は",
    "を",
    "に",
];
/// Units of a time.
const UNITS: [&str; 39] = [
    "",
    "s",
    "ms",
    "sec",
    "secs",
    "second",
    "seconds",
    "min",
    "minutes",
    "h",
    "秒",
    "秒に設定",
    "毫秒",
    "秒钟",
    "分",
    "分钟",
    "小时",
    "分間",
    "秒間",
    "ミリ秒",
    "초",
    "밀리초",
    "분",
    "sek",
    "sekunde",
    "sekunden",
    "sekund",
    "minuten",
    "с",
    "сек",
    "секунд",
    "мс",
    "мин",
    "минут",
    "sn",
    "saniye",
    "seconden",
    "segundos",
    "sekunder",
];

/// Whether the word is the name of a setting. `before` and `behind` are what may belong to it.
pub(super) fn is_setting(word: &str, before: &str, behind: &str) -> bool {
    let is_of = |list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    let is_limit = is_of(&LIMITS);
    if !is_limit && !is_of(&TIMEOUTS) {
        return false;
    }
    let rest = behind.strip_prefix(['"', '\'']).unwrap_or(behind).trim_start();
    if NAMES.iter().any(|name| rest.starts_with(name)) {
        return true;
    }
    let label = LABELS.iter().find_map(|label| rest.strip_prefix(label));
    let rest = label.unwrap_or(rest).trim_start();
    let sign = SIGNS.iter().find_map(|sign| rest.strip_prefix(sign));
    let value = sign.unwrap_or(rest).trim_start();
    let is_set = SETTERS.iter().any(|known| before.trim_end().ends_with(known));
    let is_named = label.is_some() || sign.is_some() || is_limit || is_set;
    is_named && is_time(value) || label.is_some() && rest.is_empty()
}

/// Whether it is a number with nothing behind it but a unit; an address, and what goes on in words, is none.
fn is_time(text: &str) -> bool {
    let text = text.trim_start_matches(['"', '\'', '<']);
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = text.get(..text.len() - rest.len()).unwrap_or_default();
    let points = number.bytes().filter(|byte| *byte == b'.').count();
    let is_number = number.starts_with(|letter: char| letter.is_ascii_digit()) && points < 2;
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_alphanumeric());
    let (unit, behind) = rest.split_at(end.unwrap_or(rest.len()));
    is_number && UNITS.iter().any(|known| unit.eq_ignore_ascii_case(known)) && !behind.starts_with(':')
}
