//! The table that ships with the program: what boards reached on machines that somebody told of, each with its source.
//!
//! It is for who has one node. A figure of few machines says little, so that a comparison with it is mild
//! ([`kb_core::baseline::Compared::with_reference`]).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kb_core::baseline::{Cohort, Figure, Group, LinkClass};
use serde::Deserialize;

/// `reference.schema.json` beside it says what it must look like; a test holds it to that.
const TABLE: &str = include_str!("reference.json");

/// Published figures of one test on one board.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What the driver's name of the model begins with.
    pub board: String,
    /// Branch of the driver; absent where it is not told.
    pub driver_branch: Option<u32>,
    /// What the key of a link class begins with; absent where it is not told.
    pub link: Option<String>,
    /// `d2d_bandwidth.ce.push.p2p`.
    pub test: String,
    pub bytes: u64,
    /// GPUs, where all of a node take part at once; else 0.
    pub gpus: u32,
    pub unit: String,
    pub median: f64,
    /// As [`Group::spread`] has it.
    pub spread: f64,
    pub lowest: f64,
    pub highest: f64,
    pub values: u32,
    pub machines: u32,
    pub sources: Vec<String>,
}

/// Where figures are from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub tool: String,
    /// What was transcribed, and what is not known of it.
    pub note: String,
    /// A page, or a file of this repository.
    pub address: String,
    pub read_on: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    references: Vec<Reference>,
    sources: BTreeMap<String, Source>,
}

static SHIPPED: LazyLock<Table> = LazyLock::new(|| {
    serde_json::from_str(TABLE).unwrap_or_else(|error| {
        tracing::error!(%error, "the table of reference figures that ships with this program cannot be read");
        Table::default()
    })
});

/// All that ship with the program.
pub fn references() -> &'static [Reference] {
    &SHIPPED.references
}

/// Where they are from, by name.
pub fn sources() -> &'static BTreeMap<String, Source> {
    &SHIPPED.sources
}

/// The reference closest to a figure: of the same driver branch if there is one, of its link class before an unknown one.
pub(super) fn of(cohort: &Cohort, figure: &Figure) -> Option<&'static Reference> {
    let link = figure.series.link.key();
    // Other tools do not tell what joins their GPUs; a board is as a rule built one way.
    let is_unknown = figure.series.link == LinkClass::Unknown;
    let fits = |reference: &&Reference| {
        let series = &figure.series;
        cohort.model.starts_with(&reference.board)
            && reference.test == series.test
            && reference.bytes == series.bytes
            && reference.gpus == series.gpus
            && reference.unit == series.unit
            && reference
                .link
                .as_ref()
                .is_none_or(|known| is_unknown || link.starts_with(known))
    };
    let closeness = |reference: &&Reference| {
        let same_driver = reference.driver_branch == Some(cohort.driver_branch);
        (same_driver, reference.link.is_some(), reference.machines)
    };
    references().iter().filter(fits).max_by_key(closeness)
}

impl Reference {
    pub(super) fn group(&self) -> Group {
        Group {
            median: self.median,
            spread: self.spread,
            values: self.values,
            nodes: self.machines,
        }
    }
}
