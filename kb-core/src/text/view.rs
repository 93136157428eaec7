//! From a text to a typed view of it.

use super::{Node, Part, Severity, Violation, parse};

/// Strict JSON, then the shape, then the typed view; errors only.
pub(crate) fn read_view<T: serde::de::DeserializeOwned>(
    part: Part,
    text: &str,
    shape: fn(&Node) -> Vec<Violation>,
) -> Result<T, Vec<Violation>> {
    let (view, mut violations) = examine(part, text, shape);
    violations.retain(|violation| violation.severity == Severity::Error);
    view.ok_or(violations)
}

/// The same with warnings; the view is there unless an error is among the violations.
pub(crate) fn examine<T: serde::de::DeserializeOwned>(
    part: Part,
    text: &str,
    shape: fn(&Node) -> Vec<Violation>,
) -> (Option<T>, Vec<Violation>) {
    let root = match parse(text) {
        Ok(root) => root,
        Err(error) => return (None, vec![Violation::unreadable(part, error)]),
    };
    let mut violations = shape(&root);
    if violations
        .iter()
        .any(|violation| violation.severity == Severity::Error)
    {
        return (None, violations);
    }
    // The shape admits only what the view reads (a property test holds the two together), so this is a second lock.
    match serde_json::from_slice(text.as_bytes()) {
        Ok(view) => (Some(view), violations),
        Err(error) => {
            let violation = Violation::error(part, "", "unreadable", error.to_string());
            violations.push(violation.fix("compare the text with the published schema"));
            (None, violations)
        }
    }
}
