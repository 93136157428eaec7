//! What NVML alone is asked, also where CUDA no longer opens.

use std::collections::BTreeMap;

use kb_core::report::{Fact, Failure};

use crate::probe::failure::{failure_from, stuck_failure};
use crate::probe::setup::OPEN_FACTOR;
use crate::probe::trouble::Trouble;
use crate::probe::unresponsive::{NoAnswer, twice};
use crate::worker::handle::Fault;
use crate::worker::protocol::{Answer, Command, ManagedGpu, NoList, Unanswered, Why};

use super::{Role, Session};

impl Session<'_> {
    /// What may have changed on the GPUs at these addresses. Where no worker is left, a fresh one reads it that opens
    /// no CUDA: NVML answers about a GPU that CUDA can no longer use.
    pub(in crate::probe) fn read_again(
        &mut self,
        addresses: Vec<Option<String>>,
    ) -> Result<Vec<BTreeMap<String, Fact>>, Trouble> {
        match self.ask_of_old_and_fresh(&Command::ReadAgain { addresses })? {
            Answer::ReadAgain { gpus } => Ok(gpus),
            other => Err(self.unexpected(Role::Worker, other)),
        }
    }

    /// Every GPU that NVML lists, or why it lists none. A fresh worker asks it where none is left.
    pub(in crate::probe) fn list_managed(&mut self) -> Result<Vec<ManagedGpu>, NoList> {
        let not_asked = |trouble: &Trouble| NoList::NotAsked(failure_from(trouble).message);
        match self.ask_fresh(&Command::ListManaged) {
            Ok(Answer::Managed { gpus }) => gpus,
            Ok(other) => Err(not_asked(&self.unexpected(Role::Worker, other))),
            Err(trouble @ Trouble::Worker(Fault::Start(_))) => Err(not_asked(&trouble)),
            // The worker was there and came to no answer.
            Err(trouble) => Err(NoList::Unanswered(Unanswered {
                why: Why::Failed,
                message: failure_from(&trouble).message,
            })),
        }
    }

    /// A hang of the process that made the checks may be of its own doing: fresh ones tell whether it is the driver's.
    fn ask_of_old_and_fresh(&mut self, command: &Command) -> Result<Answer, Trouble> {
        self.heed_silence()?;
        if self.worker.is_some() {
            match self.ask(Role::Worker, command, 1) {
                Err(Trouble::Worker(_)) if self.worker.is_none() => {}
                result => return result,
            }
        }
        self.ask_fresh(command)
    }

    /// The worker that lives now has done nothing but open, or there is none.
    fn ask_fresh(&mut self, command: &Command) -> Result<Answer, Trouble> {
        let mut is_unopened = false;
        let answer = self.ask_twice(|session| {
            if session.worker.is_none() {
                session.start(Role::Worker)?;
                is_unopened = true;
            }
            session.ask(Role::Worker, command, OPEN_FACTOR)
        });
        if is_unopened {
            // Whoever finds a worker takes it for one that has opened CUDA.
            self.dismiss(Role::Worker);
        }
        answer
    }

    /// Asks, at most twice where a process hangs or dies. A driver that does not answer is kept for the report, not asked again.
    pub(super) fn ask_twice<T>(
        &mut self,
        mut ask: impl FnMut(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        self.heed_silence()?;
        twice(|| ask(self)).map_err(|no_answer| {
            let trouble = no_answer.trouble().clone();
            if matches!(no_answer, NoAnswer::Unresponsive(_)) {
                self.silent = Some(no_answer);
            }
            trouble
        })
    }

    fn heed_silence(&self) -> Result<(), Trouble> {
        let silent = self.silent.as_ref();
        silent.map_or(Ok(()), |no_answer| Err(no_answer.trouble().clone()))
    }

    pub(in crate::probe) fn failures(&self) -> Vec<Failure> {
        let silent = self.silent.iter().map(NoAnswer::failure);
        let stuck = self.stuck.iter().map(stuck_failure);
        silent.chain(stuck).chain(self.unmeasured.failures()).collect()
    }
}
