//! Words of other languages that tell of an error, and what around them says that there is none. Each reads a bounded part of the line.

/// How a language writes its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Without blanks between words: a word may stand anywhere.
    Joined,
    /// With blanks; it begins a word.
    Parted,
    /// The same, and it may be the end of a longer word: `Speicherfehler`.
    Compound,
}

use Script::{Compound, Joined, Parted};

/// Only ASCII letters are compared without their case.
pub(super) const FOREIGN: [(&str, Script); 34] = [
    // Chinese, as it is written in China and elsewhere.
    ("错误", Joined),
    ("錯誤", Joined),
    ("失败", Joined),
    ("失敗", Joined),
    ("不可纠正", Joined),
    ("无法纠正", Joined),
    ("丢失", Joined),
    ("崩溃", Joined),
    ("异常", Joined),
    ("致命", Joined),
    ("损坏", Joined),
    ("掉卡", Joined),
    // Japanese and Korean.
    ("エラー", Joined),
    ("異常", Joined),
    ("오류", Joined),
    ("실패", Joined),
    // German.
    ("fehler", Compound),
    ("fehlgeschlagen", Parted),
    ("abgestürzt", Parted),
    // French.
    ("erreur", Parted),
    ("échec", Parted),
    ("Échec", Parted),
    ("échoué", Parted),
    ("impossible de ", Parted),
    ("impossible d'", Parted),
    // Russian.
    ("ошибк", Parted),
    ("Ошибк", Parted),
    ("ОШИБК", Parted),
    ("ошибок", Parted),
    ("Ошибок", Parted),
    ("сбой", Parted),
    ("Сбой", Parted),
    ("не удалось", Parted),
    ("Не удалось", Parted),
];
/// What is read before and behind a word, in bytes.
const AROUND: usize = 96;
/// Words before another that are read.
const WORDS: usize = 6;
/// Before a joined word, in its clause: there is none of it. A `不` or `未` alone is part of what went wrong: `显存不足错误`.
const JOINED_NONE: [&str; 18] = [
    "没有",
    "沒有",
    "没发现",
    "未发现",
    "未發現",
    "未检测到",
    "未檢測到",
    "未检出",
    "未出现",
    "未出現",
    "未见",
    "未发生",
    "无任何",
    "無任何",
    "不存在",
    "并无",
    "暂无",
    "毫无",
];
/// The same right before the word, with what it is an error of: `无 ECC 错误`.
const JOINED_NONE_BESIDE: [&str; 4] = ["无", "無", "没", "沒"];
/// Behind it, where it ends a clause or a sentence says so.
const JOINED_NONE_BEHIND: [&str; 12] = [
    "なし",
    "無し",
    "はない",
    "がない",
    "ありません",
    "検出されません",
    "検出されていません",
    "発生していません",
    "발생하지 않",
    "없음",
    "없습니다",
    "없이",
];
/// Behind it: the name of something that deals with errors.
const NAMES: [&str; 32] = [
    "日志", "日誌", "处理", "處理", "恢复", "恢復", "检测", "檢測", "检查", "检验", "校验", "纠正", "校正",
    "率", "重试", "注入", "级别", "阈值", "报告", "上报", "隔离", "监控", "分析", "ログ", "処理", "訂正",
    "検出", "検知", "復旧", "로그", "처리", "수정",
];
/// Words before another that say that there is none.
const PARTED_NONE: [&str; 16] = [
    "nicht",
    "jamais",
    "kein",
    "keine",
    "keinen",
    "keinerlei",
    "ohne",
    "sans",
    "aucun",
    "aucune",
    "pas",
    "без",
    "не",
    "нет",
    "Не",
    "Без",
];
/// The same behind it.
const PARTED_NONE_BEHIND: [&str; 5] = ["не обнаружен", "не найден", "не выявлен", "не было", "нет"];
/// Ends of the German word; with others it is the name of something that deals with errors: `fehlerfrei`, `Fehlerkorrektur`.
const GERMAN_ENDS: [&str; 7] = ["", "n", "s", "haft", "hafte", "meldung", "code"];
/// Words between a word and its number.
const LABELS: [&str; 14] = [
    "数量",
    "总数",
    "次数",
    "个数",
    "计数",
    "数",
    "码",
    "代码",
    "件数",
    "回数",
    "コード",
    "カウント",
    "数量为",
    "개수",
];
/// What is counted by, between a number and its word.
const COUNTERS: [&str; 10] = ["个", "個", "次", "条", "项", "处", "件の", "件", "の", "건의"];
/// Words before a number that counts.
const BEFORE_NUMBERS: [&str; 10] = [
    "mit",
    "und",
    "avec",
    "et",
    "с",
    "и",
    "gesamt",
    "insgesamt",
    "total",
    "共",
];
/// Values that say that there is none.
const VALUES: [&str; 18] = [
    "否", "正常", "nein", "non", "无", "無", "没有", "なし", "없음", "none", "null", "false", "keine",
    "aucune", "aucun", "нет", "\"\"", "[]",
];

