//! Processes that do the same step at the same time: the ranks of a communicator wait for each other in it.

use std::time::{Duration, Instant};

use crate::probe::live::Live;
use crate::probe::setup::{GRACE, Setup};
use crate::probe::trouble::Trouble;
use crate::worker::handle::{Fault, Stuck};
use crate::worker::protocol::{Answer, Command};

/// How long one process is listened to before the next.
const TURN: Duration = Duration::from_millis(5);

pub(super) struct Crowd<'a> {
    setup: &'a Setup,
    lives: Vec<Live>,
    /// True when the last step had less time than it is due, because the run's time comes to its end.
    pub(super) cut_short: bool,
}

impl<'a> Crowd<'a> {
    pub(super) fn start(
        setup: &'a Setup,
        count: usize,
        environment: &[(&str, &str)],
    ) -> Result<Self, Trouble> {
        let start = |_| Live::start(setup, environment);
        let lives: Result<Vec<Live>, Fault> = (0..count).map(start).collect();
        Ok(Self {
            setup,
            lives: lives.map_err(Trouble::Worker)?,
            cut_short: false,
        })
    }

    /// Commands each process and waits for all answers, at most `factor` steps' time. The first failure ends the wait.
    pub(super) fn all(
        &mut self,
        factor: u32,
        command: impl Fn(usize) -> Command,
    ) -> Result<Vec<Answer>, Trouble> {
        for (number, live) in self.lives.iter_mut().enumerate() {
            live.tell(&command(number), None).map_err(Trouble::Worker)?;
        }
        let limit = self.setup.limit(factor);
        self.cut_short = limit < self.setup.step_limit * factor;
        let limit = limit + GRACE;
        let start = Instant::now();
        let mut answers: Vec<Option<Answer>> = self.lives.iter().map(|_| None).collect();
        while answers.iter().any(Option::is_none) {
            let waiting = self.lives.iter_mut().zip(&mut answers);
            for (live, answer) in waiting.filter(|(_, answer)| answer.is_none()) {
                match live.settle(TURN) {
                    Ok(came) => match came.into_iter().next_back() {
                        Some((_, Answer::Failed(failure))) => return Err(Trouble::Call(failure)),
                        came => *answer = came.map(|(_, answer)| answer),
                    },
                    Err(Fault::Hang { .. }) if start.elapsed() < limit => {}
                    Err(Fault::Hang { call, .. }) => {
                        return Err(Trouble::Worker(Fault::Hang { call, limit }));
                    }
                    Err(fault) => return Err(Trouble::Worker(fault)),
                }
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    pub(super) fn first(&mut self, command: &Command) -> Result<Answer, Trouble> {
        let nobody = || Trouble::Worker(Fault::Start("no worker runs".to_owned()));
        let limit = self.setup.limit(1) + GRACE;
        let live = self.lives.first_mut().ok_or_else(nobody)?;
        live.tell(command, None).map_err(Trouble::Worker)?;
        let came = live.settle(limit).map_err(Trouble::Worker)?;
        match came.into_iter().next_back() {
            Some((_, Answer::Failed(failure))) => Err(Trouble::Call(failure)),
            Some((_, answer)) => Ok(answer),
            None => Err(nobody()),
        }
    }

    /// Ends the processes: in order where all went well, else by force, as the state of none is known. Gives what each
    /// had written to standard error, and those that do not end.
    pub(super) fn end(mut self, in_order: bool) -> (Vec<String>, Vec<Stuck>) {
        if in_order {
            self.lives.iter_mut().for_each(Live::dismiss);
        }
        let mut said = Vec::new();
        let mut stuck = Vec::new();
        for mut live in self.lives {
            said.push(live.said());
            let ended = if in_order { live.finish() } else { live.kill() };
            stuck.extend(ended.err());
        }
        (said, stuck)
    }
}

pub(super) fn nonsense(answer: &Answer) -> Trouble {
    Trouble::Worker(Fault::Nonsense(format!("{answer:?}")))
}
