//! Figures that are missing because of what a GPU, or the driver, did: they must not look like figures that were left out.

use kb_core::report::Failure;
use kb_core::verdict::is_hardware_code;

use crate::worker::handle::Fault;

use super::failure::failure_from;
use super::trouble::Trouble;

const STEP: &str = "measure";
/// Kinds of failures that are told; of each kind the first, and how many more there were.
const MOST: usize = 8;
/// `CUDA_ERROR_DEVICE_UNAVAILABLE` (another process has the GPU), `CUDA_ERROR_OPERATING_SYSTEM` and `CUDA_ERROR_NOT_PERMITTED` (a limit of the
/// container, for example for memory of the host): they say nothing of the GPU.
const OF_OTHERS: [i32; 3] = [46, 304, 800];

#[derive(Debug, Default)]
pub(super) struct Unmeasured(Vec<(Failure, u32)>);

impl Unmeasured {
    /// Notes why `what` was not measured, unless that says nothing against the GPU: not supported, refused, no time left.
    pub(super) fn note(&mut self, what: &str, trouble: &Trouble, cut_short: bool) {
        if !tells(trouble, cut_short) {
            return;
        }
        let seen = failure_from(trouble);
        let known = self.0.iter_mut().find(|(known, _)| known.code == seen.code);
        if let Some((_, more)) = known {
            *more = more.saturating_add(1);
            return;
        }
        if self.0.len() < MOST {
            let failure = Failure {
                code: seen.code,
                code_name: seen.code_name,
                reason_code: seen.reason_code,
                ..Failure::new(STEP, format!("{what} could not be measured: {}", seen.message))
            };
            self.0.push((failure, 0));
        }
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = Failure> {
        self.0.iter().map(|(failure, more)| {
            let message = match more {
                0 => failure.message.clone(),
                more => format!("{} (and {more} more)", failure.message),
            };
            Failure {
                message,
                ..failure.clone()
            }
        })
    }
}

fn tells(trouble: &Trouble, cut_short: bool) -> bool {
    match trouble {
        Trouble::Call(failure) => match failure.code {
            // Codes of broken hardware are told as such.
            Some(code) => failure.poisoned && !OF_OTHERS.contains(&code) && !is_hardware_code(code),
            // Work that did not end.
            None => failure.poisoned && !cut_short,
        },
        Trouble::Worker(Fault::Hang { .. }) => !cut_short,
        Trouble::Worker(Fault::Died { killed, .. }) => !killed,
        Trouble::Worker(Fault::Start(_) | Fault::Nonsense(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::CallFailure;

    fn call(code: Option<i32>, poisoned: bool) -> Trouble {
        Trouble::Call(CallFailure {
            call: "cuMemcpyPeerAsync".to_owned(),
            code,
            code_name: None,
            message: "it returned something".to_owned(),
            reason_code: None,
            poisoned,
        })
    }

    fn told(trouble: &Trouble, cut_short: bool) -> usize {
        let mut unmeasured = Unmeasured::default();
        unmeasured.note("a copy", trouble, cut_short);
        unmeasured.failures().count()
    }

    #[test]
    fn only_what_speaks_against_the_gpu_is_told() {
        let hang = Trouble::Worker(Fault::Hang {
            call: None,
            limit: std::time::Duration::from_secs(1),
        });
        let died = |killed| {
            Trouble::Worker(Fault::Died {
                call: None,
                how: "signal".to_owned(),
                killed,
                last_words: String::new(),
            })
        };
        for (trouble, cut_short, expected) in [
            (died(false), false, 1),
            (died(true), false, 0),
            (call(Some(719), true), false, 1),
            (call(Some(719), true), true, 1),
            (call(Some(999), true), false, 1),
            (call(None, true), false, 1),
            (call(None, true), true, 0),
            (hang.clone(), false, 1),
            (hang, true, 0),
            (call(Some(801), false), false, 0),
            (call(Some(2), false), false, 0),
            (call(Some(46), true), false, 0),
            (call(Some(304), true), false, 0),
            (call(Some(214), true), false, 0),
            (call(None, false), false, 0),
            (Trouble::Worker(Fault::Start("x".to_owned())), false, 0),
        ] {
            assert_eq!(told(&trouble, cut_short), expected, "{trouble:?} {cut_short}");
        }
    }

    #[test]
    fn many_of_a_kind_are_told_once() {
        let mut unmeasured = Unmeasured::default();
        for gpu in 0..112 {
            unmeasured.note(&format!("a copy of GPU {gpu}"), &call(Some(719), true), false);
        }
        let failures: Vec<Failure> = unmeasured.failures().collect();
        assert_eq!(failures.len(), 1);
        assert!(
            failures[0]
                .message
                .starts_with("a copy of GPU 0 could not be measured")
                && failures[0].message.ends_with("(and 111 more)"),
            "{failures:?}"
        );
    }
}
