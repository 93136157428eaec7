//! Two lines of the kernel log that were written into each other: `Xid (PCI:0000:3bNVRM: Xid (PCI:0000:4c:00): 31:00): 79`.

/// Bytes in which the place and the number of an Xid stand.
const NEAR: usize = 256;

/// Whether another line begins within the place of an Xid or right behind its number, or the rest of its place stands behind the number.
/// Whose the number is, or how it goes on, nobody knows. `behind`: what follows `Xid (`.
pub(super) fn is_mixed(behind: &[u8]) -> bool {
    let near = behind.get(..behind.len().min(NEAR)).unwrap_or_default();
    let mut parts = near.splitn(2, |byte| *byte == b')');
    let (place, behind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let behind = behind.strip_prefix(b": ").unwrap_or(behind);
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let goes_on = behind.get(digits..).unwrap_or_default();
    let is_written_over = match goes_on {
        [b':', next, ..] => next.is_ascii_hexdigit(),
        // A name, or the time or the priority that begins a line.
        [next, ..] => digits > 0 && (next.is_ascii_alphabetic() || matches!(next, b'-' | b'<' | b'[')),
        [] => false,
    };
    place.contains(&b'(') || is_written_over
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_whose_place_is_another_lines_is_told() {
        for (behind, expected) in [
            ("PCI:0000:3bNVRM: Xid (PCI:0000:4c:00): 31:00): 79, x", true),
            ("PCI:0000:4c:00): 31:00): 79, x", true),
            ("PCI:0000:3b:00): 7NVRM: Xid (PCI:0000:4c:00): 31, x", true),
            ("PCI:0000:3b:00): 72026-11-24T10:00:00+00:00 gpu kernel: x", true),
            (
                "PCI:0000:3b:00): 7<4>1 2026-11-24T10:00:00Z gpu kernel - - - x",
                true,
            ),
            ("PCI:0000:3b:00): 7[   12.345678] x", true),
            ("PCI:0000:3b:00): 79, x", false),
            ("PCI:0000:3b:00): 79", false),
            ("PCI:0000:3b:00): x", false),
            ("PCI:0000:3b:00 GPU-I:05): 79: x", false),
            ("PCI:0000:3b:00", false),
            ("", false),
        ] {
            assert_eq!(is_mixed(behind.as_bytes()), expected, "{behind}");
        }
    }
}
