//! Rungs 2 to 4 between two prepared GPUs. The GPU whose memory received the data compares it.

use std::time::Duration;

use kb_core::report::{Mismatch, ReasonCode};

use crate::gpu::{CallError, Pattern};

use super::atomic;
use super::exchange;
use super::outcome::{Stop, access, before, mismatch, result};
use super::place::{Place, compare_on_host};
use super::protocol::{CheckKind, CheckResult, Checked};
use super::zones::Zones;

/// Sets the guards' pattern apart from the data's.
const GUARD_SEED: u64 = 0x6775_6172_645f_7a6f;
const ALREADY_ENABLED: i32 = 704;

pub(super) fn run(kind: CheckKind, initiator: &Place, owner: &Place, seed: u64, limit: Duration) -> Checked {
    let pair = Between {
        initiator,
        owner,
        pattern: Pattern {
            seed,
            complement: false,
        },
        limit,
    };
    if let Some(error) = pair.without_kernels(kind) {
        return Checked::plain(CheckResult::Skipped {
            reason: format!("no kernel can run, so only copy engines were used: {error}"),
            code: ReasonCode::EarlierCall,
            earlier_code: error.code().map(|(code, _)| code),
        });
    }
    let (outcome, compared_by) = match kind {
        CheckKind::EnablePeerAccess => return Checked::plain(result(pair.enable())),
        CheckKind::CopyPush => (pair.copy_push(), owner.compared_by()),
        CheckKind::CopyPull => (pair.copy_pull(), initiator.compared_by()),
        CheckKind::SmStore => (pair.sm_store(), owner.compared_by()),
        CheckKind::SmLoad => (pair.sm_load(), "initiator_kernel"),
        CheckKind::SmAtomic => (atomic::run(&pair), "owner_copy"),
        CheckKind::ResidentExchange => (exchange::run(&pair), "owner_kernel"),
        CheckKind::OwnMemory => (pair.own_memory(), "owner_copy"),
    };
    Checked::of(result(outcome), compared_by, owner)
}

pub(super) struct Between<'a> {
    pub(super) initiator: &'a Place,
    pub(super) owner: &'a Place,
    pub(super) pattern: Pattern,
    pub(super) limit: Duration,
}

