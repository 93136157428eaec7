//! The decision, for Slurm's prolog, epilog and health check alike.

use super::cluster::{Service, Standing};
use super::limit::{Limit, Reached};
use super::seen::Seen;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Prolog,
    Epilog,
    Health,
}

/// What is done with a job before which the GPUs could not be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InDoubt {
    /// It starts, and an alert says so.
    Alert,
    /// It goes back into the queue and waits for a person.
    Hold,
}

#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    pub(crate) place: Place,
    pub(crate) seen: Seen,
    /// The node in its cluster; `None`: Slurm could not be asked, or does not know the node.
    pub(crate) standing: Option<Standing>,
    /// The same result has drained the node before, and a person has resumed it since.
    pub(crate) was_acted_on: bool,
    pub(crate) in_doubt: InDoubt,
    pub(crate) limit: &'a Limit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Pass,
    /// The node is drained; a job in front of it does not start.
    Drain,
    /// Nothing, since the node is out of service. A job that got here in spite of that does not start.
    AlreadyOut {
        /// Whether it is drained, and not only down.
        drained: bool,
    },
    Hold,
    Alert(Cause),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// What cannot be told drains no node.
    CouldNotTell,
    /// So many nodes are drained that the agent, a driver or a rollout may be at fault.
    TooMany(Reached),
    /// Slurm does not say where the node stands, so that neither a person's drain nor the limit can be respected.
    StandingUnknown,
    /// A person resumed the node after this very result.
    ResumedByAPerson,
}

impl Action {
    /// True where the prolog has to end with 1: only for nodes already drained, since Slurm drains the node of such a prolog.
    pub(crate) fn refuses_the_job(self, place: Place) -> bool {
        place == Place::Prolog && matches!(self, Self::Drain | Self::AlreadyOut { drained: true })
    }
}

/// Decides. Only a fault ever drains a node.
pub(crate) fn decide(question: &Question<'_>) -> Action {
    match question.seen {
        Seen::NoFault => Action::Pass,
        Seen::Unknown(_) if question.place == Place::Prolog && question.in_doubt == InDoubt::Hold => {
            Action::Hold
        }
        Seen::Unknown(_) => Action::Alert(Cause::CouldNotTell),
        Seen::Fault => of_fault(question),
    }
}

fn of_fault(question: &Question<'_>) -> Action {
    let Some(standing) = question.standing else {
        return Action::Alert(Cause::StandingUnknown);
    };
    match standing.service {
        Service::DrainedByUs | Service::DrainedByOthers => return Action::AlreadyOut { drained: true },
        Service::Down => return Action::AlreadyOut { drained: false },
        Service::In => {}
    }
    if question.was_acted_on {
        return Action::Alert(Cause::ResumedByAPerson);
    }
    match question.limit.reached(standing.nodes, standing.others) {
        Some(reached) => Action::Alert(Cause::TooMany(reached)),
        None => Action::Drain,
    }
}

#[cfg(test)]
mod tests {
    use super::super::limit::Counts;
    use super::super::seen::Doubt;
    use super::*;

    const PLACES: [Place; 3] = [Place::Prolog, Place::Epilog, Place::Health];
    const DOUBTS: [Doubt; 5] = [Doubt::Said, Doubt::Busy, Doubt::Usage, Doubt::Silent, Doubt::Died];
    const SERVICES: [Service; 4] = [
        Service::In,
        Service::DrainedByUs,
        Service::DrainedByOthers,
        Service::Down,
    ];

    fn standing(service: Service, all: u64, last_hour: u64) -> Standing {
        Standing {
            service,
            nodes: 1_000,
            others: Counts { all, last_hour },
        }
    }

    fn of(place: Place, seen: Seen, standing: Option<Standing>) -> Action {
        decide(&Question {
            place,
            seen,
            standing,
            was_acted_on: false,
            in_doubt: InDoubt::Alert,
            limit: &"2%,3/h".parse().unwrap(),
        })
    }

    #[test]
    fn a_fault_drains_and_nothing_else_does() {
        for place in PLACES {
            let free = Some(standing(Service::In, 0, 0));
            assert_eq!(of(place, Seen::Fault, free), Action::Drain);
            assert_eq!(of(place, Seen::NoFault, free), Action::Pass);
            for doubt in DOUBTS {
                let action = of(place, Seen::Unknown(doubt), free);
                assert_eq!(action, Action::Alert(Cause::CouldNotTell), "{place:?} {doubt:?}");
                assert!(!action.refuses_the_job(place));
            }
        }
    }

    #[test]
    fn in_doubt_only_a_job_is_held_and_only_where_told() {
        let limit = "2%,3/h".parse().unwrap();
        for doubt in DOUBTS {
            let held: Vec<Place> = PLACES
                .into_iter()
                .filter(|place| {
                    let action = decide(&Question {
                        place: *place,
                        seen: Seen::Unknown(doubt),
                        standing: None,
                        was_acted_on: false,
                        in_doubt: InDoubt::Hold,
                        limit: &limit,
                    });
                    assert!(!action.refuses_the_job(*place), "Slurm would drain the node");
                    action == Action::Hold
                })
                .collect();
            assert_eq!(held, [Place::Prolog]);
        }
    }

    #[test]
    fn a_node_that_is_out_of_service_is_left_as_it_is() {
        for place in PLACES {
            for service in SERVICES {
                let action = of(place, Seen::Fault, Some(standing(service, 0, 0)));
                assert_eq!(action == Action::Drain, service == Service::In, "{service:?}");
                // Slurm drains the node of a prolog that fails, over whatever state it has: only what is drained is
                // refused.
                let refused = matches!(action, Action::Drain | Action::AlreadyOut { drained: true });
                assert_eq!(action.refuses_the_job(place), refused && place == Place::Prolog);
            }
            assert_eq!(
                of(place, Seen::Fault, None),
                Action::Alert(Cause::StandingUnknown)
            );
        }
        let down = of(Place::Prolog, Seen::Fault, Some(standing(Service::Down, 0, 0)));
        assert_eq!(down, Action::AlreadyOut { drained: false });
    }

    #[test]
    fn beyond_the_limit_it_only_says_so() {
        for (all, last_hour, drains) in [(2, 2, true), (3, 3, false), (20, 0, false), (19, 0, true)] {
            let action = of(
                Place::Health,
                Seen::Fault,
                Some(standing(Service::In, all, last_hour)),
            );
            assert_eq!(action == Action::Drain, drains, "{all} {last_hour}");
            assert_eq!(
                matches!(action, Action::Alert(Cause::TooMany(_))),
                !drains,
                "{all} {last_hour}"
            );
        }
    }

    #[test]
    fn a_result_drains_once() {
        let action = decide(&Question {
            place: Place::Health,
            seen: Seen::Fault,
            standing: Some(standing(Service::In, 0, 0)),
            was_acted_on: true,
            in_doubt: InDoubt::Alert,
            limit: &"2%".parse().unwrap(),
        });
        assert_eq!(action, Action::Alert(Cause::ResumedByAPerson));
    }
}
