//! What the shipped records say of Xids and SXids, for an agent without a server. `data/xids.tsv` is made from
//! kb-seed (`WRITE_XIDS=1 cargo nextest run -p kb-core --test xids`), and a test holds the two together.

use std::str::FromStr;
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as WordError, StrDeserializer};

use crate::ids::RecordId;
use crate::report::{Bearing, Family};
use crate::severity::{Action, Blame, Severity};

use super::{Recovery, What};

const TABLE: &str = include_str!("../../data/xids.tsv");

/// What a record says of an Xid or SXid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownXid {
    /// Xid or SXid.
    pub family: Family,
    /// Its number.
    pub number: u32,
    /// The record.
    pub record: RecordId,
    /// How bad it is.
    pub severity: Option<Severity>,
    /// What to do first.
    pub action: Option<Action>,
    /// What is at fault; unclear where the record does not say.
    pub at_fault: Blame,
}

/// All of them, by family and number.
pub fn known_xids() -> &'static [KnownXid] {
    static KNOWN: OnceLock<Vec<KnownXid>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut known: Vec<KnownXid> = TABLE.lines().filter_map(row).collect();
        known.sort_unstable_by_key(|xid| (xid.family, xid.number));
        known
    })
}

/// What the records say of this one; `None` where none is about it.
pub fn known(family: Family, number: u32) -> Option<&'static KnownXid> {
    let all = known_xids();
    let place = all.binary_search_by_key(&(family, number), |xid| (xid.family, xid.number));
    all.get(place.ok()?)
}

/// The heading is no row.
fn row(line: &str) -> Option<KnownXid> {
    let mut cells = line.split('\t');
    let family = match cells.next()? {
        "Xid" => Family::Xid,
        "SXid" => Family::Sxid,
        _ => return None,
    };
    Some(KnownXid {
        family,
        number: cells.next()?.parse().ok()?,
        record: RecordId::from_str(cells.next()?).ok()?,
        severity: word(cells.next()?, Severity::deserialize),
        action: word(cells.next()?, Action::deserialize),
        at_fault: word(cells.next()?, Blame::deserialize).unwrap_or(Blame::Unclear),
    })
}

fn word<'a, T>(
    text: &'a str,
    read: impl Fn(StrDeserializer<'a, WordError>) -> Result<T, WordError>,
) -> Option<T> {
    read(text.into_deserializer()).ok()
}

impl KnownXid {
    /// What it means for the node, by severity, action and blame. `fatal` is the driver's own word in the line, where
    /// it has one: links and switches report the same number as `Fatal` and as `Nonfatal`.
    pub fn bearing(&self, fatal: Option<bool>) -> Bearing {
        let of_record = bearing(self.severity, self.action, Some(self.at_fault));
        match fatal {
            // What a program did may have stopped a port of the switch until it is reset.
            Some(true) if self.at_fault == Blame::Application => of_record.max(Bearing::Warning),
            Some(true) => Bearing::Fault,
            Some(false) => of_record.min(Bearing::Warning),
            None => of_record,
        }
    }
}

/// What an error means for the node on which it stands, by what its record says of severity, action and blame.
pub fn bearing(severity: Option<Severity>, action: Option<Action>, at_fault: Option<Blame>) -> Bearing {
    let hardware = matches!(
        at_fault,
        Some(Blame::Gpu | Blame::Link | Blame::Host | Blame::Fabric)
    );
    match (severity, action) {
        _ if at_fault == Some(Blame::Application) => Bearing::Event,
        (Some(Severity::Info), _) | (Some(Severity::Warning), Some(Action::None)) => Bearing::Event,
        (Some(Severity::Fatal), _)
        | (
            Some(Severity::Error),
            Some(Action::ResetGpu | Action::RebootNode | Action::CheckHardware | Action::ReplaceHardware),
        ) => Bearing::Fault,
        (Some(Severity::Error), Some(Action::ContactSupport)) if hardware => Bearing::Fault,
        _ => Bearing::Warning,
    }
}

impl What {
    /// What it means for the node. Of a line of the bus, where a GPU is at or below one of its devices.
    pub(crate) fn bearing(&self) -> Bearing {
        match self {
            Self::Numbered {
                family,
                number,
                fatal,
            } => known(*family, *number)
                .map_or_else(|| bearing_of_unknown(*fatal), |known| known.bearing(*fatal)),
            Self::RecoveryAction(Recovery::None) => Bearing::Event,
            Self::RecoveryAction(_) | Self::Message(_) | Self::Bus(_) => Bearing::Fault,
        }
    }
}

/// What an Xid or SXid means that no record is about: somebody should look, and what the driver itself calls fatal is a fault.
fn bearing_of_unknown(fatal: Option<bool>) -> Bearing {
    if fatal == Some(true) {
        Bearing::Fault
    } else {
        Bearing::Warning
    }
}
