//! A session's processes: started, told, asked, and ended.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use crate::probe::live::{About, Live};
use crate::probe::setup::{GRACE, OPEN_FACTOR};
use crate::probe::trouble::Trouble;
use crate::worker::handle::Fault;
use crate::worker::protocol::{Answer, Command};

use super::{Role, Session};

impl Session<'_> {
    pub(super) fn seat(&mut self, role: Role) -> &mut Option<Live> {
        match role {
            Role::Worker => &mut self.worker,
            Role::Partner => &mut self.partner,
        }
    }

    pub(super) fn start(&mut self, role: Role) -> Result<(), Trouble> {
        let live = Live::start(self.setup, &[]).map_err(Trouble::Worker)?;
        *self.seat(role) = Some(live);
        Ok(())
    }

    pub(super) fn begin(&mut self, role: Role) -> Result<(), Trouble> {
        self.tell(role, &Command::Load, None)?;
        self.tell(role, &Command::Attach, None)
    }

    pub(super) fn settle(&mut self, role: Role) -> Result<(), Trouble> {
        let limit = self.due(OPEN_FACTOR);
        let Some(live) = self.seat(role) else {
            return Err(no_process());
        };
        let answers = match live.settle(limit) {
            Ok(answers) => answers,
            Err(fault) => {
                self.abandon(role);
                return Err(Trouble::Worker(fault));
            }
        };
        for answered in answers {
            match answered {
                (_, Answer::Loaded(_) | Answer::Prepared) => {}
                (_, Answer::Attached { uuids }) => self.compare(role, &uuids)?,
                // Whoever needs that GPU asks again, and is told why it cannot be had.
                (About::Preparing(gpu), Answer::Failed(failure)) if !failure.poisoned => {
                    if let Some(live) = self.seat(role) {
                        live.prepared.remove(&gpu);
                    }
                }
                (_, other) => return Err(self.useless(role, other)),
            }
        }
        Ok(())
    }

    /// A process that lists other GPUs than the first one is not asked: their numbers mean other GPUs there.
    pub(super) fn compare(&mut self, role: Role, uuids: &[Option<String>]) -> Result<(), Trouble> {
        if self.known.as_ref().is_none_or(|known| known.uuids == uuids) {
            return Ok(());
        }
        self.abandon(role);
        Err(Trouble::Worker(Fault::Nonsense(
            "a fresh worker lists other GPUs than the first one".to_owned(),
        )))
    }

    /// Longest for a step; notes where that is less than it is due.
    pub(super) fn due(&mut self, factor: u32) -> Duration {
        let limit = self.setup.limit(factor);
        self.cut_short = limit < self.setup.step_limit * factor;
        limit + GRACE
    }

    pub(in crate::probe) fn ask(
        &mut self,
        role: Role,
        command: &Command,
        factor: u32,
    ) -> Result<Answer, Trouble> {
        self.tell(role, command, None)?;
        self.answer(role, factor)
    }

    /// Gives a command. A process that is gone is not asked again.
    pub(super) fn tell(
        &mut self,
        role: Role,
        command: &Command,
        descriptor: Option<&OwnedFd>,
    ) -> Result<(), Trouble> {
        let Some(live) = self.seat(role) else {
            return Err(no_process());
        };
        let told = live.tell(command, descriptor.map(AsFd::as_fd));
        told.map_err(|fault| {
            self.abandon(role);
            Trouble::Worker(fault)
        })
    }

    /// The answer to the last command. A process that does not answer is killed.
    pub(super) fn answer(&mut self, role: Role, factor: u32) -> Result<Answer, Trouble> {
        let limit = self.due(factor);
        let Some(live) = self.seat(role) else {
            return Err(no_process());
        };
        match live.settle(limit) {
            Ok(answers) => {
                let last = answers.into_iter().next_back();
                last.map(|(_, answer)| answer).ok_or_else(no_process)
            }
            Err(fault) => {
                self.abandon(role);
                Err(Trouble::Worker(fault))
            }
        }
    }

    pub(in crate::probe) fn descriptor(&mut self, role: Role) -> Option<OwnedFd> {
        self.seat(role).as_mut()?.descriptor()
    }

    /// An unexpected answer. The process stays where only a call was refused: it may hold the memory of many other GPUs.
    pub(in crate::probe) fn unexpected(&mut self, role: Role, answer: Answer) -> Trouble {
        match answer {
            Answer::Failed(failure) if !failure.poisoned => Trouble::Call(failure),
            other => self.useless(role, other),
        }
    }

    /// An answer after which the process is of no use.
    pub(super) fn useless(&mut self, role: Role, answer: Answer) -> Trouble {
        self.abandon(role);
        match answer {
            Answer::Failed(failure) => Trouble::Call(failure),
            other => Trouble::Worker(Fault::Nonsense(format!("{other:?}"))),
        }
    }

    /// Kills a process: its state is not known.
    pub(super) fn abandon(&mut self, role: Role) {
        let killed = self.seat(role).take().map(Live::kill);
        if let Some(Err(stuck)) = killed {
            self.stuck.push(stuck);
        }
    }

    pub(super) fn dismiss(&mut self, role: Role) {
        if let Some(mut live) = self.seat(role).take() {
            live.dismiss();
            self.stuck.extend(live.finish().err());
        }
    }

    /// Ends the processes in order, both at the same time.
    pub(in crate::probe) fn end(&mut self) {
        for live in [&mut self.worker, &mut self.partner].into_iter().flatten() {
            live.dismiss();
        }
        for role in [Role::Worker, Role::Partner] {
            let ended = self.seat(role).take().map(Live::finish);
            if let Some(Err(stuck)) = ended {
                self.stuck.push(stuck);
            }
        }
    }
}

fn no_process() -> Trouble {
    Trouble::Worker(Fault::Start("no worker runs".to_owned()))
}
