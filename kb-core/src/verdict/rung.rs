//! The rungs of the ladder in words: numbers mean nothing to whoever reads a verdict.

const RUNGS: [(u8, &str); 7] = [
    (1, "the driver's answer"),
    (2, "enabling"),
    (3, "copies"),
    (4, "kernels"),
    (5, "kernels at the same time"),
    (6, "a second process"),
    (7, "NCCL"),
];

/// The first that moves data.
const FIRST_COPIES: u8 = 3;

/// `copies (rung 3)`.
pub(crate) fn rung(number: u8) -> String {
    let row = RUNGS.iter().find(|(rung, _)| *rung == number);
    row.map_or_else(
        || format!("rung {number}"),
        |(_, name)| format!("{name} (rung {number})"),
    )
}

/// Number and name of the rungs that run something, in their order: `(3, "copies")`.
pub fn checked_rungs() -> impl Iterator<Item = (u8, &'static str)> {
    RUNGS.iter().skip(1).copied()
}

/// What was proven of pairs on which these rungs passed: `proven both ways by copies and kernels`.
pub(super) fn proven_by(passed: impl Fn(u8) -> bool) -> String {
    let ways: Vec<&str> = RUNGS
        .iter()
        .filter(|(number, _)| *number >= FIRST_COPIES && passed(*number))
        .map(|(_, name)| *name)
        .collect();
    let proven = "proven both ways";
    match ways.split_last() {
        None => proven.to_owned(),
        Some((only, [])) => format!("{proven} by {only}"),
        Some((last, others)) => format!("{proven} by {} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_named_and_nothing_else() {
        assert_eq!(proven_by(|number| number < 3), "proven both ways");
        assert_eq!(proven_by(|number| number == 3), "proven both ways by copies");
        assert_eq!(
            proven_by(|number| [3, 4, 7].contains(&number)),
            "proven both ways by copies, kernels and NCCL"
        );
        assert_eq!(rung(3), "copies (rung 3)");
        assert_eq!(rung(9), "rung 9", "a newer agent's");
    }
}
