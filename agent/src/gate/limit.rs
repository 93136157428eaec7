//! The breaker: how many nodes may be drained before a person has to look.

use std::fmt;
use std::str::FromStr;

/// Nodes that the agent has drained and that are still drained, without the node in question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) all: u64,
    pub(crate) last_hour: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limit(Vec<Part>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Share of all nodes, in hundredths of a per cent.
    Share(u64),
    Nodes(u64),
    PerHour(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    part: Part,
    counted: u64,
    most: u64,
}

impl Limit {
    /// The first limit that one more drained node would exceed, in a cluster of `nodes`.
    pub(crate) fn reached(&self, nodes: u64, counts: Counts) -> Option<Reached> {
        self.0.iter().find_map(|part| {
            let (counted, most) = match *part {
                // Rounded up: a small cluster may lose one node.
                Part::Share(share) => (counts.all, nodes.saturating_mul(share).div_ceil(10_000)),
                Part::Nodes(most) => (counts.all, most),
                Part::PerHour(most) => (counts.last_hour, most),
            };
            (counted >= most).then_some(Reached {
                part: *part,
                counted,
                most,
            })
        })
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Option<Vec<Part>> = text.split(',').map(|part| part_of(part.trim())).collect();
        parts.map(Self).ok_or_else(|| {
            format!("{text:?} is no list such as 2%,3/h: give a share of all nodes (2%), nodes in an hour (3/h), nodes in all (5)")
        })
    }
}

fn part_of(text: &str) -> Option<Part> {
    if let Some(share) = text.strip_suffix('%') {
        let (whole, hundredths) = share.split_once('.').unwrap_or((share, "0"));
        let hundredths = match hundredths.len() {
            1 => number(hundredths)? * 10,
            2 => number(hundredths)?,
            _ => return None,
        };
        let share = number(whole)? * 100 + hundredths;
        return (share <= 10_000).then_some(Part::Share(share));
    }
    if let Some(nodes) = text.strip_suffix("/h") {
        return number(nodes).map(Part::PerHour);
    }
    number(text).map(Part::Nodes)
}

/// Digits alone, of a size that cannot overflow what is done with it.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, counted, most } = self;
        write!(f, "{counted} nodes are drained by peerless")?;
        match part {
            Part::Share(share) => {
                write!(
                    f,
                    ", of at most {most} ({}.{:02} % of all)",
                    share / 100,
                    share % 100
                )
            }
            Part::Nodes(_) => write!(f, ", of at most {most}"),
            Part::PerHour(_) => write!(f, " within the last hour, of at most {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(limit: &str, nodes: u64, all: u64, last_hour: u64) -> Option<String> {
        let limit: Limit = limit.parse().unwrap();
        let reached = limit.reached(nodes, Counts { all, last_hour });
        reached.map(|reached| reached.to_string())
    }

    #[test]
    fn the_share_is_rounded_up_and_the_hour_counts_apart() {
        for (nodes, all, last_hour, open) in [
            (1, 0, 0, false),
            (8, 0, 0, false),
            (8, 1, 0, true),
            (100, 1, 1, false),
            (100, 2, 0, true),
            (101, 2, 2, false),
            (1_000, 2, 2, false),
            (1_000, 3, 3, true),
            (1_000, 19, 2, false),
            (1_000, 20, 0, true),
            // Slurm names no node at all: there is nothing to take a share of.
            (0, 0, 0, true),
        ] {
            assert_eq!(
                reached("2%,3/h", nodes, all, last_hour).is_some(),
                open,
                "{nodes} {all} {last_hour}"
            );
        }
        assert_eq!(reached("5", 8, 4, 4), None);
        assert_eq!(
            reached("5", 8, 5, 0).as_deref(),
            Some("5 nodes are drained by peerless, of at most 5")
        );
        assert_eq!(
            reached("0.5%", 1_000, 5, 0).as_deref(),
            Some("5 nodes are drained by peerless, of at most 5 (0.50 % of all)")
        );
        assert!(reached("0%", 1_000, 0, 0).is_some(), "never");
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        for bad in [
            "", "2%,", "-1", "101%", "2.%", "1.123%", "3/d", "%", "/h", "many", "1e3", "9999999",
        ] {
            let error = bad.parse::<Limit>().unwrap_err();
            assert!(error.contains("2%,3/h"), "{bad}: {error}");
        }
    }
}
