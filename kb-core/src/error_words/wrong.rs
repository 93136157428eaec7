//! Rows of nccl-tests that count wrong values, told without the head of their table: size, count, type, operation, root, and time,
//! two bandwidths and the number of wrong values, twice.

/// Bytes before the type that are read, and behind it.
const BEFORE: usize = 96;
const BEHIND: usize = 256;
/// Time, two bandwidths and the number of wrong values.
const OF_ONE: usize = 4;

/// Whether the name of a type, of which a part begins at `from`, stands behind a size and a count.
pub(super) fn may_be_row(text: &[u8], from: usize) -> bool {
    let before = text.get(from.saturating_sub(BEFORE)..from).unwrap_or_default();
    let before = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut parts = before.rsplit(u8::is_ascii_whitespace);
    let of_name = parts.next().unwrap_or_default();
    let numbers = parts.filter(|part| !part.is_empty()).take(2);
    let numbers = numbers.filter(|part| part.iter().all(u8::is_ascii_digit));
    of_name.iter().all(u8::is_ascii_lowercase) && numbers.count() == 2
}

/// Whether the row counts wrong values.
pub(super) fn has_wrong_values(line: &[u8], from: usize) -> bool {
    let rest = line.get(from..line.len().min(from + BEHIND)).unwrap_or_default();
    let words = rest.split(u8::is_ascii_whitespace);
    let mut words = words.filter(|word| !word.is_empty()).skip(1).peekable();
    // Some operations do not compute, and have no name there.
    if words
        .peek()
        .is_some_and(|word| word.iter().all(u8::is_ascii_alphabetic))
    {
        words.next();
    }
    let root = words.next().unwrap_or_default();
    let root = root.strip_prefix(b"-").unwrap_or(root);
    let figures: Vec<&[u8]> = words.take(2 * OF_ONE).collect();
    is_digits(root) && figures.chunks_exact(OF_ONE).any(is_wrong)
}

fn is_wrong(figures: &[&[u8]]) -> bool {
    let [time, algorithm, bus, wrong] = figures else {
        return false;
    };
    let is_bandwidth = |figure: &[u8]| figure.contains(&b'.') && is_number(figure);
    is_number(time)
        && is_bandwidth(algorithm)
        && is_bandwidth(bus)
        && is_digits(wrong)
        && wrong.iter().any(|digit| *digit != b'0')
}

fn is_digits(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_digit)
}

fn is_number(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}
