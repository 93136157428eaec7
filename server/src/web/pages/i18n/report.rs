//! One run of the agent.

words! {
    report_of: "Report of {}", "{} 的报告";
    simulated: "Simulated.", "模拟运行。";
    simulated_means:
        "A stand-in took the place of the driver. Nothing here was measured on a GPU, and it stays out of statistics.",
        "驱动由替代程序模拟。此处没有任何数据是在 GPU 上测得的，也不计入统计。";
    gpus_one: "{} GPU", "{} 个 GPU";
    gpus_many: "{} GPUs", "{} 个 GPU";
    pairs_one: "{} pair", "{} 对";
    pairs_many: "{} pairs", "{} 对";
    host_is: "Host {}", "主机 {}";
    ended: "Run ended {} (node's clock)", "运行结束于 {}（节点时钟）";
    received: "Received {}", "收到于 {}";
    agent: "Agent {}", "代理程序 {}";
    expected: "Expected {}", "预期 {}";
    failures: "What stopped the run or a part of it", "使运行或其中一部分中止的问题";
    absent: "GPUs that were not looked at", "未检查的 GPU";
    notes: "Worth knowing", "值得注意";
    what_to_do: "What to do:", "处理办法：";
    findings: "Findings", "发现";
    nothing_to_explain:
        "None: nothing in this report calls for an explanation.",
        "无：此报告中没有需要解释的问题。";
    nothing_known:
        "No known record explains what this report shows.",
        "没有已知记录可以解释此报告显示的问题。";
    explained_by: "Explained by", "解释见";
    unexplained: "No known record explains it.", "没有已知记录可以解释。";
    evidence: "Evidence", "证据";
    rule: "Rule", "规则";
    pair: "Pair {}", "GPU 对 {}";
    direction: "Direction {}", "方向 {}";
    report: "Report", "报告";
    pairs: "Pairs", "GPU 对";
    matrix_means:
        "The row's GPU reaches into the memory of the column's GPU.",
        "行中的 GPU 访问列中 GPU 的显存。";
    not_checked: "not checked", "未检查";
    works: "works", "正常";
    degraded: "degraded", "性能下降";
    refused: "refused", "被拒绝";
    broken: "broken", "故障";
    unknown: "unknown", "未知";
    nccl_arms: "NCCL with peer access and without", "启用与不启用对等访问的 NCCL";
    arms_mean: "Collectives with their data compared, one process a GPU.", "比对数据的集合通信，每个 GPU 一个进程。";
    peer_access: "Peer access", "对等访问";
    version: "Version", "版本";
    library: "Library", "库文件";
    nvls: "NVLink SHARP and multicast", "NVLink SHARP 与多播";
    left_to_nccl: "left to NCCL", "由 NCCL 决定";
    switched_off: "switched off", "已关闭";
    bus: "Bus bandwidth of NCCL", "NCCL 的总线带宽";
    bus_means:
        "Bus bandwidth in GB/s (1e9 bytes), all GPUs together, median of the samples, by size.",
        "各数据量下所有 GPU 的总线带宽，单位 GB/s（1e9 字节每秒），取样本中位数。";
    nccl_works: "Works with peer access and without", "启用与不启用对等访问均正常";
    nccl_peer_fails: "Fails with peer access", "启用对等访问时失败";
    nccl_peer_fails_means:
        "The way from GPU to GPU is at fault: programs run with `NCCL_P2P_DISABLE=1` meanwhile, and slower.",
        "GPU 到 GPU 的通路有问题：程序可暂用 `NCCL_P2P_DISABLE=1` 运行，但速度较慢。";
    nccl_staging_fails: "Fails without peer access", "不启用对等访问时失败";
    nccl_staging_fails_means:
        "The way through host memory is at fault. Programs whose GPUs all have peer access do not notice; those that must share memory of the host (`/dev/shm`, locked memory, namespaces of a container) fail.",
        "经主机内存的通路有问题。GPU 之间都有对等访问的程序不受影响；必须共享主机内存的程序（`/dev/shm`、锁定内存、容器命名空间）会失败。";
    nccl_nothing_shown: "Nothing is shown about peer access.", "不能说明对等访问是否正常。";
    not_run: "Not run", "未运行";
    newer_verdict: "A verdict of a newer agent", "更新版本代理程序的结论";
    with_peer: "With peer access", "启用";
    without_peer: "Without (NCCL_P2P_DISABLE=1)", "不启用（NCCL_P2P_DISABLE=1）";
    measurements: "Measurements", "测量";
    checked: "What was checked", "检查内容";
    pair_of: "GPU {} and GPU {}", "GPU {} 与 GPU {}";
    reaches: "GPU {} reaches into GPU {}", "GPU {} 访问 GPU {}";
    checks_of: "Checks, {}", "检查：{}";
    as_expected: "as expected", "符合预期";
    way_facts: "Facts of the way between the two", "两者之间通路的信息";
    no_check: "No check was made.", "未做检查。";
    again: "again, alone", "单独重试";
    rung: "Rung", "级别";
    check: "Check", "检查项";
    outcome: "Outcome", "结果";
    why: "Why", "理由";
    checked_by: "Checked by", "检查者";
    data: "Data", "数据";
    time: "Time", "用时";
    windows: "{} in {} windows over {}", "{}，分布于 {} 个窗口，跨 {}";
    cause: "Cause", "原因";
    beside: "Seen beside it", "同时出现";
    proven: "Proven both ways by rungs", "双向验证通过的级别";
    links: "Active NVLinks", "活动的 NVLink 数";
    switch: "Through NVSwitch", "经由 NVSwitch";
    ancestor: "Nearest PCIe ancestor", "最近的 PCIe 共同上级";
    grants: "Driver grants access", "驱动授予访问";
    nvml_read: "NVML read", "NVML 读";
    nvml_write: "NVML write", "NVML 写";
    nvml_atomics: "NVML atomics", "NVML 原子操作";
    wrong_words: "{} wrong 32-bit words {}, first at byte {}", "{} 个错误的 32 位字（{}），首个位于字节 {}";
    in_guard: "in the guard zone", "位于保护区";
    in_data: "in the data", "位于数据区";
    untouched: "; nothing had arrived", "；没有任何数据到达";
    only_writer_sees:
        "; the writer reads its own data back there, the owner does not",
        "；写入方能在该处读回自己的数据，而所有者读不到";
    nobody_sees: "; the writer does not find its data there either", "；写入方在该处也读不到自己的数据";
    model: "Model", "型号";
    pci_address: "PCI address", "PCI 地址";
    memory: "Memory", "显存";
    compute: "Compute", "计算能力";
    gpu_facts: "Facts of GPU {}", "GPU {} 的信息";
    gaps: "What could not be seen", "无法看到的内容";
    gaps_mean:
        "A gap says nothing about the value. “Not visible from here” is never “OK”.",
        "缺失不说明数值如何。“此处不可见”绝不等于“正常”。";
    what: "What", "内容";
    kind: "Kind", "类别";
    asked_of: "Asked of", "查询对象";
    and_more: "{} and {} more", "{} 等，另有 {} 处";
    not_given: "not given", "未给出";
    code: "code {}", "代码 {}";
    host: "Host", "主机";
    fact: "Fact", "信息";
    value: "Value", "值";
    read_from: "Read from", "读取自";
    logs: "Log lines", "日志行";
    median_means:
        "{}, median of the samples, from the row to the column.",
        "单位 {}，样本中位数，从行到列。";
    taken_in: " Taken in {}, {}.", "共 {}，用时 {}。";
    rounds_one: "{} round", "{} 轮";
    rounds_many: "{} rounds", "{} 轮";
    span: "{} to {} {}", "{} 至 {} {}";
    times: "Where the time went", "时间用在何处";
    times_all: "{} in all: {}.", "共 {}：{}。";
    times_rest: "all else", "其他";
    times_longest: "Measurements that took longest", "耗时最长的测量";
    times_in: "{} in {}", "{}，{}";
    host_end: "Host", "主机";
    other_end: "All others", "其余所有 GPU";
    gpu_to_gpu: "GPU to GPU", "GPU 到 GPU";
    host_to_gpu: "Host to GPU", "主机到 GPU";
    gpu_to_host: "GPU to host", "GPU 到主机";
    load_latency: "Load latency", "读取延迟";
    host_load_latency: "Load latency of host memory", "主机内存读取延迟";
    copy_latency: "Copy latency", "复制延迟";
    copy_queueing: "Time to queue a copy", "复制排队时间";
    all_to_one: "All to one", "多对一";
    one_to_all: "One to all", "一对多";
    all_to_all: "All to all", "全对全";
    under_load: "under load", "负载下";
    both_ways: "both ways at once", "双向同时";
    beside_opposite: "while the opposite runs", "反方向同时进行";
    alone: "one alone", "单独进行";
    beside_others: "beside others", "与其他同时进行";
    pageable: "ordinary host memory", "普通主机内存";
    all_gpus: "all GPUs at once", "所有 GPU 同时";
    copy_engine: "copy engine", "复制引擎";
    kernel: "kernel", "内核函数";
    processes: "between processes", "跨进程";
    written: "written by the source", "由源端写入";
    read: "read by the destination", "由目的端读取";
    peer_on: "peer access on", "启用对等访问";
    staged: "staged through the host", "经主机中转";
    comma: ", ", "，";
    samples_one: "{} sample", "{} 个样本";
    samples_many: "{} samples", "{} 个样本";
    algorithm: "{}, algorithm bandwidth {} {}", "{}，算法带宽 {} {}";
    without_peer_access: "{}, without peer access", "{}，不启用对等访问";
    none: "none", "无";
}
