//! What stands before a message and is no prefix that the scanner knows: the name of a host or a job in brackets, a word before
//! a tab, a number or a time of day. Anchored patterns are tried behind it too; nothing else is read from it.

/// No label is longer, in bytes.
const LONGEST: usize = 64;
/// Digits of a time in seconds to nanoseconds since 1970.
const EPOCH: std::ops::RangeInclusive<usize> = 10..=19;

/// Length of the label that a message begins with, and of the blanks behind it; 0 where there is none.
pub(super) fn label(part: &[u8]) -> usize {
    let head = part.get(..part.len().min(LONGEST)).unwrap_or(part);
    let len = bracketed(head)
        .or_else(|| before_tab(head))
        .or_else(|| number(head))
        .or_else(|| time_of_day(head));
    let Some(len) = len else {
        return 0;
    };
    let behind = part.get(len..).unwrap_or_default();
    len + behind.iter().take_while(|byte| b" \t:".contains(byte)).count()
}

/// `[node7]`, `[rank: 3]`, `##[error]`: names. Numbers in brackets say which of several things a program tries, `[2/0]`.
fn bracketed(head: &[u8]) -> Option<usize> {
    let open = head.iter().take_while(|byte| **byte == b'#').count();
    let is_name = head.get(open + 1).is_some_and(u8::is_ascii_alphabetic);
    if head.get(open) != Some(&b'[') || !is_name {
        return None;
    }
    let close = head.iter().position(|byte| *byte == b']')?;
    (close > open + 1).then_some(close + 1)
}

/// `node7<TAB>`: one word.
fn before_tab(head: &[u8]) -> Option<usize> {
    let word = head.iter().take_while(|byte| byte.is_ascii_graphic()).count();
    (word > 0 && head.get(word) == Some(&b'\t')).then_some(word)
}

/// A number as long as a time since 1970.
fn number(head: &[u8]) -> Option<usize> {
    let len = digits(head);
    (EPOCH.contains(&len) && head.get(len) == Some(&b' ')).then_some(len)
}

/// `12:00:00`, `12:00:00.123`, `12:00:00,123`.
fn time_of_day(head: &[u8]) -> Option<usize> {
    const LEN: usize = 8;
    let clock = head.get(..LEN)?;
    let is_clock = clock.iter().enumerate().all(|(at, byte)| match at {
        2 | 5 => *byte == b':',
        _ => byte.is_ascii_digit(),
    });
    if !is_clock {
        return None;
    }
    let behind = head.get(LEN..).unwrap_or_default();
    let fraction = match behind {
        [b'.' | b',', rest @ ..] => 1 + digits(rest),
        _ => 0,
    };
    (behind.get(fraction) == Some(&b' ')).then_some(LEN + fraction)
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_labels_no_message_is_none() {
        for text in [
            "",
            "[]x",
            "[2/0] x",
            "[unclosed text",
            "two words\tx",
            "12345 x",
            "12:00 x",
            "01:00.0 VGA",
            "0000:01:00.0 VGA",
            "error: x",
        ] {
            assert_eq!(label(text.as_bytes()), 0, "{text}");
        }
        assert_eq!(label(b"[node7] x"), 8);
        assert_eq!(label(b"12:00:00.5 x"), 11);
    }
}
