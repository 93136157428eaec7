### Nodes: all together, the list, and one of them.

fleet-nodes = 节点
fleet-node-count = { $count } 个节点
fleet-gpu-count = { $count } 个 GPU
fleet-simulated-nodes = { $count } 个为模拟
fleet-none-yet = 尚无节点上报。请在装有 GPU 的机器上运行：
fleet-token-for = 创建令牌：
fleet-together = 全部节点
fleet-by-verdict = 按结论统计的节点
fleet-faults = 最常见的问题
fleet-fault = 发现
fleet-no-faults = 没有报告显示需要解释的问题（不计模拟报告）。
fleet-unexplained = 没有已知记录可以解释
fleet-silent =
    { $count ->
        [0] 所有节点最近一次运行都在 { $hours } 小时内结束。
       *[other] { $count } 个节点在最近 { $hours } 小时内没有结束过运行。
    }
fleet-oldest = 最久没有运行的节点：
fleet-node = 节点
fleet-verdict = 结论
fleet-why = 理由
fleet-findings = 发现
fleet-run-ended = 运行结束
fleet-reports = 报告
fleet-report-count = { $count } 份报告
fleet-simulated = 模拟
fleet-last-seen = 最近上报
fleet-with-label = 带有此标签的节点：
fleet-all-nodes = 全部节点
fleet-events = 节点变动
fleet-next = 下一页
fleet-host = 主机 { $hostname }
fleet-by-the-run = 依据结束于此时的运行：
fleet-last-seen-at = 最近上报于
fleet-stands = 已证实的故障，只有在之后的检测证明其消失时才算解除。
fleet-received = 收到报告
fleet-older = 更早的报告
