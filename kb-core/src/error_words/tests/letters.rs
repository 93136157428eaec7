//! Capitals, and letters that are written in two pieces.

use super::super::fold::folded;
use super::super::languages::FOREIGN;
use super::super::messages::MESSAGES;
use super::{find_error_word, looks_like_error};

#[test]
fn capitals_and_letters_in_two_pieces_change_nothing() {
    for line in [
        "BŁĄD STEROWNIKA",
        "NIE MOŻNA OTWORZYĆ PLIKU",
        "GPU BULUNAMADI",
        "BELLEK HATASI",
        "İŞLEM BAŞARISIZ",
        "ZAMAN AŞIMI",
        "İZİN VERİLMEDİ",
        "i\u{307}zi\u{307}n veri\u{307}lmedi\u{307}",
        "ÉCHEC",
        "e\u{301}chec de l'allocation",
        "E\u{301}CHEC",
        "ОШИБКА: НЕТ СОЕДИНЕНИЯ",
        "НЕ УДАЛОСЬ",
        "LỖI",
        "lo\u{302}\u{303}i",
        "ne\u{301}ni\u{301}: nepodar\u{30c}ilo se",
        "bła\u{328}d",
        "NÃO FOI POSSÍVEL",
        "na\u{303}o foi possi\u{301}vel",
        "ZEITÜBERSCHREITUNG",
        "Zeitu\u{308}berschreitung",
        "\u{1109}\u{1175}\u{11af}\u{1111}\u{1162}",
        "\u{102d} ÉCHEC error 5",
    ] {
        assert!(looks_like_error(line), "{line}");
        let text = format!("für\n{line}\nfür\n");
        let place = find_error_word(text.as_bytes()).unwrap();
        assert!((5..5 + line.len()).contains(&place), "{line}");
    }
    for line in [
        "BRAK BŁĘDÓW",
        "HATA YOK",
        "HATA BULUNAMADI",
        "ŽÁDNÉ CHYBY PŘI STARTU",
        "z\u{30c}a\u{301}dne\u{301} chyby pr\u{30c}i startu",
        "БЕЗ ОШИБОК",
        "KHÔNG CÓ LỖI",
        "AUCUN ÉCHEC",
        "INFO ÉCHEC",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

/// Words are looked for in folded letters: another would never be found, and neither would one that begins with a shorter one.
#[test]
fn words_are_written_as_they_are_looked_for() {
    let words = || FOREIGN.into_iter().chain(MESSAGES);
    for (word, _) in words() {
        assert_eq!(folded(word), word);
        assert!(find_error_word(word.as_bytes()).is_some(), "{word}");
        let is_hidden = |(other, _): (&str, _)| other != word && word.starts_with(other);
        assert!(!words().any(is_hidden), "{word}");
    }
}
