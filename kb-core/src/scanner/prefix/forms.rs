//! Parts of a prefix that loggers write: processes, levels, places in a source.

use super::{Part, bracketed, count, is_name, tail};

/// `kernel:`, `nvidia-persistenced[812]:`, `python3[77]:`. A bare word before a colon is a process only if it is the
/// kernel: `RuntimeError:` is the message.
pub(super) fn process(rest: &[u8]) -> Option<Part> {
    if rest.starts_with(b"kernel:") {
        return Some(Part::of(b"kernel:".len()));
    }
    let name = count(rest, |b| is_name(b) || b == b'/');
    let pid = bracketed(tail(rest, name), |b| b.is_ascii_digit())?;
    let colon = tail(rest, name + pid).first() == Some(&b':');
    (name > 0 && colon).then(|| Part {
        pid: Some(name + 1..name + pid - 1),
        ..Part::of(name + pid + 1)
    })
}

/// What may stand behind a host: a process, or the name of a daemon alone (`slurmd:`).
pub(super) fn daemon(rest: &[u8]) -> Option<Part> {
    process(rest).or_else(|| {
        let name = count(rest, |b| {
            b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b)
        });
        let colon = tail(rest, name).starts_with(b": ");
        (name > 0 && colon).then(|| Part::of(name + 1))
    })
}

/// `ERROR`, `[WARNING]`, `INFO:`, `| E |`, `level=error`. What glog writes (`E0501`) is read with the time.
pub(super) fn level(rest: &[u8]) -> Option<Part> {
    const LEVELS: [&str; 14] = [
        "CRITICAL", "CRIT", "WARNING", "WARN", "ERROR", "ERR", "FATAL", "DEBUG", "TRACE", "NOTICE", "INFO",
        "F", "E", "W",
    ];
    if let Some(word) = rest.strip_prefix(b"level=") {
        return Some(Part::of(6 + count(word, |b| b.is_ascii_alphabetic())));
    }
    let open = usize::from(matches!(rest.first(), Some(b'[' | b'|' | b'-')));
    let blank = count(tail(rest, open), |b| b == b' ');
    if open == 1 && rest.first() != Some(&b'[') && blank == 0 {
        return None;
    }
    let inner = tail(rest, open + blank);
    let word = LEVELS.into_iter().find(|word| {
        inner
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
            && (word.len() > 1 || inner.starts_with(word.as_bytes()))
            && !inner
                .get(word.len())
                .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    })?;
    let mut at = open + blank + word.len();
    at += count(tail(rest, at), |b| b == b' ' && open == 1);
    let closed = matches!(tail(rest, at).first(), Some(b']' | b'|' | b':' | b'-'));
    at += usize::from(closed);
    let spaced = matches!(tail(rest, at).first(), Some(b' ' | b'\t') | None);
    let sure = closed || word.len() > 1;
    (sure || word.len() == 1 && spaced && open == 0)
        .then_some(at)
        .filter(|_| spaced)
        .map(Part::of)
}

/// `tensorflow/core/device.cc:123]`, `file.cpp:77]`, `[engine.py:77]`, `[E ProcessGroupNCCL.cpp:821]`.
pub(super) fn source_place(rest: &[u8]) -> Option<Part> {
    let mut open = usize::from(rest.first() == Some(&b'['));
    if open == 1 && matches!(tail(rest, 1), [b'I' | b'W' | b'E' | b'F', b' ', ..]) {
        open = 3;
    }
    let path = count(tail(rest, open), |b| is_name(b) || b == b'/');
    let is_file = rest
        .get(open..open + path)
        .is_some_and(|path| path.contains(&b'.'));
    let number = tail(rest, open + path)
        .strip_prefix(b":")
        .map(|rest| count(rest, |b| b.is_ascii_digit()))?;
    let at = open + path + 1 + number;
    (is_file && number > 0 && tail(rest, at).first() == Some(&b']')).then(|| Part::of(at + 1))
}

/// `- package.module -` of Python's usual format.
pub(super) fn logger_name(rest: &[u8]) -> Option<Part> {
    let name = count(rest.strip_prefix(b"- ")?, is_name);
    let ends = tail(rest, 2 + name).starts_with(b" - ");
    (name > 0 && ends).then(|| Part::of(2 + name + 1))
}

/// `msg="` of programs that write keys and values.
pub(super) fn message_key(rest: &[u8]) -> Option<Part> {
    rest.starts_with(b"msg=")
        .then(|| Part::of(4 + usize::from(rest.get(4) == Some(&b'"'))))
}
