//! What the site's policy makes of something that was seen.

use serde::{Deserialize, Serialize};

use super::Bearing;

/// What a rule of the site's policy says that something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// Nobody needs to look: kept, shown and counted as ignored.
    Ignore,
    /// It happened, and says nothing against the node.
    Event,
    /// The node works, and somebody should look.
    Warning,
    /// The node has a fault.
    Fault,
}

impl Meaning {
    /// Every word.
    pub const ALL: [Self; 4] = [Self::Ignore, Self::Event, Self::Warning, Self::Fault];

    /// `ignore`, `event`, `warning`, `fault`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Event => "event",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }

    /// What it means for the node.
    pub fn bearing(self) -> Bearing {
        match self {
            Self::Ignore | Self::Event => Bearing::Event,
            Self::Warning => Bearing::Warning,
            Self::Fault => Bearing::Fault,
        }
    }
}

/// The rule that decided, and what it would have been without. What the records say stays in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ruled {
    /// Number of the rule in the policy, from 1.
    pub rule: u32,
    /// What the policy makes of it. A rule with a count makes it an event until the count is reached.
    pub is: Meaning,
    /// What it is by the records.
    pub was: Bearing,
    /// Why, in the words of the site.
    pub reason: String,
    /// The cause of a pair's verdict that the rule is about; absent in an entry of the ledger.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
}

impl Ruled {
    /// True where the policy makes less of it than the records do.
    pub fn is_milder(&self) -> bool {
        self.is.bearing() < self.was
    }

    /// `ignored by the site's policy, rule 2: known to be harmless here`.
    pub fn sentence(&self) -> String {
        let what = match self.is {
            Meaning::Ignore => "ignored",
            Meaning::Event => "an event",
            Meaning::Warning => "a warning",
            Meaning::Fault => "a fault",
        };
        format!("{what} by the site's policy, rule {}: {}", self.rule, self.reason)
    }
}
