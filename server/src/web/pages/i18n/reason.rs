//! Why a record was chosen or not, in Chinese. The matcher says it in English sentences of a few forms, with ids, numbers
//! and pieces of the log in them; a sentence of another form stays as it is, marked as English.

use super::Language;
use crate::web::pages::advice::Text;

/// Each form with its Chinese; `{}` stands for a value. Of two that fit, the one that stands first is meant.
const FORMS: &[(&str, &str)] = &[
    (
        "{} covers {} % of line {}, which holds the whole signature",
        "{}涵盖了 {}\u{a0}% 的内容（第 {} 行，其中包含完整的错误文本）",
    ),
    (
        "{} covers {} % of line {}",
        "{}涵盖了 {}\u{a0}% 的内容（第 {} 行）",
    ),
    ("it captured {}", "提取的值：{}"),
    ("it only wraps {}", "它只是包装了 {}"),
    (
        "it is about {} {}, and here that is {}",
        "该记录针对 {} {}，此处为 {}",
    ),
    (
        "the text matches, but it is about {} {}, and here that is {}",
        "文本匹配，但该记录针对 {} {}，此处为 {}",
    ),
    (
        "it is about {} {}, and which one is here is not known",
        "该记录针对 {} {}，此处的情况未知",
    ),
    (
        "{} stands on line {}, but nothing on that line says that it is about {}",
        "{}出现在第 {} 行，但该行没有表明与 {} 有关",
    ),
    (
        "{} stands on line {}, but the text does not say that its device is a GPU",
        "{}出现在第 {} 行，但文本没有表明该设备是 GPU",
    ),
    ("{} on line {} takes it away", "{}（第 {} 行）排除了它"),
    (
        "it matters only together with other errors, and none of them is here within {} s",
        "它只有与其他错误同时出现才有意义，而 {} 秒内没有这些错误",
    ),
    (
        "it matters only together with other errors, and none of them is here",
        "它只有与其他错误同时出现才有意义，而此处没有这些错误",
    ),
    (
        "it matters only alone, and {} is on line {} within {} s",
        "它只有单独出现才有意义，而 {} 在第 {} 行（{} 秒内）",
    ),
    (
        "it matters only alone, and {} is on line {}",
        "它只有单独出现才有意义，而 {} 在第 {} 行",
    ),
    (
        "no pattern of it matches; the text shares these words: {}",
        "没有匹配它的模式，但文本中有这些相同的词：{}",
    ),
];

/// What a form is about, and how versions are told.
const PARTS: &[(&str, &str)] = &[
    (
        "a pattern of the record, over several lines,",
        "该记录的跨多行模式",
    ),
    ("a pattern of the record", "该记录的模式"),
    ("the whole signature, over several lines,", "跨多行的完整错误文本"),
    ("the whole signature", "完整的错误文本"),
    ("the code {}", "错误码 {} "),
    ("{} and later, before {}", "{} 及以上且低于 {}"),
    ("{} and later, up to {}", "{} 及以上且不高于 {}"),
    ("{} and later", "{} 及以上"),
    ("before {}", "低于 {}"),
    ("up to {}", "不高于 {}"),
    ("{} (line {})", "{}（第 {} 行）"),
    ("{} or {}", "{} 或 {}"),
];

/// Where one clause of a reason ends and the next begins.
const CLAUSES: [&str; 4] = [
    "; it captured ",
    "; it only wraps ",
    "; it is about ",
    "; the text matches, but ",
];

/// A reason in a language.
pub(in crate::web) fn told(reason: &str, language: Language) -> Text {
    let chinese = match language {
        Language::English => None,
        Language::Chinese => in_chinese(reason),
    };
    match chinese {
        Some(text) => Text {
            text,
            lang: language.tag(),
        },
        None => Text {
            text: reason.to_owned(),
            lang: Language::English.tag(),
        },
    }
}

fn in_chinese(reason: &str) -> Option<String> {
    let mut clauses = Vec::new();
    let mut rest = reason;
    while !rest.is_empty() {
        let ends = CLAUSES.iter().filter_map(|clause| rest.find(clause));
        let (clause, after) = match ends.min() {
            Some(end) => (rest.get(..end)?, rest.get(end + "; ".len()..)?),
            None => (rest, ""),
        };
        clauses.push(clause_in_chinese(clause)?);
        rest = after;
    }
    Some(clauses.join("；"))
}

