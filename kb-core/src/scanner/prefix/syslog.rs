//! The header of a syslog message of RFC 5424 as it is sent: a priority in angle brackets, a version, the time, host, program, process,
//! message id and structured data, each of them `-` where it is not known.

use super::{Part, Prefix, count, read_stamp, tail};

/// `<11>1 2026-11-29T12:00:00Z node7 dcgmi 4711 - - `.
pub(super) fn header(rest: &[u8], prefix: &mut Prefix) -> Option<Part> {
    let number = count(tail(rest, 1), |byte| byte.is_ascii_digit());
    let is_priority = rest.first() == Some(&b'<') && (1..=3).contains(&number);
    if !is_priority || rest.get(1 + number) != Some(&b'>') {
        return None;
    }
    let from = number + 2;
    let version = count(tail(rest, from), |byte| byte.is_ascii_digit());
    let mut at = from + version + 1;
    if !(1..=2).contains(&version) || rest.get(at - 1) != Some(&b' ') {
        return None;
    }
    if rest.get(at) == Some(&b'-') {
        at += 1;
    } else {
        let (stamp, len) = read_stamp(tail(rest, at), false)?;
        prefix.stamp = Some(stamp);
        prefix.time = Some(prefix.len + at..prefix.len + at + len);
        at += len;
    }
    let mut part = Part::default();
    // Host, program, process and message id.
    for field in 0..4 {
        let blank = tail(rest, at).first() == Some(&b' ');
        let len = count(tail(rest, at + 1), |byte| byte.is_ascii_graphic());
        if !blank || len == 0 {
            return None;
        }
        let value = at + 1..at + 1 + len;
        let is_known = rest.get(value.clone()) != Some(b"-");
        match field {
            0 if is_known => part.host = Some(value),
            2 if is_known => part.pid = Some(value),
            _ => {}
        }
        at += 1 + len;
    }
    at += structured(tail(rest, at))?;
    part.len = at;
    Some(part)
}

/// ` -` or ` [id name="value"][…]`. A bracket in a value stands behind a backslash.
fn structured(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b" -") {
        return Some(2);
    }
    let mut at = 1;
    while rest.get(at) == Some(&b'[') {
        let inside = tail(rest, at);
        let end = (1..inside.len())
            .find(|end| inside.get(*end) == Some(&b']') && inside.get(end - 1) != Some(&b'\\'))?;
        at += end + 1;
    }
    (at > 1 && rest.first() == Some(&b' ')).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::{read, written_by};

    #[test]
    fn the_header_of_rfc_5424_ends_before_the_message() {
        for line in [
            "<11>1 2026-11-29T12:00:00.123Z node7 dcgmi 4711 - - said",
            "<11>1 2026-11-29T12:00:00Z node7 dcgmi 4711 ID47 [a@1 b=\"c\\]\"][d@1] said",
            "<11>1 - node7 dcgmi 4711 - - said",
        ] {
            let message = line[read(line.as_bytes()).len..].trim_start();
            assert_eq!(message, "said", "{line}");
        }
        let line = "<11>1 2026-11-29T12:00:00Z node7 dcgmi 4711 - - said";
        let by = written_by(line);
        assert_eq!((by.host, by.time), (Some("node7"), Some("2026-11-29T12:00:00Z")));
        for line in [
            "<b>bold</b>",
            "<1234>1 x",
            "<11",
            "<11>1 x",
            "<6>[   12.345678] x",
        ] {
            assert_eq!(read(line.as_bytes()).len, 0, "{line}");
        }
    }
}
