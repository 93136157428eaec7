//! The case file of a node: all that a vendor's form asks when a part is to be exchanged, from what the server has kept, and
//! what is not known said as not known.
//!
//! ```text
//! collect   store -> case      form  questions and the facts that answer them      timeline  Xids and other faults by time
//! ```

mod collect;
mod form;
mod timeline;

use std::collections::BTreeMap;

use kb_core::baseline::Outlier;
use kb_core::redact::{self, Kind};
use kb_core::report::{Clear, Fact};
use serde::{Deserialize, Serialize};

pub use collect::collect;
pub use form::Answer;
pub use timeline::Happened;

use super::ingest::IngestError;
use crate::store::StoreError;

/// Everything that is known of a node, for somebody who has never seen it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// When it was put together, RFC 3339.
    pub made_at: String,
    /// The node's reports are of a stand-in: none of it is of a machine.
    pub simulated: bool,
    pub node: CaseNode,
    /// The verdict that stands.
    pub standing: CaseRun,
    /// The questions of a vendor's form, each with its answer or with how to get it.
    pub form: Vec<Answer>,
    /// What the records say of the report whose verdict stands.
    pub findings: Vec<CaseFinding>,
    /// Xids and other faults, the newest first.
    pub timeline: Vec<Happened>,
    /// Runs that made GPUs work with each other, the newest first.
    pub proofs: Vec<CaseRun>,
    pub measurements: Option<CaseMeasurements>,
    pub tried: Tried,
    pub host: BTreeMap<String, Fact>,
    pub gpus: Vec<CaseGpu>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseNode {
    pub id: String,
    pub hostname: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub first_seen: String,
    pub reports: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseRun {
    pub report_id: String,
    /// End of the run by the server's clock, RFC 3339.
    pub at: String,
    pub verdict: String,
    pub reason: String,
    pub gpus: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseFinding {
    pub subject: String,
    pub title: String,
    pub record: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseMeasurements {
    pub report_id: String,
    pub at: String,
    /// Whom it is held against, or why there is nobody.
    pub cohort: String,
    pub outliers: Vec<Outlier>,
    /// The figures that stand worst, in words; where none is worse than normal, how many were compared.
    pub lines: Vec<String>,
}

/// What people have done, as far as the server knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Faults that a person has ended, with the reason.
    pub clears: Vec<Clear>,
    /// What happened to the machine: parts exchanged, names changed.
    pub events: Vec<CaseEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseEvent {
    pub at: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseGpu {
    pub index: usize,
    pub name: Fact<String>,
    pub uuid: Fact<String>,
    pub pci_address: Fact<String>,
    pub facts: BTreeMap<String, Fact>,
}

#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Report(#[from] IngestError),
    #[error("the case file cannot be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// What leaves the house only if asked for: names of machines and people, addresses, secrets.
const NAMES: [Kind; 4] = [Kind::Hosts, Kind::Addresses, Kind::Secrets, Kind::Users];

impl Case {
    /// Without names of machines and people, addresses and secrets. Serial numbers stay: a vendor asks for them first.
    pub fn without_names(&self) -> Result<Self, CaseError> {
        let mut value = serde_json::to_value(self)?;
        redact::report(&mut value, &NAMES);
        Ok(serde_json::from_value(value)?)
    }
}