fn clause_in_chinese(clause: &str) -> Option<String> {
    let (values, chinese) = first_form(FORMS, clause)?;
    // What the log itself says stays as it was.
    let is_quoted = clause.starts_with("it captured ") || clause.starts_with("no pattern ");
    let said = |value: &str| {
        let part = if is_quoted { None } else { first_form(PARTS, value) };
        part.map_or_else(|| value.to_owned(), |(values, chinese)| filled(chinese, &values))
    };
    let values: Vec<String> = values.into_iter().map(said).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    Some(filled(chinese, &values))
}

/// A form with values in its places, in order.
fn filled(form: &str, values: &[&str]) -> String {
    let mut out = String::with_capacity(form.len() + 16);
    let mut values = values.iter();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once("{}") {
        out.push_str(before);
        out.push_str(values.next().copied().unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

fn first_form<'t>(forms: &[(&str, &'static str)], text: &'t str) -> Option<(Vec<&'t str>, &'static str)> {
    forms
        .iter()
        .find_map(|(english, chinese)| Some((values(english, text)?, *chinese)))
}

/// What stands in the places of a form; `None` where the text is of another one.
fn values<'t>(form: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut words = form.split("{}").peekable();
    let first = words.next()?;
    if words.peek().is_none() {
        return (text == first).then(Vec::new);
    }
    let mut rest = text.strip_prefix(first)?;
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        let (value, after) = if words.peek().is_some() {
            rest.split_once(word)?
        } else {
            (rest.strip_suffix(word)?, "")
        };
        if value.is_empty() {
            return None;
        }
        values.push(value);
        rest = after;
    }
    Some(values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::domain::lookup::{MatchOptions, look_up};
    use crate::feed::samples::{document, generation_of};

    #[test]
    fn what_the_matcher_says_is_said_in_chinese() {
        let bus = document("xid/79", "GPU has fallen off the bus");
        let annex = json!({
            "schema_version": 1,
            "codes": ["Xid 79"],
            "patterns": [{"id": "bus", "regex": "Xid \\(PCI:(?P<pci>[0-9a-f:]+)\\): 79, pid=(?P<pid>\\d+)"}],
            "applies_to": [{"component": "driver", "introduced": "550", "fixed": "560"}],
        });
        let generation = generation_of(&[(bus.to_string(), annex.to_string())]);
        let asked = |text: &str, driver: &str| {
            let environment = BTreeMap::from([("driver".to_owned(), driver.to_owned())]);
            let options = MatchOptions {
                environment,
                without_text: false,
            };
            look_up(&generation, text.as_bytes(), options).unwrap()
        };
        let printed = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus";
        for driver in ["555.1", "535.1"] {
            let why = asked(printed, driver).matches.remove(0).why;
            let told = told(&why, Language::Chinese);
            assert_eq!(told.lang, "zh-Hans", "{why}");
            assert!(
                told.text.contains("550 及以上且低于 560") && told.text.contains(driver),
                "{why} {told:?}"
            );
        }
        for text in ["dhclient: port 67 xid 79", "it has fallen off the bus again"] {
            let why = asked(text, "555.1").candidates.remove(0).why;
            assert_eq!(told(&why, Language::Chinese).lang, "zh-Hans", "{why}");
        }
    }

    #[test]
    fn values_stay_as_they_were_and_other_sentences_stay_english() {
        let chinese = |reason: &str| told(reason, Language::Chinese).text;
        assert_eq!(
            chinese(
                "a pattern of the record covers 58 % of line 1; it captured file=a (line 3); it only wraps nccl/a"
            ),
            "该记录的模式涵盖了 58\u{a0}% 的内容（第 1 行）；提取的值：file=a (line 3)；它只是包装了 nccl/a"
        );
        assert_eq!(
            chinese("the code Xid 79 stands on line 1, but nothing on that line says that it is about xid"),
            "错误码 Xid 79 出现在第 1 行，但该行没有表明与 xid 有关"
        );
        let other = "somebody thought of a new sentence";
        let english = Text {
            text: other.to_owned(),
            lang: "en",
        };
        assert_eq!(told(other, Language::Chinese), english);
        assert_eq!(told(other, Language::English), english);
    }
}
