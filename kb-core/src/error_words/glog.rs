//! Lines that glog, klog and loggers like them write as errors, told by their head: `E1130 12:00:00.123456  1234 file.cc:12] …`. What
//! they say needs no word for an error.

/// Bytes before the ending of the file's name that are read.
const HEAD: usize = 128;
/// Longest ending with its point.
const ENDING: usize = 5;
/// Most digits of the number of a line in a file.
const DIGITS: usize = 7;

/// Whether a number and a bracket stand behind the ending of a file's name that begins at `from`.
pub(super) fn may_be_place(text: &[u8], from: usize) -> bool {
    let rest = text.get(from..).unwrap_or_default();
    let Some(ending) = rest.iter().take(ENDING).position(|byte| *byte == b':') else {
        return false;
    };
    let rest = rest.get(ending + 1..).unwrap_or_default();
    let digits = rest
        .iter()
        .take(DIGITS)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    digits > 0 && rest.get(digits) == Some(&b']')
}

/// Whether the head before the name of the file is that of an error or of a fatal one.
pub(super) fn is_error(line: &[u8], from: usize) -> bool {
    let head = line.get(from.saturating_sub(HEAD)..from).unwrap_or_default();
    let parts = head.rsplit(u8::is_ascii_whitespace);
    // The first is the name of the file.
    let mut parts = parts.filter(|part| !part.is_empty()).skip(1);
    let Some(thread) = parts.next() else {
        return false;
    };
    // PyTorch writes none.
    let time = if thread.iter().all(u8::is_ascii_digit) {
        parts.next().unwrap_or_default()
    } else {
        thread
    };
    is_time(time) && parts.next().is_some_and(is_grave)
}

fn is_time(word: &[u8]) -> bool {
    let is_of_time = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b':' | b'.');
    word.first().is_some_and(u8::is_ascii_digit) && word.contains(&b':') && word.iter().all(is_of_time)
}

/// `E1130`, `F20261130`, also behind what another program puts before it: `[rank0]:[E1130`.
fn is_grave(word: &[u8]) -> bool {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = word.get(..word.len() - digits).unwrap_or_default();
    let is_grave = match letters {
        [b'E' | b'F'] => true,
        [.., before, b'E' | b'F'] => !before.is_ascii_alphanumeric(),
        _ => false,
    };
    is_grave && matches!(digits, 4 | 8)
}
