//! The policies of a server, read when it starts: one that makes no sense keeps it from starting.

use std::path::Path;

use kb_core::policy::{Policy, Share};

use super::StartupError;
use crate::config::PolicyArgs;
use crate::domain::policy::names::{Names, What, notes};
use crate::domain::policy::{Stages, file};
use crate::feed::Generation;

pub(super) fn stages(settings: &PolicyArgs, generation: &Generation) -> Result<Stages, StartupError> {
    let names = Names::of(generation).at_start();
    let of = |path: &Path| -> Result<Policy, StartupError> {
        let refused = |why: String| StartupError::Policy {
            path: path.to_owned(),
            why,
        };
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let policy = file::read_by(&text, &names).map_err(|error| refused(format!("\n{error}")))?;
        for note in notes(&policy, generation) {
            match note.what {
                What::IsNow(_) => tracing::info!(policy = %path.display(), "{note}"),
                What::OfNoRecord | What::OfLoss => tracing::warn!(policy = %path.display(), "{note}"),
            }
        }
        Ok(policy)
    };
    let current = settings
        .policy
        .as_deref()
        .map(of)
        .transpose()?
        .unwrap_or_default();
    let candidate = settings.policy_candidate.as_deref().map(of).transpose()?;
    let share = settings.policy_share.unwrap_or(Share::ALL);
    Ok(Stages {
        current,
        candidate: candidate.map(|policy| (policy, share)),
    })
}
