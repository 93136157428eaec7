//! Nodes: all together, the list, and one of them.

words! {
    nodes: "Nodes", "节点";
    nodes_one: "{} node", "{} 个节点";
    nodes_many: "{} nodes", "{} 个节点";
    gpus_one: "{} GPU", "{} 个 GPU";
    gpus_many: "{} GPUs", "{} 个 GPU";
    simulated_nodes: "{} simulated", "{} 个为模拟";
    none_yet: "No node has reported yet. On a machine with GPUs run:", "尚无节点上报。请在装有 GPU 的机器上运行：";
    token_for: "A token for it:", "创建令牌：";
    together: "All nodes", "全部节点";
    by_verdict: "Nodes by verdict", "按结论统计的节点";
    faults: "What most nodes show", "最常见的问题";
    fault: "Finding", "发现";
    no_faults: "No report shows anything that calls for an explanation; simulated ones do not count.", "没有报告显示需要解释的问题（不计模拟报告）。";
    unexplained: "no known record explains it", "没有已知记录可以解释";
    silent_none: "The latest run of every node ended within {} hours.", "所有节点最近一次运行都在 {} 小时内结束。";
    silent_one: "{} node had no run that ended within {} hours.", "{} 个节点在最近 {} 小时内没有结束过运行。";
    silent_many: "{} nodes had no run that ended within {} hours.", "{} 个节点在最近 {} 小时内没有结束过运行。";
    oldest: "Longest without a run:", "最久没有运行的节点：";
    node: "Node", "节点";
    verdict: "Verdict", "结论";
    why: "Why", "理由";
    findings: "Findings", "发现";
    run_ended: "Run ended", "运行结束";
    reports: "Reports", "报告";
    reports_one: "{} report", "{} 份报告";
    reports_many: "{} reports", "{} 份报告";
    simulated: "simulated", "模拟";
    last_seen: "last seen", "最近上报";
    with_label: "Nodes with the label", "带有此标签的节点：";
    all_nodes: "all nodes", "全部节点";
    events: "What happened to it", "节点变动";
    next: "Next page", "下一页";
    host: "Host {}", "主机 {}";
    by_the_run: "by the run that ended", "依据结束于此时的运行：";
    last_seen_at: "Last seen", "最近上报于";
    stands:
        "A proven fault is over when a later probe proves otherwise, and not before.",
        "已证实的故障，只有在之后的检测证明其消失时才算解除。";
    received: "Report received", "收到报告";
    older: "Older reports", "更早的报告";
}
