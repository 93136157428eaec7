//! Three small vocabularies: how bad an error is, what to do first, and what is at fault.

use serde::{Deserialize, Serialize};

/// How bad an error is for whoever meets it, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is lost; good to know.
    Info,
    /// Work goes on, slower or with less than it should, or trouble is announced.
    Warning,
    /// The call or the job fails; the GPU and the node can be used on.
    Error,
    /// The GPU, a link or the node cannot be used until someone acts.
    Fatal,
}

/// What to do first; one step, the mildest that helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing.
    None,
    /// Change the program that met the error.
    FixApplication,
    /// Change a setting of the program, its environment, the driver or the machine.
    ChangeConfiguration,
    /// Start the program again.
    RestartApplication,
    /// Install another driver, library or firmware.
    UpdateSoftware,
    /// Reset the GPU.
    ResetGpu,
    /// Start the node again.
    RebootNode,
    /// Look at the machine: seating, cables, power, cooling.
    CheckHardware,
    /// Replace a part.
    ReplaceHardware,
    /// Ask the vendor, with the logs.
    ContactSupport,
}

/// What is at fault. Severity says how bad an error is, and nothing about blame: a program's bad pointer ends its job
/// (`error`) on a node that is healthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The program that ran on the GPU.
    Application,
    /// The driver, its firmware or a library of it.
    Driver,
    /// The GPU: its memory, engines or board.
    Gpu,
    /// A link of the GPU: NVLink, NVLink-C2C or PCIe.
    Link,
    /// The node: its firmware, power, cooling, memory or settings.
    Host,
    /// What joins nodes or GPUs: NVSwitch, its fabric manager, the network.
    Fabric,
    /// The sources name several, or none.
    Unclear,
}

impl Severity {
    /// Every severity, mildest first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Warning, Self::Error, Self::Fatal];
    /// The words of [`Self::ALL`].
    pub const WORDS: &'static [&'static str] = &["info", "warning", "error", "fatal"];
}

impl Blame {
    /// Every word.
    pub const WORDS: &'static [&'static str] = &[
        "application",
        "driver",
        "gpu",
        "link",
        "host",
        "fabric",
        "unclear",
    ];
}

impl Action {
    /// Every action, in the order of its words.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::FixApplication,
        Self::ChangeConfiguration,
        Self::RestartApplication,
        Self::UpdateSoftware,
        Self::ResetGpu,
        Self::RebootNode,
        Self::CheckHardware,
        Self::ReplaceHardware,
        Self::ContactSupport,
    ];
    /// The words of [`Self::ALL`].
    pub const WORDS: &'static [&'static str] = &[
        "none",
        "fix_application",
        "change_configuration",
        "restart_application",
        "update_software",
        "reset_gpu",
        "reboot_node",
        "check_hardware",
        "replace_hardware",
        "contact_support",
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<T: Serialize>(all: &[T]) -> Vec<String> {
        let word = |one| serde_json::to_value(one).unwrap().as_str().unwrap().to_owned();
        all.iter().map(word).collect()
    }

    #[test]
    fn words_are_those_of_the_wire() {
        assert_eq!(words(&Severity::ALL), Severity::WORDS);
        assert_eq!(words(&Action::ALL), Action::WORDS);
    }
}
