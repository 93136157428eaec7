//! What stands around every page, the box, lists of hits and lines of logs.

words! {
    skip: "Skip to the content", "跳到正文";
    site: "Site", "网站导航";
    look_up: "Look up", "查错";
    records: "Records", "记录";
    graph: "Graph", "关系图";
    nodes: "Nodes", "节点";
    changes_of_records: "Changes of the records", "记录的变更";
    as_of: "Knowledge as of change {}", "知识库截至第 {} 次变更";
    all_records: "All records (zip)", "全部记录（zip）";
    changes: "Changes", "变更";
    licence: "Records:", "记录许可：";
    box_label: "Error line, log, or words to search for", "错误信息、日志或搜索词";
    environment: "Environment (optional)", "环境（可选）";
    environment_means:
        "Tells records that fit your versions from those that do not. Nothing is left out because of it.",
        "用于区分适用于您的版本的记录，不会因此遗漏任何记录。";
    driver: "NVIDIA driver", "NVIDIA 驱动";
    gpu_model: "GPU model", "GPU 型号";
    os: "Operating system", "操作系统";
    submit: "Look it up", "查询";
    choose_file: "Choose a log file", "选择日志文件";
    log_file: "Log file", "日志文件";
    nothing_kept:
        "Nothing you paste is kept: not in a log, an address, or a database.",
        "粘贴的内容不会保留：不写入日志、网址或数据库。";
    drop_here:
        " Drop a file here: up to 1 GiB, also .gz and .zst.",
        " 也可将文件拖到此处：最大 1 GiB，支持 .gz 和 .zst。";
    stop: "Stop", "停止";
    sending: "Sending …", "正在发送……";
    reading: "Reading …", "正在读取……";
    unreadable: "The answer could not be read.", "无法读取结果。";
    broken: "The connection broke. Nothing was kept.", "连接中断，未保留任何内容。";
    stopped: "Stopped. Nothing was kept.", "已停止，未保留任何内容。";
    line: "line ", "第几行：";
}
