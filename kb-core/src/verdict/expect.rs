//! What the operator expects of peer access: which refusals are information and which are faults.

use super::cause;
use crate::report::Pair;

/// Which pairs must have peer access. A refusal of any other pair is information: it is shown, and the run's verdict
/// passes over it. What the driver *grants* is proven whatever is expected, since programs use what is granted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expect {
    /// Every pair whose models or links allow it: only a refusal as product policy (NVML says GNS) is information.
    #[default]
    Auto,
    /// Every pair.
    All,
    /// Every pair that NVLink or NVSwitch joins, and every pair of which that is not told.
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

    /// Whether a refusal of this pair for this cause is as expected.
    pub(super) fn allows_refusal(self, pair: &Pair, cause: &str) -> bool {
        match self {
            Self::Auto => cause == cause::REFUSED_BY_POLICY,
            Self::All => false,
            Self::Nvlink => pair.nvlinks.value == Some(0) && pair.nvswitch.value != Some(true),
            Self::None => true,
        }
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
