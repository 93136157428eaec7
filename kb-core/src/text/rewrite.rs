//! From a changed value to a text: what did not change keeps its bytes, white space included.

use std::collections::{BTreeMap, BTreeSet};

use super::edit::EditError;
use super::node::{Kind, Node};
use super::reader::parse;
use super::tree::{Tree, quoted};

/// The text with another value. Every value that is as before keeps its bytes, and so does the white space between
/// neighbours that stay. What is new is laid out as its surroundings are.
pub fn rewrite(text: &str, value: &Tree) -> Result<String, EditError> {
    let root = parse(text).map_err(EditError::Text)?;
    let style = Style::of(text, &root);
    let before = text.get(..root.span.start).unwrap_or_default();
    let after = text.get(root.span.end..).unwrap_or_default();
    let writer = Writer { text, style };
    let edited = [before, &writer.value(&root, value, ""), after].concat();
    parse(&edited).map_err(EditError::Result)?;
    Ok(edited)
}

struct Style<'t> {
    newline: &'static str,
    /// What one level is indented by; `None` for a text on one line.
    unit: Option<&'t str>,
}

impl<'t> Style<'t> {
    /// That of its outermost value; an empty one is begun with two blanks.
    fn of(text: &'t str, root: &Node) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = match children(root).first() {
            Some(first) => {
                let lead = white_space_before(text, first.start);
                lead.rsplit_once('\n').map(|(_, indent)| indent)
            }
            None => Some("  "),
        };
        Self { newline, unit }
    }

    fn lead(&self, indent: &str) -> Option<(String, String)> {
        let deeper = format!("{indent}{}", self.unit?);
        Some((format!("{}{deeper}", self.newline), deeper))
    }
}

/// The bytes of a member or item, its key included.
struct Child<'n> {
    start: usize,
    value: &'n Node,
    key: Option<&'n str>,
}

