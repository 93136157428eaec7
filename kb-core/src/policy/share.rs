//! A share of the nodes, on which a policy is tried first.

use std::str::FromStr;

use crate::ids::NodeId;
use crate::text::Sha256;

/// Parts of which a share counts some.
const WHOLE: u64 = 10_000;

/// A share of all nodes, in hundredths of a per cent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(u64);

impl Share {
    /// All nodes.
    pub const ALL: Self = Self(WHOLE);

    /// Whether a node is among them. The same node is in every larger share, too.
    pub fn has(self, node: &NodeId) -> bool {
        let digest = Sha256::of(format!("policy stage {node}")).to_string();
        let digits = digest.get(..8).unwrap_or_default();
        let place = u64::from_str_radix(digits, 16).unwrap_or(u64::MAX) % WHOLE;
        place < self.0
    }
}

/// `1`, `0.5`, `10%`, `all`.
impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused =
            || format!("{text:?} is no share of the nodes: give a per cent of 0.01 to 100, as 1, or all");
        if text == "all" {
            return Ok(Self::ALL);
        }
        let (whole, part) = text
            .trim_end_matches('%')
            .split_once('.')
            .unwrap_or((text.trim_end_matches('%'), "0"));
        let is_number = |digits: &str, most: usize| {
            !digits.is_empty() && digits.len() <= most && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(whole, 3) || !is_number(part, 2) {
            return Err(refused());
        }
        let part: u64 = format!("{part:0<2}").parse().map_err(|_| refused())?;
        let share = whole.parse::<u64>().map_err(|_| refused())? * 100 + part;
        if (1..=WHOLE).contains(&share) {
            Ok(Self(share))
        } else {
            Err(refused())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_takes_about_as_many_nodes_and_keeps_them_as_it_grows() {
        let nodes: Vec<NodeId> = (0..4_000)
            .map(|number| format!("node-{number}").parse().unwrap())
            .collect();
        let of = |share: &str| -> Vec<&NodeId> {
            let share: Share = share.parse().unwrap();
            nodes.iter().filter(|node| share.has(node)).collect()
        };
        let (one, ten, all) = (of("1"), of("10%"), of("all"));
        assert!((20..=60).contains(&one.len()), "{}", one.len());
        assert!((340..=460).contains(&ten.len()), "{}", ten.len());
        assert_eq!(all.len(), nodes.len());
        assert!(one.iter().all(|node| ten.contains(node)));
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for bad in ["", "0", "101", "1.234", "-1", "%", "x", "0.00", ".5"] {
            assert!(bad.parse::<Share>().unwrap_err().contains("0.01 to 100"), "{bad}");
        }
        assert_eq!("0.01".parse::<Share>(), Ok(Share(1)));
        assert_eq!("0.5".parse::<Share>(), Ok(Share(50)));
        assert_eq!("100".parse::<Share>(), Ok(Share::ALL));
    }
}
