//! The nodes of the demo and what happened to them in thirty days.

use kb_core::report::{Failure, Report};
use kb_core::simulate::{About, Machine, report};
use kb_core::verdict::{Expect, judge};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

/// Runs of real agents on H200, as the tests of the wire format have them.
const RECORDED: [&str; 4] = [
    include_str!("../../../../kb-core/tests/data/reports/h200-x2-healthy.json"),
    include_str!("../../../../kb-core/tests/data/reports/h200-x2-ladder.json"),
    include_str!("../../../../kb-core/tests/data/reports/h200-x2-bench.json"),
    include_str!("../../../../kb-core/tests/data/reports/h200-x2-errors.json"),
];

const NODES: u32 = 200;
const NODES_OF_A_RACK: u32 = 8;
const DAYS: u32 = 30;
/// Nodes of which each day has a report; of the others, those of the first day and of the last.
const WATCHED: u32 = 8;
/// Nodes that have eight GPUs; the others have two. A report of theirs is fifty times as large: few, and not those of each day.
const LARGE: std::ops::Range<u32> = WATCHED..WATCHED + 8;

/// A report as it was sent.
pub(super) struct Made {
    pub(super) body: Vec<u8>,
    /// When the run ended.
    pub(super) at: OffsetDateTime,
}

/// Why a report of the demo could not be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum MakeError {
    #[error(transparent)]
    Id(#[from] kb_core::ids::IdError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("a time: {0}")]
    Format(#[from] time::error::Format),
    #[error("a time: {0}")]
    Parse(#[from] time::error::Parse),
}

/// What is wrong with a node on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Of(Machine),
    /// One GPU, of which no fault was seen.
    Single,
    /// The driver's library is missing.
    WithoutDriver,
}

pub(super) fn reports(now: OffsetDateTime) -> impl Iterator<Item = Result<Made, MakeError>> {
    let simulated = (0..NODES).flat_map(move |node| {
        let days = (0..DAYS)
            .rev()
            .filter(move |ago| node < WATCHED || *ago == 0 || *ago == DAYS - 1);
        days.map(move |ago| simulated(node, ago, now))
    });
    RECORDED.into_iter().map(recorded).chain(simulated)
}

fn recorded(text: &str) -> Result<Made, MakeError> {
    let report: Report = serde_json::from_str(text)?;
    Ok(Made {
        body: text.as_bytes().to_vec(),
        at: OffsetDateTime::parse(&report.finished_at, &Rfc3339)?,
    })
}

/// Most nodes are well. Each kind of trouble is somewhere in the first racks, and began some days ago.
fn state(node: u32, ago: u32) -> State {
    let (trouble, since) = match node {
        1 => (State::Of(Machine::Lost), 3),
        // Was exchanged a week ago.
        2 if ago >= 7 => (State::Of(Machine::Ecc), 12),
        3 => (State::Of(Machine::Slow), 20),
        4 | 61 => (State::Of(Machine::Hang), 1),
        5 => (State::WithoutDriver, 2),
        9 | 130 => (State::Of(Machine::Ecc), 0),
        17..=19 => (State::Of(Machine::Refused), DAYS),
        23 | 88 | 144 => (State::Of(Machine::Slow), 5),
        31 | 32 => (State::Single, DAYS),
        77 => (State::Of(Machine::Lost), 0),
        101 => (State::WithoutDriver, 0),
        _ => (State::Of(Machine::Healthy), DAYS),
    };
    if ago <= since {
        trouble
    } else {
        State::Of(Machine::Healthy)
    }
}

fn simulated(node: u32, ago: u32, now: OffsetDateTime) -> Result<Made, MakeError> {
    // Not all at the same time of day, and the last of them some minutes ago.
    let minutes = 3 + i64::from(node * 37 % 720);
    let at = now - Duration::days(ago.into()) - Duration::minutes(minutes);
    let state = state(node, ago);
    let (rack, place) = (node / NODES_OF_A_RACK + 1, node % NODES_OF_A_RACK + 1);
    let about = About {
        report_id: format!("00000000-0000-8000-8000-{node:06}{ago:06}").parse()?,
        node: Some(format!("demo-r{rack:02}-n{place}").parse()?),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: (at - Duration::seconds(4)).format(&Rfc3339)?,
        finished_at: at.format(&Rfc3339)?,
        gpus: match state {
            State::Single => 1,
            _ if LARGE.contains(&node) => 8,
            _ => 2,
        },
    };
    let machine = match state {
        State::Of(machine) => machine,
        State::Single | State::WithoutDriver => Machine::Healthy,
    };
    let mut report = report(machine, about)?;
    if state == State::WithoutDriver {
        take_driver(&mut report);
    }
    Ok(Made {
        body: serde_json::to_vec(&report)?,
        at,
    })
}

fn take_driver(report: &mut Report) {
    report.gpus.clear();
    report.pairs.clear();
    report.measurements.clear();
    report.failures.push(Failure::new(
        Failure::LOAD_CUDA,
        "libcuda.so.1: cannot open shared object file: No such file or directory",
    ));
    judge(report, Expect::Auto);
    report.conclusion.reason = format!("simulated: {}", report.conclusion.reason);
}
