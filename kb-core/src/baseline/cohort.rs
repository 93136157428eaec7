//! Which machines a report may be held against.

use serde::{Deserialize, Serialize};

use crate::report::{Report, fact_name};

/// Machines whose figures are of one kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cohort {
    /// Model of all its GPUs, as the driver names it.
    pub model: String,
    /// The driver's branch: `580` of `580.159.04`.
    pub driver_branch: u32,
    /// A stand-in took the driver's place: such figures are compared with each other only.
    pub simulated: bool,
}

/// Why a report belongs to no cohort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unplaced {
    /// It lists no GPU.
    NoGpu,
    /// The model of a GPU is not known.
    NoModel,
    /// Its GPUs are of several models.
    SeveralModels,
    /// The version of the driver is not known.
    NoDriver,
}

impl Cohort {
    /// The cohort of a report.
    ///
    /// # Errors
    ///
    /// What is missing for it.
    pub fn of(report: &Report) -> Result<Self, Unplaced> {
        let mut models = report.gpus.iter().map(|gpu| gpu.name.value.as_deref());
        let first = models.next().ok_or(Unplaced::NoGpu)?;
        let model = first.ok_or(Unplaced::NoModel)?;
        for other in models {
            match other {
                None => return Err(Unplaced::NoModel),
                Some(other) if other != model => return Err(Unplaced::SeveralModels),
                Some(_) => {}
            }
        }
        Ok(Self {
            model: model.to_owned(),
            driver_branch: branch(report).ok_or(Unplaced::NoDriver)?,
            simulated: report.simulated,
        })
    }
}

fn branch(report: &Report) -> Option<u32> {
    let names = [fact_name::DRIVER_VERSION, fact_name::NVML_DRIVER_VERSION];
    names.iter().find_map(|name| {
        let version = report.host.get(*name)?.value.as_ref()?.as_str()?;
        version.split('.').next()?.parse().ok()
    })
}
