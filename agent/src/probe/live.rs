//! One process with the driver open: what it has done, and the answers that it still owes.

use std::collections::{BTreeSet, VecDeque};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::worker::handle::{Fault, Stuck, Worker};
use crate::worker::protocol::{Answer, Command};

use super::setup::Setup;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Preparing(u32),
    Else,
}

impl About {
    fn of(command: &Command) -> Self {
        match command {
            Command::Prepare { gpu, .. } => Self::Preparing(*gpu),
            _ => Self::Else,
        }
    }
}

#[derive(Clone, Copy)]
enum Owed {
    FirstWord,
    Answer(About),
}

pub(super) struct Live {
    worker: Worker,
    pub(super) prepared: BTreeSet<u32>,
    pub(super) enabled: BTreeSet<(u32, u32)>,
    pub(super) benched: BTreeSet<u32>,
    owed: VecDeque<Owed>,
}

impl Live {
    /// Starts it with variables beside those of this process, and does not wait for it.
    pub(super) fn start(setup: &Setup, environment: &[(&str, &str)]) -> Result<Self, Fault> {
        Ok(Self {
            worker: Worker::start(&setup.program, environment, &setup.broken)?,
            prepared: BTreeSet::new(),
            enabled: BTreeSet::new(),
            benched: BTreeSet::new(),
            owed: VecDeque::from([Owed::FirstWord]),
        })
    }

    /// Gives it a command, and does not wait for the answer.
    pub(super) fn tell(
        &mut self,
        command: &Command,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(), Fault> {
        self.worker.tell(command, descriptor)?;
        self.owed.push_back(Owed::Answer(About::of(command)));
        Ok(())
    }

    /// Whether it was told to prepare GPUs and has not said yet what came of it.
    pub(super) fn is_preparing(&self) -> bool {
        let preparing = |owed: &Owed| matches!(owed, Owed::Answer(About::Preparing(_)));
        self.owed.iter().any(preparing)
    }

    /// Waits for all answers that it owes, at most `limit` in all.
    pub(super) fn settle(&mut self, limit: Duration) -> Result<Vec<(About, Answer)>, Fault> {
        let start = Instant::now();
        let mut answers = Vec::new();
        while let Some(owed) = self.owed.front().copied() {
            match owed {
                Owed::FirstWord => self.worker.ready()?,
                Owed::Answer(about) => {
                    let left = limit.saturating_sub(start.elapsed());
                    let answer = self.worker.answer(left).map_err(|fault| match fault {
                        Fault::Hang { call, .. } => Fault::Hang { call, limit },
                        other => other,
                    })?;
                    answers.push((about, answer));
                }
            }
            self.owed.pop_front();
        }
        Ok(answers)
    }

    pub(super) fn descriptor(&mut self) -> Option<OwnedFd> {
        self.worker.descriptor()
    }

    pub(super) fn said(&mut self) -> String {
        self.worker.said()
    }

    /// Tells it to release everything and end; [`Self::finish`] waits for that.
    pub(super) fn dismiss(&mut self) {
        self.worker.dismiss();
    }

    /// Waits for the end of a process that was dismissed, and kills it where it does not come.
    pub(super) fn finish(self) -> Result<(), Stuck> {
        self.worker.finish()
    }

    /// Kills it: its state is not known.
    pub(super) fn kill(self) -> Result<(), Stuck> {
        self.worker.kill()
    }
}
