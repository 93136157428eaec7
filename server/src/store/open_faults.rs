//! What is open of a node, and what a new report makes of it.

use std::collections::BTreeSet;

use kb_core::ids::ReportId;
use kb_core::verdict::Verdict;

use super::ReportListing;

/// Most open faults of a node that are read at once. What each tells again is one, so that a node has a few.
pub const OPEN_FAULTS: u32 = 144;

/// What a report tells of a fault: all that has to be over before the fault is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Causes {
    /// Each by its name, in order.
    pub names: Vec<String>,
    /// The report that shows the GPUs that are gone in this one.
    pub gone_from: Option<ReportId>,
    /// Why only what the report warned of is open, where its fault is over, or it could not tell.
    pub only_warns: Option<String>,
}

/// What names of causes begin with that say nothing of what is wrong: GPUs of the report, how many there should be, the report itself,
/// and the digest of too many names, which a longer run of the same changes.
const OF_NO_FAULT: [&str; 4] = ["gpu:", "expected:", "report:", "many:"];
/// What the name begins with that stands for more names than are kept.
const DIGEST: &str = "many:";
/// Names that say what may end the fault.
const OF_ITS_END: [&str; 2] = ["run", "service"];
/// A check that failed; how much it moved stands behind its name.
const CHECK: &str = "check:";

impl Causes {
    /// What is wrong, and where, by names. A longer run of the same tells the same.
    pub fn faults(&self) -> BTreeSet<String> {
        let tells = |name: &&String| {
            !OF_NO_FAULT.iter().any(|start| name.starts_with(start)) && !OF_ITS_END.contains(&name.as_str())
        };
        let fault = |name: &String| {
            let check = name.starts_with(CHECK).then(|| name.rsplitn(3, ':').nth(2));
            check.flatten().unwrap_or(name).to_owned()
        };
        self.names.iter().filter(tells).map(fault).collect()
    }

    /// Whether all that these tell is among others, so that what was shown of the others was shown of these. What a digest stands for is
    /// not known.
    pub fn are_among(&self, others: &Self) -> bool {
        let mut names = self.names.iter().chain(&others.names);
        if names.any(|name| name.starts_with(DIGEST)) {
            return self.names == others.names;
        }
        self.faults().is_subset(&others.faults())
    }
}

/// A report as it stands for its node: one of which only a warning is open is no worse than that.
#[must_use]
pub fn as_open(mut report: ReportListing, only_warns: Option<&str>) -> ReportListing {
    if let Some(why) = only_warns {
        let told = report.verdict.phrase();
        report.reason = format!("{why}; of the whole the report says {told}: {}", report.reason);
        report.verdict = Verdict::Degraded;
    }
    report
}

/// A report whose fault is not over. Its verdict is that of what is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFault {
    pub report: ReportListing,
    pub causes: Causes,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proofs {
    /// Reports of any weight that the node had when they were read.
    pub reports: u32,
    /// How often reports of the node had been judged anew then.
    pub judged_anew: u32,
    pub latest: Option<ReportListing>,
    /// What is open of the node, the run that ended first first.
    pub open: Vec<OpenFault>,
    /// There is more open than `open` has.
    pub has_more_open: bool,
    /// Then the newest of what is open and not in `open`, the run that ended last first; at most as many.
    pub newest_open: Vec<OpenFault>,
    pub proofs: Vec<ReportListing>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_run_of_the_same_fault_tells_the_same() {
        let faults = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let causes = Causes {
                names,
                ..Causes::default()
            };
            causes.faults().into_iter().collect::<Vec<_>>()
        };
        let of_look = faults(&["check:5:memcpy:4096:1", "gpu:GPU-1", "state:ecc@0000:3b:00.0"]);
        let of_run = faults(&[
            "check:5:memcpy:1048576:8",
            "gpu:GPU-2",
            "expected:8",
            "run",
            "service",
            "state:ecc@0000:3b:00.0",
        ]);
        assert_eq!(of_look, ["check:5:memcpy", "state:ecc@0000:3b:00.0"]);
        assert_eq!(of_run, of_look);
        assert_eq!(faults(&["report:r1"]), [""; 0]);
    }

    #[test]
    fn a_cause_that_is_new_is_not_among_those_of_before() {
        let of = |names: &[&str]| Causes {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Causes::default()
        };
        let before = of(&["finding:xid/48", "gpu:GPU-1", "run"]);
        for (now, is_among) in [
            (of(&["finding:xid/48", "gpu:GPU-2"]), true),
            (of(&["gpu:GPU-1"]), true),
            (of(&["finding:xid/48", "log:kernel:xid/79"]), false),
            (of(&["many:1"]), false),
        ] {
            assert_eq!(now.are_among(&before), is_among, "{now:?}");
        }
        assert!(of(&["many:1"]).are_among(&of(&["many:1"])));
        assert!(!of(&["many:1"]).are_among(&of(&["many:2"])));
    }
}
