//! What logging puts before a message: times, hosts, process ids, ranks, levels. It is taken off for anchored patterns
//! and for scoring; a time in it orders the hits. Patterns see the whole line as well, so taking off too much costs
//! rank, never a hit.

use std::ops::Range;

use super::clock::{Stamp, read_stamp};

/// No prefix is looked for beyond this, in bytes.
const MAX_PREFIX: usize = 256;
/// Parts that one line may have before its message.
const MAX_PARTS: usize = 10;

/// What stands before a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Where the message begins.
    pub(super) len: usize,
    /// The first time in it.
    pub(super) stamp: Option<Stamp>,
    /// The host, where the form names one.
    pub(super) host: Option<Range<usize>>,
}

/// Reads the prefix of a line.
pub(super) fn read(line: &[u8]) -> Prefix {
    let head = line.get(..line.len().min(MAX_PREFIX)).unwrap_or_default();
    let mut prefix = Prefix::default();
    for _ in 0..MAX_PARTS {
        prefix.len += count(tail(head, prefix.len), |b| b == b' ' || b == b'\t');
        let rest = tail(head, prefix.len);
        let taken = timed(rest, &mut prefix).or_else(|| plain(rest));
        let Some(taken) = taken.filter(|taken| *taken > 0) else {
            break;
        };
        prefix.len += taken;
    }
    prefix.len = prefix.len.min(line.len());
    prefix
}

/// A time, alone or in brackets, and what follows it in its form.
fn timed(rest: &[u8], prefix: &mut Prefix) -> Option<usize> {
    let open = usize::from(rest.first() == Some(&b'['));
    let inner_at = open + count(tail(rest, open), |b| b == b' ').min(8 * open);
    let (stamp, len) = read_stamp(tail(rest, inner_at), open == 1)?;
    let mut at = inner_at + len;
    if open == 1 {
        at += usize::from(tail(rest, at).first() == Some(&b']'));
    }
    at += usize::from(matches!(tail(rest, at).first(), Some(b':' | b',')));
    if prefix.stamp.is_none() {
        prefix.stamp = Some(stamp);
        if open == 0
            && let Some(host) = syslog_host(tail(rest, at))
        {
            let base = prefix.len + at;
            prefix.host = Some(base + host.start..base + host.end);
            at += host.end;
        }
    }
    Some(at)
}

/// ` host proc[pid]:` after a syslog or journal time: the host, if a process follows.
fn syslog_host(rest: &[u8]) -> Option<Range<usize>> {
    let start = count(rest, |b| b == b' ');
    let len = count(tail(rest, start), |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')
    });
    if start == 0 || len == 0 {
        return None;
    }
    let after = tail(rest, start + len).strip_prefix(b" ")?;
    process(after)?;
    Some(start..start + len)
}

/// Parts without a time.
fn plain(rest: &[u8]) -> Option<usize> {
    rank(rest)
        .or_else(|| level(rest))
        .or_else(|| process(rest))
        .or_else(|| nccl_origin(rest))
        .or_else(|| source_place(rest))
        .or_else(|| ray_worker(rest))
        .or_else(|| compose_service(rest))
}

/// `kernel:`, `nvidia-persistenced[812]:`, `python3[77]:`. A bare word before a colon is a process only if it is the
/// kernel: `RuntimeError:` is the message.
fn process(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"kernel:") {
        return Some(b"kernel:".len());
    }
    let name = count(rest, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/')
    });
    let pid = bracketed(tail(rest, name), |b| b.is_ascii_digit())?;
    let colon = tail(rest, name + pid).first() == Some(&b':');
    (name > 0 && colon).then_some(name + pid + 1)
}