fn children(node: &Node) -> Vec<Child<'_>> {
    match &node.kind {
        Kind::Array(items) => items
            .iter()
            .map(|value| Child {
                start: value.span.start,
                value,
                key: None,
            })
            .collect(),
        Kind::Object(members) => members
            .iter()
            .map(|member| Child {
                start: member.key_span.start,
                value: &member.value,
                key: Some(&member.key),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// An entry of the new text: where it stood before, and what it is now.
struct Entry {
    old: Option<usize>,
    text: String,
}

struct Writer<'t> {
    text: &'t str,
    style: Style<'t>,
}

impl Writer<'_> {
    /// `indent` is that of the line on which the old value begins.
    fn value(&self, old: &Node, new: &Tree, indent: &str) -> String {
        if Tree::of(self.text, old) == *new {
            return self.slice(old.span.start, old.span.end).to_owned();
        }
        match (&old.kind, new) {
            (Kind::Object(_), Tree::Object(members)) => self.object(old, members, indent),
            (Kind::Array(_), Tree::Array(items)) => self.array(old, items, indent),
            _ => self.fresh(new, indent, self.style.unit.is_some()),
        }
    }

    fn object(&self, old: &Node, members: &[(String, Tree)], indent: &str) -> String {
        let before = children(old);
        let inner = self.inner(&before, indent);
        let wanted: BTreeMap<&str, &Tree> =
            members.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let known: BTreeSet<&str> = before.iter().filter_map(|child| child.key).collect();
        let mut entries = Vec::new();
        for (at, child) in before.iter().enumerate() {
            let Some(value) = child.key.and_then(|key| wanted.get(key)) else {
                continue;
            };
            let key = self.slice(child.start, child.value.span.start);
            let text = format!("{key}{}", self.value(child.value, value, &inner.indent));
            entries.push(Entry { old: Some(at), text });
        }
        for (key, value) in members {
            if !known.contains(key.as_str()) {
                let value = self.fresh(value, &inner.indent, inner.lines);
                let text = format!("{}: {value}", quoted(key));
                entries.push(Entry { old: None, text });
            }
        }
        self.join(old, &before, &entries, indent)
    }

    fn array(&self, old: &Node, items: &[Tree], indent: &str) -> String {
        let before = children(old);
        let inner = self.inner(&before, indent);
        let trees: Vec<Tree> = before
            .iter()
            .map(|child| Tree::of(self.text, child.value))
            .collect();
        let entries: Vec<Entry> = origins(&trees, items)
            .into_iter()
            .zip(items)
            .map(|(old, item)| {
                let text = match old.and_then(|at| before.get(at)) {
                    Some(child) => self.value(child.value, item, &inner.indent),
                    None => self.fresh(item, &inner.indent, inner.lines),
                };
                Entry { old, text }
            })
            .collect();
        self.join(old, &before, &entries, indent)
    }

    /// The entries between the brackets of the old value. Neighbours that were neighbours keep what stood between them.
    fn join(&self, old: &Node, before: &[Child<'_>], entries: &[Entry], indent: &str) -> String {
        let open = self.slice(old.span.start, old.span.start + 1);
        let close = self.slice(old.span.end.saturating_sub(1), old.span.end);
        if entries.is_empty() {
            return format!("{open}{close}");
        }
        let (first, last, between) = match (before.first(), before.last()) {
            (Some(first), Some(last)) => {
                let lead = self.slice(old.span.start + 1, first.start);
                let tail = self.slice(last.value.span.end, old.span.end.saturating_sub(1));
                let between = match before.get(1) {
                    Some(second) => self.slice(first.value.span.end, second.start).to_owned(),
                    None if lead.contains('\n') => format!(",{lead}"),
                    None => ", ".to_owned(),
                };
                (lead.to_owned(), tail.to_owned(), between)
            }
            _ => match self.style.lead(indent) {
                Some((lead, _)) => (
                    lead.clone(),
                    format!("{}{indent}", self.style.newline),
                    format!(",{lead}"),
                ),
                None => (String::new(), String::new(), ", ".to_owned()),
            },
        };
        let mut out = format!("{open}{first}");
        let mut previous: Option<&Entry> = None;
        for entry in entries {
            if let Some(previous) = previous {
                let kept = previous.old.zip(entry.old).filter(|(from, to)| from + 1 == *to);
                let kept = kept.and_then(|(from, to)| {
                    Some(self.slice(before.get(from)?.value.span.end, before.get(to)?.start))
                });
                out.push_str(kept.unwrap_or(&between));
            }
            out.push_str(&entry.text);
            previous = Some(entry);
        }
        format!("{out}{last}{close}")
    }

    fn inner(&self, before: &[Child<'_>], indent: &str) -> Inner {
        let Some(first) = before.first() else {
            let lead = self.style.lead(indent);
            return Inner {
                lines: lead.is_some(),
                indent: lead.map_or_else(|| indent.to_owned(), |(_, deeper)| deeper),
            };
        };
        let lead = white_space_before(self.text, first.start);
        match lead.rsplit_once('\n') {
            Some((_, deeper)) => Inner {
                lines: true,
                indent: deeper.to_owned(),
            },
            None => Inner {
                lines: false,
                indent: indent.to_owned(),
            },
        }
    }

    fn fresh(&self, value: &Tree, indent: &str, lines: bool) -> String {
        let lead = if lines { self.style.lead(indent) } else { None };
        let Some((lead, deeper)) = lead else {
            return value.compact();
        };
        let (open, close, entries) = match value {
            Tree::Array(items) if !items.is_empty() => {
                let entries: Vec<String> = items.iter().map(|item| self.fresh(item, &deeper, true)).collect();
                ("[", "]", entries)
            }
            Tree::Object(members) if !members.is_empty() => {
                let member = |(key, value): &(String, Tree)| {
                    format!("{}: {}", quoted(key), self.fresh(value, &deeper, true))
                };
                ("{", "}", members.iter().map(member).collect())
            }
            other => return other.compact(),
        };
        let newline = self.style.newline;
        format!(
            "{open}{lead}{}{newline}{indent}{close}",
            entries.join(&format!(",{lead}"))
        )
    }

    fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}

struct Inner {
    lines: bool,
    indent: String,
}

/// Which old item each new one comes from: the same one, else one between the same neighbours.
fn origins(old: &[Tree], new: &[Tree]) -> Vec<Option<usize>> {
    let mut taken = vec![false; old.len()];
    let mut origins: Vec<Option<usize>> = Vec::with_capacity(new.len());
    for (at, item) in new.iter().enumerate() {
        // What stands at its old place comes first, so that equal items keep their bytes.
        let places = std::iter::once(at).chain(0..old.len());
        let found = places
            .filter(|place| taken.get(*place) == Some(&false))
            .find(|place| old.get(*place) == Some(item));
        if let Some(flag) = found.and_then(|place| taken.get_mut(place)) {
            *flag = true;
        }
        origins.push(found);
    }
    let mut next = 0;
    for origin in &mut origins {
        match origin {
            Some(place) => next = *place + 1,
            None => {
                if let Some(flag) = taken.get_mut(next).filter(|flag| !**flag) {
                    *flag = true;
                    *origin = Some(next);
                    next += 1;
                }
            }
        }
    }
    origins
}

fn white_space_before(text: &str, end: usize) -> &str {
    let before = text.get(..end).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
    before.get(kept..).unwrap_or_default()
}
