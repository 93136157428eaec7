//! Words of other languages beside the word for an error that say that there is none, or that it is the name of something else.

use super::events::{is_act, is_denied_event};
use super::searches::{behind_search, is_search};

/// Words before another that are read.
const WORDS: usize = 6;
/// Words for an error as a thing: there may be none, and something may be done about them. What has failed is no such thing.
const NOUNS: [&str; 6] = ["lỗi", "błęd", "błąd", "ข้อผิดพลาด", "خطأ", "أخطاء"];
/// Before a joined word, in its clause: there is none of it. A `不` or `未` alone is part of what went wrong: `显存不足错误`.
const JOINED_NONE: [&str; 21] = [
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
    "未找到",
    "找不到",
    "不会",
];
/// The same right before the word, with what it is an error of: `无 ECC 错误`.
const JOINED_NONE_BESIDE: [&str; 4] = ["无", "無", "没", "沒"];
/// The same before a noun.
const NOUN_NONE_BESIDE: [&str; 14] = [
    "لا يوجد",
    "لا يوجد أي",
    "لا توجد",
    "لا توجد أي",
    "بدون",
    "بدون أي",
    "بلا",
    "دون",
    "لم يتم العثور على",
    "لم يتم العثور على أي",
    "ไม่มี",
    "ไม่พบ",
    "ไร้",
    "ปราศจาก",
];
/// Right before a joined noun: what is done about errors.
const HANDLED_JOINED: [&str; 5] = ["معالجة ال", "تصحيح ال", "จัดการ", "แก้ไข", "บันทึก"];
/// Behind it, where it ends a clause or a sentence says so.
const JOINED_NONE_BEHIND: [&str; 14] = [
    "なし",
    "無し",
    "はない",
    "がない",
    "ありません",
    "検出されません",
    "検出されていません",
    "見つかりません",
    "見つからな",
    "発生していません",
    "발생하지 않",
    "없음",
    "없습니다",
    "없이",
];
/// Behind it: the name of something that deals with errors.
const HANDLERS: [&str; 36] = [
    "日志", "日誌", "处理", "處理", "恢复", "恢復", "检测", "檢測", "检查", "检验", "校验", "纠正", "校正",
    "率", "转移", "诊断", "排查", "保护", "重试", "注入", "级别", "阈值", "报告", "上报", "隔离", "监控",
    "分析", "ログ", "処理", "訂正", "検出", "検知", "復旧", "로그", "처리", "수정",
];
/// Right before a parted noun: what is done about errors.
const HANDLED: [&str; 5] = ["xử lý", "sửa", "kiểm tra", "gỡ", "obsługa"];
/// Words before another that say that there is none.
const PARTED_NONE: [&str; 42] = [
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
    "nie",
    "bez",
    "brak",
    "žádná",
    "žádné",
    "žádný",
    "hiçbir",
    "não",
    "nenhum",
    "nenhuma",
    "sem",
    "niet",
    "geen",
    "zonder",
    "inga",
    "inget",
    "ingen",
    "utan",
    "inte",
    "không",
    "sin",
    "ningún",
    "ninguna",
    "senza",
    "nessun",
    "nessuna",
    "tolerância",
    "tolerante",
];
/// Beginnings of Czech words that have a `not` within them.
const NOT_WITHIN: [&str; 6] = ["neexist", "nelze", "nepodař", "neodpovíd", "nereaguj", "neby"];
/// The same behind it.
const PARTED_NONE_BEHIND: [&str; 14] = [
    "не обнаружен",
    "не найден",
    "не выявлен",
    "не было",
    "нет",
    "yok",
    "bulunmadi",
    "bulunamadi",
    "oluşmadi",
    "olmadi",
    "nie znaleziono",
    "nie wykryto",
    "nenalezen",
    "hittades inte",
];

/// `before` and `behind` are what may belong to the word.
pub(super) fn is_denied_joined(word: &str, before: &str, behind: &str) -> bool {
    let beside = before.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == ' ');
    let is_beside = |known: &[&str]| known.iter().any(|none| beside.ends_with(none));
    let (subject, value) = behind.split_once([':', '：']).unwrap_or((behind, ""));
    JOINED_NONE.iter().any(|none| before.contains(none))
        || is_beside(&JOINED_NONE_BESIDE)
        || is_noun(word) && (is_beside(&NOUN_NONE_BESIDE) || is_beside(&HANDLED_JOINED))
        || is_denied_event(word, before, behind)
        || !is_act(word) && HANDLERS.iter().any(|name| behind.starts_with(name))
        // Behind a colon stands what went wrong, where it does not begin with this: `오류: 장치 없음`.
        || JOINED_NONE_BEHIND
            .iter()
            .any(|none| says_none(subject, none) || value.trim_start().starts_with(none))
}

/// Whether a joined word that comes next is denied.
pub(super) fn ends_with_none(text: &str) -> bool {
    let text = text.trim_end();
    JOINED_NONE.iter().any(|none| text.ends_with(none))
}

/// Korean `수 없음` is "cannot", and `없음` alone "none".
fn says_none(behind: &str, none: &str) -> bool {
    behind.match_indices(none).any(|(at, _)| {
        let before = behind.get(..at).unwrap_or_default();
        !before.trim_end().ends_with('수')
    })
}

/// `before` and `behind` are what may belong to the word.
pub(super) fn is_denied_parted(word: &str, before: &str, behind: &str) -> bool {
    let words = behind_search(before).rsplit(|letter: char| !letter.is_alphanumeric());
    // A word with a `not` of its own is denied from right before it alone: in `nie odpowiada i nie można zresetować` both went wrong.
    // Where languages say `not` twice, a word that has it within itself is not denied: `žádná karta neodpovídá`.
    let reach = if is_search(word) || begins_with_one(word, &NOT_WITHIN) {
        0
    } else if word.split_whitespace().any(is_negator) {
        1
    } else {
        WORDS
    };
    let mut near = words.filter(|word| !word.is_empty()).take(reach);
    let is_none = near.any(is_negator);
    let behind = behind.trim_start();
    let is_over = |none: &&str| {
        let rest = behind.get(none.len()..).unwrap_or_default();
        begins_with(behind, none) && (*none != "нет" || rest.trim_start().is_empty())
    };
    let is_handled = || HANDLED.iter().any(|known| before.trim_end().ends_with(known));
    is_none || is_noun(word) && is_handled() || PARTED_NONE_BEHIND.iter().any(is_over)
}

fn begins_with(text: &str, known: &str) -> bool {
    text.get(..known.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(known))
}

fn begins_with_one(text: &str, list: &[&str]) -> bool {
    list.iter().any(|known| begins_with(text, known))
}

pub(super) fn is_negator(word: &str) -> bool {
    PARTED_NONE.iter().any(|none| word.eq_ignore_ascii_case(none))
}

fn is_noun(word: &str) -> bool {
    NOUNS.iter().any(|noun| word.eq_ignore_ascii_case(noun))
}
