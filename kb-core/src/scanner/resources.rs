//! GPUs that a node of Kubernetes has and cannot give to pods: fewer are allocatable than its capacity, because some are unhealthy.
//!
//! ```text
//! Capacity:
//!   nvidia.com/gpu:     8
//! Allocatable:
//!   nvidia.com/gpu:     7
//! ```

mod inline;

use memchr::memmem;

use super::error_lines::ErrorLines;
use super::lines::{Part, line_end, line_start, newlines, size, tail};

/// Names of resources that are GPUs or parts of them.
const GPUS: [&[u8]; 3] = [b"nvidia.com/gpu", b"nvidia.com/gpu.shared", b"amd.com/gpu"];
/// The same of their beginnings: `nvidia.com/mig-1g.10gb`.
const GPU_BEGINNINGS: [&[u8]; 1] = [b"nvidia.com/mig-"];
/// Longest such name, in bytes.
const GPUS_MOST_BYTES: usize = 64;
/// Resources of a node that are kept.
const MOST_GPUS: usize = 32;
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
    capacity: Counts,
    allocatable: Counts,
}

/// How many there are of each resource.
#[derive(Debug, Default)]
struct Counts(Vec<(Vec<u8>, u64)>);

impl Counts {
    fn set(&mut self, name: &[u8], count: u64) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known == name) {
            *known = count;
        } else if self.0.len() < MOST_GPUS {
            self.0.push((name.to_vec(), count));
        }
    }

    fn get(&self, name: &[u8]) -> Option<u64> {
        let (_, count) = self.0.iter().find(|(known, _)| known == name)?;
        Some(*count)
    }
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
        if has_list(line)
            && let Some(is_short) = self.take_inline(line, number)
        {
            return is_short;
        }
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
        let (Some(open), Some(count)) = (self.open.filter(|_| is_gpu(name)), count(value)) else {
            return false;
        };
        self.set(open.list, name, count)
    }

    /// The same for a line that has whole lists; `None` where it has none. Of two nodes in it the second has a list that the first
    /// has had.
    fn take_inline(&mut self, line: &[u8], number: u64) -> Option<bool> {
        let mut told = None;
        for (list, gpus) in inline::lists(line) {
            let mut is_short = told.unwrap_or(false);
            self.begin(Head {
                list,
                indent: 0,
                line: number,
            });
            for (name, count) in gpus {
                is_short |= self.set(list, name, count);
            }
            self.open = None;
            told = Some(is_short);
        }
        told
    }

    /// Whether fewer of it are allocatable than there are.
    fn set(&mut self, list: List, name: &[u8], count: u64) -> bool {
        match list {
            List::Capacity => self.capacity.set(name, count),
            List::Allocatable => self.allocatable.set(name, count),
        }
        self.allocatable
            .get(name)
            .zip(self.capacity.get(name))
            .is_some_and(|(allocatable, capacity)| allocatable < capacity)
    }

    fn begin(&mut self, head: Head) {
        let is_second = |first: Head| first.list != head.list && head.line <= first.line + 2 * MOST_LINES;
        if !self.first.is_some_and(is_second) {
            self.first = Some(head);
            (self.capacity, self.allocatable) = (Counts::default(), Counts::default());
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

fn is_gpu(name: &[u8]) -> bool {
    name.len() <= GPUS_MOST_BYTES
        && (GPUS.contains(&name) || GPU_BEGINNINGS.iter().any(|begin| name.starts_with(begin)))
}

/// Whether a list may stand within the line: a resource stands behind the name of a list.
fn has_list(line: &[u8]) -> bool {
    let heads = [capacity(line, 0), allocatable(line, 0)];
    let head = heads.into_iter().flatten().min();
    head.is_some_and(|head| memmem::find(tail(line, head), b".com/").is_some())
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
    fn lists_in_one_line_are_read() {
        let one = r#"{"allocatable":{"cpu":"96","nvidia.com/gpu":"7"},"capacity":{"nvidia.com/gpu":"8","pods":"110"}}"#;
        assert_eq!(told(&format!("node7\n{one}\n")), [2]);
        assert_eq!(told(&one.replace("\"7\"", "\"8\"")), [0_u64; 0]);
        let spaced = r#""capacity": { "nvidia.com/gpu": 8 }, "allocatable": { "nvidia.com/gpu": 7 }"#;
        assert_eq!(told(spaced), [1]);
        let apart = "\"capacity\":{\"nvidia.com/gpu\":\"8\"}\n\"allocatable\":{\"nvidia.com/gpu\":\"7\"}\n";
        assert_eq!(told(apart), [2]);
        let of = |capacity: u32, allocatable: u32| {
            format!(
                r#"{{"pad":"{}","status":{{"allocatable":{{"nvidia.com/gpu":"{allocatable}"}},"capacity":{{"nvidia.com/gpu":"{capacity}"}},"x":{{}}}}}}"#,
                "x".repeat(500)
            )
        };
        let nodes = |second: &str| format!(r#"{{"items":[{},{second}]}}"#, of(8, 8));
        assert_eq!(told(&nodes(&of(4, 4))), [0_u64; 0], "each node has its own lists");
        assert_eq!(told(&nodes(&of(4, 3))), [1]);
        assert_eq!(told(&format!("{}\n{}\n", of(8, 8), of(4, 4))), [0_u64; 0]);
        for other in [
            r#"{"allocatable":{"nvidia.com/gpu":"7"},"requests":{"nvidia.com/gpu":"8"}}"#,
            r#"{"allocatable":{"cpu":"95"},"capacity":{"cpu":"96"}}"#,
            r#"{"allocatable":{"a":{"nvidia.com/gpu":"7"}},"capacity":{"nvidia.com/gpu":"8"}}"#,
            r#"{"x_capacity_of":{"nvidia.com/gpu":"8"},"allocatable":{"nvidia.com/gpu":"7"}}"#,
        ] {
            assert_eq!(told(other), [0_u64; 0], "{other}");
        }
    }

    #[test]
    fn parts_of_gpus_and_other_makers_are_known() {
        for name in ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared", "amd.com/gpu"] {
            assert_eq!(
                told(&described(8, 7).replace("nvidia.com/gpu", name)),
                [7],
                "{name}"
            );
            let line = format!(r#"{{"allocatable":{{"{name}":"7"}},"capacity":{{"{name}":"8"}}}}"#);
            assert_eq!(told(&line), [1], "{name}");
        }
        // Each is compared with itself alone.
        let mixed = "Capacity:\n  nvidia.com/gpu: 8\n  nvidia.com/mig-1g.10gb: 0\nAllocatable:\n  nvidia.com/gpu: 8\n  nvidia.com/mig-1g.10gb: 0\n";
        assert_eq!(told(mixed), [0_u64; 0]);
        let other = described(8, 7).replace("nvidia.com/gpu", "nvidia.com/hostdev");
        assert_eq!(told(&other), [0_u64; 0]);
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
