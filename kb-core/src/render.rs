//! English sentences of reasons. Nothing else makes them, and nothing reads them back.

pub mod baseline;

use std::collections::BTreeMap;

use crate::reason::{Condition, Found, Here, Known, LedTo, Sign, Standing, Why};
use crate::signature::AppliesTo;

/// Why a record was chosen, held back or not chosen.
pub fn why(why: &Why) -> String {
    match why {
        Why::Found(found) => sentence_of_found(found),
        Why::OtherSubject { sign, line, subject } => format!(
            "{} stands on line {line}, but nothing on that line says that it is about {subject}",
            name(sign)
        ),
        Why::NoGpuNamed { sign, line } => format!(
            "{} stands on line {line}, but the text does not say that its device is a GPU",
            name(sign)
        ),
        Why::TakenAway { by, line } => format!("{by} on line {line} takes it away"),
        Why::OnlyWithOthers { window } => format!(
            "it matters only together with other errors, and none of them is here{}",
            within(*window)
        ),
        Why::OnlyAlone { beside, line, window } => format!(
            "it matters only alone, and {beside} is on line {line}{}",
            within(*window)
        ),
        Why::SharedWords { words } => format!(
            "no line is this message; the text shares these words with it: {}",
            words.join(", ")
        ),
    }
}

/// What a first cause led to, and who says so.
pub fn led_to(led: &LedTo) -> String {
    let sentence = "no earlier match leads to it";
    if led.named.is_empty() {
        return sentence.to_owned();
    }
    let named: Vec<String> = led
        .named
        .iter()
        .map(|(id, line)| format!("{id} on line {line}"))
        .collect();
    let more = match led.more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let told = if led.by_graph {
        "; no common clock tells which came first, the graph does"
    } else {
        ""
    };
    format!("{sentence}; it leads to {}{more}{told}", named.join(", "))
}

fn sentence_of_found(found: &Found) -> String {
    let Found {
        line,
        captures,
        wraps,
        condition,
        ..
    } = found;
    let mut sentence = match found.standing() {
        Standing::Line => format!("line {line} is this message"),
        Standing::Whole => format!("line {line} has the whole message"),
        Standing::Most => format!("most of line {line} is this message"),
        Standing::Part => format!("part of line {line} is this message"),
        Standing::OverLines { whole: false } => {
            format!("this message stands on several lines, line {line} among them")
        }
        Standing::OverLines { whole: true } => {
            format!("the whole message stands on several lines, line {line} among them")
        }
        Standing::Code { code, whole: false } => format!("the code {code} stands on line {line}"),
        Standing::Code { code, whole: true } => {
            format!("the code {code} stands on line {line}, and so does the whole message")
        }
    };
    if !captures.is_empty() {
        sentence.push_str("; it names ");
        sentence.push_str(&list(captures));
    }
    if let Some(inner) = wraps {
        sentence.push_str("; it only wraps ");
        sentence.push_str(inner.as_str());
    }
    if let Some(condition) = condition {
        sentence.push_str("; ");
        sentence.push_str(&clause(condition));
    }
    sentence
}

fn name(sign: &Sign) -> String {
    match sign {
        Sign::Pattern => "the wording of this message".to_owned(),
        Sign::PatternOverLines => "the wording of this message, over several lines,".to_owned(),
        Sign::Signature => "the whole message".to_owned(),
        Sign::SignatureOverLines => "the whole message, over several lines,".to_owned(),
        Sign::Code(code) => format!("the code {code}"),
    }
}

/// Captured values: `pci=0000:3b:00, pid=1234`.
pub fn list(captures: &BTreeMap<String, String>) -> String {
    captures
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn clause(condition: &Condition) -> String {
    let component = &condition.about.component;
    let range = range(&condition.about);
    match &condition.here {
        Here::Meets(known) => format!(
            "it is about {component} {range}, and here that is {}",
            value(known)
        ),
        Here::Fails(known) => format!(
            "the text matches, but it is about {component} {range}, and here that is {}",
            value(known)
        ),
        Here::Untold => format!("it is about {component} {range}, and which one is here is not known"),
    }
}

fn value(known: &Known) -> String {
    match known.line {
        Some(line) => format!("{} (line {line})", known.value),
        None => known.value.clone(),
    }
}

/// A condition: `525 and later, before 550.54`.
fn range(about: &AppliesTo) -> String {
    let mut words = Vec::new();
    if !about.any_of.is_empty() {
        words.push(about.any_of.join(" or "));
    }
    words.extend(about.introduced.iter().map(|from| format!("{from} and later")));
    words.extend(about.fixed.iter().map(|fixed| format!("before {fixed}")));
    words.extend(about.last_affected.iter().map(|last| format!("up to {last}")));
    words.join(", ")
}

fn within(window: Option<u32>) -> String {
    window.map_or_else(String::new, |seconds| format!(" within {seconds} s"))
}
