//! Something that was seen, and how it is named in the ledger.

use std::str::FromStr as _;

use crate::ids::RecordId;
use crate::observation::{KnownXid, Look, bearing_of, cause};
use crate::report::{Bearing, Nature};

pub(super) struct New<'a> {
    pub(super) cause: &'a str,
    pub(super) device: &'a str,
    pub(super) nature: Nature,
    pub(super) bearing: Bearing,
    pub(super) number: Option<u32>,
    pub(super) record: Option<RecordId>,
    pub(super) known: Option<&'static KnownXid>,
    pub(super) count: u64,
    pub(super) at: &'a str,
    pub(super) boot_id: Option<&'a str>,
    /// By the kernel's own clock since boot.
    pub(super) microseconds: Option<u64>,
    pub(super) text: String,
    /// It may be of this boot or of an earlier one.
    pub(super) is_in_doubt: bool,
}

impl<'a> New<'a> {
    pub(super) fn of(cause: &'a str, device: &'a str) -> Self {
        let record = cause::watched(cause).and_then(|row| row.record);
        Self {
            cause,
            device,
            nature: Nature::Event,
            bearing: bearing_of(cause),
            number: None,
            record: record.and_then(|id| RecordId::from_str(id).ok()),
            known: None,
            count: 1,
            at: "",
            boot_id: None,
            microseconds: None,
            text: String::new(),
            is_in_doubt: false,
        }
    }

    pub(super) fn now(cause: &'a str, device: &'a str, nature: Nature, look: &'a Look) -> Self {
        Self {
            nature,
            at: &look.at,
            boot_id: look.boot_id.as_deref(),
            ..Self::of(cause, device)
        }
    }

    /// A message is told from others of its GPU by its record.
    pub(super) fn id(&self) -> String {
        match (self.number, &self.record) {
            (Some(number), _) => format!("{}-{number}@{}", self.cause, self.device),
            (None, Some(record)) if self.cause == cause::KERNEL_MESSAGE => {
                let (_, name) = record.as_str().split_once('/').unwrap_or_default();
                format!("{}-{name}@{}", self.cause, self.device)
            }
            (None, _) => format!("{}@{}", self.cause, self.device),
        }
    }
}
