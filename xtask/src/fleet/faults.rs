//! The faults that are planted: which there are, whom they concern, from when on.

use anyhow::{Result, bail};

use super::boards::Board;
use super::noise::between;
use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A pair is 3 to 30 % slower, both ways.
    SlowPair,
    /// A GPU has half of its NVLinks.
    HalfLinks,
    /// What one GPU writes to another never arrives.
    DroppedWrites,
    /// NVML says GNS of all pairs, and the driver refuses; on other nodes of the model it does not.
    GnsRefusal,
    /// All or most nodes that got a driver branch are slower since, or refuse.
    DriverRegression,
    /// A BIOS update has switched ACS on: copies between GPUs go through the root complex, or are refused.
    AcsAfterBios,
    /// A GPU gets hotter from run to run, and slower.
    ThermalDrift,
    /// A GPU has fallen off the bus.
    LostGpu,
    /// The link of a network adapter goes down and up.
    FlappingNic,
    /// A row of a GPU's memory could not be remapped.
    RemapFailed,
}

const KINDS: [(Kind, &str); 10] = [
    (Kind::SlowPair, "slow-pair"),
    (Kind::HalfLinks, "half-links"),
    (Kind::DroppedWrites, "dropped-writes"),
    (Kind::GnsRefusal, "gns-refusal"),
    (Kind::DriverRegression, "driver-regression"),
    (Kind::AcsAfterBios, "acs-after-bios"),
    (Kind::ThermalDrift, "thermal-drift"),
    (Kind::LostGpu, "lost-gpu"),
    (Kind::FlappingNic, "flapping-nic"),
    (Kind::RemapFailed, "remap-failed"),
];

/// How a driver regression looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Regression {
    /// Kernels that copy between GPUs are slower.
    Kernels,
    /// Copies of the host's memory are slower.
    Host,
    /// Loads and small copies take longer.
    Latency,
    /// The driver refuses peer access.
    Refuses,
}

/// A fault of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    /// The GPU, or the first of the pair.
    pub(super) gpu: u32,
    /// The other of the pair.
    pub(super) other: u32,
    /// What is left of a bandwidth; a latency grows by as much.
    pub(super) share: f64,
    /// The first day on which it shows, from 0.
    pub(super) onset: usize,
    /// How a regression looks.
    pub(super) regression: Regression,
    /// Whether ACS leads to a refusal in place of slow copies.
    pub(super) refuses: bool,
}

/// `slow-pair=3,lost-gpu=2` or `all=4`.
pub(super) fn parse(text: &str) -> Result<Vec<Kind>> {
    let mut wanted = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (name, count) = part.trim().split_once('=').unwrap_or((part.trim(), "1"));
        let Ok(count) = count.parse::<usize>() else {
            bail!("{part:?}: how often a fault is planted is a whole number");
        };
        let kinds: Vec<Kind> = match KINDS.iter().find(|(_, known)| *known == name) {
            Some((kind, _)) => vec![*kind],
            None if name == "all" => KINDS.iter().map(|(kind, _)| *kind).collect(),
            None => {
                let known: Vec<&str> = KINDS.iter().map(|(_, name)| *name).collect();
                bail!("there is no fault {name:?}; there are all, {}", known.join(", "));
            }
        };
        for kind in kinds {
            wanted.extend(std::iter::repeat_n(kind, count));
        }
    }
    Ok(wanted)
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("unknown", |(_, name)| name)
    }

    /// Whether a machine of this board can have it.
    pub(super) fn fits(self, board: Board) -> bool {
        match self {
            Self::HalfLinks => board.has_nvlink(),
            Self::AcsAfterBios => !board.has_nvlink(),
            // With two GPUs the slow pair is all that there is.
            Self::SlowPair => board.gpus() > 2,
            _ => true,
        }
    }
}

impl Fault {
    /// Of a machine with so many GPUs; its onset is one of the first days, so that it has days to show.
    pub(super) fn drawn(kind: Kind, board: Board, random: &mut Random) -> Self {
        let gpus = board.gpus();
        let gpu = random.below(gpus);
        let other = (gpu + 1 + random.below(gpus - 1)) % gpus;
        let share = match kind {
            Kind::SlowPair => 1.0 - between(random, 0.03, 0.30),
            Kind::HalfLinks => 0.5,
            Kind::DriverRegression => 1.0 - between(random, 0.05, 0.15),
            Kind::AcsAfterBios => between(random, 0.35, 0.65),
            // On its last day.
            Kind::ThermalDrift => 1.0 - between(random, 0.08, 0.25),
            _ => 1.0,
        };
        let onset = match kind {
            Kind::ThermalDrift => 1,
            Kind::DriverRegression | Kind::AcsAfterBios => 2,
            _ => random.below(3),
        };
        let regressions = [
            Regression::Kernels,
            Regression::Host,
            Regression::Latency,
            Regression::Refuses,
        ];
        let regression = regressions.get(random.below(4)).copied();
        Self {
            kind,
            gpu: u32::try_from(gpu).unwrap_or_default(),
            other: u32::try_from(other).unwrap_or_default(),
            share,
            onset,
            regression: regression.unwrap_or(Regression::Kernels),
            refuses: random.below(10) < 3,
        }
    }

    /// `GPU 1 and 2, share 0.87, from day 1`.
    pub(super) fn words(&self) -> String {
        let share = format!("share {:.2}", self.share);
        let how = match self.kind {
            Kind::DriverRegression => format!("{:?}, {share}", self.regression),
            Kind::AcsAfterBios if self.refuses => "refused".to_owned(),
            _ => share,
        };
        format!(
            "GPU {} and {}, {how}, from day {}",
            self.gpu, self.other, self.onset
        )
    }

    /// Whether it concerns the GPU.
    pub(super) fn is_of(&self, gpu: u32) -> bool {
        self.gpu == gpu
    }

    /// Whether these are its two GPUs.
    pub(super) fn is_between(&self, a: u32, b: u32) -> bool {
        (self.gpu, self.other) == (a, b) || (self.gpu, self.other) == (b, a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_and_counted() {
        assert_eq!(
            parse("slow-pair=2,lost-gpu").unwrap(),
            [Kind::SlowPair, Kind::SlowPair, Kind::LostGpu]
        );
        assert_eq!(parse("all=4").unwrap().len(), 40);
        let refused = parse("slow=1").unwrap_err().to_string();
        assert!(refused.contains("slow-pair"), "{refused}");
        assert!(parse("lost-gpu=x").is_err());
    }
}
