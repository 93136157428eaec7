//! Events of the kernel log since a place in it: every line, however many there are, and each once.
//!
//! The excerpts of a report are capped, since they leave the node; a flood of one line would hide the one that matters.

use std::time::Duration;

use kb_core::health::{LogPlace, Missed, Occurrence, Place, has_unread_number, read_message};
use time::OffsetDateTime;

use super::super::HostRoot;
use super::BEFORE_ONLY;
use super::aside;
use super::boots::{is_of_current_boot, start_of_boot};
use super::files::FORMS;
use super::last_line::{Counts, LastLine, last_line};
use super::lines::{Earlier, Kind, Lines};
use super::older_agent::has_passed_over;
use super::record::Record;
use super::source::Source;
use crate::clock::timestamp;

pub(crate) struct LogEvents {
    pub(crate) occurrences: Vec<Occurrence>,
    pub(crate) place: Option<LogPlace>,
    pub(crate) missed: Missed,
    pub(crate) unread: Option<String>,
}

/// Reads what was written behind a place; without one, all of this boot.
pub(crate) fn events(
    root: &HostRoot,
    boot_id: Option<&str>,
    from: Option<&LogPlace>,
    now: OffsetDateTime,
) -> LogEvents {
    events_counting(root, (boot_id, Counts::AtTheNextLook), from, now)
}

/// The same of a run, behind which nobody may look again.
pub(crate) fn events_of_run(
    root: &HostRoot,
    boot_id: Option<&str>,
    from: Option<&LogPlace>,
    now: OffsetDateTime,
) -> LogEvents {
    events_counting(root, (boot_id, Counts::Now), from, now)
}

fn events_counting(
    root: &HostRoot,
    (boot_id, counts): (Option<&str>, Counts),
    from: Option<&LogPlace>,
    now: OffsetDateTime,
) -> LogEvents {
    let unread = |why: String| LogEvents {
        occurrences: Vec::new(),
        place: from.cloned(),
        missed: Missed::Nothing,
        unread: Some(why),
    };
    let (name, mut source) = match Source::open(root) {
        Ok(opened) => opened,
        Err(gap) => return unread(gap.gap.map_or(gap.source, |gap| gap.reason)),
    };
    let is_numbered = source.is_numbered();
    let read = match source.lines().filter(|_| !is_numbered) {
        None => numbered(&mut source, boot_id, from),
        Some(lines) => of_file(lines, (root, &name), (boot_id, counts), from),
    };
    let Read {
        records,
        place,
        mut missed,
        in_doubt,
        by_older_agent,
        last_line,
    } = match read {
        Ok(read) => read,
        Err(error) => return unread(format!("{name}: {error}")),
    };
    let (passed_over, is_behind) = (source.passed_over(), is_behind_a_look_of(boot_id, from));
    let has = |is_so: &dyn Fn(&Record) -> bool| records.iter().any(|(record, _)| is_so(record));
    let is_unknown = has(&|record| record.is_unread && !record.is_told);
    let mut of_this_boot = records.iter().filter(|(_, boot)| boot.as_deref() == boot_id);
    let has_known =
        of_this_boot.any(|(record, _)| !record.is_unread) || in_doubt.iter().any(|record| !record.is_unread);
    if let Some((other, own)) = passed_over.of_this_boot
        && records.is_empty()
        && !is_behind
    {
        // In a boot the kernel of this host wrote something, too: the lines may be its own under an earlier name.
        return unread(format!(
            "{name}: all lines of the kernel's of this boot carry the name of another host: {other}; this host is {own}"
        ));
    }
    let has_unknown =
        !(passed_over.has_others && is_behind) && has_unknown_lines(&name, boot_id, from, &place);
    if !has_known && (has_unknown || is_unknown) {
        return unread(format!(
            "{name}: none of its lines is the kernel's in a form that is known"
        ));
    }
    let is_cut = has(&|record| record.is_cut);
    let reasons = [
        (
            is_unknown,
            "some of its lines are the kernel's in a form that is not known",
        ),
        (is_cut, "a record of it holds more messages than are read"),
        (
            has(&|record| has_unread_number(&record.message)),
            "the number of an Xid or SXid in it cannot be read: its line is cut, or another is written into it",
        ),
        (
            !in_doubt.is_empty(),
            "whether some of its lines are of this boot or of an earlier one cannot be told",
        ),
        (
            by_older_agent,
            "an older agent may have passed over some of its lines, in a form that it did not know",
        ),
    ];
    let why = reasons.iter().find(|(is_so, _)| *is_so).map(|(_, why)| *why);
    if why.is_some() {
        // They are behind the place from which the next look goes on.
        let others = reasons.iter().filter(|(is_so, _)| *is_so).count() > usize::from(by_older_agent);
        let earlier = from.filter(|from| from.boot_id.as_deref() != boot_id);
        missed = match earlier {
            Some(earlier) if !others && missed == Missed::Nothing => {
                Missed::InEarlierBoot(earlier.boot_id.clone())
            }
            _ => Missed::BetweenLooks,
        };
    }
    let unread = match why.or(last_line) {
        Some(why) => Some(format!("{name}: {why}")),
        None => (!source.shows_the_window()).then(|| BEFORE_ONLY.to_owned()),
    };
    let uptime = uptime(root);
    let new = records.iter().filter(|(record, _)| !record.is_told);
    let of_boot = new.filter_map(|(record, boot)| {
        let uptime = uptime.filter(|_| boot.as_deref() == boot_id);
        occurrence(record, boot.as_deref(), uptime, now)
    });
    let in_doubt = in_doubt.iter();
    let in_doubt = in_doubt.filter_map(|record| occurrence_in_doubt(record, boot_id, now));
    LogEvents {
        occurrences: in_doubt.chain(of_boot).collect(),
        place: Some(LogPlace {
            boot_id: boot_id.map(str::to_owned),
            place,
        }),
        missed,
        unread,
    }
}

