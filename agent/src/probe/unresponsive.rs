//! Asking the driver twice where a process hangs or dies, and when it counts as one that does not answer.

use std::time::Duration;

use kb_core::report::Failure;
use kb_core::verdict::cause;

use crate::worker::handle::Fault;

use super::failure::failure_from;
use super::trouble::Trouble;

#[derive(Debug, Clone)]
pub(super) enum NoAnswer {
    Failed(Trouble),
    /// It hung twice, each time for as long as a driver may take.
    Unresponsive(Trouble),
}

impl NoAnswer {
    pub(super) fn is_answer(&self) -> bool {
        matches!(self, Self::Failed(Trouble::Call(_)))
    }

    pub(super) fn trouble(&self) -> &Trouble {
        match self {
            Self::Failed(trouble) | Self::Unresponsive(trouble) => trouble,
        }
    }

    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::Failed(trouble) => failure_from(trouble),
            Self::Unresponsive(trouble) => Failure {
                cause: Some(cause::DRIVER_UNRESPONSIVE.to_owned()),
                ..failure_from(trouble)
            },
        }
    }
}

/// A driver call this long in two fresh processes never returns. Starting eight GPUs without persistence takes over 10 s.
const UNRESPONSIVE: Duration = Duration::from_secs(30);

/// Asks once more, in another process, where a fresh one hangs or dies; a library that is missing stays missing.
pub(super) fn twice<T>(mut ask: impl FnMut() -> Result<T, Trouble>) -> Result<T, NoAnswer> {
    let first = match ask() {
        Err(Trouble::Worker(fault @ (Fault::Hang { .. } | Fault::Died { .. }))) => fault,
        result => return result.map_err(NoAnswer::Failed),
    };
    ask().map_err(|second| {
        let long = |fault: &Fault| matches!(fault, Fault::Hang { limit, .. } if *limit >= UNRESPONSIVE);
        match second {
            Trouble::Worker(fault) if long(&first) && long(&fault) => {
                NoAnswer::Unresponsive(Trouble::Worker(fault))
            }
            second => NoAnswer::Failed(second),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hang(seconds: u64) -> Trouble {
        Trouble::Worker(Fault::Hang {
            call: Some("nvmlInit_v2".to_owned()),
            limit: Duration::from_secs(seconds),
        })
    }

    fn died() -> Trouble {
        Trouble::Worker(Fault::Died {
            call: None,
            how: "signal: 11".to_owned(),
            killed: false,
            last_words: String::new(),
        })
    }

    #[test]
    fn half_a_minute_twice_is_a_driver_that_does_not_answer_and_less_is_not() {
        for (first, second, is_unresponsive) in [
            (hang(30), hang(30), true),
            (hang(30), hang(29), false),
            (hang(5), hang(30), false),
            (died(), hang(30), false),
            (hang(30), died(), false),
        ] {
            let mut troubles = [first, second].into_iter();
            let answer: Result<(), NoAnswer> = twice(|| Err(troubles.next().unwrap()));
            let no_answer = answer.unwrap_err();
            assert_eq!(
                matches!(no_answer, NoAnswer::Unresponsive(_)),
                is_unresponsive,
                "{no_answer:?}"
            );
            assert!(troubles.next().is_none(), "it was asked twice");
        }
        let mut answers = [Err(hang(30)), Ok(7)].into_iter();
        assert_eq!(twice(|| answers.next().unwrap()).unwrap(), 7);
    }
}
