//! What logging puts before a message: times, hosts, containers, process ids, ranks, levels. It is taken off for anchored
//! patterns and for scoring; a time in it orders the hits, and who wrote it tells interleaved lines apart. Patterns see
//! the whole line as well, so taking off too much costs rank, never a hit.

mod forms;
mod launchers;
mod syslog;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::clock::{Stamp, read_stamp};
use forms::{daemon, level, logger_name, message_key, process, source_place};
use launchers::{
    bracketed_origin, compose_service, container_stream, host_label, nccl_origin, pod, rank, ray_worker,
};

/// U+FEFF, with which editors begin a text.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";
/// No prefix is looked for beyond this, in bytes.
const MAX_PREFIX: usize = 256;
const MAX_PARTS: usize = 10;

/// What stands before a message. Ranges are places in the line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) len: usize,
    /// The first time in it.
    pub(super) stamp: Option<Stamp>,
    pub(super) time: Option<Range<usize>>,
    /// The host, where a form names one; of a pod its name.
    pub(super) host: Option<Range<usize>>,
    pub(super) pid: Option<Range<usize>>,
    pub(super) rank: Option<Range<usize>>,
    pub(super) unit: Option<Range<usize>>,
    /// The GPU, by the number that the process has for it.
    pub(super) gpu: Option<Range<usize>>,
}

/// One part of a prefix; ranges count from its beginning.
#[derive(Debug, Default)]
struct Part {
    len: usize,
    host: Option<Range<usize>>,
    pid: Option<Range<usize>>,
    rank: Option<Range<usize>>,
    unit: Option<Range<usize>>,
    gpu: Option<Range<usize>>,
}

impl Part {
    fn of(len: usize) -> Self {
        Self {
            len,
            ..Self::default()
        }
    }
}

impl Prefix {
    /// Who wrote the line: the same number for the same container, host, process and rank; `None` where it names nobody.
    pub(super) fn stream(&self, line: &[u8]) -> Option<u64> {
        let parts = [&self.unit, &self.host, &self.pid, &self.rank];
        if parts.iter().all(|part| part.is_none()) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        for part in parts {
            part.clone().and_then(|part| line.get(part)).hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    /// The host's name, empty where the line names none.
    pub(super) fn host_in<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let host = self.host.clone().and_then(|host| line.get(host));
        host.unwrap_or_default()
    }

    /// Takes a part in; what came first of a kind stays.
    fn add(&mut self, part: Part) {
        let at = self.len;
        let moved = |range: Range<usize>| range.start + at..range.end + at;
        for (own, new) in [
            (&mut self.host, part.host),
            (&mut self.pid, part.pid),
            (&mut self.rank, part.rank),
            (&mut self.unit, part.unit),
            (&mut self.gpu, part.gpu),
        ] {
            if own.is_none() {
                *own = new.map(moved);
            }
        }
        self.len += part.len;
    }
}

pub(super) fn read(line: &[u8]) -> Prefix {
    let head = line.get(..line.len().min(MAX_PREFIX)).unwrap_or_default();
    let mut prefix = Prefix::default();
    let begin = if head.starts_with(BOM) { BOM.len() } else { 0 };
    prefix.len = begin;
    for _ in 0..MAX_PARTS {
        prefix.len += count(tail(head, prefix.len), |b| b == b' ' || b == b'\t');
        let rest = tail(head, prefix.len);
        let header = if prefix.len == begin {
            syslog::header(rest, &mut prefix)
        } else {
            None
        };
        let taken = header
            .or_else(|| timed(rest, &mut prefix))
            .or_else(|| plain(rest))
            .or_else(|| {
                if prefix.len == begin {
                    host_label(rest)
                } else {
                    None
                }
            });
        let Some(taken) = taken.filter(|taken| taken.len > 0) else {
            break;
        };
        prefix.add(taken);
    }
    prefix.len = prefix.len.min(line.len());
    prefix
}

/// When a line was written and by whom, as far as what stands before its message says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenBy<'l> {
    /// The time as the line has it; seconds since boot for the kernel's.
    pub time: Option<&'l str>,
    /// The host; of a pod its name.
    pub host: Option<&'l str>,
    /// The rank among the workers of a job.
    pub rank: Option<&'l str>,
    /// The GPU, by the number that the process has for it.
    pub gpu: Option<&'l str>,
}

