//! GPUs that a node of Kubernetes has and cannot give to pods: fewer are allocatable than its capacity, because some are unhealthy.
//!
//! ```text
//! Capacity:
//!   nvidia.com/gpu:     8
//! Allocatable:
//!   nvidia.com/gpu:     7
//! ```

use memchr::memmem;

use super::error_lines::ErrorLines;
use super::lines::{Part, line_end, line_start, newlines, size, tail};

const GPUS: &[u8] = b"nvidia.com/gpu";
/// Lines behind the head of a list that may be of it.
const MOST_LINES: u64 = 64;
/// Longest line that is read, in bytes.
const LONGEST_LINE: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Capacity,
    Allocatable,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    list: List,
    /// Blanks before it.
    indent: usize,
    line: u64,
}

/// The two lists of a node, of which either may come first.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// The list that is read.
    open: Option<Head>,
    /// The first list of the node.
    first: Option<Head>,
    capacity: Option<u64>,
    allocatable: Option<u64>,
}

impl Resources {
    /// Takes whole lines. The line that shows that fewer are allocatable is taken as one that looks like an error.
    pub(super) fn read(&mut self, part: &Part<'_>, errors: &mut ErrorLines) {
        let mut heads = Heads::of(part.bytes);
        let (mut from, mut number) = (0, part.line);
        while from < part.bytes.len() {
            if self.open.is_none() {
                let Some(head) = heads.next(part.bytes, from) else {
                    return;
                };
                let start = line_start(part.bytes, head).max(from);
                number += newlines(part.bytes.get(from..start).unwrap_or_default());
                from = start;
            }
            let end = line_end(part.bytes, from);
            let line = part.bytes.get(from..end).unwrap_or_default();
            if self.take(line, number) {
                errors.insert(line, number, part.offset + size(end));
            }
            number += 1;
            from = end + 1;
        }
    }

    /// Whether this line shows that fewer are allocatable.
    fn take(&mut self, line: &[u8], number: u64) -> bool {
        let Some((name, value)) = field(line) else {
            // Of JSON a list ends in a line of its own.
            self.close_at(line, number);
            return false;
        };
        let list = match name {
            _ if !value.is_empty() => None,
            name if name.eq_ignore_ascii_case(b"capacity") => Some(List::Capacity),
            name if name.eq_ignore_ascii_case(b"allocatable") => Some(List::Allocatable),
            _ => None,
        };
        if let Some(list) = list {
            self.begin(Head {
                list,
                indent: indent(line),
                line: number,
            });
            return false;
        }
        self.close_at(line, number);
        let (Some(open), Some(count)) = (self.open.filter(|_| name == GPUS), count(value)) else {
            return false;
        };
        match open.list {
            List::Capacity => self.capacity = Some(count),
            List::Allocatable => self.allocatable = Some(count),
        }
        self.allocatable
            .zip(self.capacity)
            .is_some_and(|(allocatable, capacity)| allocatable < capacity)
    }

    fn begin(&mut self, head: Head) {
        let is_second = |first: Head| first.list != head.list && head.line <= first.line + 2 * MOST_LINES;
        if !self.first.is_some_and(is_second) {
            self.first = Some(head);
            (self.capacity, self.allocatable) = (None, None);
        }
        self.open = Some(head);
    }

    /// A list ends at a line that is not further in than its head.
    fn close_at(&mut self, line: &[u8], number: u64) {
        let is_blank = line.trim_ascii().is_empty();
        let goes_on =
            |head: &Head| number <= head.line + MOST_LINES && (is_blank || indent(line) > head.indent);
        self.open = self.open.filter(goes_on);
    }
}

/// Where the next heads may stand in a part.
struct Heads {
    capacity: Option<usize>,
    allocatable: Option<usize>,
}

impl Heads {
    fn of(text: &[u8]) -> Self {
        Self {
            capacity: capacity(text, 0),
            allocatable: allocatable(text, 0),
        }
    }

    /// The next place from `from` on, which only ever rises.
    fn next(&mut self, text: &[u8], from: usize) -> Option<usize> {
        if self.capacity.is_some_and(|at| at < from) {
            self.capacity = capacity(text, from);
        }
        if self.allocatable.is_some_and(|at| at < from) {
            self.allocatable = allocatable(text, from);
        }
        self.capacity.into_iter().chain(self.allocatable).min()
    }
}

