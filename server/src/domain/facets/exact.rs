//! Fisher's exact test over several strata: how likely it is by chance that so many of the affected nodes have a facet.
//!
//! Within a stratum (nodes of one model in one rack) the number of affected nodes with the facet is hypergeometric where the two have
//! nothing to do with each other (Fisher 1935); over strata these numbers add up, and their distributions are convolved.

/// Nodes of one stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stratum {
    pub(super) nodes: u32,
    pub(super) affected: u32,
    pub(super) with_facet: u32,
    pub(super) both: u32,
}

/// Logarithms of factorials, up to a number.
pub(super) struct Factorials(Vec<f64>);

impl Factorials {
    pub(super) fn up_to(most: u32) -> Self {
        let mut logarithms = vec![0.0];
        let mut sum = 0.0;
        for number in 1..=most {
            sum += f64::from(number).ln();
            logarithms.push(sum);
        }
        Self(logarithms)
    }

    fn of(&self, number: u32) -> f64 {
        usize::try_from(number)
            .ok()
            .and_then(|number| self.0.get(number).copied())
            .unwrap_or(f64::NAN)
    }

    fn choose(&self, all: u32, some: u32) -> f64 {
        self.of(all) - self.of(some) - self.of(all.saturating_sub(some))
    }
}

/// The chance of as many affected nodes with the facet or more; 1 where no stratum tells anything.
pub(super) fn chance(strata: &[Stratum], factorials: &Factorials) -> f64 {
    // Chances of 0, 1, … above the least that is possible.
    let mut sums = vec![1.0];
    let mut reached = 0_usize;
    for stratum in strata {
        let least = (stratum.affected + stratum.with_facet).saturating_sub(stratum.nodes);
        let most = stratum.affected.min(stratum.with_facet);
        if least >= most {
            // It cannot be otherwise in this stratum.
            continue;
        }
        let without = stratum.nodes.saturating_sub(stratum.with_facet);
        let all = factorials.choose(stratum.nodes, stratum.affected);
        let chances: Vec<f64> = (least..=most)
            .map(|both| {
                let ways = factorials.choose(stratum.with_facet, both)
                    + factorials.choose(without, stratum.affected.saturating_sub(both));
                (ways - all).exp()
            })
            .collect();
        sums = convolved(&sums, &chances);
        reached += usize::try_from(stratum.both.saturating_sub(least)).unwrap_or(0);
    }
    let tail: f64 = sums.iter().skip(reached).sum();
    tail.min(1.0)
}

fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; (one.len() + other.len()).saturating_sub(1)];
    for (at, first) in one.iter().enumerate() {
        for (further, second) in other.iter().enumerate() {
            if let Some(sum) = sums.get_mut(at + further) {
                *sum += first * second;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nodes: u32, affected: u32, with_facet: u32, both: u32) -> Stratum {
        Stratum {
            nodes,
            affected,
            with_facet,
            both,
        }
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn the_chance_is_that_of_fishers_lady() {
        let factorials = Factorials::up_to(100);
        // Eight cups, four of each kind: all four right by chance once in 70, three or more 17 times in 70.
        assert!(near(chance(&[of(8, 4, 4, 4)], &factorials), 1.0 / 70.0));
        assert!(near(chance(&[of(8, 4, 4, 3)], &factorials), 17.0 / 70.0));
        assert!(near(chance(&[of(8, 4, 4, 0)], &factorials), 1.0));
    }

    #[test]
    fn strata_count_by_themselves_and_add_up() {
        let factorials = Factorials::up_to(100);
        let one = of(8, 4, 4, 4);
        assert!(near(chance(&[one, one], &factorials), 1.0 / 4900.0));
        // A rack in which all nodes have the facet, and a rack in which none is affected, tell nothing.
        let silent = [of(16, 5, 16, 5), of(16, 0, 8, 0)];
        assert!(near(chance(&silent, &factorials), 1.0));
        assert!(near(
            chance(&[one, silent[0], silent[1]], &factorials),
            1.0 / 70.0
        ));
    }
}
