//! Rung 6: the partner owns memory on one GPU; the worker opens it on the other GPU, stores and loads; the partner compares.

use kb_core::report::Outcome;

use crate::worker::protocol::{Answer, Command, Way};

use super::attempt::Attempt;
use super::session::{Role, Session};

#[derive(Clone, Copy)]
pub(super) struct Across {
    pub(super) initiator: u32,
    pub(super) owner: u32,
    pub(super) way: Way,
    pub(super) seed: u64,
    pub(super) next_seed: u64,
}

impl Session<'_> {
    pub(super) fn check_across(&mut self, across: Across) -> Attempt {
        let attempt = self.stored_and_loaded(across).unwrap_or_else(|attempt| *attempt);
        self.within_time(attempt)
    }

    /// `Err` is where it stopped.
    fn stored_and_loaded(&mut self, across: Across) -> Result<Attempt, Box<Attempt>> {
        let Across {
            initiator,
            owner,
            way,
            seed,
            next_seed,
        } = across;
        let theirs = |attempt: Attempt| attempt.in_process("of the memory's owner");
        self.make_ready(Role::Worker, initiator)
            .map_err(|trouble| Box::new(Attempt::not_ready(&trouble)))?;
        self.make_ready(Role::Partner, owner)
            .map_err(|trouble| Box::new(theirs(Attempt::not_ready(&trouble))))?;

        let offer = Command::Offer { owner, way, seed };
        let offered = match self.ask(Role::Partner, &offer, 1) {
            Ok(Answer::Offered(offered)) => offered,
            Ok(Answer::Checked(checked)) => {
                return Err(Box::new(theirs(self.came_to(Role::Partner, checked))));
            }
            Ok(other) => {
                let trouble = self.unexpected(Role::Partner, other);
                return Err(Box::new(theirs(Attempt::not_ready(&trouble))));
            }
            Err(trouble) => return Err(Box::new(theirs(Attempt::interrupted(&trouble)))),
        };
        // It passes through this process, which opens no driver library, and is closed once it is sent on.
        let descriptor = self.descriptor(Role::Partner);
        let reach = Command::Reach {
            initiator,
            way,
            offered,
            seed,
        };
        passed(self.checked(Role::Worker, &reach, descriptor.as_ref()))?;
        drop(descriptor);

        let verify = Command::Verify {
            owner,
            way,
            seed,
            next_seed,
        };
        let fetch = |seed| Command::Fetch { initiator, seed };
        let mut verified = self.checked(Role::Partner, &verify, None);
        if let Some(wrong) = &mut verified.mismatch
            && !wrong.in_guard
        {
            let seen = self.checked(Role::Worker, &fetch(seed), None);
            wrong.writer_sees_it = match seen.outcome {
                Outcome::Pass => Some(true),
                Outcome::Fail if seen.mismatch.is_some() => Some(false),
                _ => None,
            };
            verified.describe_again();
        }
        let verified = passed(theirs(verified))?;
        passed(self.checked(Role::Worker, &fetch(next_seed), None))?;
        Ok(verified)
    }
}

fn passed(attempt: Attempt) -> Result<Attempt, Box<Attempt>> {
    if attempt.outcome == Outcome::Pass {
        Ok(attempt)
    } else {
        Err(Box::new(attempt))
    }
}
