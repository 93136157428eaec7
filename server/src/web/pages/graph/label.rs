//! What stands in a box: at most three short lines.

/// Columns of a line of the sheet's monospace at 12 px in a box.
const COLUMNS: usize = 24;

/// Lines with their classes in the sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) lines: Vec<(&'static str, String)>,
}

impl Label {
    /// A record's id, or a text that is none: domain above, the rest on two lines.
    pub(super) fn of(id: &str) -> Self {
        let (domain, name) = id.split_once('/').unwrap_or(("", id));
        let mut lines = vec![("g-domain", cut(domain, COLUMNS))];
        let (first, rest) = broken(name);
        lines.push(("g-name", first));
        if !rest.is_empty() {
            lines.push(("g-name", cut(&rest, COLUMNS)));
        }
        Self { lines }
    }

    pub(super) fn counted(name: &str, count: String) -> Self {
        let lines = vec![("g-name strong", cut(name, COLUMNS)), ("g-domain", count)];
        Self { lines }
    }
}

/// Columns that a character takes: Chinese ones take two.
fn width(char: char) -> usize {
    if u32::from(char) >= 0x2e80 { 2 } else { 1 }
}

/// The start of a text that fits, with an ellipsis where something is left out.
fn cut(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    let whole: usize = text.chars().map(width).sum();
    for char in text
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
    {
        used += width(char);
        if used > columns || (used == columns && whole > columns) {
            out.push('…');
            break;
        }
        out.push(char);
    }
    out
}

/// A name on two lines, broken behind a hyphen, slash or blank where there is one.
fn broken(name: &str) -> (String, String) {
    if name.chars().map(width).sum::<usize>() <= COLUMNS {
        return (cut(name, COLUMNS), String::new());
    }
    let mut used = 0;
    let (mut fits, mut after_hyphen) = (0, 0);
    for (at, char) in name.char_indices() {
        used += width(char);
        if used > COLUMNS {
            break;
        }
        fits = at + char.len_utf8();
        if matches!(char, '-' | '/' | ' ' | '_') {
            after_hyphen = fits;
        }
    }
    let at = if after_hyphen > 0 { after_hyphen } else { fits };
    let (first, rest) = name.split_at(at);
    (cut(first.trim_end(), COLUMNS), rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(id: &str) -> Vec<String> {
        Label::of(id).lines.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ids_fit_their_box() {
        assert_eq!(lines("xid/79"), ["xid", "79"]);
        assert_eq!(
            lines("cuda/peer-access-unsupported-by-hardware"),
            ["cuda", "peer-access-unsupported-", "by-hardware"]
        );
        assert_eq!(
            lines(&format!("t/{}", "a".repeat(60))),
            [
                "t",
                "a".repeat(24).as_str(),
                format!("{}…", "a".repeat(23)).as_str()
            ]
        );
        assert_eq!(lines("no such\nerror"), ["", "no such error"]);
        let chinese = lines(&"错".repeat(40));
        assert_eq!(chinese[1].chars().count(), 12);
        assert!(
            chinese[2].ends_with('…') && chinese[2].chars().count() == 12,
            "{chinese:?}"
        );
    }
}
