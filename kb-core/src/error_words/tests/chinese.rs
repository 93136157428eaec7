//! Lines in Chinese.

use super::{find_error_word, looks_like_error};

#[test]
fn what_happens_to_devices_and_programs_looks_like_an_error() {
    for line in [
        "显存不足",
        "CUDA 显存不足",
        "GPU 已从总线上掉落",
        "已放弃 (核心已转储)",
        "已杀死",
        "段错误",
        "超时",
        "连接超时",
        "連線逾時",
        "连接超时：10.0.0.5",
        "连接超时：30 秒后重试",
        "显卡掉线",
        "3 号卡掉卡",
        "没有响应",
        "GPU 没有响应，报错",
        "GPU 没有响应",
        "报错",
        "未找到设备",
        "找不到设备错误 5",
        "无法检测到 GPU",
        "无法处理请求",
        "权限不够",
        "连接被拒绝",
        "GPU 故障",
        "是否掉卡: 是",
        "没有错误但 GPU 失败",
        "没有警告，但是 GPU 掉线",
    ] {
        assert!(looks_like_error(line), "{line}");
        assert!(find_error_word(line.as_bytes()).is_some(), "{line}");
    }
}

#[test]
fn what_did_not_happen_looks_like_no_error() {
    for line in [
        "未超时",
        "没有超时",
        "不会超时",
        "未掉线",
        "没有掉卡",
        "掉卡次数: 0",
        "掉卡: 无",
        "0 次掉卡",
        "检查是否掉卡",
        "是否掉卡: 否",
        "没有报错",
        "未报错",
        "报错: 0",
        "未找到错误",
        "未找到任何问题",
        "为避免显存不足，已启用检查点",
        "故障转移已启用",
        "无故障",
        "故障数: 0",
        "超时时间 30 秒",
        "超时时间: 600s",
        "超时: 30",
        "\"超时\": 30",
        "超时设置",
        "设置超时为 30 秒",
        "超时重试 3",
        "无法纠正错误: 0",
        "未发现无法纠正的错误",
        "INFO 连接超时",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}
