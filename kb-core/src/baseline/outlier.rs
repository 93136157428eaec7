//! Which pair, which GPU, or whether the whole node is apart from the others.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::compare::{Compared, Standing};
use super::review::Reviewed;
use crate::report::GpuIndex;

const MOST_TESTS: usize = 12;
/// Points that make an outlier: one test that is low, or two to be watched.
const ENOUGH: u32 = 2;
/// Pairs that a GPU needs before all of them can tell of the GPU.
const LEAST_PAIRS: usize = 3;

/// What is apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// More than half of its pairs, or what all GPUs do together.
    Node,
    /// One GPU: most of its pairs, or what it does with the host.
    Gpu {
        /// Which.
        gpu: GpuIndex,
    },
    /// One pair.
    Pair {
        /// The GPU with the lower index.
        a: GpuIndex,
        /// The GPU with the higher index.
        b: GpuIndex,
    },
}

/// A test in which it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Test {
    /// Position in the report's measurements.
    pub measurement: usize,
    /// `d2d_bandwidth.ce.push.p2p`.
    pub test: String,
    /// Size of one transfer in bytes.
    pub bytes: u64,
    /// The worst figure's distance from its group's median, as a share of it.
    pub difference: f64,
    /// The worst standing.
    pub standing: Standing,
}

/// Something that is apart from its like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Outlier {
    /// What.
    pub subject: Subject,
    /// The worst standing of its tests.
    pub standing: Standing,
    /// The tests, the worst first; at most twelve.
    pub tests: Vec<Test>,
}

/// Outliers of a report: the node before its GPUs, GPUs before pairs, each of the others named once.
///
/// A single test to be watched makes no outlier: of thousands of figures a few are that far off by chance.
pub fn outliers(reviewed: &[Reviewed]) -> Vec<Outlier> {
    let mut evidence: BTreeMap<Subject, BTreeMap<usize, Test>> = BTreeMap::new();
    let mut measured: BTreeSet<(GpuIndex, GpuIndex)> = BTreeSet::new();
    for item in reviewed {
        let subject = subject(item);
        if let Subject::Pair { a, b } = subject {
            measured.insert((a, b));
        }
        let standing = item.standing();
        if standing >= Standing::Watch {
            note(evidence.entry(subject).or_default(), item, standing);
        }
    }
    let apart = |tests: &BTreeMap<usize, Test>| points(tests) >= ENOUGH;
    evidence.retain(|_, tests| apart(tests));
    gather(&mut evidence, &measured);
    let found = evidence.into_iter();
    found.map(|(subject, tests)| outlier(subject, tests)).collect()
}

/// Pairs become their GPU, or the node, where these explain them.
fn gather(
    evidence: &mut BTreeMap<Subject, BTreeMap<usize, Test>>,
    measured: &BTreeSet<(GpuIndex, GpuIndex)>,
) {
    let mut pairs: BTreeSet<(GpuIndex, GpuIndex)> = evidence
        .keys()
        .filter_map(|subject| match subject {
            Subject::Pair { a, b } => Some((*a, *b)),
            Subject::Node | Subject::Gpu { .. } => None,
        })
        .collect();
    if measured.len() >= LEAST_PAIRS && 2 * pairs.len() > measured.len() {
        merge(evidence, &pairs, Subject::Node);
        return;
    }
    let gpus: BTreeSet<GpuIndex> = measured.iter().flat_map(|(a, b)| [*a, *b]).collect();
    loop {
        // The GPU with the most of its pairs apart, each time anew: its pairs no longer speak against the others.
        let of = |gpu: GpuIndex, among: &BTreeSet<(GpuIndex, GpuIndex)>| -> BTreeSet<(GpuIndex, GpuIndex)> {
            let its = among.iter().filter(|(a, b)| *a == gpu || *b == gpu);
            its.copied().collect()
        };
        let worst = gpus
            .iter()
            .map(|gpu| (*gpu, of(*gpu, &pairs)))
            .filter(|(gpu, apart)| {
                apart.len() >= LEAST_PAIRS && 4 * apart.len() >= 3 * of(*gpu, measured).len()
            })
            .max_by_key(|(_, apart)| apart.len());
        let Some((gpu, apart)) = worst else { return };
        merge(evidence, &apart, Subject::Gpu { gpu });
        pairs.retain(|pair| !apart.contains(pair));
    }
}

fn merge(
    evidence: &mut BTreeMap<Subject, BTreeMap<usize, Test>>,
    pairs: &BTreeSet<(GpuIndex, GpuIndex)>,
    into: Subject,
) {
    let mut tests = evidence.remove(&into).unwrap_or_default();
    for (a, b) in pairs {
        let of_pair = evidence.remove(&Subject::Pair { a: *a, b: *b });
        for (place, test) in of_pair.unwrap_or_default() {
            keep_worse(&mut tests, place, test);
        }
    }
    evidence.insert(into, tests);
}

fn subject(item: &Reviewed) -> Subject {
    let figure = &item.figure;
    if figure.series.test.starts_with("nccl_") {
        return Subject::Node;
    }
    match (figure.source, figure.destination) {
        (Some(one), Some(other)) if one != other => Subject::Pair {
            a: one.min(other),
            b: one.max(other),
        },
        (Some(gpu), _) | (None, Some(gpu)) => Subject::Gpu { gpu },
        (None, None) => Subject::Node,
    }
}

fn note(tests: &mut BTreeMap<usize, Test>, item: &Reviewed, standing: Standing) {
    let figure = &item.figure;
    let test = Test {
        measurement: figure.measurement,
        test: figure.series.test.clone(),
        bytes: figure.series.bytes,
        difference: difference(item, standing),
        standing,
    };
    keep_worse(tests, figure.measurement, test);
}

fn keep_worse(tests: &mut BTreeMap<usize, Test>, place: usize, test: Test) {
    let is_worse =
        |known: &Test| (test.standing, test.difference.abs()) > (known.standing, known.difference.abs());
    if tests.get(&place).is_none_or(is_worse) {
        tests.insert(place, test);
    }
}

/// The distance that its standing is from; of several the largest.
fn difference(item: &Reviewed, standing: Standing) -> f64 {
    let all = [&item.peers, &item.in_node, &item.own, &item.reference];
    let of = |compared: &Compared| match compared {
        Compared::Against(against) if against.standing == standing => Some(against.difference),
        Compared::Against(_) | Compared::TooFew { .. } | Compared::None => None,
    };
    let found = all.into_iter().filter_map(of);
    found
        .max_by(|one, other| one.abs().total_cmp(&other.abs()))
        .unwrap_or(0.0)
}

fn points(tests: &BTreeMap<usize, Test>) -> u32 {
    let each = tests.values().map(|test| match test.standing {
        Standing::Low => 2,
        Standing::Watch => 1,
        Standing::Normal | Standing::NotCompared => 0,
    });
    each.sum()
}

fn outlier(subject: Subject, tests: BTreeMap<usize, Test>) -> Outlier {
    let mut tests: Vec<Test> = tests.into_values().collect();
    tests.sort_by(|one, other| {
        let of = |test: &Test| (test.standing, test.difference.abs());
        let ((one, apart), (other, further)) = (of(one), of(other));
        other.cmp(&one).then(further.total_cmp(&apart))
    });
    tests.truncate(MOST_TESTS);
    Outlier {
        subject,
        standing: tests.first().map_or(Standing::NotCompared, |test| test.standing),
        tests,
    }
}
