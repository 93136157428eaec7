//! Which nodes stand in which column, and in which order.

use std::collections::BTreeMap;

use super::drawing::{Edge, Node};

/// The nodes of a column, by index, from top to bottom.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) number: i32,
    pub(super) above: Vec<usize>,
    /// What is only taken for another.
    pub(super) below: Vec<usize>,
}

/// The columns from left to right. In each, nodes stand in the order of what they are joined to in columns nearer to the
/// middle: by the mean of their places there, then as they were given.
pub(super) fn columns(nodes: &[Node], edges: &[Edge]) -> Vec<Column> {
    let mut columns: BTreeMap<i32, Column> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let column = columns.entry(node.column).or_default();
        column.number = node.column;
        let list = if node.below {
            &mut column.below
        } else {
            &mut column.above
        };
        list.push(index);
    }
    let mut joined: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for edge in edges {
        for (one, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
            if let Some(list) = joined.get_mut(one) {
                list.push(other);
            }
        }
    }
    let mut places: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut from_the_middle: Vec<i32> = columns.keys().copied().collect();
    from_the_middle.sort_by_key(|number| (number.abs(), *number));
    for number in from_the_middle {
        let Some(column) = columns.get_mut(&number) else {
            continue;
        };
        for list in [&mut column.above, &mut column.below] {
            list.sort_by_key(|node| mean_place(*node, &joined, &places));
        }
        for (place, node) in column.above.iter().chain(&column.below).enumerate() {
            if let Some(slot) = places.get_mut(*node) {
                *slot = Some(place);
            }
        }
    }
    columns.into_values().collect()
}

/// The mean of the places of what a node is joined to, in thousandths; what is joined to nothing placed stands last.
fn mean_place(node: usize, joined: &[Vec<usize>], places: &[Option<usize>]) -> usize {
    let others = joined.get(node).map_or(&[][..], Vec::as_slice);
    let known: Vec<usize> = others
        .iter()
        .filter_map(|other| places.get(*other).copied().flatten())
        .collect();
    let sum: usize = known.iter().sum();
    (sum * 1_000).checked_div(known.len()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::drawing::tests::{edge, node};
    use super::*;

    #[test]
    fn what_belongs_together_stands_side_by_side() {
        let nodes = [
            node("t/middle", 0, false),
            node("t/one", 1, false),
            node("t/two", 1, false),
            node("t/of-two", 2, false),
            node("t/of-one", 2, false),
            node("t/alone", 2, false),
        ];
        let edges = [
            edge(0, 1, true),
            edge(0, 2, true),
            edge(2, 3, true),
            edge(1, 4, true),
        ];
        let order: Vec<Vec<usize>> = columns(&nodes, &edges)
            .into_iter()
            .map(|column| column.above)
            .collect();
        assert_eq!(order, [vec![0], vec![1, 2], vec![4, 3, 5]]);
    }
}
