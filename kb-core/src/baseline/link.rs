//! What joins two ends, as a class of figures, and what it carries by its specification.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::{Gpu, GpuIndex, Report, fact_name};
use crate::verdict::{nominal_between, nominal_with_host};

/// What the bytes of a figure go over. It tells what should be there: a link that lost half of its lanes stays in its
/// class, so that it is seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkClass {
    /// NVLinks to switches.
    Nvswitch {
        /// Links of the end that has fewer.
        links: u32,
        /// MB/s of a link as NVML states it; 0 where it does not.
        mb_s: u32,
    },
    /// NVLinks from GPU to GPU.
    Nvlink {
        /// Links that join the two.
        links: u32,
        /// MB/s of a link as NVML states it; 0 where it does not.
        mb_s: u32,
    },
    /// PCIe from GPU to GPU, or to the host.
    Pcie {
        /// Generation that the slower end and its slot can do.
        generation: u32,
        /// Lanes that the slower end and its slot have.
        width: u32,
        /// Nearest common ancestor of two GPUs in NVML's words; absent towards the host.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ancestor: Option<String>,
    },
    /// Inside one GPU.
    Own,
    /// Not told.
    Unknown,
}

impl LinkClass {
    /// One word for each class, the same for ever: it stands in stored summaries.
    pub fn key(&self) -> String {
        match self {
            Self::Nvswitch { links, mb_s } => format!("nvswitch-{links}x{mb_s}"),
            Self::Nvlink { links, mb_s } => format!("nvlink-{links}x{mb_s}"),
            Self::Pcie {
                generation,
                width,
                ancestor,
            } => {
                let ancestor = ancestor.as_deref().unwrap_or("host");
                format!("pcie-{generation}x{width}-{ancestor}")
            }
            Self::Own => "own".to_owned(),
            Self::Unknown => "unknown".to_owned(),
        }
    }
}

/// What a link carries one way by its specification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Nominal {
    /// GB/s one way.
    pub gb_s: f64,
    /// Which facts and which specification it is from.
    pub source: String,
}

/// The class of a directed pair. `through_host` says that the driver staged the copies.
pub fn link_class(report: &Report, from: GpuIndex, to: GpuIndex, through_host: bool) -> LinkClass {
    let (a, b) = (from.min(to), from.max(to));
    if a == b {
        return LinkClass::Own;
    }
    let Some(pair) = report.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)) else {
        return LinkClass::Unknown;
    };
    let links = pair.nvlinks.value.unwrap_or(0);
    if through_host || (pair.nvswitch.value != Some(true) && links == 0) {
        // A pair of which it is not known whether NVLinks join it is in no class of PCIe.
        if !through_host && pair.nvlinks.value.is_none() {
            return LinkClass::Unknown;
        }
        return pcie(report, &[from, to], pair.common_ancestor.value.clone());
    }
    let mb_s = [from, to].into_iter().map(|index| rate(report, index)).min();
    let mb_s = mb_s.unwrap_or(0);
    if pair.nvswitch.value == Some(true) {
        let fewer = [from, to].map(|index| switch_links(report, index));
        let [Some(one), Some(other)] = fewer else {
            return LinkClass::Unknown;
        };
        return LinkClass::Nvswitch {
            links: one.min(other),
            mb_s,
        };
    }
    LinkClass::Nvlink { links, mb_s }
}

pub(super) fn host_class(report: &Report, gpu: GpuIndex) -> LinkClass {
    pcie(report, &[gpu], None)
}

/// The class of what goes between a GPU and all others: that of the first of its pairs, if all are the same.
pub(super) fn class_of_all(report: &Report, gpu: GpuIndex) -> LinkClass {
    let others = report.pairs.iter().filter_map(|pair| match gpu {
        index if index == pair.a => Some(pair.b),
        index if index == pair.b => Some(pair.a),
        _ => None,
    });
    one_class(others.map(|other| link_class(report, gpu, other, false)))
}

pub(super) fn class_of_node(report: &Report) -> LinkClass {
    let pairs = report.pairs.iter();
    one_class(pairs.map(|pair| link_class(report, pair.a, pair.b, false)))
}

