//! Where a node stands in its cluster, by Slurm's list of nodes.

use super::limit::Counts;
use crate::slurm::Node;

/// How the reason of every drain begins that the agent has set. A drain with another reason is a person's or Slurm's.
pub(crate) const OURS: &str = "peerless:";

const HOUR: i64 = 3_600;
/// Seconds by which the clocks of a node and of Slurm's controller may differ.
const CLOCKS_DIFFER: u64 = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    In,
    DrainedByUs,
    DrainedByOthers,
    /// It is down or failing, without being drained.
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) service: Service,
    pub(crate) nodes: u64,
    /// Nodes that the agent has drained, without this one.
    pub(crate) others: Counts,
}

/// Of the node `own` at `now` (seconds since 1970); nothing where Slurm does not list it.
pub(crate) fn standing(nodes: &[Node], own: &str, now: i64) -> Option<Standing> {
    let node = nodes.iter().find(|node| node.name == own)?;
    let others = nodes.iter().filter(|node| node.name != own);
    Some(Standing {
        service: service(node),
        nodes: count(nodes),
        others: counts(others.filter(|node| is_ours(node)), now),
    })
}

/// How many were drained by the agent before the node `own` was: several nodes may see the same fault at the same
/// moment, and each of them has to find out by itself whether it is one too many. Of two that were drained in the same
/// second the one counts first whose name does. Nothing where `own` is not drained by the agent.
pub(crate) fn drained_before(nodes: &[Node], own: &str, now: i64) -> Option<Standing> {
    let node = nodes.iter().find(|node| node.name == own && is_ours(node))?;
    let before = nodes
        .iter()
        .filter(|other| is_ours(other) && (other.since, &other.name) < (node.since, &node.name));
    Some(Standing {
        service: Service::DrainedByUs,
        nodes: count(nodes),
        others: counts(before, node.since.unwrap_or(now)),
    })
}

fn service(node: &Node) -> Service {
    if node.state.is("DRAIN") {
        return if is_ours(node) {
            Service::DrainedByUs
        } else {
            Service::DrainedByOthers
        };
    }
    if ["DOWN", "FAIL", "FAILING", "ERROR"]
        .iter()
        .any(|word| node.state.is(word))
    {
        return Service::Down;
    }
    Service::In
}

pub(crate) fn is_ours(node: &Node) -> bool {
    node.state.is("DRAIN") && node.reason.starts_with(OURS)
}

/// Whether the node is as a drain with `reason`, set at `now`, left it. Anything else may be a person's or Slurm's meanwhile.
pub(crate) fn is_as_drained(nodes: &[Node], own: &str, reason: &str, now: i64) -> bool {
    // Slurm may take away what ends a reason.
    let text = |reason: &str| reason.trim_end_matches(['"', '\'', ' ']).to_owned();
    let is_of_now = |since: i64| since.abs_diff(now) <= CLOCKS_DIFFER;
    nodes.iter().any(|node| {
        node.name == own
            && node.state.is_only_drained()
            && text(&node.reason) == text(reason)
            && node.since.is_none_or(is_of_now)
    })
}

/// Without a time it may have been within the hour.
fn counts<'a>(nodes: impl Iterator<Item = &'a Node>, now: i64) -> Counts {
    nodes.fold(Counts::default(), |counts, node| Counts {
        all: counts.all + 1,
        last_hour: counts.last_hour + u64::from(node.since.is_none_or(|since| now - since < HOUR)),
    })
}

fn count(nodes: &[Node]) -> u64 {
    u64::try_from(nodes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slurm::State;

    fn node(name: &str, state: &str, reason: &str, since: Option<i64>) -> Node {
        Node {
            name: name.to_owned(),
            state: State::new(state),
            reason: reason.to_owned(),
            since,
        }
    }

    fn cluster() -> Vec<Node> {
        vec![
            node("a", "IDLE", "", None),
            node("b", "IDLE+DRAIN", "peerless: broken", Some(9_000)),
            node("c", "MIXED+DRAIN", "peerless: broken", Some(1_000)),
            node("d", "IDLE+DRAIN", "burn-in, not peerless: alice", Some(9_000)),
            node("e", "DOWN*", "peerless: broken", Some(9_000)),
            node("f", "IDLE+DRAIN", "peerless: broken", None),
        ]
    }

    #[test]
    fn only_drains_of_the_agents_own_count() {
        let nodes = cluster();
        let of =
            |own| standing(&nodes, own, 10_000).map(|of| (of.service, of.others.all, of.others.last_hour));
        assert_eq!(of("a"), Some((Service::In, 3, 2)));
        assert_eq!(of("b"), Some((Service::DrainedByUs, 2, 1)), "without itself");
        assert_eq!(of("d"), Some((Service::DrainedByOthers, 3, 2)));
        assert_eq!(of("e"), Some((Service::Down, 3, 2)));
        assert_eq!(of("x"), None);
        assert_eq!(standing(&nodes, "a", 10_000).unwrap().nodes, 6);
    }

    #[test]
    fn only_the_drain_that_was_just_set_is_one() {
        for (state, reason, since, expected) in [
            ("IDLE+DRAIN", "peerless: broken", Some(10_000), true),
            ("IDLE+DRAIN", "peerless: broken", None, true),
            ("IDLE+DRAIN", "peerless: broken", Some(20_000), false),
            (
                "IDLE+DRAIN",
                "peerless: broken, bad disk: alice",
                Some(10_000),
                false,
            ),
            ("IDLE+DRAIN", "peerless: alice keeps it", Some(10_000), false),
            ("DOWN+DRAIN", "peerless: broken", Some(10_000), false),
            ("IDLE+DRAIN+MAINT", "peerless: broken", Some(10_000), false),
            ("IDLE", "peerless: broken", Some(10_000), false),
        ] {
            let nodes = [node("a", state, reason, since)];
            assert_eq!(
                is_as_drained(&nodes, "a", "peerless: broken ", 10_001),
                expected,
                "{state} {reason} {since:?}"
            );
            assert!(!is_as_drained(&nodes, "b", "peerless: broken", 10_001));
        }
    }

    /// Of all that drained at once exactly as many stay as the limit says, whoever looks first.
    #[test]
    fn nodes_that_drained_at_once_are_ranked() {
        let limit: super::super::Limit = "3/h".parse().unwrap();
        let nodes: Vec<Node> = (0..50)
            .map(|number| {
                node(
                    &format!("n{number:02}"),
                    "IDLE+DRAIN",
                    "peerless: broken",
                    Some(5_000 + number / 20),
                )
            })
            .collect();
        let stay: Vec<&str> = nodes
            .iter()
            .filter(|node| {
                let before = drained_before(&nodes, &node.name, 5_002).unwrap();
                limit.reached(before.nodes, before.others).is_none()
            })
            .map(|node| node.name.as_str())
            .collect();
        assert_eq!(stay, ["n00", "n01", "n02"]);
        assert_eq!(drained_before(&cluster(), "a", 0), None);
    }
}
