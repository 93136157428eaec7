//! Timeouts, and devices that do not answer or are not found, in other languages; and what denies them.

use super::{find_error_word, looks_like_error};

#[test]
fn what_does_not_answer_in_time_looks_like_an_error() {
    for line in [
        "Zeitüberschreitung",
        "Zeitüberschreitung der Verbindung",
        "Zeitüberschreitung nach 30 s",
        "GPU 3 antwortet nicht",
        "Gerät nicht gefunden",
        "konnte nicht geöffnet werden",
        "délai d'attente dépassé",
        "Délai d’attente dépassé",
        "Le GPU ne répond pas",
        "périphérique introuvable",
        "タイムアウト",
        "GPU がタイムアウトしました",
        "GPU から応答がありません",
        "デバイスが見つかりません",
        "시간 초과",
        "연결 시간이 초과되었습니다",
        "GPU가 응답하지 않습니다",
        "장치를 찾지 못했습니다",
        "тайм-аут соединения",
        "время ожидания истекло",
        "устройство не отвечает",
        "устройство не найдено",
        "przekroczono limit czasu",
        "GPU nie odpowiada",
        "zaman aşımı",
        "bağlantı zaman aşımına uğradı",
        "GPU yanıt vermiyor",
        "hiçbir GPU bulunamadı",
        "time-out van verbinding",
        "tijd verstreken",
        "GPU reageert niet",
        "tidsgränsen överskreds",
        "Fel: GPU svarar inte",
        "tempo limite excedido",
        "GPU não responde",
        "vypršel časový limit",
        "žádná karta neodpovídá",
        "GPU không phản hồi",
        "الجهاز لا يستجيب",
        "อุปกรณ์ไม่ตอบสนอง",
        "tiempo de espera agotado",
        "la GPU no responde",
        "tempo scaduto",
        "la GPU non risponde",
    ] {
        assert!(looks_like_error(line), "{line}");
        assert!(find_error_word(line.as_bytes()).is_some(), "{line}");
    }
}

#[test]
fn the_setting_of_a_timeout_looks_like_no_error() {
    for line in [
        "Zeitüberschreitung: 30 s",
        "Zeitüberschreitung = 600",
        "keine Zeitüberschreitung",
        "タイムアウト: 30秒",
        "タイムアウト時間: 30",
        "タイムアウト設定",
        "タイムアウトなし",
        "시간 초과: 30초",
        "시간 초과 없음",
        "타임아웃 설정: 30",
        "тайм-аут: 30 сек",
        "без тайм-аута",
        "zaman aşımı: 30 sn",
        "zaman aşımı süresi: 30",
        "time-out: 30",
        "--time-out=30",
        "tidsgräns: 30 s",
        "tidsgräns 30 s",
        "tempo limite: 30 s",
        "ошибок не найдено",
        "エラーは見つかりませんでした",
        "Probleme nicht gefunden",
        "žádné chyby nenalezeny",
        "hiçbir hata bulunamadı",
        "nessun problema non trovato",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn what_denies_one_thing_does_not_deny_another() {
    for line in [
        "Žádné zařízení nenalezeno: chyba ovladače",
        "Žádné zařízení nenalezeno",
        "geen fout gevonden maar GPU mislukt",
        "kein Problem aber Start fehlgeschlagen",
        "aucun problème mais échec du GPU",
        "нет ответа но сбой на GPU",
        "brak problemu ale błąd sterownika",
        "sorun yok ama işlem başarısız",
        "sem alerta mas falha no GPU",
        "inget larm men GPU misslyckades",
        "警告なし しかし 失敗",
        "실패 하지만 경고 없음",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in [
        "nie ma błędów",
        "geen fout: maar traag",
        "kein Fehler aber langsam",
        "没有错误但较慢",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}