impl Script {
    /// Whether a word of it may stand where one begins, or does not.
    pub(super) fn may_stand(self, begins: bool) -> bool {
        self != Parted || begins
    }

    /// Whether the word at `from..to` tells of an error.
    pub(super) fn tells(self, line: &str, from: usize, to: usize) -> bool {
        let before = line.get(..from).unwrap_or_default();
        let before = before
            .get(before.ceil_char_boundary(from.saturating_sub(AROUND))..)
            .unwrap_or_default();
        let before = before.rsplit(ends_clause).next().unwrap_or_default();
        let behind = line.get(to..).unwrap_or_default();
        let behind = behind
            .get(..behind.floor_char_boundary(AROUND))
            .unwrap_or_default();
        let behind = behind.split(ends_clause).next().unwrap_or_default();
        let is_denied = match self {
            Joined => is_denied_joined(before, behind),
            Parted | Compound => {
                let end = behind.find(|letter: char| !letter.is_alphanumeric());
                let (end, behind) = behind.split_at(end.unwrap_or(behind.len()));
                let is_other =
                    self == Compound && !GERMAN_ENDS.iter().any(|known| end.eq_ignore_ascii_case(known));
                is_other || is_denied_parted(before, behind)
            }
        };
        let counted = match self {
            Joined => behind,
            Parted | Compound => behind.trim_start_matches(char::is_alphanumeric),
        };
        !is_denied && !is_zero_before(before) && !is_none_behind(counted)
    }
}

/// A point is part of a number or a name, too.
fn ends_clause(letter: char) -> bool {
    matches!(letter, ',' | ';' | '，' | '；' | '。' | '、' | '！' | '？' | '\n')
}

fn is_denied_joined(before: &str, behind: &str) -> bool {
    let beside = before.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == ' ');
    JOINED_NONE.iter().any(|none| before.contains(none))
        || JOINED_NONE_BESIDE.iter().any(|none| beside.ends_with(none))
        || NAMES.iter().any(|name| behind.starts_with(name))
        || JOINED_NONE_BEHIND.iter().any(|none| behind.contains(none))
}

fn is_denied_parted(before: &str, behind: &str) -> bool {
    let words = before.rsplit(|letter: char| !letter.is_alphanumeric());
    let mut near = words.filter(|word| !word.is_empty()).take(WORDS);
    let is_none = near.any(|word| PARTED_NONE.iter().any(|none| word.eq_ignore_ascii_case(none)));
    let behind = behind.trim_start();
    let is_over = |none: &&str| {
        let rest = behind.strip_prefix(*none);
        rest.is_some_and(|rest| *none != "нет" || rest.trim_start().is_empty())
    };
    is_none || PARTED_NONE_BEHIND.iter().any(is_over)
}

/// `0 个错误`, `mit 0 Fehlern`; not `GPU 0 错误`.
fn is_zero_before(before: &str) -> bool {
    let text = before.trim_end();
    let counted = COUNTERS.iter().find_map(|counter| text.strip_suffix(counter));
    let text = counted.unwrap_or(text).trim_end();
    let rest = text.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = text.get(rest.len()..).unwrap_or_default();
    if number.is_empty() || !number.chars().all(|digit| matches!(digit, '0' | '.')) {
        return false;
    }
    let rest = rest.trim_end();
    let last = rest
        .rsplit(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let is_apart = rest.is_empty() || last.is_empty();
    counted.is_some()
        || is_apart
        || BEFORE_NUMBERS
            .iter()
            .any(|known| last.eq_ignore_ascii_case(known))
}

/// `错误: 0`, `错误数：0`, `不可纠正 ECC 错误 | 0`, `Fehler: keine`.
fn is_none_behind(behind: &str) -> bool {
    let is_value = |letter: char| matches!(letter, ':' | '：' | '=' | '|');
    if let Some((_, value)) = behind.split_once(is_value) {
        let value = value.trim_start();
        let is_none = |none: &&str| {
            let head = value.get(..none.len());
            let rest = value.get(none.len()..).unwrap_or_default();
            head.is_some_and(|head| head.eq_ignore_ascii_case(none))
                && !rest.trim_start().starts_with(char::is_alphanumeric)
        };
        return is_zero(value) || VALUES.iter().any(is_none);
    }
    let behind = behind.trim_start();
    let label = LABELS.iter().find_map(|label| behind.strip_prefix(label));
    is_zero(label.unwrap_or(behind).trim_start())
}

fn is_zero(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = text.get(..text.len() - rest.len()).unwrap_or_default();
    let is_all = !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == ':');
    number.starts_with('0') && is_all && number.chars().all(|digit| matches!(digit, '0' | '.'))
}
