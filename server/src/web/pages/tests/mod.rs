//! Templates have no words of their own, and a Chinese page says nothing in English.

mod accounts;
mod chinese;
mod chinese_nodes;
mod facets;
mod templates;

/// What a page says to its reader in its own language: its texts and the names of its parts, but for code, drawings,
/// and what is marked as English.
fn texts(html: &str) -> Vec<String> {
    const EMPTY: [&str; 6] = ["br", "input", "link", "meta", "path", "rect"];
    const FOREIGN: [&str; 7] = ["code", "pre", "script", "style", "svg", "textarea", "title"];
    let mut texts = Vec::new();
    // Open elements, and whether each is passed over.
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut rest = html;
    while let Some((text, tail)) = rest.split_once('<') {
        let passed_over = open.iter().any(|(_, passed)| *passed);
        if !passed_over && !text.trim().is_empty() {
            texts.push(text.trim().to_owned());
        }
        let (tag, after) = tail.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let place = open.iter().rposition(|(open, _)| open == name);
            open.truncate(place.unwrap_or(open.len()));
            continue;
        }
        let name = tag.split([' ', '\n', '/']).next().unwrap().to_owned();
        let is_foreign = FOREIGN.contains(&name.as_str())
            || tag.contains("lang=\"en\"")
            || tag.contains("class=\"mono")
            || tag.contains(" mono");
        if !passed_over && !is_foreign {
            for attribute in ["aria-label=\"", "title=\""] {
                let value = tag
                    .split_once(attribute)
                    .and_then(|(_, rest)| rest.split_once('"'));
                texts.extend(value.map(|(value, _)| value.to_owned()));
            }
        }
        if !EMPTY.contains(&name.as_str()) && !tag.ends_with('/') && !tag.starts_with('!') {
            open.push((name, is_foreign));
        }
    }
    texts
}