fn one_class(mut classes: impl Iterator<Item = LinkClass>) -> LinkClass {
    let Some(first) = classes.next() else {
        return LinkClass::Unknown;
    };
    if classes.all(|class| class == first) {
        first
    } else {
        LinkClass::Unknown
    }
}

/// What goes one way between two GPUs, or between a GPU and the host where `to` is absent.
///
/// Rates of NVLink: what NVML states less coding, else the generation's (20 GB/s a link one way in NVLink 1, 25 in 2 and
/// 4, 50 in 5, by NVIDIA's data sheets of P100, V100, H100 and B200; boards with NVLink 3 differ). PCIe: after coding,
/// by the PCI Express base specification.
pub fn nominal(report: &Report, from: GpuIndex, to: Option<GpuIndex>) -> Option<Nominal> {
    let fact = match to {
        Some(to) => nominal_between(report, from, to),
        None => nominal_with_host(report, from),
    };
    if let Some(gb_s) = fact.value {
        return Some(Nominal {
            gb_s,
            source: fact.source,
        });
    }
    let ends = [Some(from), to];
    let generations = ends.into_iter().flatten().map(|index| generation(report, index));
    let per_link = generations.min_by(|one, other| {
        let of = |rate: &Option<f64>| rate.unwrap_or(0.0);
        of(one).total_cmp(&of(other))
    })??;
    match link_class(report, from, to?, false) {
        LinkClass::Nvswitch { links, .. } | LinkClass::Nvlink { links, .. } => Some(Nominal {
            gb_s: f64::from(links) * per_link,
            source: "nvlink.version, by the data sheets of that generation".to_owned(),
        }),
        LinkClass::Pcie { .. } | LinkClass::Own | LinkClass::Unknown => None,
    }
}

/// GB/s of one NVLink one way by its generation.
fn generation(report: &Report, index: GpuIndex) -> Option<f64> {
    let fact = gpu(report, index)?.facts.get("nvlink.version")?;
    let version = fact.value.as_ref()?.as_str()?;
    match version.split('.').next()? {
        "1" => Some(20.0),
        "2" | "4" => Some(25.0),
        "5" => Some(50.0),
        _ => None,
    }
}

fn pcie(report: &Report, ends: &[GpuIndex], ancestor: Option<String>) -> LinkClass {
    let fewest = |name: &str| {
        let values = ends.iter().map(|index| number(gpu(report, *index)?, name));
        values.collect::<Option<Vec<u32>>>()?.into_iter().min()
    };
    let generation = fewest(fact_name::PCIE_LINK_GENERATION_MAX);
    let width = fewest(fact_name::PCIE_LINK_WIDTH_MAX);
    match generation.zip(width) {
        Some((generation, width)) => LinkClass::Pcie {
            generation,
            width,
            ancestor: ancestor.or_else(|| (ends.len() > 1).then(|| "unknown".to_owned())),
        },
        None => LinkClass::Unknown,
    }
}

/// Links that a GPU on switches should have: as it says, else the most that one of its model has up.
fn switch_links(report: &Report, index: GpuIndex) -> Option<u32> {
    let own = gpu(report, index)?;
    if let Some(expected) = number(own, fact_name::NVLINK_LINKS_EXPECTED) {
        return Some(expected);
    }
    let alike = report
        .gpus
        .iter()
        .filter(|other| other.name.value == own.name.value);
    alike
        .filter_map(|other| number(other, fact_name::NVLINK_LINKS_ACTIVE))
        .max()
}

fn rate(report: &Report, index: GpuIndex) -> u32 {
    let stated = gpu(report, index).and_then(|gpu| number(gpu, fact_name::NVLINK_SPEED_MB_S));
    stated.unwrap_or(0)
}

pub(super) fn gpu(report: &Report, index: GpuIndex) -> Option<&Gpu> {
    report.gpus.get(usize::try_from(index).ok()?)
}

fn number(gpu: &Gpu, name: &str) -> Option<u32> {
    let number = gpu.facts.get(name)?.value.as_ref().and_then(Value::as_u64)?;
    u32::try_from(number).ok()
}
