//! The record page, and what other pages show of a record.

words! {
    dead_ends: "Do not waste time on", "不要在这些做法上浪费时间";
    no_dead_ends: "No dead ends are known.", "没有已知的无效做法。";
    workarounds: "What works", "有效的做法";
    no_workarounds: "Nothing is known to work.", "没有已知的有效做法。";
    disputed: "Disputed:", "有争议：";
    struck: "(disputed)", "（有争议）";
    when: "When:", "适用条件：";
    copy: "Copy", "复制";
    root_cause: "Why it happens", "原因";
    examples: "Seen as", "实际出现的样子";
    near_misses: "Looks like it, and is not", "看起来像但不是";
    language: "Language", "语言";
    codes: "Codes", "错误码";
    environment: "Environment", "环境";
    any_environment: "No version is named.", "未注明版本。";
    sources: "Sources", "来源";
    no_sources: "None given.", "未给出来源。";
    about: "About this record", "关于此记录";
    history: "Revisions", "修订历史";
    no_such_record: "(no such record yet)", "（尚无此记录）";
    leads_to: "Leads to", "会导致";
    preceded_by: "Comes after", "出现在其后";
    confused_with: "Often confused with", "常与之混淆";
    stated_elsewhere: "as that record states it", "由对方记录说明";
    probability: "claimed probability", "声称的概率";
    severity: "Severity", "严重程度";
    action: "Do first", "首先应做";
    at_fault: "At fault", "问题所在";
    resolvable: "Can be fixed", "能否解决";
    revision: "Revision", "修订号";
    confidence: "Author's confidence", "作者置信度";
    evidence_count: "Evidence counted", "证据数";
    first_seen: "First seen", "首次出现";
    last_confirmed: "Last confirmed", "最近确认";
    last_updated: "Last updated", "最近更新";
    domain: "Domain", "领域";
    origin: "Origin", "出处";
    vendor_page: "The vendor's page", "厂商页面";
    read_on: "Read on", "查阅日期";
    supports: "supports", "支持";
    works_in: "Said to work in", "据称有效率";
    fails_in: "Said to fail in", "据称失败率";
    claimed: "a claim without a source", "无来源的说法";
    with_sources: "as the sources below state", "依据下列来源";
    ai_generated: "AI-generated, unverified", "AI 生成，未验证";
    ai_generated_means:
        "Written by a language model and checked by nobody. Its rates are claims, not measurements.",
        "由语言模型撰写，无人核实。其中的比率只是说法，并非测量结果。";
    documented: "From cited sources", "依据所引来源";
    documented_means:
        "Every claim cites a source that was read when it was written. Nobody else checked it.",
        "每条说法都引用了撰写时读过的来源，尚无他人核实。";
    reproduced: "Seen on real hardware", "已在真实硬件上观察到";
    reproduced_means:
        "A report of real hardware, named below, shows it. What else is said of it rests on the sources.",
        "下方列出的真实硬件报告中出现过此错误；其余说法以来源为依据。";
    seen_in_report: "Seen in report", "见于报告";
    community_verified: "Confirmed by users", "已由用户确认";
    community_verified_means: "Users who met the error confirmed it.", "遇到此错误的用户已确认。";
    human_reviewed: "Reviewed", "已审核";
    human_reviewed_means: "A person who knows the field checked it against its sources.", "由熟悉该领域的人对照来源核实。";
    unvouched: "Nobody vouches for it", "无人担保";
    unvouched_means: "The record does not say who checked it.", "此记录未说明由谁核实。";
    withdrawn: "Withdrawn.", "已撤回。";
    withdrawn_means:
        "This record was taken back and is no longer matched or found. It stays readable by its id.",
        "此记录已被撤回，不再参与匹配和搜索，但仍可按编号查阅。";
    forced: "Published by force.", "强制发布。";
    forced_means:
        "The check before publishing refused this record, and an administrator published it all the same: {}",
        "发布前的检查拒绝了此记录，管理员仍将其发布：{}";
    superseded: "Superseded.", "已被取代。";
    superseded_means: "Another record took this one's place:", "另一条记录已取代此记录：";
    or_later: "{} or later", "{} 及以上";
    before_version: "before {}", "低于 {}";
    up_to: "up to {}", "不高于 {}";
    or: " or ", " 或 ";
}
