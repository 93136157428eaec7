//! Files that use each other in a circle: the strongly connected components of a graph (Tarjan's algorithm).

use std::collections::BTreeSet;

pub(crate) fn circles(uses: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        uses,
        order: vec![None; uses.len()],
        lowest: vec![0; uses.len()],
        stack: Vec::new(),
        found: Vec::new(),
        next: 0,
    };
    for start in 0..uses.len() {
        if search.order[start].is_none() {
            search.visit(start);
        }
    }
    search.found.retain(|circle| circle.len() > 1);
    search.found
}

struct Search<'a> {
    uses: &'a [BTreeSet<usize>],
    order: Vec<Option<usize>>,
    lowest: Vec<usize>,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
    next: usize,
}

impl Search<'_> {
    fn visit(&mut self, node: usize) {
        self.order[node] = Some(self.next);
        self.lowest[node] = self.next;
        self.next += 1;
        self.stack.push(node);
        for &used in &self.uses[node] {
            match self.order[used] {
                None => {
                    self.visit(used);
                    self.lowest[node] = self.lowest[node].min(self.lowest[used]);
                }
                Some(order) if self.stack.contains(&used) => {
                    self.lowest[node] = self.lowest[node].min(order);
                }
                Some(_) => {}
            }
        }
        if Some(self.lowest[node]) == self.order[node] {
            let from = self.stack.iter().position(|&other| other == node).unwrap();
            let mut circle = self.stack.split_off(from);
            circle.sort_unstable();
            self.found.push(circle);
        }
    }
}

#[test]
fn a_circle_is_found_and_a_line_is_none() {
    let uses = [vec![1], vec![2], vec![0, 3], vec![4], vec![]].map(BTreeSet::from_iter);
    assert_eq!(circles(&uses), [[0, 1, 2]]);
}
