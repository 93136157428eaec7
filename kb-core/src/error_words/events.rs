//! Chinese words for what happens to a device or a program. Unlike a word for an error as a thing, a `not` right before them says that
//! it did not happen: `未超时`, `没报错`.

const EVENTS: [&str; 30] = [
    "超时",
    "超時",
    "逾时",
    "逾時",
    "掉卡",
    "掉线",
    "掉線",
    "掉落",
    "脱离总线",
    "失联",
    "失聯",
    "报错",
    "報錯",
    "故障",
    "过热",
    "過熱",
    "卡死",
    "宕机",
    "死机",
    "死锁",
    "显存不足",
    "顯存不足",
    "内存不足",
    "記憶體不足",
    "空间不足",
    "空間不足",
    "资源不足",
    "被拒绝",
    "已放弃",
    "不匹配",
];
/// Right before it.
const NOT: [&str; 6] = ["未", "不", "没", "沒", "無", "无"];
/// Somewhere before it: it is asked about, or kept from happening.
const IF: [&str; 9] = [
    "如果", "若", "假如", "避免", "防止", "以防", "以免", "預防", "预防",
];
/// The same, where no answer stands behind the word.
const WHETHER: [&str; 2] = ["是否", "有无"];
/// Words that say that something was not done or found. What they go on with is what was not done, and no name of something that deals
/// with errors: `无法检测到 GPU`.
const ACTS: [&str; 10] = [
    "无法",
    "無法",
    "未找到",
    "找不到",
    "没有响应",
    "沒有響應",
    "沒有回應",
    "无响应",
    "未响应",
    "不响应",
];

/// Whether the word is one of these, and says that it did not happen. `before` and `behind` are what may belong to it.
pub(super) fn is_denied_event(word: &str, before: &str, behind: &str) -> bool {
    let beside = before.trim_end();
    let has_answer = behind.contains([':', '：', '=', '|']);
    EVENTS.contains(&word)
        && (NOT.iter().any(|not| beside.ends_with(not))
            || IF.iter().any(|known| before.contains(known))
            || !has_answer && WHETHER.iter().any(|known| before.contains(known)))
}

pub(super) fn is_act(word: &str) -> bool {
    ACTS.contains(&word)
}
