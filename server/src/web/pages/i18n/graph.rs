//! The pages of the graph.

use kb_core::transition::EdgeKind;

words! {
    around: "What surrounds this error", "与此错误相关的错误";
    drawing_means:
        "Time goes from left to right: what comes before stands on the left, what follows on the right, what it is confused with below, dashed. The list under the drawing says the same.",
        "时间从左到右：左侧是先发生的错误，右侧是随后发生的错误，下方虚线相连的是容易混淆的错误。图下的列表内容相同。";
    skip: "Skip the drawing", "跳过图形";
    before: "Comes before", "先于它发生";
    this: "This error", "此错误";
    after: "Follows", "随后发生";
    confused: "Often confused with", "常与之混淆";
    steps: "Steps", "步数";
    show: "Show", "显示";
    everything: "everything", "全部";
    causes: "what leads to what", "因果关系";
    lookalikes: "what is confused", "易混淆的错误";
    truncated: "There is more than the {} nearest, which are shown.", "相关错误较多，仅显示最近的 {} 个。";
    nothing: "Nothing is known to come before it, to follow it or to be confused with it.", "没有已知的前因、后果或易混淆的错误。";
    as_list: "The same as a list", "列表形式";
    further: "Further away", "更远的关系";
    leads_to: "leads to", "会导致";
    taken_for: "is confused with", "常被混淆为";
    probability: "claimed probability", "声称的概率";
    no_such_record: "(no such record yet)", "（尚无此记录）";
    whole: "The whole graph", "完整的图";
    map: "Map of the domains", "领域图";
    map_means:
        "Domains whose errors lead to those of others stand on the left, those that feel them on the right. A box leads to its records, a line to the edges that it stands for.",
        "左侧领域的错误会引发其他领域的错误，右侧领域受其影响。点击方框查看该领域的记录，点击连线查看相应的关系。";
    map_drawing: "Domains and what leads from one to another", "各领域及其因果关系";
    records: "Records", "记录";
    domain: "Domain", "领域";
    inner: "Edges within", "内部关系";
    apart: "Nothing leads from these to another domain, or from another to them", "以下领域与其他领域之间没有先后关系";
    links: "Between domains", "领域之间";
    edges: "Edges", "关系数";
    between: "Edges between two domains", "两个领域之间的关系";
    way: "From first cause to symptom", "从最初原因到症状";
    way_means:
        "The shortest ways by which one error leads to another, as the records state it.",
        "依据记录所述，一个错误引发另一个错误的最短路径。";
    from: "From", "起点";
    to: "To", "终点";
    find: "Show the ways", "显示路径";
    no_way: "No record says that the first leads to the second.", "没有记录说明前者会导致后者。";
    other_way: "The second leads to the first:", "后者会导致前者：";
    same: "Both are the same record.", "两者是同一条记录。";
    more_ways: "There are more ways that are as short.", "还有其他同样短的路径。";
    language: "Language", "语言";
}

impl Words {
    /// Between the two ends of an edge, the earlier first.
    pub(in crate::web) fn relation(&self, kind: EdgeKind) -> &'static str {
        match kind {
            EdgeKind::LeadsTo | EdgeKind::PrecededBy => self.leads_to,
            EdgeKind::FrequentlyConfusedWith => self.taken_for,
        }
    }
}
