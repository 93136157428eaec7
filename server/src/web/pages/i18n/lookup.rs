//! Home, and the answer to a text.

words! {
    title: "Peerless: what a GPU error means and what to do", "Peerless：GPU 错误的含义与处理办法";
    question: "What is this GPU error, and what do I do?", "这个 GPU 错误是什么，该怎么办？";
    promise:
        "Paste an error line or a whole log. You get the first cause, the lines that prove it, what works, and what wastes your time.",
        "粘贴一行错误或整个日志，即可得到最初原因、作为证据的日志行、有效的做法，以及不必浪费时间的做法。";
    from_shell: "From a shell", "在命令行中";
    on_a_node: "On a GPU node", "在 GPU 节点上";
    probe_means:
        "Proves, pair by pair and in both directions, whether the GPUs reach each other's memory.",
        "逐对、双向验证各 GPU 能否访问彼此的显存。";
    known_before: "", "已收录 ";
    known_one: "{} record", "{} 条记录";
    known_many: "{} records", "{} 条记录";
    known_after: " known. Each says who vouches for it.", "，每条都注明由谁核实。";
    no_known_error: "No known error", "没有已知错误";
    only_hits_one: "No known error; {} record found by its words", "没有已知错误；按词找到 {} 条记录";
    only_hits_many: "No known error; {} records found by its words", "没有已知错误；按词找到 {} 条记录";
    errors_one: "{} known error", "{} 个已知错误";
    errors_many: "{} known errors", "{} 个已知错误";
    read_one: "{} line read", "已读取 {} 行";
    read_many: "{} lines read", "已读取 {} 行";
    by_time: "Ordered by the time on the lines", "按日志行的时间排序";
    by_clock:
        "Ordered by the time on the lines of each clock, between clocks by the graph",
        "同一时钟内按时间排序，不同时钟之间按因果关系排序";
    by_place: "Ordered by place in the text", "按在文本中的位置排序";
    elsewhere_only:
        "Every match is for another environment than the one you gave.",
        "所有匹配的记录都不适用于您给出的环境。";
    nothing:
        "Nothing in this text is an error that this knowledge base knows. That does not mean that nothing is wrong.",
        "此文本中没有本知识库已知的错误。这并不表示一切正常。";
    paste_more:
        "Paste more: the error is often a few lines above the last one, and the first error of the first process counts.",
        "请粘贴更多内容：错误往往在最后一行之前数行，且以第一个进程的第一个错误为准。";
    nccl_debug:
        "With NCCL, run again with `NCCL_DEBUG=INFO`; kernel messages (Xid) come from `dmesg`.",
        "使用 NCCL 时请加 `NCCL_DEBUG=INFO` 重新运行；内核消息（Xid）可用 `dmesg` 查看。";
    rarest_before: "Search for its rarest word among ", "用其中最少见的词搜索";
    rarest_link: "all records", "全部记录";
    rarest_after: ".", "。";
    first_cause: "First cause, line {}", "最初原因，第 {} 行";
    another_cause: "Another cause, line {}", "另一原因，第 {} 行";
    follows_from: "Follows from {}, line {}", "由 {} 引发，第 {} 行";
    at_line: "Line {}", "第 {} 行";
    step_line: "line {}", "第 {} 行";
    sample: "The record's own sample:", "记录中的样例：";
    on_one: "On {} line", "共 {} 行";
    on_many: "On {} lines", "共 {} 行";
    fits: "Fits your environment", "适用于您的环境";
    not_compared: "Environment not compared", "未比对环境";
    elsewhere: "For another environment", "适用于其他环境";
    score: "Score {}", "得分 {}";
    matched_lines: "Matched lines", "匹配的行";
    like_this_one: "{} more line like this", "另有 {} 行类似";
    like_this_many: "{} more lines like this", "另有 {} 行类似";
    lines_one: "{} line", "{} 行";
    lines_many: "{} lines", "{} 行";
    other_values: "with other values", "取其他值";
    whole_record: "The whole record", "完整记录";
    dead_ends_one: "{} more dead end", "另有 {} 条无效做法";
    dead_ends_many: "{} more dead ends", "另有 {} 条无效做法";
    workarounds_one: "{} more workaround", "另有 {} 条有效做法";
    workarounds_many: "{} more workarounds", "另有 {} 条有效做法";
    list_comma: ", ", "，";
    chain: "From first cause to symptom", "从最初原因到症状";
    suspects: "What may have caused it", "可能的原因";
    find_out: "Find out which: run {} on the node.", "查明是哪一个：在节点上运行 {}。";
    way: "How the graph leads from the first to the last", "在关系图中查看从起因到结果的路径";
    why: "Why this matched", "匹配依据";
    by_words: "Found by its words", "按词找到";
    candidates: "Candidates, not matches", "候选，并非匹配";
    candidates_mean: "Nothing proves that one of these is your error.", "没有证据表明其中某条就是您的错误。";
    stands_at: "Where it stands", "所在位置";
    again: "Change it, or look up something else", "修改内容，或查询其他错误";
}
