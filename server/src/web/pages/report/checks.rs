//! What was checked between two GPUs, direction by direction.

use kb_core::report::{Check, Direction, Engine, Fact, Mismatch, P2pStatus, Pair};
use kb_core::verdict::Verdict;

use super::facts::{FactView, code, read, record, shown};
use crate::web::pages::words::{Link, Mark, Row, bytes, outcome, p2p_status, seconds, verdict};

/// A pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairView {
    /// Id of its place on the page.
    pub anchor: String,
    /// `GPU 0 and GPU 1`.
    pub title: String,
    /// Verdict.
    pub verdict: Mark,
    /// One sentence.
    pub reason: String,
    /// What to do.
    pub fix: Option<String>,
    /// The record that explains the cause.
    pub record: Option<Link>,
    /// True where the refusal is as expected.
    pub information: bool,
    /// True where the reader must look.
    pub open: bool,
    /// What joins the two, and the cause.
    pub rows: Vec<Row>,
    /// What was read about the way between the two.
    pub facts: Vec<FactView>,
    /// Both directions.
    pub directions: Vec<DirectionView>,
}

/// One direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectionView {
    /// `GPU 0 reaches into GPU 1`.
    pub title: String,
    /// What the driver says.
    pub rows: Vec<Row>,
    /// What was tried.
    pub checks: Vec<CheckView>,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckView {
    /// Rung of the ladder.
    pub rung: u8,
    /// What was done.
    pub name: String,
    /// What moved the bytes.
    pub engine: &'static str,
    /// What came of it.
    pub outcome: Mark,
    /// Why, call and code, where data differed.
    pub why: Vec<String>,
    /// Who compared the data.
    pub checked_by: String,
    /// Bytes compared, and over which stretch of the memory.
    pub bytes: String,
    /// How long it took.
    pub time: String,
    /// Repeated alone.
    pub rerun: bool,
}

/// Link to a pair's place on the page.
pub(super) fn anchor_link(a: u32, b: u32) -> String {
    format!("#pair-{a}-{b}")
}

/// A pair.
pub(super) fn pair(pair: &Pair) -> PairView {
    PairView {
        anchor: format!("pair-{}-{}", pair.a, pair.b),
        title: format!("GPU {} and GPU {}", pair.a, pair.b),
        verdict: verdict(pair.verdict.verdict),
        reason: pair.verdict.reason.clone(),
        fix: pair.verdict.fix.clone(),
        record: pair.verdict.record.as_ref().map(record),
        information: pair.verdict.information,
        open: pair.verdict.verdict != Verdict::Healthy && !pair.verdict.information,
        rows: pair_rows(pair),
        facts: read(&pair.facts),
        directions: pair.directions.iter().map(direction).collect(),
    }
}

fn pair_rows(pair: &Pair) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(cause) = &pair.verdict.cause {
        rows.push(Row::new("Cause", cause.replace('_', " ")));
    }
    if !pair.verdict.beside.is_empty() {
        let beside = pair.verdict.beside.join(", ").replace('_', " ");
        rows.push(Row::new("Seen beside it", beside));
    }
    if !pair.verdict.proven_rungs.is_empty() {
        let rungs: Vec<String> = pair
            .verdict
            .proven_rungs
            .iter()
            .map(ToString::to_string)
            .collect();
        rows.push(Row::new("Proven both ways by rungs", rungs.join(", ")));
    }
    rows.push(Row::new(
        "Active NVLinks",
        shown(&pair.nvlinks, ToString::to_string),
    ));
    rows.push(Row::new(
        "Through NVSwitch",
        shown(&pair.nvswitch, |yes| yes_or_no(*yes)),
    ));
    rows.push(Row::new(
        "Nearest PCIe ancestor",
        shown(&pair.common_ancestor, Clone::clone),
    ));
    rows
}

fn direction(direction: &Direction) -> DirectionView {
    DirectionView {
        title: format!("GPU {} reaches into GPU {}", direction.initiator, direction.owner),
        rows: direction_rows(direction),
        checks: direction.checks.iter().map(check).collect(),
    }
}

fn direction_rows(direction: &Direction) -> Vec<Row> {
    let nvml = &direction.nvml;
    let status = |fact: &Fact<P2pStatus>| shown(fact, |status| p2p_status(*status).to_owned());
    let mut rows = vec![
        Row::new(
            "Driver grants access",
            shown(&direction.can_access_peer, |yes| yes_or_no(*yes)),
        ),
        Row::new("NVML read", status(&nvml.read)),
        Row::new("NVML write", status(&nvml.write)),
        Row::new("NVML NVLink", status(&nvml.nvlink)),
        Row::new("NVML atomics", status(&nvml.atomics)),
        Row::new("NVML PCI", status(&nvml.pci)),
    ];
    for (name, fact) in &direction.cuda_attributes {
        rows.push(Row::new(
            format!("CUDA {}", name.replace('_', " ")),
            shown(fact, ToString::to_string),
        ));
    }
    rows
}

fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn check(check: &Check) -> CheckView {
    CheckView {
        rung: check.rung,
        name: check.name.clone(),
        engine: engine(check.engine),
        outcome: outcome(check.outcome),
        why: why(check),
        checked_by: check.checked_by.replace('_', " "),
        bytes: data(check),
        time: seconds(check.seconds),
        rerun: check.rerun,
    }
}

/// `4.0 KiB in 16 windows over 100.0 GiB`; empty where nothing was compared.
fn data(check: &Check) -> String {
    match (check.bytes, check.windows) {
        (0, _) => String::new(),
        (compared, 0 | 1) => bytes(compared),
        (compared, windows) => {
            let spread = bytes(check.spread_bytes);
            format!("{} in {windows} windows over {spread}", bytes(compared))
        }
    }
}

fn why(check: &Check) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(check.reason.clone());
    let code = code(check.code_name.as_deref(), check.code);
    match (&check.call, code.is_empty()) {
        (Some(call), true) => lines.push(call.clone()),
        (Some(call), false) => lines.push(format!("{call}: {code}")),
        (None, false) => lines.push(code),
        (None, true) => {}
    }
    lines.extend(check.mismatch.map(mismatch));
    lines
}

fn mismatch(mismatch: Mismatch) -> String {
    let place = if mismatch.in_guard {
        "in the guard zone"
    } else {
        "in the data"
    };
    let mut text = format!(
        "{} wrong 32-bit words {place}, first at byte {}",
        mismatch.words, mismatch.first_offset
    );
    if mismatch.untouched {
        text.push_str("; nothing had arrived");
    }
    match mismatch.writer_sees_it {
        Some(true) => text.push_str("; the writer reads its own data back there, the owner does not"),
        Some(false) => text.push_str("; the writer does not find its data there either"),
        None => {}
    }
    text
}

fn engine(engine: Engine) -> &'static str {
    match engine {
        Engine::Api => "driver call",
        Engine::Ce => "copy engine",
        Engine::Sm => "kernel (SM)",
        Engine::Ipc => "inter-process handle",
        Engine::Nccl => "NCCL",
        Engine::Unrecognised => "of a newer agent",
    }
}
