//! What the kernel log says, and how far it was read.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use serde::{Deserialize, Serialize};

use super::Ledger;
use super::new::New;
use crate::ids::RecordId;
use crate::observation::{
    CARD_GONE, LineEvent, Look, Missed, NO_ANSWER, Occurrence, Recovery, What, cause, known,
};
use crate::report::{Bearing, Counter, Family, NODE, Nature};
use crate::text::Sha256;

/// How far the kernel log was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPlace {
    /// The boot in which it was read.
    pub boot_id: Option<String>,
    /// Where.
    pub place: Place,
}

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Number of the last record of the kernel's own log.
    Kmsg {
        /// The record's number.
        sequence: u64,
        /// Which forms of records whoever read up to it knew. 0 in ledgers of older agents.
        #[serde(default)]
        forms: u32,
    },
    /// Behind the last line of a file.
    File {
        /// Device of the file system.
        device: u64,
        /// The file.
        inode: u64,
        /// Bytes before that place.
        offset: u64,
        /// Digest of the last bytes before it, which tells a refilled file. Absent in ledgers of older agents.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        last_bytes: Option<Sha256>,
        /// The line behind that place, where it had no end.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        unended: Option<Unended>,
        /// Which forms of lines whoever read up to it knew. 0 in ledgers of older agents.
        #[serde(default)]
        forms: u32,
    },
}

/// A last line without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unended {
    /// Its bytes when it was looked at.
    pub length: u64,
    /// So many of them were taken for a line, and told.
    pub told: u64,
}

impl Ledger {
    pub(super) fn log(&mut self, look: &Look) {
        for event in &look.events {
            self.event(event, look);
        }
        self.missed(look);
    }

    /// Events of a look that reads another log of a boot than the look before, without those that were counted already: the kernel's own
    /// time tells them. What has none counts again, and so does what a bridge above GPUs told of.
    #[must_use]
    pub fn without_counted(&self, mut events: Vec<Occurrence>) -> Vec<Occurrence> {
        // By entry and boot: its times that no event was found for yet.
        let mut counted: BTreeMap<(String, String), BTreeMap<u64, usize>> = BTreeMap::new();
        let mut was_counted = |occurrence: &Occurrence| {
            let boot = occurrence.boot_id.as_deref()?;
            let microseconds = occurrence.event.microseconds?;
            let id = id_of(&occurrence.event)?;
            let entry = counted.entry((id, boot.to_owned()));
            let times = entry.or_insert_with_key(|(id, boot)| {
                let mut times: BTreeMap<u64, usize> = BTreeMap::new();
                for time in self.kernel_times.of_boot(id, boot) {
                    *times.entry(*time).or_default() += 1;
                }
                times
            });
            let left = times.get_mut(&microseconds).filter(|left| **left > 0)?;
            *left -= 1;
            Some(())
        };
        events.retain(|occurrence| was_counted(occurrence).is_none());
        events
    }

    fn missed(&mut self, look: &Look) {
        let new = New::now(cause::LOG_MISSED, NODE, Nature::Event, look);
        match &look.missed {
            Missed::Nothing => {}
            // How long the node has been up without an agent is no fault of it.
            Missed::BeforeFirstLook => self.add(New {
                bearing: Bearing::Event,
                text: "the kernel log of this boot was read from its middle on: earlier lines were gone at the first look"
                    .to_owned(),
                ..new
            }),
            Missed::BetweenLooks => self.add(New {
                text: "lines of the kernel log were gone before they were read".to_owned(),
                ..new
            }),
            Missed::InEarlierBoot(boot) => self.add(New {
                boot_id: boot.as_deref(),
                text: "lines of the kernel log of an earlier boot may have been passed over by an older agent".to_owned(),
                ..new
            }),
        }
    }

