//! When a run ended by the server's clock, and what its report's arrival tells of the node's.

use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use crate::store::{MachineClock, NewReport, ReportListing};

/// Further from the server's a clock is wrong; less may be the way.
const TOLERANCE: Duration = Duration::minutes(2);
/// `Date` has whole seconds.
const ROUNDING: Duration = Duration::seconds(2);
/// A report that comes later than this after its run waited, or its clock is behind. An agent tries again for some minutes.
const LATE: Duration = Duration::minutes(15);
/// No run is older: there were no agents.
const FIRST_RUNS: OffsetDateTime = datetime!(2025-01-01 0:00 UTC);

#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub received_at: OffsetDateTime,
    /// `Date` of the request; senders other than the agent tell none.
    pub sent_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) clock: MachineClock,
    /// When the run ended by the server's clock, where the sender's differs: as long before arrival as before it was sent.
    pub(super) ended_at: Option<OffsetDateTime>,
    /// Whether it is known when the run ended.
    pub(super) is_sure: bool,
}

/// Sets the sender's clock beside the server's. Without the time of sending a clock that is behind cannot be told from a
/// report that waited; one that is ahead can: no run ends after its report came.
pub(super) fn told(finished_at: OffsetDateTime, arrival: Arrival) -> Told {
    let Arrival { received_at, sent_at } = arrival;
    let unsure = |clock| Told {
        clock,
        ended_at: None,
        is_sure: false,
    };
    // A clock that has lost its battery begins somewhere, and may have been set before the report was sent.
    let is_possible = |sent_at: &OffsetDateTime| {
        finished_at - *sent_at <= TOLERANCE && (finished_at >= FIRST_RUNS || *sent_at < FIRST_RUNS)
    };
    let Some(sent_at) = sent_at.filter(is_possible) else {
        // A run that ends after its report was sent: the clock was set back in between.
        let ahead = finished_at - received_at;
        return unsure(if ahead > TOLERANCE {
            MachineClock::Ahead(ahead.whole_seconds())
        } else if -ahead > LATE {
            MachineClock::Late((-ahead).whole_seconds())
        } else {
            MachineClock::Right
        });
    };
    let ahead = sent_at - received_at;
    let clock = if ahead > TOLERANCE {
        MachineClock::Ahead(ahead.whole_seconds())
    } else if -ahead > TOLERANCE {
        MachineClock::Behind((-ahead).whole_seconds())
    } else {
        MachineClock::Right
    };
    Told {
        clock,
        ended_at: (ahead.abs() > ROUNDING).then(|| {
            let ended_at = finished_at.checked_sub(ahead).unwrap_or(received_at);
            ended_at.min(received_at)
        }),
        is_sure: true,
    }
}

/// When the run ended by the node's own clock, where that is as good as the server's and says something earlier: whether the
/// clock is behind by so little or the report was long under way is not known.
pub(super) fn by_its_own_clock(report: &NewReport) -> Option<OffsetDateTime> {
    let own = report.finished_at.min(report.received_at);
    let later = report.ended() - own;
    (later > Duration::ZERO && later <= TOLERANCE).then_some(own)
}

pub(super) fn is_unsure(report: &ReportListing) -> bool {
    report.ended_at.is_none() && report.finished_at - report.received_at > TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: OffsetDateTime = datetime!(2026-11-21 12:00 UTC);

    /// What is told of a run that ended so many minutes from noon, sent then by its clock, and come at noon.
    fn at(finished: i64, sent: Option<i64>) -> Told {
        let minutes = |minutes| NOON + Duration::minutes(minutes);
        let sent_at = sent.map(minutes);
        told(
            minutes(finished),
            Arrival {
                received_at: NOON,
                sent_at,
            },
        )
    }

    #[test]
    fn a_clock_is_set_beside_the_servers_where_the_sender_tells_it() {
        assert_eq!(at(-1, Some(-1)).clock, MachineClock::Right);
        let waited = at(-300, Some(0));
        assert_eq!((waited.clock, waited.ended_at), (MachineClock::Right, None));
        let behind = at(-70, Some(-60));
        assert_eq!(behind.clock, MachineClock::Behind(3_600));
        assert_eq!(behind.ended_at, Some(NOON - Duration::minutes(10)));
        let ahead = at(50, Some(60));
        assert_eq!(ahead.clock, MachineClock::Ahead(3_600));
        assert_eq!(ahead.ended_at, Some(NOON - Duration::minutes(10)));
        assert!(waited.is_sure && behind.is_sure && ahead.is_sure);
    }

    #[test]
    fn without_the_senders_time_only_a_clock_that_is_ahead_is_known() {
        assert_eq!(at(2, None).clock, MachineClock::Right);
        assert_eq!(at(3, None).clock, MachineClock::Ahead(180));
        assert_eq!(at(-15, None).clock, MachineClock::Right);
        assert_eq!(at(-16, None).clock, MachineClock::Late(960));
        assert_eq!(
            at(60, Some(0)).clock,
            MachineClock::Ahead(3_600),
            "set back since"
        );
        assert!(!at(60, Some(0)).is_sure && !at(0, None).is_sure);
    }

    #[test]
    fn a_run_of_before_there_were_agents_has_no_clock() {
        let long_ago = datetime!(2000-01-01 0:05 UTC);
        let of = |sent_at| {
            let received_at = NOON;
            told(
                long_ago,
                Arrival {
                    received_at,
                    sent_at: Some(sent_at),
                },
            )
        };
        assert!(!of(NOON).is_sure, "the clock was set since");
        assert_eq!(of(NOON).ended_at, None);
        let still_wrong = of(datetime!(2000-01-01 0:06 UTC));
        assert!(still_wrong.is_sure);
        assert_eq!(still_wrong.ended_at, Some(NOON - Duration::minutes(1)));
    }

    #[test]
    fn no_time_is_too_far_away() {
        for finished_at in [datetime!(0000-01-01 0:00 UTC), datetime!(9999-12-31 23:59 UTC)] {
            for sent_at in [None, Some(finished_at)] {
                let told = told(
                    finished_at,
                    Arrival {
                        received_at: NOON,
                        sent_at,
                    },
                );
                assert_ne!(told.clock, MachineClock::Right);
            }
        }
    }
}
