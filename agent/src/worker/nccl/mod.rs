//! What the worker does with NCCL: the ranks of this process, their memory, and collectives with their data compared.

mod data;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use kb_core::report::Conditions;

use crate::gpu::{
    Buffer, CallError, Communicator, Context, Device, Driver, Managed, Management, Member, Nccl, Stream,
    Trace, UniqueId, Windows,
};

use super::obey::refuse;
use super::outcome::failure;
use super::protocol::{Answer, NcclAnswer, NcclCommand, NcclMember, NcclRun};

/// Stands in memory before something arrives: no number.
const BEFORE: u32 = 0xffff_ffff;
/// Up to so many bytes all of what a rank has received is compared, else windows of it.
const ALL_BYTES: usize = 1 << 20;
/// Windows that are compared of more, and bytes of each.
const WINDOWS: u32 = 16;
const WINDOW_BYTES: usize = 16 << 10;
/// Collectives in front of those that are timed, beside the one whose data is compared.
const WARM_UPS: u32 = 1;

#[derive(Default)]
pub(super) struct Ranks {
    library: Option<Nccl>,
    /// How many there are in all processes.
    count: u32,
    own: Vec<Rank>,
    /// The GPUs in NVML, once something was timed.
    watched: BTreeMap<u32, Managed>,
}

struct Rank {
    member: NcclMember,
    communicator: Communicator,
    from: Buffer,
    to: Buffer,
    stream: Stream,
}

impl Ranks {
    pub(super) fn obey(
        &mut self,
        step: &NcclCommand,
        trace: &Trace,
        (driver, devices): (Option<&Driver>, &[Device]),
        nvml: Option<&Management>,
    ) -> Answer {
        if let (Some(nvml), Some(driver)) = (nvml, driver) {
            self.watch(nvml, driver, devices);
        }
        let done = match step {
            NcclCommand::Open { chosen, copies } => return self.open(trace, chosen.as_deref(), copies),
            NcclCommand::Name => self.name(),
            NcclCommand::Join {
                id,
                ranks,
                own,
                bytes,
                limit_ms,
            } => {
                let (Some(driver), Some(id)) = (driver, UniqueId::from_text(id)) else {
                    return refuse("join a communicator", "there is no driver, or no id".to_owned());
                };
                let context = |member: &NcclMember| {
                    let device = usize::try_from(member.gpu)
                        .ok()
                        .and_then(|gpu| devices.get(gpu))?;
                    Some(Context::retain(driver, *device))
                };
                let contexts: Option<Result<Vec<_>, _>> = own.iter().map(context).collect();
                let Some(contexts) = contexts else {
                    return refuse("join a communicator", "a GPU is not there".to_owned());
                };
                let limit = Duration::from_millis(*limit_ms);
                contexts.and_then(|contexts| self.join(id, *ranks, own, &contexts, (*bytes, limit)))
            }
            NcclCommand::Run(run) => self.run(*run),
        };
        match done {
            Ok(answer) => Answer::Nccl(answer),
            Err(error) => Answer::Failed(failure(&error)),
        }
    }

    fn open(&mut self, trace: &Trace, chosen: Option<&str>, copies: &[String]) -> Answer {
        let copies: Vec<PathBuf> = copies.iter().map(PathBuf::from).collect();
        let library = match Nccl::load(trace.clone(), chosen.map(Path::new), &copies) {
            Ok(library) => library,
            Err(why) => return refuse("load libnccl.so.2", why),
        };
        let path = library.path.as_ref().map(|path| path.display().to_string());
        match library.version() {
            Ok(version) => {
                self.library = Some(library);
                Answer::Nccl(NcclAnswer::Opened { path, version })
            }
            Err(error) => Answer::Failed(failure(&error)),
        }
    }

    fn library(&self) -> Result<&Nccl, CallError> {
        self.library.as_ref().ok_or(CallError::Refused {
            call: "ncclCommInitRank",
            why: "the library is not open",
        })
    }

    fn name(&self) -> Result<NcclAnswer, CallError> {
        let id = self.library()?.unique_id()?.to_text();
        Ok(NcclAnswer::Named { id })
    }

