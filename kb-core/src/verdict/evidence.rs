//! A pair as the table reads it: questions that answer with JSON pointers into the report.

use crate::report::{Check, Direction, Fact, Outcome, P2pStatus, Pair};

/// A pair and its place in the report.
pub(super) struct Seen<'a> {
    pub(super) pair: &'a Pair,
    index: usize,
}

/// What a row found: the sentence, and the pointers that lead to it.
pub(super) struct Finding {
    pub(super) reason: String,
    pub(super) evidence: Vec<String>,
}

impl<'a> Seen<'a> {
    pub(super) fn new(pair: &'a Pair, index: usize) -> Self {
        Self { pair, index }
    }

    pub(super) fn pointer(&self, below: &str) -> String {
        format!("/pairs/{}/{below}", self.index)
    }

    /// Every check of both directions with its direction and pointer.
    pub(super) fn checks(&self) -> impl Iterator<Item = (&'a Direction, &'a Check, String)> {
        let index = self.index;
        let directions = self.pair.directions.iter().enumerate();
        directions.flat_map(move |(d, direction)| {
            direction.checks.iter().enumerate().map(move |(c, check)| {
                let pointer = format!("/pairs/{index}/directions/{d}/checks/{c}");
                (direction, check, pointer)
            })
        })
    }

    /// The checks that `wanted` picks, told in one sentence each; `None` when there are none.
    pub(super) fn find(&self, wanted: impl Fn(&Direction, &Check) -> bool) -> Option<Finding> {
        let mut found = self
            .checks()
            .filter(|(direction, check, _)| wanted(direction, check));
        let (direction, check, pointer) = found.next()?;
        let mut evidence = vec![pointer];
        evidence.extend(found.map(|(_, _, pointer)| pointer));
        Some(Finding {
            reason: sentence(direction, check),
            evidence,
        })
    }

    /// Pointers to the directions whose `can_access_peer` has this value.
    pub(super) fn directions_with_access(&self, granted: Option<bool>) -> Vec<String> {
        let directions = self.pair.directions.iter().enumerate();
        directions
            .filter(|(_, direction)| direction.can_access_peer.value == granted)
            .map(|(d, _)| self.pointer(&format!("directions/{d}/can_access_peer")))
            .collect()
    }

    /// True when both directions are described and the driver refuses each.
    pub(super) fn refused_both_ways(&self) -> bool {
        self.pair.directions.len() == 2 && self.directions_with_access(Some(false)).len() == 2
    }

    /// True when NVML *says* that neither NVLink nor NVSwitch joins the two; a gap is no answer.
    pub(super) fn without_nvlink(&self) -> bool {
        self.pair.nvlinks.value == Some(0) && self.pair.nvswitch.value == Some(false)
    }

    /// Pointers to the read and write statuses that have the value `status`.
    pub(super) fn nvml_status(&self, status: P2pStatus) -> Vec<String> {
        let mut pointers = Vec::new();
        for (d, direction) in self.pair.directions.iter().enumerate() {
            let capabilities = [("read", &direction.nvml.read), ("write", &direction.nvml.write)];
            for (name, fact) in capabilities {
                if fact.value == Some(status) {
                    pointers.push(self.pointer(&format!("directions/{d}/nvml/{name}")));
                }
            }
        }
        pointers
    }

    /// The rungs that ran and passed in both directions. Rung 1 is the driver's own answer.
    pub(super) fn proven_rungs(&self) -> Vec<u8> {
        let granted = |direction: &Direction| direction.can_access_peer.value == Some(true);
        let both = self.pair.directions.len() == 2;
        let mut rungs = Vec::new();
        if both && self.pair.directions.iter().all(granted) {
            rungs.push(1);
        }
        for rung in 2..=7 {
            if both
                && self
                    .pair
                    .directions
                    .iter()
                    .all(|direction| passed(direction, rung))
            {
                rungs.push(rung);
            }
        }
        rungs
    }
}

/// True when the direction has checks of this rung and all of them passed.
fn passed(direction: &Direction, rung: u8) -> bool {
    let mut checks = direction
        .checks
        .iter()
        .filter(|check| check.rung == rung)
        .peekable();
    checks.peek().is_some() && checks.all(|check| matches!(check.outcome, Outcome::Pass | Outcome::PassAlone))
}

/// `GPU 0 towards GPU 1, copy_push (rung 3): …`.
fn sentence(direction: &Direction, check: &Check) -> String {
    let why = check.reason.as_deref().unwrap_or("no reason was given");
    format!(
        "GPU {} towards GPU {}, {} (rung {}): {why}",
        direction.initiator, direction.owner, check.name, check.rung
    )
}

/// Why a fact is absent, in words.
pub(super) fn gap_reason<T>(fact: &Fact<T>) -> &str {
    fact.gap
        .as_ref()
        .map_or("no reason was given", |gap| gap.reason.as_str())
}