    fn event(&mut self, occurrence: &Occurrence, look: &Look) {
        let Occurrence {
            event,
            at,
            boot_id,
            is_in_doubt,
        } = occurrence;
        let device = event.device.as_str();
        let new = |cause, nature, bearing: Bearing| New {
            nature,
            // Whether the node has it now cannot be told.
            bearing: if *is_in_doubt {
                bearing.min(Bearing::Unknown)
            } else {
                bearing
            },
            count: 1,
            at,
            boot_id: boot_id.as_deref(),
            microseconds: event.microseconds,
            text: event.text.clone(),
            is_in_doubt: *is_in_doubt,
            ..New::of(cause, device)
        };
        match &event.what {
            What::Numbered { family, number, .. } => {
                self.count_line(device, *family, *number, at);
                let known = known(*family, *number);
                let bearing = event.what.bearing();
                self.add(New {
                    number: Some(*number),
                    record: known.map(|known| known.record.clone()),
                    known,
                    ..new(cause_of(*family), Nature::Event, bearing)
                });
            }
            What::RecoveryAction(action) => {
                self.count_line(device, Family::Xid, 154, at);
                let known = known(Family::Xid, 154);
                if *action == Recovery::None {
                    self.end(|entry| {
                        let is_154 =
                            entry.cause == cause::RECOVERY_ACTION || entry.id == unknown_action(device);
                        !is_in_doubt && is_154 && entry.device == device
                    });
                } else {
                    if matches!(action, Recovery::Other(_)) {
                        // NVML's "none" need not know this action, so that it ends the state alone.
                        self.add(New {
                            number: Some(154),
                            record: known.map(|known| known.record.clone()),
                            ..new(cause::XID, Nature::Event, Bearing::Warning)
                        });
                    }
                    self.add(New {
                        record: known.map(|known| known.record.clone()),
                        known,
                        ..new(cause::RECOVERY_ACTION, Nature::State, Bearing::Fault)
                    });
                }
            }
            What::Message(record) => self.add(New {
                record: record.and_then(|id| RecordId::from_str(id).ok()),
                ..new(cause::KERNEL_MESSAGE, Nature::Event, Bearing::Fault)
            }),
            What::Bus(record) => {
                let record = RecordId::from_str(record).ok();
                let mut gpus: Vec<String> = event.devices().flat_map(|device| look.gpus_at(device)).collect();
                gpus.extend(
                    event
                        .devices()
                        .flat_map(|device| self.gpus_seen_at(device, boot_id.as_deref())),
                );
                gpus.sort_unstable();
                gpus.dedup();
                if gpus.is_empty() && look.bus.is_without_device_of(event) {
                    // A drive that somebody takes out leaves such lines, too.
                    let bearing = match record.as_ref().map(RecordId::as_str) {
                        Some(CARD_GONE | NO_ANSWER) => Bearing::Event,
                        _ => Bearing::Warning,
                    };
                    self.add(New {
                        device: NODE,
                        record: record.clone(),
                        text: format!(
                            "{} (what was there is not on the bus any more: it may have been a GPU)",
                            event.text
                        ),
                        ..new(cause::KERNEL_MESSAGE, Nature::Event, bearing)
                    });
                }
                for gpu in gpus {
                    self.add(New {
                        device: &gpu,
                        record: record.clone(),
                        ..new(cause::KERNEL_MESSAGE, Nature::Event, Bearing::Fault)
                    });
                }
            }
        }
    }

    fn count_line(&mut self, device: &str, family: Family, number: u32, at: &str) {
        let known = self
            .counters
            .iter_mut()
            .find(|counter| counter.device == device && counter.family == family && counter.number == number);
        match known {
            Some(counter) => {
                counter.count = counter.count.saturating_add(1);
                at.clone_into(&mut counter.last_at);
            }
            None => self.counters.push(Counter {
                device: device.to_owned(),
                family,
                number,
                count: 1,
                last_at: at.to_owned(),
            }),
        }
    }
}

/// The entry in which an event is counted, where it is counted in one alone.
fn id_of(event: &LineEvent) -> Option<String> {
    let device = event.device.as_str();
    let new = match &event.what {
        What::Numbered { family, number, .. } => New {
            number: Some(*number),
            ..New::of(cause_of(*family), device)
        },
        What::Message(record) => New {
            record: record.and_then(|id| RecordId::from_str(id).ok()),
            ..New::of(cause::KERNEL_MESSAGE, device)
        },
        What::RecoveryAction(_) | What::Bus(_) => return None,
    };
    Some(new.id())
}

fn cause_of(family: Family) -> &'static str {
    match family {
        Family::Xid => cause::XID,
        Family::Sxid => cause::SXID,
    }
}

fn unknown_action(device: &str) -> String {
    let cause = cause::XID;
    format!("{cause}-154@{device}")
}
