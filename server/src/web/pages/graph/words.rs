//! The graph pages' own words in English and Chinese.

use kb_core::transition::EdgeKind;

use crate::web::pages::record::texts::Language;

/// Labels of the pages in one language. `{}` stands for a number.
#[derive(Debug)]
pub struct Words {
    /// BCP 47.
    pub(in crate::web) lang: &'static str,
    pub(in crate::web) around: &'static str,
    pub(in crate::web) drawing_means: &'static str,
    pub(in crate::web) skip: &'static str,
    pub(in crate::web) before: &'static str,
    pub(in crate::web) this: &'static str,
    pub(in crate::web) after: &'static str,
    pub(in crate::web) confused: &'static str,
    pub(in crate::web) steps: &'static str,
    pub(in crate::web) show: &'static str,
    pub(in crate::web) everything: &'static str,
    pub(in crate::web) causes: &'static str,
    pub(in crate::web) lookalikes: &'static str,
    pub(in crate::web) truncated: &'static str,
    pub(in crate::web) nothing: &'static str,
    pub(in crate::web) as_list: &'static str,
    pub(in crate::web) further: &'static str,
    pub(in crate::web) leads_to: &'static str,
    pub(in crate::web) taken_for: &'static str,
    pub(in crate::web) probability: &'static str,
    pub(in crate::web) no_such_record: &'static str,
    pub(in crate::web) whole: &'static str,
    pub(in crate::web) map: &'static str,
    pub(in crate::web) map_means: &'static str,
    pub(in crate::web) map_drawing: &'static str,
    pub(in crate::web) records: &'static str,
    pub(in crate::web) domain: &'static str,
    pub(in crate::web) inner: &'static str,
    pub(in crate::web) apart: &'static str,
    pub(in crate::web) links: &'static str,
    pub(in crate::web) edges: &'static str,
    pub(in crate::web) between: &'static str,
    pub(in crate::web) way: &'static str,
    pub(in crate::web) way_means: &'static str,
    pub(in crate::web) from: &'static str,
    pub(in crate::web) to: &'static str,
    pub(in crate::web) find: &'static str,
    pub(in crate::web) no_way: &'static str,
    pub(in crate::web) other_way: &'static str,
    pub(in crate::web) same: &'static str,
    pub(in crate::web) more_ways: &'static str,
    pub(in crate::web) language: &'static str,
}

impl Words {
    /// In a language.
    pub(in crate::web) fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::Chinese => &CHINESE,
        }
    }

    /// Between the two ends of an edge, the earlier first.
    pub(in crate::web) fn relation(&self, kind: EdgeKind) -> &'static str {
        match kind {
            EdgeKind::LeadsTo | EdgeKind::PrecededBy => self.leads_to,
            EdgeKind::FrequentlyConfusedWith => self.taken_for,
        }
    }
}

/// A text with a number in the place that is left for it.
pub(in crate::web) fn with(text: &str, number: usize) -> String {
    text.replace("{}", &number.to_string())
}

static ENGLISH: Words = Words {
    lang: "en",
    around: "What surrounds this error",
    drawing_means: "Time goes from left to right: what comes before stands on the left, what follows on the right, what it is \
        confused with below, dashed. The list under the drawing says the same.",
    skip: "Skip the drawing",
    before: "Comes before",
    this: "This error",
    after: "Follows",
    confused: "Often confused with",
    steps: "Steps",
    show: "Show",
    everything: "everything",
    causes: "what leads to what",
    lookalikes: "what is confused",
    truncated: "There is more than the {} nearest, which are shown.",
    nothing: "Nothing is known to come before it, to follow it or to be confused with it.",
    as_list: "The same as a list",
    further: "Further away",
    leads_to: "leads to",
    taken_for: "is confused with",
    probability: "claimed probability",
    no_such_record: "(no such record yet)",
    whole: "The whole graph",
    map: "Map of the domains",
    map_means: "Domains whose errors lead to those of others stand on the left, those that feel them on the right. A box leads \
        to its records, a line to the edges that it stands for.",
    map_drawing: "Domains and what leads from one to another",
    records: "Records",
    domain: "Domain",
    inner: "Edges within",
    apart: "Joined to no other",
    links: "Between domains",
    edges: "Edges",
    between: "Edges between two domains",
    way: "From first cause to symptom",
    way_means: "The shortest ways by which one error leads to another, as the records state it.",
    from: "From",
    to: "To",
    find: "Show the ways",
    no_way: "No record says that the first leads to the second.",
    other_way: "The second leads to the first:",
    same: "Both are the same record.",
    more_ways: "There are more ways that are as short.",
    language: "Language",
};

static CHINESE: Words = Words {
    lang: "zh-Hans",
    around: "与此错误相关的错误",
    drawing_means: "时间从左到右：左侧是先发生的错误，右侧是随后发生的错误，下方虚线相连的是容易混淆的错误。图下的列表内容相同。",
    skip: "跳过图形",
    before: "先于它发生",
    this: "此错误",
    after: "随后发生",
    confused: "常与之混淆",
    steps: "步数",
    show: "显示",
    everything: "全部",
    causes: "因果关系",
    lookalikes: "易混淆的错误",
    truncated: "相关错误较多，仅显示最近的 {} 个。",
    nothing: "没有已知的前因、后果或易混淆的错误。",
    as_list: "列表形式",
    further: "更远的关系",
    leads_to: "会导致",
    taken_for: "常被混淆为",
    probability: "声称的概率",
    no_such_record: "（尚无此记录）",
    whole: "完整的图",
    map: "领域图",
    map_means: "左侧领域的错误会引发其他领域的错误，右侧领域受其影响。点击方框查看该领域的记录，点击连线查看相应的关系。",
    map_drawing: "各领域及其因果关系",
    records: "记录",
    domain: "领域",
    inner: "内部关系",
    apart: "与其他领域无关联",
    links: "领域之间",
    edges: "关系数",
    between: "两个领域之间的关系",
    way: "从最初原因到症状",
    way_means: "依据记录所述，一个错误引发另一个错误的最短路径。",
    from: "起点",
    to: "终点",
    find: "显示路径",
    no_way: "没有记录说明前者会导致后者。",
    other_way: "后者会导致前者：",
    same: "两者是同一条记录。",
    more_ways: "还有其他同样短的路径。",
    language: "语言",
};
