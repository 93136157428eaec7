//! The search among the records.

words! {
    nothing_found: "Nothing found", "没有找到";
    near: "Nothing found, but something near", "没有完全符合的，但有相近的";
    records_one: "{} record", "{} 条记录";
    records_many: "{} records", "{} 条记录";
    found_one: "{} record found", "找到 {} 条记录";
    found_many: "{} records found", "找到 {} 条记录";
    label: "Search the records", "搜索记录";
    submit: "Search", "搜索";
    address_before: "Searching puts your words into the address. For an error or a log use ", "搜索词会出现在网址中。查询错误或日志请用";
    the_box: "the box", "查询框";
    address_after: ", which does not.", "，其内容不会出现在网址中。";
    no_record_has: "No record has", "没有记录包含";
    searched_for: ". Searched for", "。已改为搜索";
    or: "or", "或";
    stop: ".", "。";
    comma: ", ", "、";
    passed_over: "Passed over, because no record has it:", "已忽略（没有记录包含）：";
    only: "Only", "仅限";
    without: "Without {} {}", "取消 {} {}";
    remove: "remove", "取消";
    nearest: "No record has most of this. The nearest:", "没有记录包含大部分内容。最相近的：";
    none_here: "No record here has these words.", "此范围内没有记录包含这些词。";
    search_all: "Search all records", "搜索全部记录";
    none:
        "No record has these words, nor any like them. Try fewer, or the rarest one of the message.",
        "没有记录包含这些词或相近的词。请减少词数，或只用信息中最少见的词。";
    box_before: "An error or a log belongs in ", "错误或日志请放入";
    box_after: ": it knows forms of messages that no search does.", "：它能识别搜索无法识别的信息形式。";
    all: "All records", "全部记录";
    next: "Next page", "下一页";
    domain: "Domain", "领域";
    category: "Category", "类别";
    tag: "Tag", "标签";
    tier: "Vouched for", "核实情况";
    locale: "Language", "语言";
}
