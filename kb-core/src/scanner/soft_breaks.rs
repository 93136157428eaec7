//! Lines that a mail has cut: in quoted-printable (RFC 2045) a line that ends with `=` goes on with the next. They are put together and
//! read once more; only what stands across a cut counts.

use super::clean::Clean;
use super::cut_lines::Joined;
use super::restore::{Signs, restore};

/// Most lines that are put together.
const MOST_LINES: usize = 32;
/// As long as a line of a mail may be, in bytes.
const LONGEST_LINE: usize = 76;

/// Takes the lines of a text with their numbers and places.
pub(super) fn joined<'t>(lines: impl Iterator<Item = (u64, u64, &'t [u8])>) -> Vec<Joined> {
    let mut all = Vec::new();
    let mut open: Option<(Joined, usize)> = None;
    for (number, offset, line) in lines {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cut = without_soft_break(line);
        let text = cut.unwrap_or(line);
        let mut clean = Clean::default();
        if cut.is_some() || open.is_some() {
            restore(text, Signs::Encoded, false, &mut clean);
        }
        open = match (open.take(), cut) {
            (Some((mut joined, count)), cut) => {
                joined.add(&clean, number, offset, text.len());
                if cut.is_some() && count < MOST_LINES {
                    Some((joined, count + 1))
                } else {
                    all.push(joined);
                    // What stands across the next cut begins on this line.
                    cut.map(|_| (Joined::begin(clean, number, offset, text.len()), 1))
                }
            }
            (None, Some(_)) => Some((Joined::begin(clean, number, offset, text.len()), 1)),
            (None, None) => None,
        };
    }
    all.extend(open.map(|(joined, _)| joined));
    all
}

/// A line that goes on with the next, without the sign that says so.
fn without_soft_break(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_suffix(b"=")?;
    let is_full = line.len() * 2 >= LONGEST_LINE && line.len() <= LONGEST_LINE;
    is_full.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lines_with_the_sign_go_on() {
        let full = [b'x'; 75];
        let line = [&full[..], b"="].concat();
        assert_eq!(without_soft_break(&line), Some(&full[..]));
        assert_eq!(without_soft_break(b"a ="), None);
        assert_eq!(without_soft_break(&[b'='; 77]), None);
    }

    #[test]
    fn what_stands_across_a_cut_is_read_however_many_lines_there_are() {
        let lines: Vec<String> = (0..100).map(|number| format!("{number:075}=")).collect();
        let numbered = lines.iter().zip(1_u64..);
        let all = joined(numbered.map(|(line, number)| (number, number * 77, line.as_bytes())));
        for pair in lines.windows(2) {
            let text = [&pair[0][..75], &pair[1][..75]].concat();
            let is_read =
                |joined: &Joined| memchr::memmem::find(&joined.clean.text, text.as_bytes()).is_some();
            assert!(all.iter().any(is_read), "{text}");
        }
        let bytes: usize = all.iter().map(|joined| joined.clean.text.len()).sum();
        assert!(bytes < 110 * 75, "{bytes}");
    }
}
