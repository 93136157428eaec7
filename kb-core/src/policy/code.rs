//! What a rule is about: an Xid or SXid, a record, or a cause that a look or a run names.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::near::{nearest, shown};
use crate::observation::{WATCHED, cause, fatal_records, known, known_xids};
use crate::report::Family;

/// Causes of pairs that are warnings: data arrives, and something is not as it should be. A test holds them to the table of verdicts.
pub const PAIR_WARNINGS: &[&str] = &[
    "fabric_unhealthy",
    "pcie_errors",
    "fails_only_together",
    "slower_with_peer_access",
    "links_down",
    "nvlink_corrected_errors",
    "slow_pair",
    "slow_direction",
    "io_page_fault_seen",
    "pcie_link_degraded",
    "below_nominal",
    "push_and_pull_apart",
    "kernels_slow",
    "slowed_by_others",
];

/// Causes that take in many codes: a rule names one of these.
const TOO_WIDE: [&str; 3] = [cause::XID, cause::SXID, cause::KERNEL_MESSAGE];

/// Causes that no policy makes milder: a lost or missing GPU, what a load proved, and what could not be told.
const PROTECTED_CAUSES: [&str; 5] = [
    cause::GPU_LOST,
    cause::DEVICE_MISSING,
    cause::GPU_WITHOUT_DRIVER,
    cause::LOAD_FAULT,
    cause::LEDGER_DAMAGED,
];

/// Records of a GPU that is gone from the bus or lost to the driver.
const PROTECTED_RECORDS: [&str; 3] = [
    "nvml/gpu-is-lost",
    "driver/gpu-lost-at-probe",
    "xid/79-gpu-has-fallen-off-the-bus",
];

/// The GPU has fallen off the bus.
const LOST_XID: u32 = 79;

/// Codes of a GPU that is gone, whatever record is about them.
const LOST_CODES: [&str; 2] = ["Xid 79", "NVML_ERROR_GPU_IS_LOST"];

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// `xid 63`, `sxid 12028`.
    Numbered(Family, u32),
    /// The id of a record: `xid/63-row-remapping-event`.
    Record(String),
    /// A cause: `remap_pending`, `slow_pair`.
    Cause(String),
}

/// A code that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{told}")]
pub struct Unknown {
    told: String,
}

impl Code {
    /// Reads one by its form alone: `xid 63` and `Xid 63`, an id with a slash, else a cause.
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        let numbered = text.split_once([' ', '-']).and_then(|(word, number)| {
            let family = match word.to_ascii_lowercase().as_str() {
                "xid" => Family::Xid,
                "sxid" => Family::Sxid,
                _ => return None,
            };
            Some(Self::Numbered(family, number.trim().parse().ok()?))
        });
        numbered.unwrap_or_else(|| {
            if text.contains('/') {
                Self::Record(text.to_owned())
            } else {
                Self::Cause(text.to_owned())
            }
        })
    }

    /// Reads one that there is. `records`: ids of records that the caller knows besides those that decide in an agent.
    pub fn parse(text: &str, records: &[&str]) -> Result<Self, Unknown> {
        let code = Self::read(text);
        let refuse = |kind: &str, near: Option<String>| {
            let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            Unknown {
                told: format!("{} is no {kind}{near}", shown(text)),
            }
        };
        match &code {
            Self::Numbered(family, number) => match known(*family, *number) {
                Some(_) => Ok(code),
                None => Err(refuse(
                    &format!("{} that a record is about", family.word()),
                    near_number(*family, *number),
                )),
            },
            Self::Record(id) => {
                let mut all: Vec<&str> = records.to_vec();
                for own in own_records() {
                    all.push(own);
                }
                if all.contains(&id.as_str()) {
                    return Ok(code);
                }
                Err(refuse(
                    "record that is known",
                    nearest(id, all).map(str::to_owned),
                ))
            }
            Self::Cause(name) if TOO_WIDE.contains(&name.as_str()) => Err(Unknown {
                told: format!(
                    "{name:?} takes in every code of its kind: name one, as \"xid 63\", or its record, as \
                     \"driver/gsp-heartbeat-timed-out\""
                ),
            }),
            Self::Cause(name) if causes().any(|known| known == name) => Ok(code),
            Self::Cause(name) => Err(refuse(
                "Xid (\"xid 63\"), record (\"xid/63-row-remapping-event\") or cause (\"remap_pending\") that a policy decides about",
                nearest(name, causes()).map(str::to_owned),
            )),
        }
    }

    /// Whether something with this number, record and cause is meant.
    pub(super) fn fits(
        &self,
        numbered: Option<(Family, u32)>,
        record: Option<&str>,
        cause: Option<&str>,
    ) -> bool {
        match self {
            Self::Numbered(family, number) => match numbered {
                Some(of) => of == (*family, *number),
                // What a server finds by a record has no number; a state that the same record explains is not the code.
                None => cause.is_none() && record.is_some() && record == self.own_record(),
            },
            Self::Record(id) => record == Some(id.as_str()),
            Self::Cause(name) => cause == Some(name.as_str()),
        }
    }

    /// Whether everything that `other` means is meant.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self == other
            || matches!((self, other), (Self::Record(id), Self::Numbered(..)) if other.own_record() == Some(id.as_str()))
    }

    /// The record of an Xid or SXid, or the one that is named.
    pub fn own_record(&self) -> Option<&str> {
        match self {
            Self::Numbered(family, number) => known(*family, *number).map(|known| known.record.as_str()),
            Self::Record(id) => Some(id),
            Self::Cause(_) => None,
        }
    }

    /// True of what no policy makes milder.
    pub(super) fn is_protected(&self) -> bool {
        match self {
            Self::Numbered(family, number) => (*family, *number) == (Family::Xid, LOST_XID),
            Self::Record(id) => PROTECTED_RECORDS.contains(&id.as_str()),
            Self::Cause(name) => is_protected_cause(name),
        }
    }

    /// True where it is there or not at each look, so that it has no times to count.
    pub(super) fn is_state(&self) -> bool {
        let Self::Cause(name) = self else { return false };
        let watched = WATCHED.iter().find(|row| row.cause == name);
        watched.is_none_or(|row| row.nature == crate::report::Nature::State)
    }
}

