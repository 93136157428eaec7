//! What a report says of its node's health: what is open on it, and what was proven last.

use serde::{Deserialize, Serialize};

use super::{Ruled, Verdict};
use crate::ids::{RecordId, ReportId};
use crate::severity::{Action, Blame, Severity};

/// The device of what is about the whole node.
pub(crate) const NODE: &str = "node";

/// What is known of a node's health when a report is made. Stands in [`crate::report::Report::health`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// `no_fault_seen`, `degraded` (a warning is open), `unknown` (something could not be read) or `broken` (a fault
    /// is open). Never `healthy`: nothing was proven by looking.
    pub verdict: Verdict,
    /// Faults, warnings and events that have not ended, worst first.
    #[serde(default)]
    pub open: Vec<Entry>,
    /// How often each GPU or switch reported each Xid or SXid since the ledger began.
    #[serde(default)]
    pub counters: Vec<Counter>,
    /// What this look should have read and could not.
    #[serde(default)]
    pub unread: Vec<Unread>,
    /// What the look itself came to, before the ledger was asked; absent in a run that tried what GPUs can do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub look: Option<Seen>,
    /// The last run that made GPUs work with each other and came to a verdict; absent where none is known here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_proof: Option<Proof>,
    /// Faults and events that a person or a good run has ended, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub clears: Vec<Clear>,
    /// Whether the run or look was about all GPUs of the node: then what is open on any of them counts for it. Absent in
    /// reports of older agents and of runs over some GPUs.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub whole_node: bool,
}

impl Health {
    /// The same of a run or look about all GPUs of the node, or about some.
    #[must_use]
    pub fn about(mut self, whole_node: bool) -> Self {
        self.whole_node = whole_node;
        self
    }

    /// The same with something more that could not be read.
    #[must_use]
    pub fn with_unread(mut self, unread: Unread) -> Self {
        self.unread.push(unread);
        if self.verdict < Verdict::Unknown {
            self.verdict = Verdict::Unknown;
        }
        self
    }

    /// The same without the places in the ledger's order that come after the last one that was kept: whoever reads the ledger next gives
    /// them again, to other things.
    #[must_use]
    pub fn without_places_after(mut self, kept: Option<&Order>) -> Self {
        let is_unkept = |order: &mut Order| kept.is_none_or(|kept| order.is_after(kept) == Some(true));
        for entry in &mut self.open {
            entry.order.take_if(is_unkept);
        }
        for clear in &mut self.clears {
            clear.order.take_if(is_unkept);
        }
        if let Some(proof) = &mut self.last_proof {
            proof.order.take_if(is_unkept);
        }
        self
    }
}

/// A place in the order in which one ledger noted things. A clock can be set back; this order goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Order {
    /// Tells this ledger from others, and from one that was begun anew on the same node.
    pub ledger: String,
    /// Rises with all that the ledger notes.
    pub number: u64,
}

impl Order {
    /// Whether it comes after the other; nothing where the two are of different ledgers.
    pub fn is_after(&self, other: &Self) -> Option<bool> {
        (self.ledger == other.ledger).then_some(self.number > other.number)
    }
}

/// How an entry ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// When a look reads it as good.
    State,
    /// By an audited clear; a fault of the hardware also by a good `peerless-agent admit`, any other by a proof after a new
    /// boot.
    Event,
}

impl Nature {
    /// `state`, `event`.
    pub fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Event => "event",
        }
    }
}

/// What an entry means for the node, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bearing {
    /// It happened, and says nothing against the node: what an application did, a notice.
    Event,
    /// The node works, and somebody should look.
    Warning,
    /// How the node is cannot be told.
    Unknown,
    /// The node has a fault.
    Fault,
}

impl Bearing {
    /// `event`, `warning`, `unknown`, `fault`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
            Self::Fault => "fault",
        }
    }
}

