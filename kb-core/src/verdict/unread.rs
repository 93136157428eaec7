//! States of a report's GPUs that should have been read and could not.

use crate::observation::Look;
use crate::report::Report;

/// From this minor version on agents tell of every state, read or not. Before that a GPU without any says nothing.
const TELLS_OF_STATES: u32 = 1;
/// What names of whole GPUs begin with that nothing was read of.
const WHOLE_GPU: &str = "gpu";

/// What could not be read, in words; `None` where nothing is missing. What a GPU does not have is nothing that could be read, and a fact
/// that an older agent does not know is no failure.
pub fn unread_states(report: &Report) -> Option<String> {
    let mut unread = Look::unread_states(report);
    if report.schema.minor < TELLS_OF_STATES {
        unread.retain(|unread| !unread.what.starts_with(WHOLE_GPU));
    }
    let first = unread.first()?;
    let more = match unread.len() {
        1 => String::new(),
        all => format!(" and {} more", all - 1),
    };
    Some(format!("{} could not be read: {}{more}", first.what, first.why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Fact, GapKind, fact_name};
    use crate::verdict::tests::{gpu_fact, healthy};
    use crate::verdict::{Expect, judge, unproven};

    /// Two GPUs of which NVML was asked.
    fn asked(minor: u32) -> Report {
        let mut report = healthy(2);
        report.schema.minor = minor;
        let version = Fact::read("580.159.04".into(), "nvml");
        report
            .host
            .insert(fact_name::NVML_DRIVER_VERSION.to_owned(), version);
        for gpu in 0..2 {
            gpu_fact(&mut report, gpu, fact_name::RECOVERY_ACTION, "none");
        }
        judge(&mut report, Expect::Auto);
        report
    }

    #[test]
    fn health_is_not_proven_beside_a_state_that_could_not_be_read() {
        for minor in [0, 7] {
            assert_eq!(unproven(&asked(minor)), None, "what is merely absent");
            for name in [
                fact_name::REMAPPED_ROWS_FAILURE,
                fact_name::ECC_VOLATILE_UNCORRECTED,
                fact_name::RECOVERY_ACTION,
                fact_name::FABRIC_STATE,
            ] {
                for (kind, is_unread) in [
                    (GapKind::Failed, true),
                    (GapKind::NotSupported, false),
                    (GapKind::NotVisible, false),
                ] {
                    let mut report = asked(minor);
                    let gap = Fact::missing(kind, "NVML error 999", "nvml");
                    report.gpus[1].facts.insert(name.to_owned(), gap);
                    // Another state is told, so that the GPU is not silent.
                    gpu_fact(&mut report, 1, fact_name::REMAPPED_ROWS_PENDING, false);
                    let why = unproven(&report);
                    assert_eq!(why.is_some(), is_unread, "{minor} {name} {kind:?}: {why:?}");
                    assert!(why.is_none_or(|why| why.contains(name) && why.contains("999")));
                }
            }
        }
    }

    #[test]
    fn a_silent_gpu_of_an_agent_that_knew_no_states_is_not_unread() {
        for (minor, is_unread) in [(0, false), (1, true)] {
            let mut report = asked(minor);
            report.gpus[1].facts.clear();
            assert_eq!(unread_states(&report).is_some(), is_unread, "{minor}");
        }
    }
}