pub(super) fn is_protected_cause(name: &str) -> bool {
    PROTECTED_CAUSES.contains(&name)
}

pub(super) fn is_protected(
    numbered: Option<(Family, u32)>,
    record: Option<&str>,
    cause: Option<&str>,
) -> bool {
    numbered == Some((Family::Xid, LOST_XID))
        || record.is_some_and(|record| PROTECTED_RECORDS.contains(&record))
        || cause.is_some_and(is_protected_cause)
}

/// Whether a record tells of a GPU that is gone: by the ids that it has and had, and by the codes that it is about.
pub fn tells_of_loss<'a>(
    mut ids: impl Iterator<Item = &'a str>,
    mut codes: impl Iterator<Item = &'a str>,
) -> bool {
    let is_of_loss = |code: &str| LOST_CODES.iter().any(|lost| lost.eq_ignore_ascii_case(code));
    ids.any(|id| PROTECTED_RECORDS.contains(&id)) || codes.any(is_of_loss)
}

/// Whether an agent knows a record under this id: then it stands so in ledgers, whatever a server calls the record.
pub fn is_own_record(id: &str) -> bool {
    own_records().any(|own| own == id)
}

fn causes() -> impl Iterator<Item = &'static str> {
    let watched = WATCHED.iter().map(|row| row.cause);
    let watched = watched.filter(|cause| !TOO_WIDE.contains(cause));
    watched.chain(PAIR_WARNINGS.iter().copied())
}

/// Records that decide in an agent.
fn own_records() -> impl Iterator<Item = &'static str> {
    let of_xids = known_xids().iter().map(|known| known.record.as_str());
    let of_states = WATCHED.iter().filter_map(|row| row.record);
    of_xids.chain(of_states).chain(fatal_records())
}

/// The known number nearest by its digits, or else by its value.
fn near_number(family: Family, number: u32) -> Option<String> {
    let of_family = || known_xids().iter().filter(|known| known.family == family);
    let words: Vec<String> = of_family().map(|known| known.number.to_string()).collect();
    let text = number.to_string();
    let near = nearest(&text, words.iter().map(String::as_str)).map(str::to_owned);
    let near = near.or_else(|| {
        let closest = of_family().min_by_key(|known| known.number.abs_diff(number))?;
        Some(closest.number.to_string())
    })?;
    Some(format!("{} {near}", family.word().to_lowercase()))
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbered(family, number) => write!(f, "{} {number}", family.word().to_lowercase()),
            Self::Record(text) | Self::Cause(text) => f.write_str(text),
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// By its form alone: an agent may be older than the records of its server.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::read(&String::deserialize(deserializer)?))
    }
}
