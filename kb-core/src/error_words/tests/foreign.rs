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

#[test]
fn errors_in_further_languages_look_like_errors() {
    for line in [
        "Błąd: brak urządzenia",
        "Nie można otworzyć pliku",
        "Naruszenie ochrony pamięci",
        "Operacja nie powiodła się",
        "nie znaleziono urządzenia",
        "오류: 장치를 찾을 수 없음",
        "메모리를 할당할 수 없습니다",
        "허가 거부",
        "Hata: aygıt bulunamadı",
        "bellek hatası",
        "Bağlantı zaman aşımına uğradı",
        "işlem başarısız oldu",
        "Falha de segmentação (imagem do núcleo gravada)",
        "Erro: dispositivo perdido",
        "erro 5",
        "Não foi possível alocar memória",
        "Permissão negada",
        "Segmentatiefout (geheugendump gemaakt)",
        "Fout: apparaat bestaat niet",
        "kan niet openen: toegang geweigerd",
        "Segmenteringsfel (minnesutskrift skapad)",
        "Kunde inte öppna filen",
        "Kan inte allokera minne",
        "Neoprávněný přístup do paměti (SIGSEGV)",
        "Chyba: zařízení nenalezeno",
        "Nelze alokovat paměť",
        "خطأ: الجهاز مفقود",
        "فشل الاتصال",
        "لا يمكن فتح الملف",
        "ข้อผิดพลาด: ไม่พบอุปกรณ์",
        "ไม่สามารถเปิดไฟล์",
        "Lỗi: không tìm thấy thiết bị",
        "Không thể mở tệp",
    ] {
        assert!(looks_like_error(line), "{line}");
        assert!(find_error_word(line.as_bytes()).is_some(), "{line}");
    }
}

#[test]
fn what_says_in_a_further_language_that_there_is_none_looks_like_no_error() {
    for line in [
        "brak błędów",
        "nie znaleziono błędów",
        "bez błędów",
        "0 błędów",
        "Błędy: 0",
        "hata yok",
        "hata bulunamadı",
        "0 hata",
        "Hata: yok",
        "Hatari 2.4 started",
        "nenhum erro encontrado",
        "sem erros",
        "erros: 0",
        "erro 0",
        "tolerância a falhas ativada",
        "geen fouten gevonden",
        "fout << x",
        "inga fel uppstod",
        "žádné chyby při startu",
        "bez chyb",
        "لا توجد أخطاء",
        "لم يتم العثور على أخطاء",
        "0 خطأ",
        "ไม่มีข้อผิดพลาด",
        "ไม่พบข้อผิดพลาด",
        "ข้อผิดพลาด: 0",
        "không có lỗi",
        "không tìm thấy lỗi",
        "lỗi: 0",
        "INFO błąd obsługi zgłoszono raz",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn what_a_colon_a_dash_or_a_bracket_parts_from_an_error_does_not_deny_it() {
    for line in [
        "GPU nie odpowiada: błąd sterownika",
        "GPU nie odpowiada - błąd sterownika",
        "GPU não responde: falha no barramento",
        "GPU não responde (falha no barramento)",
        "thiết bị không phản hồi: lỗi",
        "GPU antwortet nicht (Fehler 5)",
        "未检测到设备：错误",
        "设备没有响应(错误 5)",
        "오류: 장치 없음",
        "エラー: デバイスがありません",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in [
        "Test: nie ma błędów",
        "GPU 3: sem erros",
        "检查：未发现（不可纠正）错误",
        "エラー: ありません",
        "오류: 없음",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn a_zero_in_the_name_of_something_counts_no_errors() {
    for line in [
        "worker-0 失败",
        "gpu-0 错误",
        "GPU #0 błąd",
        "GPU # 0 błąd",
        "gpu:0 错误",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in [
        "Test: 0 błędów",
        "结果 - 0 错误",
        "检查结果：0 错误",
        "wynik (0 błędów)",
        "\"0 błędów\"",
        "|0 错误",
        "wynik=0 błędów",
        "0 błędów",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn what_did_not_go_is_no_denial_of_what_could_not_be_done() {
    for line in [
        "GPU nie odpowiada i nie można go zresetować",
        "GPU não responde e não foi possível reiniciar",
        "enheten svarar inte och kunde inte startas",
        "устройство не отвечает и не удалось сбросить",
        "thiết bị không phản hồi và không thể khởi động lại",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in ["nie ma błędów", "inga fel uppstod", "không có lỗi"] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn a_search_is_denied_by_errors_that_it_looked_for_alone() {
    for line in [
        "nie znaleziono urządzenia (kod błędu 5)",
        "Nie znaleziono urządzenia błąd 5",
        "dispositivo não encontrado (erro 5)",
        "dispositivo não encontrado erro 5",
        "không tìm thấy thiết bị (mã lỗi 5)",
        "lỗi không tìm thấy thiết bị",
        "problema: dispositivo não encontrado",
        "문제: 장치를 찾을 수 없음",
        "hata dosyası bulunamadı",
        "aygıt bulunamadı hata 5",
        "لم يتم العثور على الجهاز (خطأ 5)",
        "ไม่พบอุปกรณ์ (ข้อผิดพลาด 5)",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in [
        "nie znaleziono żadnych błędów",
        "nie znaleziono krytycznych błędów",
        "błędów nie znaleziono",
        "herhangi bir hata bulunamadı",
        "không tìm thấy bất kỳ lỗi nào",
        "لم يتم العثور على أي أخطاء",
        "problemen niet gevonden",
        "hittades inte några problem",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn what_is_done_about_errors_may_fail() {
    for line in [
        "quá trình kiểm tra thất bại",
        "yêu cầu xử lý thất bại",
        "การบันทึกล้มเหลว",
        "แก้ไขล้มเหลว",
        "ไม่มี GPU ล้มเหลว",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in [
        "xử lý lỗi",
        "kiểm tra lỗi",
        "obsługa błędów włączona",
        "จัดการข้อผิดพลาด",
        "ไม่มี ECC ข้อผิดพลาด",
        "معالجة الأخطاء",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn the_end_of_a_time_or_of_an_address_counts_nothing() {
    for line in [
        "12:00:00 Fehler auf GPU 3",
        "GPU 0000:3b:00.0 错误",
        "0000:3b:00.0 błąd",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in ["GPU 3: 0 Fehler", "总数:0 个错误"] {
        assert!(!looks_like_error(line), "{line}");
    }
}

/// Words in ASCII and others are looked for apart, and a long text in parts.
#[test]
fn the_first_word_of_a_text_is_found_whatever_its_letters() {
    let quiet = "step 3 done in 5 s\n".repeat(1000);
    let other = "Schritt 3 für GPU 5 beendet\n".repeat(1000);
    for (line, at) in [
        ("błąd: device lost\n", 0),
        ("gpu lost: błąd\n", 4),
        ("gpu 错误: device lost\n", 4),
    ] {
        for text in [format!("{quiet}{line}{quiet}"), format!("{other}{line}{other}")] {
            let place = text.find(line).unwrap() + at;
            assert_eq!(find_error_word(text.as_bytes()), Some(place), "{line}");
        }
        assert!(looks_like_error(line), "{line}");
    }
    for text in [quiet, other] {
        assert_eq!(find_error_word(text.as_bytes()), None);
    }
    assert!(!looks_like_error("INFO 3 für błąd"));
}