    fn join(
        &mut self,
        id: UniqueId,
        ranks: u32,
        own: &[NcclMember],
        contexts: &[Rc<Context>],
        (bytes, limit): (u64, Duration),
    ) -> Result<NcclAnswer, CallError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        // Memory first: where there is none, no other rank waits for this one.
        let mut memory = Vec::new();
        for (member, context) in own.iter().zip(contexts) {
            let stream = Stream::create(context)?;
            let (from, to) = (
                Buffer::allocate(context, bytes)?,
                Buffer::allocate(context, bytes)?,
            );
            fill(&stream, &from, bytes, member.rank, limit)?;
            memory.push((from, to, stream));
        }
        let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        let joining: Vec<(i32, &Rc<Context>)> = own
            .iter()
            .map(|member| number(member.rank))
            .zip(contexts)
            .collect();
        let joined = self.library()?.join(id, number(ranks), &joining)?;
        let all = own.iter().zip(joined).zip(memory);
        self.own = all
            .map(|((member, communicator), (from, to, stream))| Rank {
                member: *member,
                communicator,
                from,
                to,
                stream,
            })
            .collect();
        self.count = ranks;
        Ok(NcclAnswer::Joined)
    }

    fn run(&self, run: NcclRun) -> Result<NcclAnswer, CallError> {
        let limit = Duration::from_millis(run.limit_ms);
        let bytes = usize::try_from(run.bytes).unwrap_or(usize::MAX);
        let members: Vec<Member<'_>> = self
            .own
            .iter()
            .map(|rank| {
                Ok(Member {
                    rank: rank.member.rank,
                    communicator: &rank.communicator,
                    stream: &rank.stream,
                    from: window(&rank.from, 0, bytes)?,
                    to: window(&rank.to, 0, bytes)?,
                })
            })
            .collect::<Result<_, CallError>>()?;
        let library = self.library()?;
        let asked = (run.collective, run.bytes, self.count);
        for member in &members {
            member.stream.set(member.to, BEFORE)?;
        }
        library.run(&members, asked, 1, limit, || ())?;
        let mut wrong = Vec::new();
        for rank in &self.own {
            wrong.extend(self.compare(rank, run, limit)?);
        }
        let (mut seconds, mut conditions) = (Vec::new(), Vec::new());
        if run.times > 0 {
            library.run(&members, asked, WARM_UPS, limit, || ())?;
            for number in 0..run.samples {
                let mut read = Vec::new();
                let (took, running) = library.run(&members, asked, run.times, limit, || {
                    if number == run.samples / 2 {
                        read = self.conditions();
                    }
                })?;
                for condition in &mut read {
                    condition.while_running = running;
                }
                conditions.append(&mut read);
                seconds.push(took);
            }
        }
        Ok(NcclAnswer::Ran {
            seconds,
            wrong,
            conditions,
        })
    }

    fn watch(&mut self, nvml: &Management, driver: &Driver, devices: &[Device]) {
        for NcclMember { gpu, .. } in self.own.iter().map(|rank| rank.member) {
            let device = usize::try_from(gpu).ok().and_then(|gpu| devices.get(gpu));
            let address = device.and_then(|device| driver.pci_address(*device).ok());
            if let Some(address) = address {
                let find = || nvml.find(&address);
                self.watched.entry(gpu).or_insert_with(find);
            }
        }
    }

    fn conditions(&self) -> Vec<Conditions> {
        let read = |(gpu, managed): (&u32, &Managed)| Conditions {
            gpu: *gpu,
            while_running: false,
            facts: managed.conditions().into_facts(),
        };
        self.watched.iter().map(read).collect()
    }

    fn compare(&self, rank: &Rank, run: NcclRun, limit: Duration) -> Result<Option<String>, CallError> {
        let (collective, ranks) = (run.collective, self.count);
        let count = collective.count(run.bytes, ranks);
        let words = collective.received(run.bytes, ranks);
        let bytes = usize::try_from(words * 4).unwrap_or(usize::MAX);
        let mut wrong: Option<(u64, u64)> = None;
        for windows in windows_of(&rank.to, bytes)? {
            let found = rank.stream.download(windows, limit)?;
            for (word, found) in (0_u64..).zip(found) {
                let offset = windows.first_byte_of(&rank.to) + windows.offset_of(word);
                let expected = data::expected(collective, rank.member.rank, ranks, count, offset / 4);
                if expected.is_some_and(|expected| expected.to_bits() != found) {
                    let (first, many) = wrong.unwrap_or((offset, 0));
                    wrong = Some((first, many + 1));
                }
            }
        }
        Ok(wrong.map(|(first, many)| {
            let NcclMember { rank, gpu } = rank.member;
            let name = collective.name();
            format!(
                "rank {rank} (GPU {gpu}) has wrong data after {name} of {} bytes: {many} numbers, the first at byte {first}",
                run.bytes
            )
        }))
    }
}

/// Puts a rank's numbers into all of a buffer: uploaded once, then copied again and again.
fn fill(stream: &Stream, buffer: &Buffer, bytes: usize, rank: u32, limit: Duration) -> Result<(), CallError> {
    let period = usize::try_from(data::PERIOD * 4).unwrap_or(usize::MAX);
    let mut done = period.min(bytes);
    let first = window(buffer, 0, done)?;
    stream.upload(first, |index| data::sent(rank, index).to_bits(), limit)?;
    while done < bytes {
        // Whole periods, so that each copy goes on where the one before ended.
        let part = done.min(bytes - done);
        stream.copy(window(buffer, done, part)?, window(buffer, 0, part)?, limit)?;
        done += part;
    }
    Ok(())
}

const TOO_LARGE: CallError = CallError::Refused {
    call: "ncclCommInitRank",
    why: "the collective is larger than the memory that was taken for it",
};

fn window(buffer: &Buffer, offset: usize, bytes: usize) -> Result<Windows<'_>, CallError> {
    buffer.window(offset, bytes).ok_or(TOO_LARGE)
}

/// Bytes from a window to the next: the end follows the last of them at the same distance, so that it is looked at once.
fn stride(bytes: usize) -> usize {
    (bytes - WINDOW_BYTES) / WINDOWS as usize / 4 * 4
}

fn windows_of(buffer: &Buffer, bytes: usize) -> Result<Vec<Windows<'_>>, CallError> {
    if bytes == 0 {
        return Ok(Vec::new());
    }
    if bytes <= ALL_BYTES {
        return Ok(vec![window(buffer, 0, bytes)?]);
    }
    let stride = stride(bytes);
    let spread = buffer.span().windows(0, stride, WINDOWS, WINDOW_BYTES);
    let spread = spread.ok_or(TOO_LARGE)?;
    let end = window(buffer, bytes - WINDOW_BYTES, WINDOW_BYTES)?;
    Ok(vec![spread, end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_no_window_of_the_spread_ones() {
        for bytes in [ALL_BYTES + 4, 8 << 20, 512 << 20] {
            let last = (WINDOWS as usize - 1) * stride(bytes);
            assert!(stride(bytes) >= WINDOW_BYTES, "{bytes}: they overlap");
            assert!(last + WINDOW_BYTES <= bytes - WINDOW_BYTES, "{bytes}");
        }
    }
}