/// Reads when a line was written and by whom.
pub fn written_by(line: &str) -> WrittenBy<'_> {
    let prefix = read(line.as_bytes());
    let part = |range: Option<Range<usize>>| line.get(range?).filter(|part| !part.is_empty());
    WrittenBy {
        time: part(prefix.time),
        host: part(prefix.host),
        rank: part(prefix.rank),
        // NCCL writes `[-1]` where there is none.
        gpu: part(prefix.gpu).filter(|gpu| !gpu.starts_with('-')),
    }
}

/// What a launcher put before a line, and who of its workers wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LauncherPrefix {
    /// Bytes before the message.
    pub(crate) len: usize,
    /// The same number for the same worker; `None` where none is named.
    pub(crate) worker: Option<u64>,
}

/// Reads the parts that launchers, containers and the system's log write, and none that a program writes itself.
pub(crate) fn launcher_prefix(line: &[u8]) -> Option<LauncherPrefix> {
    const FORMS: [Form; 4] = [rank, compose_service, pod, container_stream];
    let head = line.get(..line.len().min(MAX_PREFIX)).unwrap_or_default();
    let mut prefix = Prefix::default();
    for _ in 0..MAX_PARTS {
        let blanks = count(tail(head, prefix.len), |b| b == b' ');
        let rest = tail(head, prefix.len + blanks);
        let forms = || FORMS.into_iter().find_map(|form| form(rest));
        let host = || if prefix.len == 0 { host_label(rest) } else { None };
        let stamp = prefix.stamp;
        let Some(taken) = forms().or_else(host).or_else(|| timed(rest, &mut prefix)) else {
            break;
        };
        if taken.len == 0 || (stamp.is_some() && prefix.stamp != stamp) {
            break;
        }
        prefix.len += blanks;
        prefix.add(taken);
    }
    (prefix.len > 0).then(|| LauncherPrefix {
        len: prefix.len,
        worker: prefix.stream(line),
    })
}

/// A time, alone, in brackets or as a key's value, and what follows it in its form.
fn timed(rest: &[u8], prefix: &mut Prefix) -> Option<Part> {
    if let Some(value) = rest.strip_prefix(b"time=\"") {
        let (stamp, len) = read_stamp(value, false)?;
        if prefix.stamp.is_none() {
            prefix.stamp = Some(stamp);
            prefix.time = Some(prefix.len + 6..prefix.len + 6 + len);
        }
        return Some(Part::of(
            6 + len + usize::from(tail(value, len).first() == Some(&b'"')),
        ));
    }
    let open = usize::from(rest.first() == Some(&b'['));
    let inner_at = open + count(tail(rest, open), |b| b == b' ').min(8 * open);
    let (stamp, len) = read_stamp(tail(rest, inner_at), open == 1)?;
    let mut at = inner_at + len;
    if open == 1 {
        at += usize::from(tail(rest, at).first() == Some(&b']'));
    }
    at += usize::from(matches!(tail(rest, at).first(), Some(b':' | b',')));
    let mut part = Part::of(at);
    if prefix.stamp.is_none() {
        prefix.stamp = Some(stamp);
        prefix.time = Some(prefix.len + inner_at..prefix.len + inner_at + len);
        if let Some((host, process)) = syslog_host(tail(rest, at)) {
            part.host = Some(at + host.start..at + host.end);
            let behind = at + host.end + 1;
            part.pid = process.pid.map(|pid| behind + pid.start..behind + pid.end);
            part.len = behind + process.len;
        }
    }
    Some(part)
}

/// ` host proc[pid]:` after a time of syslog, the journal or the kernel: the host and the process behind it.
fn syslog_host(rest: &[u8]) -> Option<(Range<usize>, Part)> {
    let start = count(rest, |b| b == b' ');
    let len = count(tail(rest, start), is_name);
    if start == 0 || len == 0 {
        return None;
    }
    let after = tail(rest, start + len).strip_prefix(b" ")?;
    let process = daemon(after)?;
    let name = rest.get(start..start + len)?;
    // `stderr F error: …` and `INFO main: …` are no hosts.
    let is_word = level(name).is_some() || name == b"stdout" || name == b"stderr";
    (!is_word).then_some((start..start + len, process))
}

type Form = fn(&[u8]) -> Option<Part>;

fn plain(rest: &[u8]) -> Option<Part> {
    const FORMS: [Form; 12] = [
        rank,
        level,
        process,
        nccl_origin,
        source_place,
        bracketed_origin,
        ray_worker,
        compose_service,
        pod,
        container_stream,
        logger_name,
        message_key,
    ];
    FORMS.into_iter().find_map(|form| form(rest))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
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
