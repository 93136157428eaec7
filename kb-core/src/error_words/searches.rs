//! Words of other languages that say that something was looked for and is not there. Where it is errors, all is well, and the word
//! for them decides.

use super::script::Script;

/// Where what was looked for stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    Before,
    Behind,
    Around,
}

use Object::{Around, Before, Behind};

const SEARCHES: [(&str, Object); 25] = [
    ("未找到", Behind),
    ("找不到", Behind),
    ("見つかりません", Before),
    ("見つからない", Before),
    ("찾을 수 없", Before),
    ("찾지 못", Before),
    ("nicht gefunden", Before),
    ("introuvable", Before),
    ("non trouvé", Before),
    ("не найден", Around),
    ("nie znaleziono", Around),
    ("nenalezen", Around),
    ("nebyl nalezen", Before),
    ("nebyla nalezena", Before),
    ("nebylo nalezeno", Before),
    ("bulunamadi", Before),
    ("não encontrad", Around),
    ("niet gevonden", Before),
    ("hittades inte", Around),
    ("no se encontr", Around),
    ("no encontrad", Around),
    ("non trovat", Around),
    ("không tìm thấy", Behind),
    ("لم يتم العثور", Behind),
    ("ไม่พบ", Behind),
];
/// Beginnings of words for errors and trouble, in the forms that they have as an object: `błąd` and `erro` beside a search tell
/// why nothing was found.
const LOOKED_FOR: [&str; 28] = [
    "错误",
    "錯誤",
    "异常",
    "故障",
    "问题",
    "エラー",
    "異常",
    "問題",
    "오류",
    "에러",
    "문제",
    "błęd",
    "chyby",
    "hata",
    "sorun",
    "erros",
    "fehler",
    "erreurs",
    "ошибок",
    "проблем",
    "errores",
    "errori",
    "problem",
    "problèm",
    "lỗi",
    "خطأ",
    "أخطاء",
    "ข้อผิดพลาด",
];
/// What Korean and Japanese write at the end of an object or a subject.
const PARTICLES: [char; 10] = ['를', '을', '가', '이', '는', '은', '도', 'は', 'が', 'も'];
/// Words between a search and what was looked for: "any", "some".
const FILLERS: [&str; 12] = [
    "żadnego",
    "žádné",
    "žádných",
    "några",
    "bất",
    "kỳ",
    "kì",
    "cứ",
    "một",
    "على",
    "أي",
    "أية",
];
/// Ends of Polish words that say of what kind: `krytycznych`.
const FILLER_ENDS: [&str; 2] = ["ych", "ich"];
const MOST_FILLERS: usize = 3;
/// The same in Chinese, with no blank behind it.
const JOINED_FILLERS: [&str; 4] = ["任何", "其他", "其它", "明显"];

/// Whether the word is such a search, and errors are its object. `before` and `behind` are what may belong to the word.
pub(super) fn is_for_errors(script: Script, word: &str, before: &str, behind: &str) -> bool {
    let Some(object) = object(word) else {
        return false;
    };
    object != Behind && ends_with_errors(script, before) || object != Before && begins_with_errors(behind)
}

/// Whether the word is such a search. It says `not` itself, and what stands before it does not deny it: `hiçbir GPU bulunamadi`.
pub(super) fn is_search(word: &str) -> bool {
    object(word).is_some()
}

fn object(word: &str) -> Option<Object> {
    let mut searches = SEARCHES.into_iter();
    let (_, object) = searches.find(|(known, _)| word.eq_ignore_ascii_case(known))?;
    Some(object)
}

/// The part before a word whose words may deny it. The `not` of a search denies nothing but what was looked for: in
/// `nie znaleziono urządzenia błąd 5` there is an error.
pub(super) fn behind_search(before: &str) -> &str {
    let lower = before.to_ascii_lowercase();
    let ends = SEARCHES.into_iter().filter_map(|(known, object)| {
        let at = lower.rfind(known)?;
        Some((at + known.len(), object))
    });
    let Some((end, object)) = ends.max_by_key(|(end, _)| *end) else {
        return before;
    };
    let rest = before.get(end..).unwrap_or_default();
    let rest = rest.trim_start_matches(char::is_alphanumeric);
    if object != Before && without_fillers(rest).is_empty() {
        before
    } else {
        rest
    }
}

fn ends_with_errors(script: Script, before: &str) -> bool {
    let mut words = before.trim_end().rsplit(|letter: char| !letter.is_alphanumeric());
    let last = words.next().unwrap_or_default();
    if script == Script::Joined {
        let last = last.trim_end_matches(PARTICLES);
        LOOKED_FOR.iter().any(|known| last.ends_with(known))
    } else {
        LOOKED_FOR.iter().any(|known| begins_with(last, known))
    }
}

fn begins_with_errors(behind: &str) -> bool {
    let object = without_fillers(behind);
    LOOKED_FOR.iter().any(|known| begins_with(object, known))
}

fn without_fillers(text: &str) -> &str {
    let mut rest = text.trim_start();
    for _ in 0..MOST_FILLERS {
        if let Some(behind) = JOINED_FILLERS.iter().find_map(|known| rest.strip_prefix(known)) {
            rest = behind.trim_start();
            continue;
        }
        let end = rest.find(|letter: char| !letter.is_alphanumeric());
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let is_filler = FILLERS.iter().any(|known| word.eq_ignore_ascii_case(known))
            || FILLER_ENDS.iter().any(|end| word.ends_with(end));
        if !is_filler {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

fn begins_with(text: &str, known: &str) -> bool {
    text.get(..known.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(known))
}