/// `[rank3]:`, `[default3]:`, `rank3:`, `[1,3]<stderr>:`, `3: ` (as launchers label their workers).
fn rank(rest: &[u8]) -> Option<usize> {
    let open = usize::from(rest.first() == Some(&b'['));
    let inner = tail(rest, open);
    let word = ["rank", "default", "Rank ", "RANK ", "worker"]
        .into_iter()
        .find(|word| inner.starts_with(word.as_bytes()))
        .map_or(0, str::len);
    let number = count(tail(inner, word), |b| {
        b.is_ascii_digit() || (word == 0 && open == 1 && b == b',')
    });
    if number == 0 || number > 8 {
        return None;
    }
    let mut at = open + word + number;
    if open == 1 {
        if tail(rest, at).first() != Some(&b']') {
            return None;
        }
        at += 1;
    }
    for stream in ["<stderr>", "<stdout>"] {
        if tail(rest, at).starts_with(stream.as_bytes()) {
            at += stream.len();
        }
    }
    let colon = tail(rest, at).first() == Some(&b':');
    let spaced = matches!(tail(rest, at + usize::from(colon)).first(), Some(b' ' | b'\t'));
    match (open == 1, word > 0) {
        // A bracketed number alone is a device or rank label.
        (true, _) if colon || spaced => Some(at + usize::from(colon)),
        (false, true) if colon => Some(at + 1),
        (false, false) if colon && spaced => Some(at + 1),
        _ => None,
    }
}

/// `ERROR`, `[WARNING]`, `INFO:`, `| E |` and what glog writes (`E0501`) is read with the time.
fn level(rest: &[u8]) -> Option<usize> {
    const LEVELS: [&str; 14] = [
        "CRITICAL", "CRIT", "WARNING", "WARN", "ERROR", "ERR", "FATAL", "DEBUG", "TRACE", "NOTICE", "INFO",
        "F", "E", "W",
    ];
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
}

/// `node1:1234:1240 [0]` of NCCL.
fn nccl_origin(rest: &[u8]) -> Option<usize> {
    let host = count(rest, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')
    });
    let mut at = host;
    for _ in 0..2 {
        let number = tail(rest, at)
            .strip_prefix(b":")
            .map(|rest| count(rest, |b| b.is_ascii_digit()))?;
        if number == 0 {
            return None;
        }
        at += 1 + number;
    }
    let device = tail(rest, at)
        .strip_prefix(b" ")
        .and_then(|rest| bracketed(rest, |b| b.is_ascii_digit()))?;
    (host > 0).then_some(at + 1 + device)
}

/// `tensorflow/core/device.cc:123]` and `file.cpp:77]`.
fn source_place(rest: &[u8]) -> Option<usize> {
    let path = count(rest, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/')
    });
    let number = tail(rest, path)
        .strip_prefix(b":")
        .map(|rest| count(rest, |b| b.is_ascii_digit()))?;
    let at = path + 1 + number;
    let is_file = rest.get(..path).is_some_and(|path| path.contains(&b'.'));
    (is_file && number > 0 && tail(rest, at).first() == Some(&b']')).then_some(at + 1)
}

/// `(RayWorkerWrapper pid=1234, ip=10.0.0.1)`.
fn ray_worker(rest: &[u8]) -> Option<usize> {
    let inside = rest.strip_prefix(b"(")?;
    let end = inside.iter().position(|&b| b == b')')?;
    let names_pid = inside
        .get(..end)
        .is_some_and(|text| memchr::memmem::find(text, b"pid=").is_some());
    names_pid.then_some(end + 2)
}

/// `trainer-1  | ` of container launchers.
fn compose_service(rest: &[u8]) -> Option<usize> {
    let name = count(rest, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')
    });
    let blank = count(tail(rest, name), |b| b == b' ');
    let bar = tail(rest, name + blank).starts_with(b"| ");
    (name > 0 && blank > 0 && bar).then_some(name + blank + 2)
}

/// Length of `[…]` around at least one byte of a kind.
fn bracketed(rest: &[u8], kind: impl Fn(u8) -> bool) -> Option<usize> {
    let inside = rest.strip_prefix(b"[")?;
    let len = count(inside, kind);
    (len > 0 && inside.get(len) == Some(&b']')).then_some(len + 2)
}

fn count(bytes: &[u8], kind: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|b| kind(**b)).count()
}

fn tail(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}
