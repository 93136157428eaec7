//! Lists of the driver's numbers: `Xid 31, 79`, `Xids: 13 79`, `"xids": [13, 79]`. Each of them is a report, and the last may
//! be the one that matters.

use super::codes::read_number;

/// Most numbers that are read behind the first one.
const MOST: usize = 32;
/// Words that may follow the last number. With any other it counts something: `Xid 79, 2 GPUs`, `Xid 79, 13 times`.
const FOLLOWING: [&[u8]; 9] = [
    b"and", b"at", b"for", b"from", b"in", b"on", b"or", b"seen", b"were",
];

/// The numbers of a list that goes on here, and how far from here each ends. In the plural, blanks alone part them.
pub(super) fn further(text: &[u8], is_plural: bool) -> Vec<(u64, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while found.len() < MOST {
        let rest = text.get(at..).unwrap_or_default();
        let Some(parted) = separator(rest, is_plural) else {
            break;
        };
        let Some((number, len)) = read_number(rest.get(parted..).unwrap_or_default()) else {
            break;
        };
        let end = at + parted + len;
        if !may_end(text.get(end..).unwrap_or_default(), is_plural) {
            break;
        }
        found.push((number, end));
        at = end;
    }
    found
}

/// Length of what parts two numbers.
fn separator(rest: &[u8], is_plural: bool) -> Option<usize> {
    let blanks = |from: usize| {
        let behind = rest.get(from..).unwrap_or_default();
        behind.iter().take_while(|byte| b" \t".contains(byte)).count()
    };
    let before = blanks(0);
    let behind = rest.get(before..)?;
    let sign = match behind.first()? {
        b',' | b'/' | b';' | b'|' | b'+' | b'&' => 1,
        _ if before > 0 && behind.starts_with(b"and ") => 3,
        byte if before > 0 && is_plural && byte.is_ascii_digit() => 0,
        _ => return None,
    };
    let end = before + sign;
    let end = end + blanks(end);
    // `31, and 79`.
    let and = rest.get(end..)?.starts_with(b"and ");
    Some(if and && sign == 1 { end + 4 } else { end })
}

fn may_end(behind: &[u8], is_plural: bool) -> bool {
    let Some(first) = behind.first() else {
        return true;
    };
    match first {
        b',' | b'/' | b';' | b'|' | b'+' | b'&' | b']' | b')' | b'}' | b'"' | b'\'' | b'\r' => true,
        b'.' => behind.get(1).is_none_or(u8::is_ascii_whitespace),
        b' ' | b'\t' => {
            let word = behind.trim_ascii_start();
            let len = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let word = word.get(..len).unwrap_or_default();
            let behind = behind.trim_ascii_start().first();
            match behind {
                None => true,
                Some(byte) if byte.is_ascii_digit() => is_plural,
                Some(byte) if byte.is_ascii_alphabetic() => FOLLOWING.contains(&word),
                Some(byte) => b",;|/)]}&+-".contains(byte),
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_to_its_end() {
        for (text, is_plural, numbers) in [
            (",79", false, vec![79]),
            (", 79", false, vec![79]),
            (", 79, 43]", false, vec![79, 43]),
            (", 79 and 43 on node 7", false, vec![79, 43]),
            (", 79, and 43.", false, vec![79, 43]),
            (" 79 43", true, vec![79, 43]),
            ("/79", false, vec![79]),
        ] {
            let found: Vec<u64> = further(text.as_bytes(), is_plural)
                .into_iter()
                .map(|(number, _)| number)
                .collect();
            assert_eq!(found, numbers, "{text}");
        }
    }

    #[test]
    fn what_counts_something_else_is_no_part_of_a_list() {
        for (text, is_plural) in [
            ("", false),
            (" 79", false),
            (", 2 GPUs affected", false),
            (", 13 times", false),
            (", pid=1234, name=python", false),
            (", 0003 00000000 0000a097", false),
            (", 0x79", false),
            (", 79%", false),
            (", 7.9", false),
            (": 79", true),
        ] {
            assert_eq!(further(text.as_bytes(), is_plural), [], "{text}");
        }
    }
}
