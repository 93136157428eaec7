//! A report and the telling lines of its kernel log, read once for all pairs.

use super::by_policy::of_cause;
use super::kernel_log::{Line, lines};
use super::peers::Peers;
use crate::observation::canonical;
use crate::policy::{Policy, Subject};
use crate::report::{Bearing, Check, Direction, Gpu, GpuIndex, Outcome, Pair, Report, Ruled};

pub(super) struct Scene<'a> {
    pub(super) report: &'a Report,
    pub(super) lines: Vec<Line<'a>>,
    policy: &'a Policy,
    pub(super) peers: Peers<'a>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(report: &'a Report, policy: &'a Policy) -> Self {
        Self {
            report,
            lines: lines(report),
            policy,
            peers: Peers::of(report),
        }
    }

    /// What the site's policy makes of a warning about these GPUs.
    pub(super) fn ruled<'g>(&self, cause: &str, gpus: impl Iterator<Item = &'g Gpu>) -> Option<Ruled> {
        let models: Vec<Option<&str>> = gpus.map(|gpu| gpu.name.value.as_deref()).collect();
        let subject = Subject {
            cause: Some(cause),
            models: &models,
            ..Subject::default()
        };
        let ruled = self.policy.judge(subject, Bearing::Warning)?;
        Some(Ruled {
            cause: Some(cause.to_owned()),
            ..ruled
        })
    }

    /// Whether a state of this GPU, which is a fault by the records, is one on this site.
    pub(super) fn is_fault(&self, cause: &str, gpu: GpuIndex) -> bool {
        let index = usize::try_from(gpu).unwrap_or(usize::MAX);
        let address = self
            .report
            .gpus
            .get(index)
            .and_then(|gpu| gpu.pci_address.value.as_deref());
        let device = address.map(canonical).unwrap_or_default();
        of_cause(self.report, self.policy, (cause, &device), Bearing::Fault) == Bearing::Fault
    }
}

/// Wrong, or without an end; a refusal that the driver had announced is neither.
pub(super) fn failing(direction: &Direction, check: &Check) -> bool {
    let announced = check.rung == 2 && direction.can_access_peer.value != Some(true);
    matches!(check.outcome, Outcome::Fail | Outcome::Hang) && !announced
}

pub(super) fn fails(pair: &Pair) -> bool {
    let checks_of = |direction: &Direction| direction.checks.iter().any(|check| failing(direction, check));
    pair.directions.iter().any(checks_of)
}
