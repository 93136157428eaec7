//! Other forms of an English word: `hangs`, `hanging`; `fell`, `fallen`; `initialise`, `initialize`.
//!
//! A rule may give forms that do not exist: no document has them.

/// Verbs of the field whose forms no rule gives.
const IRREGULAR: [&[&str]; 12] = [
    &["break", "breaks", "broke", "broken", "breaking"],
    &["choose", "chose", "chosen"],
    &["die", "dies", "died", "dead", "dying"],
    &["fall", "falls", "fell", "fallen", "falling"],
    &["find", "finds", "found", "finding"],
    &["freeze", "freezes", "froze", "frozen", "freezing"],
    &["go", "goes", "went", "gone"],
    &["hang", "hangs", "hung", "hanging"],
    &["lose", "loses", "lost", "losing", "loss"],
    &["run", "runs", "ran", "running"],
    &["see", "sees", "saw", "seen"],
    &["throw", "throws", "threw", "thrown"],
];

/// Shortest word that has forms, in bytes, and shortest word that is left when an ending goes.
const MIN_WORD: usize = 3;
/// Shortest word before `ing` and `ed`: `string` is no form of `str`.
const MIN_VERB: usize = 4;

/// Other forms of a word in lower case.
pub(crate) fn inflections(word: &str) -> Vec<String> {
    if word.len() < MIN_WORD || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    if let Some(forms) = IRREGULAR.iter().find(|forms| forms.contains(&word)) {
        let others = forms.iter().filter(|form| **form != word);
        return others.map(|form| (*form).to_owned()).collect();
    }
    let mut found: Vec<String> = Vec::new();
    for base in bases(word) {
        for form in spellings(&base).into_iter().flat_map(|base| forms(&base)) {
            if form != word && !found.contains(&form) {
                found.push(form);
            }
        }
    }
    found
}

/// Base forms of a word, itself first.
fn bases(word: &str) -> Vec<String> {
    let mut found = vec![word.to_owned()];
    let mut add = |base: String, shortest: usize| {
        if base.len() >= shortest && !found.contains(&base) {
            found.push(base);
        }
    };
    if let Some(stem) = word.strip_suffix("ies") {
        add(format!("{stem}y"), MIN_WORD);
    } else if let Some(stem) = word.strip_suffix("es").filter(|stem| ends_with_sibilant(stem)) {
        add(stem.to_owned(), MIN_WORD);
    } else if let Some(stem) = word.strip_suffix('s').filter(|stem| !stem.ends_with('s')) {
        add(stem.to_owned(), MIN_WORD);
    }
    for ending in ["ing", "ed"] {
        if let Some(stem) = word.strip_suffix(ending) {
            add(stem.to_owned(), MIN_VERB);
            add(format!("{stem}e"), MIN_VERB);
            if let Some(single) = undoubled(stem) {
                add(single.to_owned(), MIN_WORD);
            }
        }
    }
    found
}

fn spellings(base: &str) -> Vec<String> {
    let mut found = vec![base.to_owned()];
    for (from, to) in [
        ("ise", "ize"),
        ("ize", "ise"),
        ("isation", "ization"),
        ("ization", "isation"),
    ] {
        if let Some(stem) = base.strip_suffix(from).filter(|stem| stem.len() >= MIN_VERB) {
            found.push(format!("{stem}{to}"));
        }
    }
    found
}

fn forms(base: &str) -> Vec<String> {
    let plural = if ends_with_sibilant(base) {
        format!("{base}es")
    } else if let Some(stem) = base
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']))
    {
        format!("{stem}ies")
    } else {
        format!("{base}s")
    };
    let mut found = vec![base.to_owned(), plural];
    if let Some(stem) = base.strip_suffix('e') {
        found.extend([format!("{base}d"), format!("{stem}ing")]);
    } else {
        found.extend([format!("{base}ed"), format!("{base}ing")]);
        // `dropped`, `stopping`: a last consonant may double.
        if let Some(last) = base.chars().next_back().filter(|c| "bdglmnprt".contains(*c)) {
            found.extend([format!("{base}{last}ed"), format!("{base}{last}ing")]);
        }
    }
    found
}

fn ends_with_sibilant(word: &str) -> bool {
    ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end))
}

/// `dropp` without its second `p`.
fn undoubled(stem: &str) -> Option<&str> {
    let mut letters = stem.chars().rev();
    let (last, before) = (letters.next()?, letters.next()?);
    (last == before).then(|| stem.strip_suffix(last)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_lead_to_each_other() {
        for (one, other) in [
            ("hangs", "hang"),
            ("fell", "fallen"),
            ("dropping", "dropped"),
            ("drop", "dropping"),
            ("queries", "query"),
            ("switches", "switch"),
            ("initialised", "initialize"),
            ("disable", "disabling"),
            ("gpus", "gpu"),
            ("missing", "missed"),
            ("timeouts", "timeout"),
        ] {
            assert!(
                inflections(one).iter().any(|form| form == other),
                "{one}: {:?}",
                inflections(one)
            );
            assert!(
                inflections(other).iter().any(|form| form == one),
                "{other}: {:?}",
                inflections(other)
            );
        }
    }

    #[test]
    fn a_word_that_only_looks_like_a_form_is_none() {
        assert!(!inflections("string").iter().any(|form| form == "str"));
        assert!(!inflections("process").iter().any(|form| form == "proces"));
        assert!(!inflections("bus").iter().any(|form| form == "bu"));
        for text in ["p2p", "不支", "io", "", "nccl_debug"] {
            assert_eq!(inflections(text), Vec::<String>::new(), "{text}");
        }
    }
}
