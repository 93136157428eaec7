//! Ranks up to where they can work: driver and NCCL opened in each process, one communicator joined by all.

use kb_core::report::{Conditions, Fact};

use crate::probe::setup::{OPEN_FACTOR, Setup};
use crate::probe::trouble::Trouble;
use crate::worker::handle::Fault;
use crate::worker::protocol::{Answer, Command, NcclAnswer, NcclCommand, NcclMember, NcclRun};

use super::NcclOptions;
use super::crowd::{Crowd, nonsense};

pub(super) struct Stage<'a> {
    pub(super) setup: &'a Setup,
    pub(super) chosen: &'a NcclOptions,
    pub(super) copies: Vec<String>,
    /// UUIDs of the GPUs in CUDA's order.
    pub(super) uuids: Vec<Option<String>>,
}

pub(super) enum Stop {
    /// Before NCCL did anything: it shows nothing about it.
    Before(Trouble),
    Nccl(Trouble),
}

#[derive(Debug, Clone)]
pub(super) struct Library {
    pub(super) file: Fact<String>,
    pub(super) version: Fact<String>,
}

impl Stage<'_> {
    /// Variables of the processes. NVLink SHARP and multicast are off unless asked for: they show nothing about peer
    /// access, and take a part of the switch's own resources.
    pub(super) fn environment(&self, peer_access: bool) -> Vec<(&'static str, &'static str)> {
        let mut variables = vec![
            ("NCCL_DEBUG", "WARN"),
            // Line by line into the pipe; to standard output it would be buffered, and lost with the process.
            ("NCCL_DEBUG_FILE", "/proc/self/fd/2"),
        ];
        if !self.chosen.nvls {
            variables.extend([("NCCL_NVLS_ENABLE", "0"), ("NCCL_MNNVL_ENABLE", "0")]);
        }
        if !peer_access {
            variables.push(("NCCL_P2P_DISABLE", "1"));
        }
        variables
    }

    pub(super) fn open(&self, crowd: &mut Crowd<'_>) -> Result<Library, Stop> {
        crowd.all(1, |_| Command::Load).map_err(Stop::Before)?;
        let attached = crowd
            .all(OPEN_FACTOR, |_| Command::Attach)
            .map_err(Stop::Before)?;
        let others = |answer: &Answer| !matches!(answer, Answer::Attached { uuids } if *uuids == self.uuids);
        if attached.iter().any(others) {
            let why = "a fresh worker lists other GPUs than the first one".to_owned();
            return Err(Stop::Before(Trouble::Worker(Fault::Nonsense(why))));
        }
        let open = |_| {
            Command::Nccl(NcclCommand::Open {
                chosen: self.chosen.library.clone(),
                copies: self.copies.clone(),
            })
        };
        // Some hundred megabytes, from a disk that may be slow.
        let opened = crowd.all(OPEN_FACTOR, open).map_err(Stop::Before)?;
        match opened.into_iter().next() {
            Some(Answer::Nccl(NcclAnswer::Opened { path, version })) => Ok(Library {
                file: file_of(path),
                version: Fact::read(dotted(version), "ncclGetVersion"),
            }),
            other => Err(Stop::Before(unexpected(other))),
        }
    }

    /// Has all processes join one communicator, each with the ranks that `own` gives it.
    pub(super) fn join(
        &self,
        crowd: &mut Crowd<'_>,
        ranks: u32,
        bytes: u64,
        own: impl Fn(usize) -> Vec<NcclMember>,
    ) -> Result<(), Stop> {
        let named = crowd
            .first(&Command::Nccl(NcclCommand::Name))
            .map_err(Stop::Nccl)?;
        let Answer::Nccl(NcclAnswer::Named { id }) = named else {
            return Err(Stop::Nccl(nonsense(&named)));
        };
        let join = |process| {
            Command::Nccl(NcclCommand::Join {
                id: id.clone(),
                ranks,
                own: own(process),
                bytes,
                limit_ms: self.setup.limit_ms(),
            })
        };
        crowd.all(OPEN_FACTOR, join).map(drop).map_err(Stop::Nccl)
    }
}

#[derive(Default)]
pub(super) struct Ran {
    /// Of each sample, by the slowest process.
    pub(super) seconds: Vec<f64>,
    pub(super) wrong: Vec<String>,
    pub(super) conditions: Vec<Conditions>,
}

pub(super) fn run(crowd: &mut Crowd<'_>, run: NcclRun) -> Result<Ran, Stop> {
    // The one that is compared, the warm-up, and each sample have a step's time.
    let factor = run.samples.saturating_add(2);
    let answers = crowd
        .all(factor, |_| Command::Nccl(NcclCommand::Run(run)))
        .map_err(Stop::Nccl)?;
    let mut all = Ran::default();
    for answer in answers {
        let Answer::Nccl(NcclAnswer::Ran {
            seconds,
            wrong,
            conditions,
        }) = answer
        else {
            return Err(Stop::Nccl(nonsense(&answer)));
        };
        all.seconds.resize(seconds.len(), 0.0);
        for (slowest, seconds) in all.seconds.iter_mut().zip(seconds) {
            *slowest = slowest.max(seconds);
        }
        all.wrong.extend(wrong);
        all.conditions.extend(conditions);
    }
    Ok(all)
}

fn unexpected(answer: Option<Answer>) -> Trouble {
    answer.map_or_else(
        || Trouble::Worker(Fault::Start("no worker runs".to_owned())),
        |answer| nonsense(&answer),
    )
}

fn file_of(path: Option<String>) -> Fact<String> {
    const SOURCE: &str = "/proc/self/maps";
    match path {
        Some(path) => Fact::read(path, SOURCE),
        None => Fact::missing(
            kb_core::report::GapKind::NotVisible,
            "the loader does not tell which file it took",
            SOURCE,
        ),
    }
}

/// `2.28.9` of 22809; before 2.9 the number had a digit less (`NCCL_VERSION` in nccl.h).
fn dotted(version: i32) -> String {
    let (major, rest) = if version < 10_000 {
        (version / 1000, version % 1000)
    } else {
        (version / 10_000, version % 10_000)
    };
    format!("{major}.{}.{}", rest / 100, rest % 100)
}

#[cfg(test)]
mod tests {
    use super::dotted;

    #[test]
    fn versions_are_written_with_dots() {
        assert_eq!(dotted(22_809), "2.28.9");
        assert_eq!(dotted(2_708), "2.7.8");
    }
}
