//! A pair as the table reads it: questions that answer with JSON pointers into the report.

use serde_json::Value;

use super::kernel_log::{Event, Line, slot};
use super::scene::Scene;
use crate::report::{Check, Direction, Fact, Gpu, GpuIndex, Outcome, P2pStatus, Pair, ReasonCode, fact_name};

pub(super) struct Seen<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) pair: &'a Pair,
    index: usize,
}

/// What a row found: the sentence, the pointers that lead to it, and more exact advice where the row can give it.
pub(super) struct Finding {
    pub(super) reason: String,
    pub(super) evidence: Vec<String>,
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn new(reason: impl Into<String>, evidence: Vec<String>) -> Self {
        Self {
            reason: reason.into(),
            evidence,
            fix: None,
        }
    }

    pub(super) fn and(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }
}

/// Where a check stands in its report. Its pointer is written only where it is evidence: every row goes over all checks.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckPlace {
    pair: usize,
    direction: usize,
    check: usize,
}

impl CheckPlace {
    pub(super) fn pointer(self) -> String {
        let Self {
            pair,
            direction,
            check,
        } = self;
        format!("/pairs/{pair}/directions/{direction}/checks/{check}")
    }
}

impl<'a> Seen<'a> {
    pub(super) fn new(scene: &'a Scene<'a>, pair: &'a Pair, index: usize) -> Self {
        Self { scene, pair, index }
    }

    pub(super) fn pointer(&self, below: &str) -> String {
        format!("/pairs/{}/{below}", self.index)
    }

    pub(super) fn checks(&self) -> impl Iterator<Item = (&'a Direction, &'a Check, CheckPlace)> {
        let pair = self.index;
        let directions = self.pair.directions.iter().enumerate();
        directions.flat_map(move |(at, direction)| {
            direction.checks.iter().enumerate().map(move |(number, check)| {
                let place = CheckPlace {
                    pair,
                    direction: at,
                    check: number,
                };
                (direction, check, place)
            })
        })
    }

    /// The checks that `wanted` picks, told in one sentence each; `None` when there are none.
    pub(super) fn find(&self, wanted: impl Fn(&Direction, &Check) -> bool) -> Option<Finding> {
        let mut found = self
            .checks()
            .filter(|(direction, check, _)| wanted(direction, check));
        let (direction, check, place) = found.next()?;
        let mut evidence = vec![place.pointer()];
        evidence.extend(found.map(|(_, _, place)| place.pointer()));
        Some(Finding::new(sentence(direction, check), evidence))
    }

    pub(super) fn directions_with_access(&self, granted: Option<bool>) -> Vec<String> {
        let directions = self.pair.directions.iter().enumerate();
        directions
            .filter(|(_, direction)| direction.can_access_peer.value == granted)
            .map(|(d, _)| self.pointer(&format!("directions/{d}/can_access_peer")))
            .collect()
    }

    pub(super) fn refused_both_ways(&self) -> bool {
        self.pair.directions.len() == 2 && self.directions_with_access(Some(false)).len() == 2
    }

    /// True when NVML *says* that neither NVLink nor NVSwitch joins the two; a gap is no answer.
    pub(super) fn without_nvlink(&self) -> bool {
        self.pair.nvlinks.value == Some(0) && self.pair.nvswitch.value == Some(false)
    }

    /// True when NVML says that NVLink or NVSwitch joins the two: then peer traffic does not go over PCIe.
    pub(super) fn with_nvlink(&self) -> bool {
        self.pair.nvlinks.value.is_some_and(|links| links > 0) || self.pair.nvswitch.value == Some(true)
    }

    /// True when some GPU of the node has links into an NVSwitch: then all of them should.
    pub(super) fn anybody_at_a_switch(&self) -> bool {
        let mut gpus = self.scene.report.gpus.iter();
        gpus.any(|gpu| {
            let links = gpu.facts.get(fact_name::NVLINK_LINKS_TO_SWITCH);
            let links = links.and_then(|fact| fact.value.as_ref()?.as_u64());
            links.is_some_and(|links| links > 0)
        })
    }

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

    pub(super) fn gpus(&self) -> impl Iterator<Item = (GpuIndex, &'a Gpu)> {
        let gpus = &self.scene.report.gpus;
        [self.pair.a, self.pair.b].into_iter().filter_map(|index| {
            let position = usize::try_from(index).ok()?;
            Some((index, gpus.get(position)?))
        })
    }

    /// The values that a fact has on the pair's GPUs, with pointers; gaps are left out.
    pub(super) fn gpu_facts(&self, name: &str) -> impl Iterator<Item = (GpuIndex, &'a Value, String)> {
        self.gpus().filter_map(move |(index, gpu)| {
            let value = gpu.facts.get(name)?.value.as_ref()?;
            Some((index, value, format!("/gpus/{index}/facts/{name}")))
        })
    }

    pub(super) fn fact(&self, name: &str) -> Option<(&'a Value, String)> {
        let value = self.pair.facts.get(name)?.value.as_ref()?;
        Some((value, self.pointer(&format!("facts/{name}"))))
    }

    pub(super) fn host(&self, name: &str) -> Option<(&'a Value, String)> {
        let value = self.scene.report.host.get(name)?.value.as_ref()?;
        Some((value, format!("/host/{name}")))
    }

    pub(super) fn lines(&self, wanted: impl Fn(Event) -> bool) -> Vec<&'a Line<'a>> {
        let slots: Vec<_> = self
            .gpus()
            .filter_map(|(_, gpu)| slot(gpu.pci_address.value.as_ref()?))
            .collect();
        let lines = self.scene.lines.iter();
        lines
            .filter(|line| slots.contains(&line.slot) && wanted(line.event))
            .collect()
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

/// Left out as it does not exist here, which weakens no other check: `ipc_vmm` without driver handles for virtual memory.
pub(super) fn does_not_exist_here(check: &Check) -> bool {
    check.outcome == Outcome::Skipped && check.reason_code == Some(ReasonCode::NotSupported)
}

pub(super) fn check_passed(check: &Check) -> bool {
    matches!(check.outcome, Outcome::Pass | Outcome::PassAlone)
}

/// True when a check of this rung passed in this direction, and every other passed or does not exist here.
pub(super) fn passed(direction: &Direction, rung: u8) -> bool {
    let checks = || direction.checks.iter().filter(|check| check.rung == rung);
    checks().any(check_passed) && checks().all(|check| check_passed(check) || does_not_exist_here(check))
}

/// `GPU 0 towards GPU 1, copy_push (rung 3): …`.
fn sentence(direction: &Direction, check: &Check) -> String {
    let why = check.reason.as_deref().unwrap_or("no reason was given");
    format!(
        "GPU {} towards GPU {}, {} (rung {}): {why}",
        direction.initiator, direction.owner, check.name, check.rung
    )
}

pub(super) fn gap_reason<T>(fact: &Fact<T>) -> &str {
    fact.gap
        .as_ref()
        .map_or("no reason was given", |gap| gap.reason.as_str())
}
