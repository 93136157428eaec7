//! Agent reports and the nodes that sent them.

pub mod batch;
pub mod case;
pub mod changes;
pub mod facets;
pub mod findings;
pub mod fleet;
pub mod get;
pub mod list;
pub mod measurements;
pub mod nodes;
pub mod post;

use kb_core::report::Ruled;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::records::get::rfc3339;
use crate::domain::enrol::WriterError;
use crate::domain::ingest::IngestError;
use crate::store::{ReportListing, StoredFinding};
use crate::web::error::{Code, Problem};

/// A report in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportEntry {
    /// Its id.
    id: String,
    /// The node that sent it.
    node: String,
    /// Host name, unless redacted.
    hostname: Option<String>,
    /// When the run ended, by the node's clock, RFC 3339.
    finished_at: String,
    /// When it came, RFC 3339.
    received_at: String,
    /// When the run ended by the server's clock, as far as that is known, RFC 3339: the order of a node's reports. It
    /// differs from the earlier of the two where the node's clock is wrong or in doubt.
    ended_at: String,
    /// A stand-in took the driver's place.
    simulated: bool,
    /// Verdict of the run.
    #[schema(value_type = String, example = "healthy")]
    verdict: kb_core::verdict::Verdict,
    /// What the verdict is worth: `proof` when GPUs were made to work with each other and the verdict tells what came
    /// of it, `alarm` when a look or a run that failed tells of a fault, `look` otherwise.
    #[schema(example = "proof")]
    weight: &'static str,
    /// Why, in one sentence.
    reason: String,
    /// Number of GPUs.
    gpus: u32,
    /// Number of findings.
    finding_count: u32,
}

impl From<&ReportListing> for ReportEntry {
    fn from(listing: &ReportListing) -> Self {
        Self {
            id: listing.id.to_string(),
            node: listing.node.to_string(),
            hostname: listing.hostname.clone(),
            finished_at: rfc3339(listing.finished_at),
            received_at: rfc3339(listing.received_at),
            ended_at: rfc3339(listing.ended()),
            simulated: listing.simulated,
            verdict: listing.verdict,
            weight: listing.weight.word(),
            reason: listing.reason.clone(),
            gpus: listing.gpus,
            finding_count: listing.findings,
        }
    }
}

/// Something a report shows.
#[derive(Debug, Serialize, ToSchema)]
pub struct FindingEntry {
    /// The record that explains it; null: nothing known does.
    record: Option<String>,
    /// Revision of that record.
    revision: Option<u32>,
    /// The rule or pattern in its annex.
    rule: String,
    /// What it is about: `report`, `pair 0-1`, `gpu 3`, `direction 0-1`.
    subject: String,
    /// What is wrong, in the report's own words where it has some (its log line, its reason), else in those of the record.
    title: String,
    /// What led to it.
    #[schema(value_type = Vec<Object>)]
    evidence: Box<RawValue>,
    /// What the site's policy made of it; null where the records decided.
    #[schema(value_type = Option<Object>)]
    by_policy: Option<Ruled>,
    /// Which state of the knowledge found it.
    seq: i64,
}

fn finding(stored: &StoredFinding) -> Result<FindingEntry, Problem> {
    let finding = &stored.finding;
    let evidence =
        RawValue::from_string(finding.evidence.clone()).map_err(|error| Problem::internal(&error))?;
    Ok(FindingEntry {
        record: finding.record.as_ref().map(|(id, _)| id.to_string()),
        revision: finding.record.as_ref().map(|(_, revision)| revision.0),
        rule: finding.rule.clone(),
        subject: finding.subject.clone(),
        title: finding.title.clone(),
        evidence,
        by_policy: finding.by_policy.clone(),
        seq: stored.seq.0,
    })
}

fn findings(stored: &[StoredFinding]) -> Result<Vec<FindingEntry>, Problem> {
    stored.iter().map(finding).collect()
}

impl From<IngestError> for Problem {
    fn from(error: IngestError) -> Self {
        let code = match &error {
            IngestError::Store(_) => {
                return match error {
                    IngestError::Store(error) => error.into(),
                    other => Self::internal(&other),
                };
            }
            IngestError::Text(_) => Code::MalformedBody,
            IngestError::Writer(WriterError::OtherNode { .. }) => Code::OtherNode,
            IngestError::Writer(WriterError::Unbound) => Code::Forbidden,
            IngestError::NewerSchema { .. } => Code::NewerReport,
            IngestError::Shape(_) | IngestError::Invalid(_) => Code::InvalidReport,
            IngestError::Conflict { .. } => Code::ReportConflict,
            IngestError::Damaged(_) | IngestError::Compress(_) | IngestError::Panicked => {
                return Self::internal(&error);
            }
        };
        let problem = Self::new(code, error.to_string());
        let IngestError::Invalid(found) = &error else {
            return problem;
        };
        let violations = found
            .iter()
            .map(|found| serde_json::json!({"pointer": found.pointer, "reason": found.reason}));
        problem.with("violations", violations.collect())
    }
}
