//! One process with the driver open: what it has done, and the answers that it still owes.

use std::collections::{BTreeSet, VecDeque};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use crate::worker::handle::{Fault, Stuck, Worker};
use crate::worker::protocol::{Answer, Command};

/// What a process still has to say.
#[derive(Clone, Copy)]
enum Owed {
    FirstWord,
    Answer,
}

/// A process and what it has done.
pub(super) struct Live {
    worker: Worker,
    /// GPUs that have a context and memory there.
    pub(super) prepared: BTreeSet<u32>,
    /// Directions whose access is enabled there.
    pub(super) enabled: BTreeSet<(u32, u32)>,
    owed: VecDeque<Owed>,
}

impl Live {
    /// Starts it, and does not wait for it.
    pub(super) fn start(program: &Path) -> Result<Self, Fault> {
        Ok(Self {
            worker: Worker::start(program)?,
            prepared: BTreeSet::new(),
            enabled: BTreeSet::new(),
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
        self.owed.push_back(Owed::Answer);
        Ok(())
    }

    /// Waits for all answers that it owes, for each one at most `limit`.
    pub(super) fn settle(&mut self, limit: Duration) -> Result<Vec<Answer>, Fault> {
        let mut answers = Vec::new();
        while let Some(owed) = self.owed.front().copied() {
            match owed {
                Owed::FirstWord => self.worker.ready()?,
                Owed::Answer => answers.push(self.worker.answer(limit)?),
            }
            self.owed.pop_front();
        }
        Ok(answers)
    }

    /// The descriptor that came with its last answer.
    pub(super) fn descriptor(&mut self) -> Option<OwnedFd> {
        self.worker.descriptor()
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