/// A state or an event that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Names it for `peerless-agent clear`: `xid-79@0000:3b:00.0`, `remap_pending@0000:3b:00.0`.
    pub id: String,
    /// Its name in the table of what a look can say.
    pub cause: String,
    /// How it ends.
    pub nature: Nature,
    /// What it means for the node.
    pub bearing: Bearing,
    /// PCI address of the GPU or switch, `0000:3b:00.0`; `node` where it is about no device.
    pub device: String,
    /// Number of the Xid or SXid.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub number: Option<u32>,
    /// The record that explains it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub record: Option<RecordId>,
    /// How bad the record calls it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub severity: Option<Severity>,
    /// What the record says to do first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub action: Option<Action>,
    /// What the record holds at fault.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at_fault: Option<Blame>,
    /// How often it was seen since it opened: lines of the log, errors counted, looks.
    pub count: u64,
    /// When it was seen first, RFC 3339, UTC.
    pub first_at: String,
    /// When it was seen last, RFC 3339, UTC.
    pub last_at: String,
    /// The boot in which it was seen last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boot_id: Option<String>,
    /// What was seen: the line of the log, or a sentence.
    pub text: String,
    /// When it was seen, RFC 3339, UTC, where an event was seen more than once: the newest 32 times.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub times: Vec<String>,
    /// Shortest spans in seconds in which it was seen twice, three times and so on up to 32 times since it opened. Absent from older agents.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spans: Vec<u64>,
    /// The rule of the site's policy that decided `bearing`; absent where the records did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_policy: Option<Ruled>,
    /// Where in the ledger's order it was seen last. Absent from older agents, and where no ledger was kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub order: Option<Order>,
}

/// How often a device reported an Xid or SXid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counter {
    /// PCI address.
    pub device: String,
    /// Xid or SXid.
    pub family: Family,
    /// Its number.
    pub number: u32,
    /// Lines of the log; equal ones count by their place in it.
    pub count: u64,
    /// When the last one was seen, RFC 3339, UTC.
    pub last_at: String,
}

/// What a look came to by itself: `no_fault_seen`, unless the driver refused a pair, or the run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seen {
    /// Its verdict.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
}

/// Something that a look should have read and could not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unread {
    /// `nvml`, `kernel_log`, `gpus`, or a fact of a GPU: `remapped_rows.pending@0000:3b:00.0`.
    pub what: String,
    /// Why, in words.
    pub why: String,
}

/// A run that made GPUs work with each other and came to a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proof {
    /// End of the run, RFC 3339, UTC.
    pub at: String,
    /// What it came to.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
    /// Its report.
    pub report: ReportId,
    /// The boot that it ran in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boot_id: Option<String>,
    /// Warnings and states in it that a site's policy decides about. Absent from agents of before there were policies.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub decidable: Vec<Decidable>,
    /// What it would have come to without these.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub otherwise: Option<Verdict>,
    /// What it came to by the site's policy, where that is another verdict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_policy: Option<Verdict>,
    /// Where in the ledger's order it was taken in. Absent from older agents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub order: Option<Order>,
}

impl Proof {
    /// By the site's policy, where that decided, or else by the records.
    pub fn counting(&self) -> Verdict {
        self.by_policy.unwrap_or(self.verdict)
    }
}

/// A warning of a pair, or a state of a GPU, that a site's policy decides about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decidable {
    /// Its cause.
    pub cause: String,
    /// PCI address of the GPU; `node` for a warning of a pair.
    pub device: String,
    /// What it means by the records.
    pub was: Bearing,
}

/// What a person or a good run (`by` is then `peerless-agent`) has ended, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clear {
    /// When, RFC 3339, UTC.
    pub at: String,
    /// Who, as they named themselves.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Ids of the entries that it ended.
    pub entries: Vec<String>,
    /// Where in the ledger's order it stands. Absent from older agents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub order: Option<Order>,
}

/// Whose errors are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A GPU's.
    Xid,
    /// A switch's.
    Sxid,
}

impl Family {
    /// `Xid` or `SXid`, as the driver writes them.
    pub fn word(self) -> &'static str {
        match self {
            Self::Xid => "Xid",
            Self::Sxid => "SXid",
        }
    }
}
