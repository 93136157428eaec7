//! English sentences of comparisons.

use crate::baseline::{Against, Compared, LinkClass, Subject, Unplaced};

/// `3.0 % below the median of 214 figures of 31 nodes`.
pub fn with_peers(compared: &Compared) -> String {
    match compared {
        Compared::Against(against) => format!(
            "{} the median of {} figures of {} nodes",
            distance(against),
            against.values,
            against.nodes
        ),
        Compared::TooFew { have, need } => {
            format!("too few nodes to compare with: {have} of the {need} that are needed")
        }
        Compared::None => "no other node measured this".to_owned(),
    }
}

/// `3.0 % below the median of this node's 56 figures`.
pub fn in_node(compared: &Compared) -> String {
    match compared {
        Compared::Against(against) => format!(
            "{} the median of this node's {} figures",
            distance(against),
            against.values
        ),
        Compared::TooFew { have, need } => {
            format!("too few figures of this node: {have} of the {need} that are needed")
        }
        Compared::None => "no other figure of this node is of this kind".to_owned(),
    }
}

/// `3.0 % below its last good run`.
pub fn own(compared: &Compared) -> String {
    match compared {
        Compared::Against(against) => format!("{} its last good run", distance(against)),
        Compared::TooFew { .. } | Compared::None => "no earlier good run measured this".to_owned(),
    }
}

/// `3.0 % below the reference of 2 machines`.
pub fn reference(compared: &Compared) -> String {
    match compared {
        Compared::Against(against) => {
            let machines = if against.nodes == 1 { "machine" } else { "machines" };
            format!(
                "{} the reference of {} {machines}",
                distance(against),
                against.nodes
            )
        }
        Compared::TooFew { .. } | Compared::None => "no reference".to_owned(),
    }
}

/// `GPU 3`, `pair 0-1`, `the node`.
pub fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Node => "the node".to_owned(),
        Subject::Gpu { gpu } => format!("GPU {gpu}"),
        Subject::Pair { a, b } => format!("pair {a}-{b}"),
    }
}

/// `18 NVLinks to NVSwitch`.
pub fn link(class: &LinkClass) -> String {
    match class {
        LinkClass::Nvswitch { links, .. } => format!("{links} NVLinks to NVSwitch"),
        LinkClass::Nvlink { links: 1, .. } => "1 NVLink".to_owned(),
        LinkClass::Nvlink { links, .. } => format!("{links} NVLinks"),
        LinkClass::Pcie {
            generation,
            width,
            ancestor,
        } => {
            let ancestor = ancestor.as_deref().filter(|place| *place != "unknown");
            let place = ancestor.map(|place| format!(", {place}")).unwrap_or_default();
            format!("PCIe {generation} x{width}{place}")
        }
        LinkClass::Own => "the GPU's own memory".to_owned(),
        LinkClass::Unknown => "a link that is not known".to_owned(),
    }
}

/// Why a report has no peers.
pub fn unplaced(why: Unplaced) -> &'static str {
    match why {
        Unplaced::NoGpu => "the report lists no GPU",
        Unplaced::NoModel => "the model of a GPU is not known",
        Unplaced::SeveralModels => "its GPUs are of several models",
        Unplaced::NoDriver => "the version of the driver is not known",
    }
}

/// `3.0 % below`, `at` where the difference rounds to nothing.
fn distance(against: &Against) -> String {
    let percent = 100.0 * against.difference;
    if percent.abs() < 0.05 {
        return "at".to_owned();
    }
    let side = if percent < 0.0 { "below" } else { "above" };
    format!("{:.1} % {side}", percent.abs())
}
