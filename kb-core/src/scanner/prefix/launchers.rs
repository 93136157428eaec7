//! Parts of a prefix that launchers and containers write: who of many wrote the line.

use std::ops::Range;

use super::{Part, bracketed, count, is_name, tail};

/// `[rank3]:`, `[default3]:`, `rank3:`, `[1,3]<stderr>:`, `3: ` (as launchers label their workers).
pub(super) fn rank(rest: &[u8]) -> Option<Part> {
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
    let rank = open + word..at;
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
    let len = match (open == 1, word > 0) {
        // A bracketed number alone is a device or rank label.
        (true, _) if colon || spaced => at + usize::from(colon),
        (false, true) if colon => at + 1,
        (false, false) if colon && spaced => at + 1,
        _ => return None,
    };
    Some(Part {
        rank: Some(rank),
        ..Part::of(len)
    })
}

/// `node1:1234:1240 [0]` of NCCL.
pub(super) fn nccl_origin(rest: &[u8]) -> Option<Part> {
    let host = count(rest, is_name);
    let mut at = host;
    let mut pid = 0..0;
    for nth in 0..2 {
        let number = number_behind_colon(rest, at)?;
        at = number.end;
        if nth == 0 {
            pid = number;
        }
    }
    let device = tail(rest, at)
        .strip_prefix(b" ")
        .and_then(|rest| bracketed(rest, |b| b.is_ascii_digit() || b == b'-'))?;
    (host > 0).then(|| Part {
        host: Some(0..host),
        pid: Some(pid),
        gpu: Some(at + 2..at + device),
        ..Part::of(at + 1 + device)
    })
}

/// `[node1:1234]`, `[node1:1234:0]`, `[node1:1234 :0]` of MPI, UCX and launchers.
pub(super) fn bracketed_origin(rest: &[u8]) -> Option<Part> {
    let inner = rest.strip_prefix(b"[")?;
    let host = count(inner, is_name);
    let starts_well = inner.first().is_some_and(u8::is_ascii_alphabetic);
    let pid = number_behind_colon(rest, 1 + host).filter(|_| host > 0 && starts_well)?;
    let mut at = pid.end;
    at += usize::from(tail(rest, at).starts_with(b" :"));
    let rank = number_behind_colon(rest, at);
    at = rank.as_ref().map_or(at, |rank| rank.end);
    // `[engine.py:77]` is a place in a source.
    let is_file = rest.get(1..=host).is_some_and(|name| name.contains(&b'.')) && rank.is_none();
    let closes = tail(rest, at).first() == Some(&b']');
    (closes && !is_file).then(|| Part {
        host: Some(1..1 + host),
        pid: Some(pid),
        rank,
        ..Part::of(at + 1)
    })
}

/// `(RayWorkerWrapper pid=1234, ip=10.0.0.1)`, `(VllmWorker rank=3 pid=77)`.
pub(super) fn ray_worker(rest: &[u8]) -> Option<Part> {
    let inside = rest.strip_prefix(b"(")?;
    let end = 1 + inside.iter().position(|&b| b == b')')?;
    let value = |key: &str| {
        let at = 1 + memchr::memmem::find(rest.get(1..end)?, key.as_bytes())? + key.len();
        let len = count(rest.get(at..end)?, is_name);
        (len > 0).then(|| at..at + len)
    };
    let pid = value("pid=")?;
    Some(Part {
        pid: Some(pid),
        host: value("ip="),
        rank: value("rank="),
        ..Part::of(end + 1)
    })
}

/// `trainer-1  | ` of container launchers.
pub(super) fn compose_service(rest: &[u8]) -> Option<Part> {
    let name = count(rest, is_name);
    let blank = count(tail(rest, name), |b| b == b' ');
    let bar = tail(rest, name + blank).starts_with(b"| ");
    (name > 0 && blank > 0 && bar).then(|| Part {
        unit: Some(0..name),
        ..Part::of(name + blank + 2)
    })
}

/// `[pod/trainer-0/pytorch]` of `kubectl logs --prefix`. Pods run on hosts of their own choice.
pub(super) fn pod(rest: &[u8]) -> Option<Part> {
    let inside = rest.strip_prefix(b"[pod/")?;
    let name = count(inside, is_name);
    let container = count(tail(inside, name).strip_prefix(b"/")?, is_name);
    let end = 5 + name + 1 + container;
    let closes = tail(rest, end).first() == Some(&b']');
    (name > 0 && container > 0 && closes).then(|| Part {
        host: Some(5..5 + name),
        unit: Some(5..end),
        ..Part::of(end + 1)
    })
}

/// `stderr F ` of a container runtime's files, behind the time.
pub(super) fn container_stream(rest: &[u8]) -> Option<Part> {
    let name = ["stdout ", "stderr "]
        .into_iter()
        .find(|name| rest.starts_with(name.as_bytes()))?;
    let tag = matches!(tail(rest, name.len()), [b'F' | b'P', b' ', ..]);
    tag.then(|| Part::of(name.len() + 1))
}

/// `node-7: ` of launchers that label lines by host: a name with a number, at the beginning of the line. Devices
/// (`mlx5_0:`, `eth0:`) look alike, so the name has a hyphen, is an address or begins as hosts do.
pub(super) fn host_label(rest: &[u8]) -> Option<Part> {
    let name = count(rest, |b| {
        b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-')
    });
    let label = rest.get(..name)?;
    let numbered = label.last().is_some_and(u8::is_ascii_digit);
    let is_address =
        std::str::from_utf8(label).is_ok_and(|label| label.parse::<std::net::Ipv4Addr>().is_ok());
    let has_hyphen = label.contains(&b'-') && label.first().is_some_and(u8::is_ascii_lowercase);
    let is_host = has_hyphen || is_address || label.starts_with(b"node") || label.starts_with(b"host");
    (numbered && is_host && tail(rest, name).starts_with(b": ")).then(|| Part {
        host: Some(0..name),
        ..Part::of(name + 1)
    })
}

fn number_behind_colon(rest: &[u8], at: usize) -> Option<Range<usize>> {
    let digits = count(tail(rest, at).strip_prefix(b":")?, |b| b.is_ascii_digit());
    (digits > 0).then(|| at + 1..at + 1 + digits)
}
