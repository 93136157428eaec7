//! Rung 6: memory of one process, opened and used by another. The owner's process exposes, hands out and compares;
//! the other one opens, stores and loads.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use kb_core::report::Mismatch;

use crate::gpu::{CallError, LegacyHandle, Opened, Pattern, Shareable, Span};

use super::check::{expose, inspect};
use super::outcome::{Stop, access, before, mismatch, not_supported, result};
use super::place::Place;
use super::protocol::{CheckResult, Checked, Offered, Way};
use super::zones::{Layout, Zones};

const NOT_SUPPORTED: i32 = 801;
/// `CUDA_ERROR_INVALID_VALUE`, for an attribute that an older driver does not know.
const INVALID_VALUE: i32 = 1;

/// An error of a call that is there to share memory: where there is no such thing, nothing has failed.
fn sharing(error: CallError) -> Stop {
    let unsupported = matches!(error, CallError::Missing { .. })
        || error.code().map(|(code, _)| code) == Some(NOT_SUPPORTED);
    if unsupported {
        not_supported(error)
    } else {
        access(error)
    }
}

/// How the windows lie in shared memory: both processes know how much data there is.
pub(super) struct Sharing {
    pub(super) layout: Layout,
    pub(super) limit: Duration,
}

impl Sharing {
    pub(super) fn offer(
        &self,
        owner: &mut Place,
        way: Way,
        seed: u64,
    ) -> Result<(Offered, Option<OwnedFd>), CheckResult> {
        self.offered(owner, way, straight(seed))
            .map_err(|stop| result(Err(stop)))
    }

    fn offered(
        &self,
        owner: &mut Place,
        way: Way,
        pattern: Pattern,
    ) -> Result<(Offered, Option<OwnedFd>), Stop> {
        if way == Way::Vmm && owner.shareable.is_none() {
            match owner.context.shares_by_descriptor() {
                Ok(true) => {}
                Ok(false) => return Err(not_supported("the driver shares no memory by descriptor")),
                Err(error) if error.code().map(|(code, _)| code) == Some(INVALID_VALUE) => {
                    return Err(not_supported(error));
                }
                Err(error) => return Err(sharing(error)),
            }
            let memory = Shareable::create(&owner.context, self.layout.bytes());
            owner.shareable = Some(memory.map_err(sharing)?);
        }
        let zones = self.zones_of(owner, way)?;
        expose(owner, zones, pattern).map_err(before)?;
        if way == Way::Vmm
            && let Some(memory) = &owner.shareable
        {
            let descriptor = memory.export().map_err(sharing)?;
            let offered = Offered {
                handle: Vec::new(),
                bytes: memory.bytes() as u64,
            };
            return Ok((offered, Some(descriptor)));
        }
        let handle = owner.buffer.share_legacy(&owner.context).map_err(sharing)?;
        let offered = Offered {
            handle: handle.bytes().to_vec(),
            bytes: self.layout.bytes() as u64,
        };
        Ok((offered, None))
    }

    pub(super) fn verify(&self, owner: &Place, way: Way, seed: u64, next_seed: u64) -> Checked {
        let compared = self.zones_of(owner, way).and_then(|zones| {
            let wrong = inspect(owner, zones, straight(seed)).map_err(access)?;
            if wrong.is_none() {
                owner.fill(zones.data, straight(next_seed)).map_err(before)?;
            }
            Ok(wrong)
        });
        self.checked(result(compared), owner.compared_by())
    }

    fn zones_of<'a>(&self, owner: &'a Place, way: Way) -> Result<Zones<'a>, Stop> {
        let memory = match (way, &owner.shareable) {
            (Way::Vmm, Some(memory)) => memory.span(),
            _ => owner.buffer.span(),
        };
        self.layout.zones(memory).map_err(before)
    }

    fn checked(&self, result: CheckResult, compared_by: &str) -> Checked {
        Checked::over(result, compared_by, self.layout)
    }

    pub(super) fn open(
        initiator: &Place,
        way: Way,
        offered: &Offered,
        descriptor: Option<OwnedFd>,
    ) -> Result<Reached, CheckResult> {
        let bytes = usize::try_from(offered.bytes).unwrap_or(0);
        let context = &initiator.context;
        let refused = |call, why| Stop::Before(CallError::Refused { call, why });
        let opened = match way {
            Way::Legacy => match LegacyHandle::from_bytes(&offered.handle) {
                Some(handle) => Opened::open(context, handle, bytes)
                    .map(Reached::Legacy)
                    .map_err(sharing),
                None => Err(refused("cuIpcOpenMemHandle_v2", "the handle has not its size")),
            },
            Way::Vmm => match descriptor {
                Some(descriptor) => Shareable::import(context, descriptor.as_fd(), bytes)
                    .map(Reached::Vmm)
                    .map_err(sharing),
                None => Err(refused("cuMemImportFromShareableHandle", "no descriptor came")),
            },
        };
        opened.map_err(|stop| result(Err(stop)))
    }

    /// The other process stores the pattern: by a kernel, or by a copy where there is none.
    pub(super) fn store(&self, initiator: &Place, reached: &Reached, seed: u64) -> Checked {
        let stored = self.stored(initiator, reached, straight(seed));
        self.checked(result(stored.map(|()| None)), "none")
    }

    fn stored(&self, initiator: &Place, reached: &Reached, pattern: Pattern) -> Result<(), Stop> {
        let target = self.layout.zones(reached.span()).map_err(before)?.data;
        let stream = &initiator.stream;
        if let Ok(kernels) = initiator.kernels() {
            let filled = kernels.fill(stream, target, pattern);
            return filled
                .and_then(|()| stream.wait("cuLaunchKernel", self.limit))
                .map_err(access);
        }
        let own = initiator.data().map_err(before)?;
        initiator.fill(own, pattern).map_err(before)?;
        stream.copy(target, own, self.limit).map_err(access)
    }

    /// The other process loads and compares: by a kernel, or by a copy where there is none.
    pub(super) fn load(&self, initiator: &Place, reached: &Reached, seed: u64) -> Checked {
        let by = if initiator.kernels().is_ok() {
            "initiator_kernel"
        } else {
            "initiator_copy"
        };
        self.checked(result(self.loaded(initiator, reached, straight(seed))), by)
    }

    fn loaded(
        &self,
        initiator: &Place,
        reached: &Reached,
        pattern: Pattern,
    ) -> Result<Option<Mismatch>, Stop> {
        let source = self.layout.zones(reached.span()).map_err(before)?.data;
        let stream = &initiator.stream;
        let compared = if let Ok(kernels) = initiator.kernels() {
            kernels
                .check(stream, &[(source, pattern)], self.limit)
                .map_err(access)?
        } else {
            let own = initiator.data().map_err(before)?;
            let complement = Pattern {
                complement: true,
                ..pattern
            };
            initiator.fill(own, complement).map_err(before)?;
            stream.copy(own, source, self.limit).map_err(access)?;
            initiator.compare(&[(own, pattern)]).map_err(access)?
        };
        let wrong = compared.into_iter().flatten().next();
        Ok(wrong.map(|wrong| mismatch(source, wrong, false)))
    }
}

fn straight(seed: u64) -> Pattern {
    Pattern {
        seed,
        complement: false,
    }
}

pub(super) enum Reached {
    Legacy(Opened),
    Vmm(Shareable),
}

impl Reached {
    fn span(&self) -> Span<'_> {
        match self {
            Self::Legacy(memory) => memory.span(),
            Self::Vmm(memory) => memory.span(),
        }
    }
}