/// `kubectl describe` writes the first letter large, YAML and JSON small.
fn capacity(text: &[u8], from: usize) -> Option<usize> {
    memmem::find(tail(text, from), b"apacity").map(|at| from + at)
}

fn allocatable(text: &[u8], from: usize) -> Option<usize> {
    memmem::find(tail(text, from), b"llocatable").map(|at| from + at)
}

/// A name and its value, of YAML, JSON and `kubectl describe`.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    if line.len() > LONGEST_LINE {
        return None;
    }
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at(colon);
    Some((bare(name), bare(value)))
}

/// Without blanks and the signs of JSON around it.
fn bare(mut text: &[u8]) -> &[u8] {
    let is_sign = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b':' | b',' | b'{');
    while let [first, rest @ ..] = text
        && is_sign(first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_sign(last)
    {
        text = rest;
    }
    text
}

fn count(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit).then_some(value)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn indent(line: &[u8]) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    line.iter().take_while(is_blank).count()
}

#[cfg(test)]
mod tests {
    use super::super::ScanOptions;
    use super::super::testing::{matcher, scan_text};

    fn told(text: &str) -> Vec<u64> {
        let found = scan_text(&matcher(), text).unexplained;
        let lines = found.into_iter().flat_map(|found| found.lines);
        lines.map(|line| line.line).collect()
    }

    fn described(capacity: u32, allocatable: u32) -> String {
        format!(
            "Name: node7\nCapacity:\n  cpu:  96\n  nvidia.com/gpu:     {capacity}\nAllocatable:\n  cpu:  96\n  \
             nvidia.com/gpu:     {allocatable}\nSystem Info:\n  Machine ID: 7\n"
        )
    }

    #[test]
    fn fewer_allocatable_gpus_than_there_are_look_like_an_error() {
        assert_eq!(told(&described(8, 7)), [7]);
        assert_eq!(told(&described(8, 0)), [7]);
        assert_eq!(told(&described(8, 8)), [0_u64; 0]);
        assert_eq!(told(&described(0, 0)), [0_u64; 0]);
        let both = format!("{}{}", described(8, 8), described(4, 4));
        assert_eq!(told(&both), [0_u64; 0], "each node has its own lists");
        let both = format!("{}{}", described(8, 8), described(8, 6));
        assert_eq!(told(&both), [16]);
    }

    #[test]
    fn yaml_and_json_are_read() {
        let yaml = "  status:\n    allocatable:\n      nvidia.com/gpu: \"7\"\n    capacity:\n      nvidia.com/gpu: \"8\"\n";
        assert_eq!(told(yaml), [5]);
        assert_eq!(told(&yaml.replace('7', "8")), [0_u64; 0]);
        let json = "\"capacity\": {\n    \"nvidia.com/gpu\": \"8\"\n},\n\"allocatable\": {\n    \"nvidia.com/gpu\": \"7\"\n}\n";
        assert_eq!(told(json), [5]);
    }

    #[test]
    fn what_is_no_list_is_not_read() {
        for text in [
            "Capacity:  8\nAllocatable:  7\n",
            "capacity 8\nnvidia.com/gpu: 8\nallocatable 7\nnvidia.com/gpu: 7\n",
            "Capacity:\n  cpu: 8\nx: 1\n  nvidia.com/gpu: 8\nAllocatable:\n  nvidia.com/gpu: 7\n",
            "Allocated resources:\n  nvidia.com/gpu  7  7\n",
        ] {
            assert_eq!(told(text), [0_u64; 0], "{text}");
        }
    }

    #[test]
    fn the_chunks_of_a_text_change_nothing() {
        let text = format!("{}step 1\n{}", described(8, 7), described(8, 8));
        let whole = scan_text(&matcher(), &text).unexplained;
        assert!(whole.is_some());
        for size in [1, 7, 64] {
            let mut scanner = matcher().scanner(ScanOptions::default());
            for piece in text.as_bytes().chunks(size) {
                scanner.feed(piece);
            }
            assert_eq!(scanner.finish().unexplained, whole, "{size}");
        }
    }
}