/// `uptime` is that of now, where the record is of this boot.
fn occurrence(
    record: &Record,
    boot_id: Option<&str>,
    uptime: Option<Duration>,
    now: OffsetDateTime,
) -> Option<Occurrence> {
    let mut event = read_message(&record.message)?;
    let stamp = record.microseconds.zip(uptime);
    // The log's clock is not corrected as others are: near enough for people.
    let age = stamp.and_then(|(stamp, uptime)| uptime.checked_sub(Duration::from_micros(stamp)));
    // Without a stamp its time is that of the look.
    let looked = || u64::try_from(uptime?.as_micros()).ok();
    event.microseconds = record.microseconds.or_else(looked);
    Some(Occurrence {
        event,
        at: timestamp(age.map_or(now, |age| now - age)),
        boot_id: boot_id.map(str::to_owned),
        is_in_doubt: false,
    })
}

/// Of a line that may be of this boot or of an earlier one.
fn occurrence_in_doubt(record: &Record, boot_id: Option<&str>, now: OffsetDateTime) -> Option<Occurrence> {
    let mut occurrence = occurrence(record, boot_id, None, now)?;
    // The kernel's time may be that of another boot.
    occurrence.event.microseconds = None;
    occurrence.is_in_doubt = true;
    Some(occurrence)
}

/// Whether a look of this boot has read the file already: what was added since may be other hosts' alone.
fn is_behind_a_look_of(boot_id: Option<&str>, from: Option<&LogPlace>) -> bool {
    from.is_some_and(|from| {
        matches!(from.place, Place::File { .. }) && boot_id.is_some() && from.boot_id.as_deref() == boot_id
    })
}

/// Whether the log has lines, or new ones, of which none was the kernel's. The other files have lines of programs, too; in a new boot the
/// kernel has written something.
fn has_unknown_lines(name: &str, boot_id: Option<&str>, from: Option<&LogPlace>, place: &Place) -> bool {
    let Place::File { inode, offset, .. } = place else {
        return false;
    };
    let read = match from.map(|from| &from.place) {
        Some(Place::File {
            inode: then,
            offset: read,
            ..
        }) if then == inode => *read,
        _ => 0,
    };
    let is_first = from.is_none_or(|from| {
        let is_of_new_boot = boot_id.is_some() && from.boot_id.as_deref() != boot_id;
        matches!(from.place, Place::Kmsg { .. }) || is_of_new_boot
    });
    (is_first || name.ends_with("kern.log")) && *offset > read
}

struct Read {
    records: Vec<(Record, Option<String>)>,
    place: Place,
    missed: Missed,
    /// What tells something and may be of this boot or of an earlier one.
    in_doubt: Vec<Record>,
    /// Whether an older agent may have passed over something, so that nobody has read it.
    by_older_agent: bool,
    /// Why a last line without an end may tell something that cannot be read.
    last_line: Option<&'static str>,
}

