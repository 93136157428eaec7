//! Lines in other languages.

use super::{find_error_word, looks_like_error};

#[test]
fn errors_in_other_languages_look_like_errors() {
    for line in [
        "错误：无法打开设备",
        "训练失败",
        "GPU 3 失败：显存不足",
        "段错误 (核心已转储)",
        "发生不可纠正的 ECC 错误",
        "不可纠正 ECC 错误: 3",
        "设备丢失",
        "未知错误",
        "错误代码 719",
        "3 个错误",
        "10 个错误",
        "没有警告，发生错误",
        "显存不足错误",
        "内存不足导致训练失败",
        "版本不匹配错误",
        "设备未响应导致失败",
        "不支持的操作错误",
        "錯誤：裝置不存在",
        "エラーが発生しました",
        "GPU の初期化に失敗しました",
        "エラーのため起動できません",
        "오류가 발생했습니다",
        "FEHLER: Gerät antwortet nicht",
        "Fehler beim Öffnen von /dev/nvidia0",
        "Speicherzugriffsfehler (Speicherabzug geschrieben)",
        "Hardwarefehler auf GPU 0",
        "keine Warnung, ein Fehler",
        "Erreur de segmentation (core dumped)",
        "Erreur : périphérique introuvable",
        "échec de l'allocation",
        "ошибка сегментирования",
        "Ошибка: нет соединения",
        "Не удалось открыть устройство",
        "Segmentation (core dumped)",
    ] {
        assert!(looks_like_error(line), "{line}");
        assert!(find_error_word(line.as_bytes()).is_some(), "{line}");
    }
}

#[test]
fn what_says_in_another_language_that_there_is_none_looks_like_no_error() {
    for line in [
        "没有错误",
        "未发现错误",
        "没有发现任何错误",
        "无错误",
        "无异常",
        "无 ECC 错误",
        "是否异常: 否",
        "异常状态：正常",
        "nicht fehlgeschlagen",
        "Es wurden keine nicht korrigierbaren Speicher-ECC-Fehler gefunden",
        "错误: 0",
        "错误：0",
        "错误数: 0",
        "不可纠正错误: 0",
        "不可纠正 ECC 错误 | 0",
        "0 个错误",
        "共 0 个错误，0 个失败",
        "失败 0",
        "错误: 无",
        "错误日志路径 /var/log/x",
        "错误恢复已启用",
        "训练完成，没有失败",
        "エラーなし",
        "エラーはありません",
        "エラー: 0",
        "0 件のエラー",
        "오류 없음",
        "kein Fehler",
        "keine Fehler gefunden",
        "0 Fehler",
        "mit 0 Fehlern beendet",
        "Fehler: 0",
        "Fehler: keine",
        "fehlerfrei",
        "Fehlerkorrektur eingeschaltet",
        "sans erreur",
        "aucune erreur",
        "erreurs : 0",
        "0 erreurs",
        "без ошибок",
        "ошибок нет",
        "ошибок не обнаружено",
        "INFO 错误计数器已启动",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}
