//! Collectives on the streams of the ranks that this process has, and how long they take.

use std::ffi::c_int;
use std::time::Duration;

use super::Nccl;
use super::collective::{Collective, NUMBER_BYTES};
use super::communicator::Communicator;
use crate::gpu::call::CallError;
use crate::gpu::memory::Windows;
use crate::gpu::stream::Stream;
use crate::gpu::timing::Event;

/// `ncclFloat32`, `ncclSum`, and the rank that broadcasts and reduces.
const FLOAT: c_int = 7;
const SUM: c_int = 0;
const ROOT: c_int = 0;

#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) rank: u32,
    pub(crate) communicator: &'a Communicator,
    pub(crate) stream: &'a Stream,
    pub(crate) from: Windows<'a>,
    pub(crate) to: Windows<'a>,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    collective: Collective,
    bytes: u64,
    ranks: u32,
}

impl Nccl {
    /// Runs a collective so many times, out of place, and waits: seconds of each, of the slowest rank of this process, and
    /// whether they still ran when `meanwhile` was done.
    pub(crate) fn run(
        &self,
        members: &[Member<'_>],
        (collective, bytes, ranks): (Collective, u64, u32),
        times: u32,
        limit: Duration,
        meanwhile: impl FnOnce(),
    ) -> Result<(f64, bool), CallError> {
        let asked = Asked {
            collective,
            bytes,
            ranks,
        };
        let (sent, received) = collective.numbers(bytes, ranks);
        let fits = |member: &Member<'_>| {
            member.from.words as u64 >= sent && member.to.words as u64 >= received && member.from.count == 1
        };
        if !members.iter().all(fits) {
            return Err(CallError::Refused {
                call: collective.call(),
                why: "the buffers are smaller than the collective",
            });
        }
        let mark = || -> Result<Vec<Event>, CallError> {
            let record = |member: &Member<'_>| {
                let event = Event::create(&member.communicator.context)?;
                event.record(member.stream)?;
                Ok(event)
            };
            members.iter().map(record).collect()
        };
        // One breadcrumb for all of them: writing it takes a part of what a small collective takes.
        self.api.trace.about_to(collective.call());
        let starts = mark()?;
        let issued = (0..times).try_for_each(|_| self.issue(members, asked));
        for member in members {
            member.communicator.context.forget_current();
        }
        issued?;
        let ends = mark()?;
        meanwhile();
        let is_running = |member: &Member<'_>| {
            let ended = member.stream.wait(collective.call(), Duration::ZERO);
            matches!(ended, Err(CallError::Deadline { .. }))
        };
        let running = members.iter().any(is_running);
        for member in members {
            let waited = member.stream.wait(collective.call(), limit);
            if let Err(CallError::Deadline { .. }) = &waited {
                // Why it does not end, where NCCL knows and has the function that tells.
                match member.communicator.check() {
                    Err(CallError::Missing { .. }) => {}
                    told => told?,
                }
            }
            waited?;
        }
        let mut slowest = 0.0_f64;
        for (start, end) in starts.iter().zip(&ends) {
            slowest = slowest.max(end.seconds_since(start)?);
        }
        Ok((slowest / f64::from(times.max(1)), running))
    }

    fn issue(&self, members: &[Member<'_>], asked: Asked) -> Result<(), CallError> {
        let symbols = &self.api.symbols;
        let (Some(start), Some(end)) = (symbols.ncclGroupStart, symbols.ncclGroupEnd) else {
            return Err(CallError::Missing {
                call: "ncclGroupStart",
            });
        };
        // SAFETY: no arguments; its end is below.
        self.api.checked("ncclGroupStart", unsafe { start() })?;
        let added = members.iter().try_for_each(|member| self.add(member, asked));
        // SAFETY: ends the group that began above.
        let ended = self.api.checked("ncclGroupEnd", unsafe { end() });
        added.and(ended)
    }

    fn add(&self, member: &Member<'_>, asked: Asked) -> Result<(), CallError> {
        let Asked {
            collective,
            bytes,
            ranks,
        } = asked;
        let call = collective.call();
        let missing = || CallError::Missing { call };
        let numbers = collective.count(bytes, ranks);
        let count = usize::try_from(numbers).map_err(|_| CallError::Refused {
            call,
            why: "there are too many numbers",
        })?;
        let (from, to) = (member.from.pointer, member.to.pointer);
        let (handle, stream) = (member.communicator.handle, member.stream.handle);
        let symbols = &self.api.symbols;
        // Where the part of a rank begins in a buffer of parts.
        let part = |rank: u32| u64::from(rank) * numbers * NUMBER_BYTES;
        // SAFETY: handle and stream live; `run` has seen that the buffers hold what the collective moves.
        let code = unsafe {
            match collective {
                Collective::AllReduce => {
                    let function = symbols.ncclAllReduce.ok_or_else(missing)?;
                    function(from, to, count, FLOAT, SUM, handle, stream)
                }
                Collective::AllGather => {
                    let function = symbols.ncclAllGather.ok_or_else(missing)?;
                    function(from, to, count, FLOAT, handle, stream)
                }
                Collective::ReduceScatter => {
                    let function = symbols.ncclReduceScatter.ok_or_else(missing)?;
                    function(from, to, count, FLOAT, SUM, handle, stream)
                }
                Collective::Broadcast => {
                    let function = symbols.ncclBroadcast.ok_or_else(missing)?;
                    function(from, to, count, FLOAT, ROOT, handle, stream)
                }
                Collective::Reduce => {
                    let function = symbols.ncclReduce.ok_or_else(missing)?;
                    function(from, to, count, FLOAT, SUM, ROOT, handle, stream)
                }
                Collective::Alltoall | Collective::Sendrecv => {
                    let send = symbols.ncclSend.ok_or_else(missing)?;
                    let receive = symbols.ncclRecv.ok_or_else(missing)?;
                    let mut code = 0;
                    for (to_rank, from_rank) in peers(collective, member.rank, ranks) {
                        let (at, into) = match collective {
                            Collective::Alltoall => (from + part(to_rank), to + part(from_rank)),
                            _ => (from, to),
                        };
                        let (to_rank, from_rank) = (peer(to_rank), peer(from_rank));
                        if code == 0 {
                            code = send(at, count, FLOAT, to_rank, handle, stream);
                        }
                        if code == 0 {
                            code = receive(into, count, FLOAT, from_rank, handle, stream);
                        }
                    }
                    code
                }
            }
        };
        self.api.checked(call, code)
    }
}

fn peer(rank: u32) -> c_int {
    c_int::try_from(rank).unwrap_or(c_int::MAX)
}

fn peers(collective: Collective, rank: u32, ranks: u32) -> Vec<(u32, u32)> {
    if collective == Collective::Alltoall {
        return (0..ranks).map(|other| (other, other)).collect();
    }
    let ranks = ranks.max(1);
    vec![((rank + 1) % ranks, (rank + ranks - 1) % ranks)]
}