fn numbered(source: &mut Source, boot_id: Option<&str>, from: Option<&LogPlace>) -> std::io::Result<Read> {
    let records = source.read()?;
    if records.is_empty() {
        return Err(std::io::Error::other("it has no record of the kernel's"));
    }
    let numbers = || records.iter().filter_map(|record| record.sequence);
    let newest = numbers().max();
    let read_until = match from {
        Some(LogPlace {
            boot_id: boot,
            place: Place::Kmsg { sequence, forms },
        }) if boot.as_deref() == boot_id && newest.is_none_or(|newest| newest >= *sequence) => {
            Some((*sequence, *forms))
        }
        _ => None,
    };
    let by_older_agent = read_until.is_some_and(|(_, forms)| forms < FORMS);
    let read_until = read_until.map(|(sequence, _)| sequence);
    // The kernel numbers its records from 0 in each boot.
    let next = read_until.map_or(0, |until| until.saturating_add(1));
    let missed = match (numbers().min(), from) {
        (Some(oldest), _) if oldest <= next => Missed::Nothing,
        (Some(_), Some(_)) => Missed::BetweenLooks,
        (Some(_), None) => Missed::BeforeFirstLook,
        (None, _) => Missed::Nothing,
    };
    let is_behind =
        |record: &Record| read_until.is_none_or(|until| record.sequence.is_some_and(|it| it > until));
    let mut last = None;
    // An older agent read the first message of a record alone.
    let is_new = |record: &Record| {
        let is_first = std::mem::replace(&mut last, record.sequence) != record.sequence;
        is_behind(record) || (by_older_agent && !is_first)
    };
    let boot = boot_id.map(str::to_owned);
    Ok(Read {
        place: Place::Kmsg {
            sequence: newest.or(read_until).unwrap_or_default(),
            forms: FORMS,
        },
        missed,
        in_doubt: Vec::new(),
        // Of records that are overwritten nobody can read the rest.
        by_older_agent: by_older_agent && numbers().min().is_some_and(|oldest| oldest > 0),
        last_line: None,
        records: records
            .into_iter()
            .filter(is_new)
            .map(|record| (record, boot.clone()))
            .collect(),
    })
}

/// A file of syslog's, which may hold several boots.
fn of_file(
    lines: &mut Lines,
    (root, name): (&HostRoot, &str),
    (boot_id, counts): (Option<&str>, Counts),
    from: Option<&LogPlace>,
) -> std::io::Result<Read> {
    let (mut records, mut missed, mut in_doubt) = (Vec::new(), Missed::Nothing, Vec::new());
    let is_added_to = lines.kind() != Kind::Snapshot;
    // Numbers of the kernel's own log are no places in a file, even in this boot. Counting twice is better than missing some.
    let earlier = from.and_then(|from| earlier(&from.place));
    let goes_on = earlier.is_some();
    let is_in_new_boot = from.is_some_and(|from| from.boot_id.as_deref() != boot_id);
    let is_of_this_boot = boot_id.is_some() && !is_in_new_boot;
    let by_older_agent = earlier
        .as_ref()
        .is_some_and(|earlier| has_passed_over(root, name, earlier, is_of_this_boot));
    if let Some(earlier) = &earlier {
        let is_lost;
        (records, is_lost) = lines.go_on_from(root, name, earlier)?;
        if is_lost {
            missed = Missed::BetweenLooks;
        }
    } else if is_added_to {
        let since = aside::since_boot(root, name, lines)?;
        (records, in_doubt) = (since.of.records, since.of.in_doubt);
        if !since.is_whole {
            missed = match from {
                Some(_) => Missed::BetweenLooks,
                None => Missed::BeforeFirstLook,
            };
        }
        if let Some(still_written) = since.still_written {
            *lines = still_written;
        }
    }
    records.extend(lines.read()?);
    let mut place = lines.place()?;
    let LastLine {
        records: last,
        unended,
        unread: last_line,
    } = last_line(lines, earlier.as_ref(), &place, counts);
    records.extend(last);
    place.unended = unended;
    let start = if goes_on && is_in_new_boot && !is_of_current_boot(&records) {
        records.len()
    } else {
        start_of_boot(&records)
    };
    let this_boot = boot_id.map(str::to_owned);
    let earlier_boot = from.and_then(|from| from.boot_id.clone());
    let numbered = records.into_iter().enumerate();
    let records = numbered.filter_map(|(index, record)| match (index >= start, goes_on) {
        (true, _) => Some((record, this_boot.clone())),
        // Written behind the last look, before the node was booted again.
        (false, true) => Some((record, earlier_boot.clone())),
        (false, false) => None,
    });
    Ok(Read {
        records: records.collect(),
        place: place_of(place),
        missed,
        in_doubt,
        by_older_agent,
        last_line,
    })
}

fn earlier(place: &Place) -> Option<Earlier> {
    match place {
        Place::Kmsg { .. } => None,
        Place::File {
            device,
            inode,
            offset,
            last_bytes,
            unended,
            forms,
        } => Some(Earlier {
            device: *device,
            inode: *inode,
            offset: *offset,
            last_bytes: last_bytes.clone(),
            unended: *unended,
            forms: *forms,
        }),
    }
}

fn place_of(place: Earlier) -> Place {
    let Earlier {
        device,
        inode,
        offset,
        last_bytes,
        unended,
        forms,
    } = place;
    Place::File {
        device,
        inode,
        offset,
        last_bytes,
        unended,
        forms,
    }
}

fn uptime(root: &HostRoot) -> Option<Duration> {
    let line = root.line("proc/uptime").value?;
    let seconds: f64 = line.split(' ').next()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests;
