//! Events of the kernel log since a place in it: every line, however many there are, and each once.
//!
//! The excerpts of a report are capped, since they leave the node; a flood of one line would hide the one that matters.

use kb_core::health::{LogPlace, Missed, Occurrence, Place, read_message};
use time::OffsetDateTime;

use super::super::HostRoot;
use super::aside;
use super::record::Record;
use super::source::{Earlier, Source};
use super::{BEFORE_ONLY, start_of_boot};
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
    let read = if source.is_numbered() {
        numbered(&mut source, boot_id, from)
    } else {
        of_file(&mut source, root, &name, boot_id, from)
    };
    let Read {
        records,
        place,
        mut missed,
    } = match read {
        Ok(read) => read,
        Err(error) => return unread(format!("{name}: {error}")),
    };
    let (passed_over, is_behind) = (source.passed_over(), is_behind_a_look_of(boot_id, from));
    if let Some((other, own)) = passed_over.of_this_boot
        && records.is_empty()
        && !is_behind
    {
        // In a boot the kernel of this host wrote something, too: the lines may be its own under an earlier name.
        return unread(format!(
            "{name}: all lines of the kernel's of this boot carry the name of another host: {other}; this host is {own}"
        ));
    }
    let is_unknown = !(passed_over.has_others && is_behind) && has_unknown_lines(&name, from, &place);
    if records.is_empty() && (is_unknown || passed_over.is_unknown) {
        return unread(format!(
            "{name}: none of its lines is the kernel's in a form that is known"
        ));
    }
    let is_cut = records.iter().any(|(record, _)| record.is_cut);
    let unread = if passed_over.is_unknown {
        Some(format!(
            "{name}: some of its lines are the kernel's in a form that is not known"
        ))
    } else if is_cut {
        Some(format!(
            "{name}: a record of it holds more messages than are read"
        ))
    } else {
        (!source.shows_the_window()).then(|| BEFORE_ONLY.to_owned())
    };
    if (passed_over.is_unknown || is_cut) && missed == Missed::Nothing {
        // They are behind the place from which the next look goes on.
        missed = Missed::BetweenLooks;
    }
    let uptime = uptime(root);
    let occurrences = records.iter().filter_map(|(record, boot)| {
        let event = read_message(&record.message)?;
        let of_this_boot = boot.as_deref() == boot_id;
        let stamp = record.microseconds.filter(|_| of_this_boot).zip(uptime);
        // The log's clock is not corrected as others are: near enough for people.
        let age =
            stamp.and_then(|(stamp, uptime)| uptime.checked_sub(std::time::Duration::from_micros(stamp)));
        Some(Occurrence {
            event,
            at: timestamp(age.map_or(now, |age| now - age)),
            boot_id: boot.clone(),
        })
    });
    LogEvents {
        occurrences: occurrences.collect(),
        place: Some(LogPlace {
            boot_id: boot_id.map(str::to_owned),
            place,
        }),
        missed,
        unread,
    }
}

/// Whether a look of this boot has read the file already: what was added since may be other hosts' alone.
fn is_behind_a_look_of(boot_id: Option<&str>, from: Option<&LogPlace>) -> bool {
    from.is_some_and(|from| {
        matches!(from.place, Place::File { .. }) && boot_id.is_some() && from.boot_id.as_deref() == boot_id
    })
}

/// Whether the log has lines, or new ones, of which none was the kernel's. The other files have lines of programs, too.
fn has_unknown_lines(name: &str, from: Option<&LogPlace>, place: &Place) -> bool {
    let Place::File { inode, offset, .. } = place else {
        return false;
    };
    match from.map(|from| &from.place) {
        Some(Place::File {
            inode: then,
            offset: read,
            ..
        }) => name.ends_with("kern.log") && inode == then && offset > read,
        Some(Place::Kmsg { .. }) => false,
        None => *offset > 0,
    }
}

struct Read {
    records: Vec<(Record, Option<String>)>,
    place: Place,
    missed: Missed,
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
            place: Place::Kmsg { sequence },
        }) if boot.as_deref() == boot_id && newest.is_none_or(|newest| newest >= *sequence) => {
            Some(*sequence)
        }
        _ => None,
    };
    // The kernel numbers its records from 0 in each boot.
    let next = read_until.map_or(0, |until| until.saturating_add(1));
    let missed = match (numbers().min(), from) {
        (Some(oldest), _) if oldest <= next => Missed::Nothing,
        (Some(_), Some(_)) => Missed::BetweenLooks,
        (Some(_), None) => Missed::BeforeFirstLook,
        (None, _) => Missed::Nothing,
    };
    let is_new =
        |record: &Record| read_until.is_none_or(|until| record.sequence.is_some_and(|it| it > until));
    let boot = boot_id.map(str::to_owned);
    Ok(Read {
        place: Place::Kmsg {
            sequence: newest.or(read_until).unwrap_or_default(),
        },
        missed,
        records: records
            .into_iter()
            .filter(is_new)
            .map(|record| (record, boot.clone()))
            .collect(),
    })
}

/// A file of syslog's, which may hold several boots.
fn of_file(
    source: &mut Source,
    root: &HostRoot,
    name: &str,
    boot_id: Option<&str>,
    from: Option<&LogPlace>,
) -> std::io::Result<Read> {
    let (mut records, mut missed, mut goes_on) = (Vec::new(), Missed::Nothing, false);
    // Numbers of the kernel's own log are no places in a file, even in this boot. Counting twice is better than missing some.
    let is_first_of_file = from.is_none_or(|from| matches!(from.place, Place::Kmsg { .. }));
    if is_first_of_file && source.shows_the_window() {
        let since = aside::since_boot(root, name, source)?;
        records = since.records;
        if !since.is_whole {
            missed = match from {
                Some(_) => Missed::BetweenLooks,
                None => Missed::BeforeFirstLook,
            };
        }
        if let Some(still_written) = since.still_written {
            *source = still_written;
        }
    } else if let Some(LogPlace {
        place:
            Place::File {
                device,
                inode,
                offset,
                last_bytes,
            },
        ..
    }) = from
    {
        let earlier = Earlier {
            device: *device,
            inode: *inode,
            offset: *offset,
            last_bytes: last_bytes.clone(),
        };
        let missed_lines;
        (records, missed_lines) = source.go_on_from(root, name, &earlier)?;
        if missed_lines {
            missed = Missed::BetweenLooks;
        }
        goes_on = true;
    }
    records.extend(source.read()?);
    let start = start_of_boot(&records);
    let this_boot = boot_id.map(str::to_owned);
    let earlier_boot = from.and_then(|from| from.boot_id.clone());
    let numbered = records.into_iter().enumerate();
    let records = numbered.filter_map(|(index, record)| match (index >= start, goes_on) {
        (true, _) => Some((record, this_boot.clone())),
        // Written behind the last look, before the node was booted again.
        (false, true) => Some((record, earlier_boot.clone())),
        (false, false) => None,
    });
    let records = records.collect();
    let place = source.place()?.map_or(
        Place::Kmsg { sequence: 0 },
        |Earlier {
             device,
             inode,
             offset,
             last_bytes,
         }| Place::File {
            device,
            inode,
            offset,
            last_bytes,
        },
    );
    Ok(Read {
        records,
        place,
        missed,
    })
}

fn uptime(root: &HostRoot) -> Option<std::time::Duration> {
    let line = root.line("proc/uptime").value?;
    let seconds: f64 = line.split(' ').next()?.parse().ok()?;
    std::time::Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests;
