//! The tables of rooms as docs/ARCHITECTURE.md shows them.

/// What a row says: the rooms that it is about, and what they may use. Nothing where it says "all" in words.
pub(crate) type Row<'p> = (Vec<&'p str>, Option<Vec<&'p str>>);

/// The rows of the table below a heading.
pub(crate) fn rows<'p>(page: &'p str, heading: &str) -> Vec<Row<'p>> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with(heading));
    let below = lines.by_ref().skip(1).take_while(|line| !line.starts_with('#'));
    let cells = below
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').collect::<Vec<&str>>());
    cells
        .map(|cells| {
            let uses = cells.get(3).copied().unwrap_or_default();
            let in_words = uses.split_whitespace().any(|word| word == "all");
            (names(cells[1]), (!in_words).then(|| names(uses)))
        })
        .collect()
}

/// What stands between backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn a_row_is_read_with_its_rooms_and_uses() {
    let page = "### `a/src`: it\n\n| room | subject | may use |\n| --- | --- | --- |\n| `b`, `c` | x `y` | `d` (types), `e` | |\n\
        | `f` | | all but `b` |\n### `g`\n| `h` | | |\n";
    let expected: Vec<Row<'_>> = vec![(vec!["b", "c"], Some(vec!["d", "e"])), (vec!["f"], None)];
    assert_eq!(rows(page, "### `a/src`"), expected);
}
