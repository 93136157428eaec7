//! What the driver wants done with a GPU: NVML's recovery action, and Xid 154, which tells that it changed.

use crate::severity::Action;

/// `nvmlDeviceGpuRecoveryAction_t`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing.
    None,
    /// Reset the GPU.
    Reset,
    /// Reboot the node.
    Reboot,
    /// End the jobs that use peer traffic, then ask again.
    DrainP2p,
    /// Let jobs end, then reset the GPU.
    DrainAndReset,
    /// Something newer, in the driver's own words.
    Other(String),
}

impl Recovery {
    /// From the fact `recovery.action`.
    pub fn of_fact(word: &str) -> Self {
        match word {
            "none" => Self::None,
            "reset" => Self::Reset,
            "reboot" => Self::Reboot,
            "drain_p2p" => Self::DrainP2p,
            "drain_and_reset" => Self::DrainAndReset,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The step that it is; nothing where it is none of these, as with a drain after which the driver is asked again.
    pub fn action(&self) -> Option<Action> {
        match self {
            Self::Reset | Self::DrainAndReset => Some(Action::ResetGpu),
            Self::Reboot => Some(Action::RebootNode),
            Self::None | Self::DrainP2p | Self::Other(_) => None,
        }
    }

    /// From the line of an Xid 154: `GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)`.
    ///
    /// The number decides for 0 to 4, which all headers agree on; the words beside it differ between drivers (1 is
    /// `GPU Reset Required` or `PF FLR`, 2 is `Node Reboot Required` or `OS Reboot`). Of 5 and more, which headers name
    /// differently (a reset of the bus, recovering the IMEX domain), the words are kept. `None` where the line tells no
    /// new action.
    pub fn of_line(line: &str) -> Option<Self> {
        let (_, change) = line.split_once("recovery action changed from ")?;
        let (_, to) = change.split_once(" to ")?;
        let to = to.trim();
        let (number, words) = to.split_once(' ').unwrap_or((to, ""));
        let number = number.strip_prefix("0x").map_or_else(
            || number.parse().ok(),
            |digits| u32::from_str_radix(digits, 16).ok(),
        );
        Some(match number {
            Some(0) => Self::None,
            Some(1) => Self::Reset,
            Some(2) => Self::Reboot,
            Some(3) => Self::DrainP2p,
            Some(4) => Self::DrainAndReset,
            _ => Self::Other(words.trim_matches(['(', ')', ' ']).to_owned()),
        })
    }

    /// What to do, in words.
    pub fn sentence(&self) -> String {
        match self {
            Self::None => "the driver asks for nothing".to_owned(),
            Self::Reset => "the driver asks for a reset: end its jobs and reset the GPU".to_owned(),
            Self::Reboot => "the driver asks for a reboot of the node".to_owned(),
            Self::DrainP2p => "the driver asks to drain peer traffic: end the jobs that use it".to_owned(),
            Self::DrainAndReset => {
                "the driver asks for a drain and a reset: let jobs end, then reset the GPU".to_owned()
            }
            Self::Other(words) if words.is_empty() => {
                "the driver's recovery action changed, and the line does not say to what".to_owned()
            }
            Self::Other(words) => format!("the driver asks for an action that is not known here: {words}"),
        }
    }
}
