//! Who is in the fleet: racks, boards, driver branches, BIOS versions, updates, and who has which fault.

use anyhow::{Context, Result, ensure};

use super::boards::Board;
use super::faults::{Fault, Kind};
use crate::random::Random;

/// Days of the fleet; on each, every node has a run and a look.
pub(super) const DAYS: usize = 4;
/// Updates are made between the second day and the third.
pub(super) const UPDATE_DAY: usize = 2;
const NODES_OF_A_RACK: usize = 16;
/// Boards of racks, in turns.
const RACKS: [Board; 6] = [
    Board::H200x4,
    Board::A40x4,
    Board::H200x2,
    Board::H200x4,
    Board::H100x2,
    Board::A40x4,
];
const DRIVERS: [&str; 3] = ["580.159.04", "580.159.04", "570.211.01"];
/// Branches that come with updates: each regression has its own, and one that does no harm.
const NEW_DRIVERS: [&str; 8] = [
    "590.48.01",
    "595.45.04",
    "575.64.05",
    "585.30.02",
    "600.12.03",
    "605.22.01",
    "610.08.02",
    "615.17.01",
];
const HARMLESS_DRIVER: &str = "588.21.02";
const BIOS: [&str; 2] = ["2.4.1", "2.5.0"];
/// Versions that switch ACS on, each at one fault, and one that does no harm.
const NEW_BIOS: [&str; 8] = [
    "2.7.2", "2.8.0", "2.8.3", "2.9.1", "2.9.4", "3.0.0", "3.0.2", "3.1.0",
];
const HARMLESS_BIOS: &str = "2.6.4";
/// Nodes that get an update together.
const FEWEST_TOGETHER: usize = 6;
const MORE_TOGETHER: usize = 12;

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) board: Board,
    pub(super) rack: usize,
    pub(super) driver: &'static str,
    pub(super) bios: &'static str,
    pub(super) new_driver: Option<&'static str>,
    pub(super) new_bios: Option<&'static str>,
    pub(super) fault: Option<Fault>,
}

/// A fault, and the nodes that have it: one, or those of an update.
pub(super) struct Planted {
    pub(super) kind: Kind,
    pub(super) nodes: Vec<usize>,
    /// The version that came with the update.
    pub(super) version: Option<&'static str>,
}

pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
    pub(super) planted: Vec<Planted>,
}

impl Planted {
    /// Its first node, and how the fault was drawn.
    pub(super) fn words(&self, plan: &Plan) -> String {
        let Some((at, node)) = self
            .nodes
            .first()
            .and_then(|at| Some((*at, plan.nodes.get(*at)?)))
        else {
            return String::new();
        };
        let drawn = node.fault.map(|fault| fault.words()).unwrap_or_default();
        let version = self
            .version
            .map(|version| format!(", {version}"))
            .unwrap_or_default();
        format!("{} {:?}, {drawn}{version}", name(at), node.board)
    }
}

/// Id of a node.
pub(super) fn name(node: usize) -> String {
    format!("simulated-{node:04}")
}

pub(super) fn rack(rack: usize) -> String {
    format!("r{rack:03}")
}

impl Plan {
    pub(super) fn drawn(count: usize, wanted: &[Kind], random: &mut Random) -> Result<Self> {
        let mut plan = Self {
            nodes: (0..count).map(|node| healthy(node, random)).collect(),
            planted: Vec::new(),
        };
        // Groups first, while there is room.
        let mut wanted = wanted.to_vec();
        wanted.sort_by_key(|kind| !matches!(kind, Kind::DriverRegression | Kind::AcsAfterBios));
        let (mut regressions, mut updates) = (0, 0);
        for kind in wanted {
            let planted = match kind {
                Kind::DriverRegression => {
                    let version = *NEW_DRIVERS
                        .get(regressions)
                        .context("at most 8 driver regressions")?;
                    regressions += 1;
                    plan.regression(version, random)?
                }
                Kind::AcsAfterBios => {
                    let version = *NEW_BIOS.get(updates).context("at most 8 BIOS updates")?;
                    updates += 1;
                    // Every second one is a rollout, the others are single machines.
                    plan.acs(version, updates % 2 == 1, random)?
                }
                _ => plan.single(kind, random)?,
            };
            plan.planted.push(planted);
        }
        plan.harmless(random);
        Ok(plan)
    }