impl Between<'_> {
    fn without_kernels(&self, kind: CheckKind) -> Option<&CallError> {
        match kind {
            CheckKind::SmStore | CheckKind::SmLoad | CheckKind::SmAtomic => self.initiator.without_kernels(),
            CheckKind::ResidentExchange => {
                let initiators = self.initiator.without_kernels();
                initiators.or_else(|| self.owner.without_kernels())
            }
            _ => None,
        }
    }

    fn enable(&self) -> Result<Option<Mismatch>, Stop> {
        let context = &self.initiator.context;
        match context.enable_peer_access(&self.owner.context) {
            // In a worker of our own that is what was asked for.
            Err(error) if error.code().map(|(code, _)| code) != Some(ALREADY_ENABLED) => Err(access(error)),
            _ => Ok(None),
        }
    }

    /// The initiator's copy engine writes into the owner's memory; the owner looks.
    fn copy_push(&self) -> Result<Option<Mismatch>, Stop> {
        let zones = self.owner.zones().map_err(before)?;
        expose(self.owner, zones, self.pattern).map_err(before)?;
        let source = self.initiator.data().map_err(before)?;
        self.initiator.fill(source, self.pattern).map_err(before)?;

        let stream = &self.initiator.stream;
        stream.copy(zones.data, source, self.limit).map_err(access)?;
        let wrong = inspect(self.owner, zones, self.pattern).map_err(access)?;
        Ok(wrong.map(|wrong| with_writers_view(wrong, || self.reads_back_by_copy())))
    }

    /// The initiator's copy engine reads the owner's memory into its own; the initiator, who owns the target, looks.
    fn copy_pull(&self) -> Result<Option<Mismatch>, Stop> {
        let zones = self.initiator.zones().map_err(before)?;
        expose(self.initiator, zones, self.pattern).map_err(before)?;
        let source = self.owner.data().map_err(before)?;
        self.owner.fill(source, self.pattern).map_err(before)?;

        let stream = &self.initiator.stream;
        stream.copy(zones.data, source, self.limit).map_err(access)?;
        inspect(self.initiator, zones, self.pattern).map_err(access)
    }

    /// A kernel of the initiator stores into the owner's memory and fences the system; the owner looks.
    fn sm_store(&self) -> Result<Option<Mismatch>, Stop> {
        let zones = self.owner.zones().map_err(before)?;
        expose(self.owner, zones, self.pattern).map_err(before)?;
        let kernels = self.initiator.kernels().map_err(before)?;
        let stream = &self.initiator.stream;
        kernels
            .fill(stream, zones.data, self.pattern)
            .and_then(|()| stream.wait("cuLaunchKernel", self.limit))
            .map_err(access)?;
        let wrong = inspect(self.owner, zones, self.pattern).map_err(access)?;
        let reads_back = || {
            let seen = kernels.check(stream, &[(zones.data, self.pattern)], self.limit)?;
            Ok(seen.iter().all(Option::is_none))
        };
        Ok(wrong.map(|wrong| with_writers_view(wrong, reads_back)))
    }

    /// A kernel of the initiator loads what the owner wrote; only the loading kernel can compare it.
    fn sm_load(&self) -> Result<Option<Mismatch>, Stop> {
        let kernels = self.initiator.kernels().map_err(before)?;
        let source = self.owner.data().map_err(before)?;
        self.owner.fill(source, self.pattern).map_err(before)?;
        let stream = &self.initiator.stream;
        let wrong = kernels
            .check(stream, &[(source, self.pattern)], self.limit)
            .map_err(access)?;
        Ok(wrong
            .into_iter()
            .flatten()
            .next()
            .map(|wrong| mismatch(source, wrong, false)))
    }

    /// A kernel of the owner stores into its own memory, every bit once each way; the host looks at copies of it.
    fn own_memory(&self) -> Result<Option<Mismatch>, Stop> {
        let owner = self.owner;
        owner.kernels().map_err(before)?;
        let data = owner.data().map_err(before)?;
        for pattern in [complement(self.pattern), self.pattern] {
            owner.fill(data, pattern).map_err(access)?;
            let found = owner.stream.download(data, self.limit).map_err(access)?;
            if let Some(wrong) = compare_on_host(&found, pattern) {
                return Ok(Some(mismatch(data, wrong, false)));
            }
        }
        Ok(None)
    }

    /// Whether the initiator, copying back from where it wrote, gets its own data.
    fn reads_back_by_copy(&self) -> Result<bool, crate::gpu::CallError> {
        let own = self.initiator.data()?;
        self.initiator.fill(own, complement(self.pattern))?;
        self.initiator.stream.copy(own, self.owner.data()?, self.limit)?;
        let wrong = self.initiator.compare(&[(own, self.pattern)])?;
        Ok(wrong.iter().all(Option::is_none))
    }
}

/// Puts the complement of the pattern into the windows that are to receive it, and another pattern into their guards.
pub(super) fn expose(
    receiver: &Place,
    zones: Zones<'_>,
    pattern: Pattern,
) -> Result<(), crate::gpu::CallError> {
    for guard in zones.guards {
        receiver.fill(guard, guards(pattern))?;
    }
    receiver.fill(zones.data, complement(pattern))
}

pub(super) fn inspect(
    receiver: &Place,
    zones: Zones<'_>,
    pattern: Pattern,
) -> Result<Option<Mismatch>, crate::gpu::CallError> {
    let [front, back] = zones.guards;
    let asked = [
        (zones.data, pattern),
        (front, guards(pattern)),
        (back, guards(pattern)),
    ];
    let found = receiver.compare(&asked)?;
    let Some((position, wrong)) = (0..).zip(&found).find_map(|(at, wrong)| Some((at, (*wrong)?))) else {
        return Ok(None);
    };
    if position > 0 {
        let guard = if position == 1 { front } else { back };
        return Ok(Some(mismatch(guard, wrong, true)));
    }
    let before = receiver.compare(&[(zones.data, complement(pattern))])?;
    Ok(Some(Mismatch {
        untouched: before.iter().all(Option::is_none),
        ..mismatch(zones.data, wrong, false)
    }))
}

fn complement(pattern: Pattern) -> Pattern {
    Pattern {
        complement: true,
        ..pattern
    }
}

fn guards(pattern: Pattern) -> Pattern {
    Pattern {
        seed: pattern.seed ^ GUARD_SEED,
        complement: false,
    }
}

/// Adds what the writer sees. Not where the guards are wrong: the data is right then, and the writer sees it.
fn with_writers_view(
    wrong: Mismatch,
    reads_back: impl FnOnce() -> Result<bool, crate::gpu::CallError>,
) -> Mismatch {
    let writer_sees_it = if wrong.in_guard { None } else { reads_back().ok() };
    Mismatch {
        writer_sees_it,
        ..wrong
    }
}
