//! What the operator expects of peer access: which refusals are information and which are faults.

use super::cause;
use super::evidence::Seen;
use crate::report::fact_name;

/// Which pairs must have peer access. A refusal of any other pair is information: it is shown, and the run's verdict
/// passes over it. What the driver *grants* is proven whatever is expected, since programs use what is granted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expect {
    /// Every pair whose models or links allow it: only a refusal as product policy (NVML says GNS) is information.
    #[default]
    Auto,
    /// Every pair.
    All,
    /// Every pair that NVLink or NVSwitch joins or should, and every pair of which that is not told.
    Nvlink,
    /// No pair.
    None,
}

impl Expect {
    /// All of them, with the words that people write after `p2p=`.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Auto, "auto"),
        (Self::All, "all"),
        (Self::Nvlink, "nvlink"),
        (Self::None, "none"),
    ];

    pub(super) fn allows_refusal(self, pair: &Seen<'_>, cause: &str) -> bool {
        match self {
            Self::Auto => cause == cause::REFUSED_BY_POLICY && pair.without_nvlink(),
            Self::All => false,
            Self::Nvlink => cause != cause::FABRIC_NOT_READY && never_joined(pair),
            Self::None => true,
        }
    }

    /// What stands behind `p2p=` in words such as `p2p=auto,gpus=8`; nothing where there is none of these.
    pub fn of_words(words: &str) -> Option<Self> {
        let word = words
            .split(',')
            .find_map(|part| part.trim().strip_prefix("p2p="))?;
        let mut known = Self::ALL.into_iter();
        known.find(|(_, known)| *known == word).map(|(expect, _)| expect)
    }

    /// `p2p=auto`.
    pub fn words(self) -> String {
        let word = Self::ALL
            .into_iter()
            .find(|(expect, _)| *expect == self)
            .map_or("auto", |(_, word)| word);
        format!("p2p={word}")
    }
}

/// True when no NVLink joins the two and none should: links that are down join nothing either, and are no excuse. A pair
/// whose GPUs have all the links that their boards should have is joined to others.
fn never_joined(pair: &Seen<'_>) -> bool {
    let none_now = pair.pair.nvlinks.value == Some(0) && pair.pair.nvswitch.value != Some(true);
    let active = |gpu| {
        let mut facts = pair.gpu_facts(fact_name::NVLINK_LINKS_ACTIVE);
        let (_, links, _) = facts.find(|(other, _, _)| *other == gpu)?;
        links.as_u64()
    };
    let mut expected = pair.gpu_facts(fact_name::NVLINK_LINKS_EXPECTED);
    let none_down = expected.all(|(gpu, links, _)| active(gpu).unwrap_or(0) >= links.as_u64().unwrap_or(0));
    none_now && none_down && !pair.anybody_at_a_switch()
}
