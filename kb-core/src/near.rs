//! A name that there is not, and those that there are: what a caller is told who misspelt one.

use crate::terminal::harmless;

/// Letters added, left out, changed or swapped, up to which a name is taken for a known one.
const MOST_SLIPS: usize = 3;
const MOST_LISTED: usize = 50;
/// Characters of a wrong name that are shown.
const SHOWN: usize = 60;

/// The known name that was probably meant, if any is near: at most three slips, and one in three of its letters.
pub fn nearest<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    slips(wrong, known).min().map(|(_, known)| known)
}

/// All known names that may have been meant, the nearest first.
pub fn all_near<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let mut near: Vec<(usize, &str)> = slips(wrong, known).collect();
    near.sort_unstable();
    near.into_iter().map(|(_, known)| known).collect()
}

fn slips<'k>(
    wrong: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> impl Iterator<Item = (usize, &'k str)> {
    let wrong = wrong.to_lowercase();
    let length = wrong.chars().count();
    let slips = known.into_iter().filter_map(move |known| {
        let letters = known.chars().count();
        // A letter more or less is a slip, and counting them is quicker than comparing them.
        let may_be = letters.abs_diff(length) <= MOST_SLIPS;
        may_be.then(|| {
            let slips = strsim::damerau_levenshtein(&wrong, &known.to_lowercase());
            (slips, letters, known)
        })
    });
    let near = slips.filter(|(slips, letters, _)| *slips <= MOST_SLIPS && slips * 3 <= *letters);
    near.map(|(slips, _, known)| (slips, known))
}

/// Which of the known names was probably meant, and all that there are, in order: it follows the words that refuse a name.
pub fn choices(wrong: &str, known: &[&str]) -> String {
    let listed: Vec<String> = known
        .iter()
        .take(MOST_LISTED)
        .map(|name| harmless(name))
        .collect();
    let more = match known.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let there_are = match listed.as_slice() {
        [] => return "there are none".to_owned(),
        [one] => format!("there is {one}"),
        _ => format!("there are {}{more}", listed.join(", ")),
    };
    match nearest(wrong, known.iter().copied()) {
        Some(near) => format!("did you mean {}? ({there_are})", harmless(near)),
        None => there_are,
    }
}

/// A wrong name as it may be shown.
pub fn shown(wrong: &str) -> String {
    let text: String = wrong.chars().take(SHOWN).collect();
    let rest = if text.len() < wrong.len() { "…" } else { "" };
    format!("`{}{rest}`", harmless(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_named_and_what_there_is() {
        let known = ["domain", "tier", "q"];
        assert_eq!(
            choices("domian", &known),
            "did you mean domain? (there are domain, tier, q)"
        );
        assert_eq!(choices("severity", &known), "there are domain, tier, q");
        assert_eq!(choices("x", &["limit"]), "there is limit");
        assert_eq!(choices("x", &[]), "there are none");
        let many: Vec<String> = (0..60).map(|number| format!("tag-{number:02}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(choices("x", &many).ends_with("tag-49 and 10 more"));
        assert_eq!(nearest("p", ["q", "a"]), None, "one letter is like every other");
        let codes = ["xid-79", "xid-7", "cuda", "xid-94"];
        assert_eq!(all_near("xid-97", codes), ["xid-7", "xid-79", "xid-94"]);
        assert_eq!(
            nearest("eror", ["zero3"]),
            None,
            "two of five letters are too many"
        );
    }

    #[test]
    fn a_wrong_name_is_shown_short_and_harmless() {
        assert_eq!(shown("a\u{1b}[2J"), "`a\\u001b[2J`");
        assert!(shown(&"x".repeat(1000)).chars().count() < 70);
    }
}