    /// Nodes without a fault and without an update.
    fn free(&self, fits: impl Fn(Board) -> bool) -> Vec<usize> {
        let is_free = |node: &Node| {
            node.fault.is_none() && node.new_driver.is_none() && node.new_bios.is_none() && fits(node.board)
        };
        let nodes = self.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| is_free(node))
            .map(|(at, _)| at)
            .collect()
    }

    /// Free nodes of one board, from three racks where there are so many.
    fn together(&self, board: Board, random: &mut Random) -> Vec<usize> {
        let free = self.free(|one| one == board);
        let rack_of = |node: &usize| self.nodes.get(*node).map(|node| node.rack);
        let mut racks: Vec<usize> = free.iter().filter_map(rack_of).collect();
        racks.dedup();
        let mut chosen = Vec::new();
        while chosen.len() < 3 && !racks.is_empty() {
            chosen.push(racks.swap_remove(random.below(racks.len())));
        }
        let wanted = FEWEST_TOGETHER + random.below(MORE_TOGETHER);
        let mut near: Vec<usize> = free;
        near.retain(|node| rack_of(node).is_some_and(|rack| chosen.contains(&rack)));
        let mut group = Vec::new();
        while group.len() < wanted && !near.is_empty() {
            group.push(near.swap_remove(random.below(near.len())));
        }
        group
    }

    fn regression(&mut self, version: &'static str, random: &mut Random) -> Result<Planted> {
        let board = Board::ALL.get(random.below(Board::ALL.len())).copied();
        let group = self.together(board.unwrap_or(Board::H200x4), random);
        ensure!(
            group.len() >= FEWEST_TOGETHER,
            "the fleet is too small for a driver regression"
        );
        let board = board.unwrap_or(Board::H200x4);
        let fault = Fault::drawn(Kind::DriverRegression, board, random);
        // One in ten nodes with the branch is as it was: most are concerned, or all.
        let spared = random.below(2) == 0;
        for node in &group {
            let Some(node) = self.nodes.get_mut(*node) else {
                continue;
            };
            node.new_driver = Some(version);
            if !(spared && random.below(10) == 0) {
                node.fault = Some(fault);
            }
        }
        Ok(Planted {
            kind: Kind::DriverRegression,
            nodes: self.with_fault(group),
            version: Some(version),
        })
    }

    fn acs(&mut self, version: &'static str, is_rollout: bool, random: &mut Random) -> Result<Planted> {
        let mut group = self.together(Board::A40x4, random);
        group.truncate(if is_rollout { group.len() } else { 1 });
        ensure!(!group.is_empty(), "the fleet is too small for a BIOS update");
        let fault = Fault::drawn(Kind::AcsAfterBios, Board::A40x4, random);
        for node in &group {
            let Some(node) = self.nodes.get_mut(*node) else {
                continue;
            };
            node.new_bios = Some(version);
            node.fault = Some(fault);
        }
        Ok(Planted {
            kind: Kind::AcsAfterBios,
            nodes: group,
            version: Some(version),
        })
    }

    fn single(&mut self, kind: Kind, random: &mut Random) -> Result<Planted> {
        let free = self.free(|board| kind.fits(board));
        ensure!(!free.is_empty(), "no node is left for {}", kind.name());
        let at = free.get(random.below(free.len())).copied().unwrap_or_default();
        if let Some(node) = self.nodes.get_mut(at) {
            node.fault = Some(Fault::drawn(kind, node.board, random));
        }
        Ok(Planted {
            kind,
            nodes: vec![at],
            version: None,
        })
    }

    /// Updates after which all is as it was.
    fn harmless(&mut self, random: &mut Random) {
        for board in Board::ALL {
            for node in self.together(board, random) {
                if let Some(node) = self.nodes.get_mut(node) {
                    node.new_driver = Some(HARMLESS_DRIVER);
                }
            }
            for node in self.together(board, random) {
                if let Some(node) = self.nodes.get_mut(node) {
                    node.new_bios = Some(HARMLESS_BIOS);
                }
            }
        }
    }

    fn with_fault(&self, mut group: Vec<usize>) -> Vec<usize> {
        group.retain(|node| self.nodes.get(*node).is_some_and(|node| node.fault.is_some()));
        group
    }
}

/// Racks have one board, one driver and one BIOS, as they were bought and set up.
fn healthy(node: usize, random: &mut Random) -> Node {
    let rack = node / NODES_OF_A_RACK;
    let board = RACKS.get(rack % RACKS.len()).copied().unwrap_or(Board::H200x4);
    // One node in 30 was set up later than its rack.
    let late = usize::from(random.below(30) == 0);
    let driver = DRIVERS.get((rack / RACKS.len() + late) % DRIVERS.len()).copied();
    let bios = BIOS.get((rack / 2 + late) % BIOS.len()).copied();
    Node {
        board,
        rack,
        driver: driver.unwrap_or("580.159.04"),
        bios: bios.unwrap_or("2.4.1"),
        new_driver: None,
        new_bios: None,
        fault: None,
    }
}

impl Node {
    pub(super) fn driver_on(&self, day: usize) -> &'static str {
        self.new_driver
            .filter(|_| day >= UPDATE_DAY)
            .unwrap_or(self.driver)
    }

    pub(super) fn bios_on(&self, day: usize) -> &'static str {
        self.new_bios.filter(|_| day >= UPDATE_DAY).unwrap_or(self.bios)
    }

    /// An update takes a boot.
    pub(super) fn boot_on(&self, day: usize) -> usize {
        usize::from(day >= UPDATE_DAY && (self.new_driver.is_some() || self.new_bios.is_some()))
    }

    /// The fault, where it shows on the day.
    pub(super) fn fault_on(&self, day: usize) -> Option<&Fault> {
        self.fault.as_ref().filter(|fault| day >= fault.onset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::faults::parse;

    #[test]
    fn every_fault_has_nodes_of_its_own() {
        let wanted = parse("all=1").unwrap();
        let plan = Plan::drawn(200, &wanted, &mut Random::new(1)).unwrap();
        assert_eq!(plan.planted.len(), 10);
        let mut nodes: Vec<usize> = plan.planted.iter().flat_map(|one| one.nodes.clone()).collect();
        let all = nodes.len();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes.len(), all, "no node has two faults");
        let faulty = plan.nodes.iter().filter(|node| node.fault.is_some()).count();
        assert_eq!(faulty, all);
        let harmless = plan
            .nodes
            .iter()
            .filter(|node| node.new_driver == Some(HARMLESS_DRIVER));
        assert!(harmless.count() >= FEWEST_TOGETHER);
    }

    #[test]
    fn a_seed_makes_the_same_fleet() {
        let wanted = parse("all=1").unwrap();
        let fleet = |seed| {
            let plan = Plan::drawn(200, &wanted, &mut Random::new(seed)).unwrap();
            plan.planted.into_iter().map(|one| one.nodes).collect::<Vec<_>>()
        };
        assert_eq!(fleet(1), fleet(1));
        assert_ne!(fleet(1), fleet(2));
    }
}
