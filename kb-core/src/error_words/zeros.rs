//! Whether the number or the value at a word of another language says that there is no error.

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
const BEFORE_NUMBERS: [&str; 16] = [
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
    "z",
    "s",
    "ile",
    "com",
    "met",
    "med",
];
const BEFORE_ZERO: [char; 11] = ['(', '（', '[', '{', '【', '：', '"', '“', '「', '|', '='];
/// Values that say that there is none.
const VALUES: [&str; 31] = [
    "否",
    "正常",
    "nein",
    "non",
    "无",
    "無",
    "没有",
    "なし",
    "없음",
    "none",
    "null",
    "false",
    "keine",
    "aucune",
    "aucun",
    "нет",
    "\"\"",
    "[]",
    "brak",
    "yok",
    "nenhum",
    "nenhuma",
    "geen",
    "inga",
    "inget",
    "žádné",
    "žádná",
    "không",
    "không có",
    "ไม่มี",
    "لا يوجد",
];

/// `0 个错误`, `mit 0 Fehlern`; not `GPU 0 错误`, `worker-0 错误`.
pub(super) fn is_zero_before(before: &str) -> bool {
    let text = before.trim_end();
    let counted = COUNTERS.iter().find_map(|counter| text.strip_suffix(counter));
    let text = counted.unwrap_or(text).trim_end();
    let rest = text.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = text.get(rest.len()..).unwrap_or_default();
    if number.is_empty() || !number.chars().all(|digit| matches!(digit, '0' | '.')) {
        return false;
    }
    if counted.is_none() && is_joined(rest) {
        return false;
    }
    let is_behind_blank = rest.ends_with(char::is_whitespace);
    let bare = rest.trim_end();
    let last = bare
        .rsplit(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    // A sign right before the number, and `#` in any place, makes it a name: `worker-0`, `gpu:0`, `GPU #0`.
    let is_behind_sign = is_behind_blank && last.is_empty() && !bare.ends_with('#');
    counted.is_some()
        || bare.is_empty()
        || is_behind_sign
        || rest.ends_with(BEFORE_ZERO)
        || BEFORE_NUMBERS
            .iter()
            .any(|known| last.eq_ignore_ascii_case(known))
}

/// Whether the number goes on from here: `12:00:00 错误`, `0000:3b:00.0 错误`.
fn is_joined(rest: &str) -> bool {
    let part = rest.strip_suffix(':').unwrap_or_default();
    let digits = part.bytes().rev().take(2).filter(u8::is_ascii_hexdigit);
    digits.count() == 2
}

/// `错误: 0`, `错误数：0`, `不可纠正 ECC 错误 | 0`, `Fehler: keine`.
pub(super) fn is_none_behind(behind: &str) -> bool {
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
