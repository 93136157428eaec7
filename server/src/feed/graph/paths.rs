//! Shortest ways from one error to another.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;

use super::{Graph, GraphEdge, GraphError, MAX_PATHS, PathStep, Ways};

/// What a way follows unless kinds are named: errors that are merely taken for each other do not lead anywhere.
const CAUSAL: [EdgeKind; 2] = [EdgeKind::LeadsTo, EdgeKind::PrecededBy];

/// Records one step away, with the edges that say so.
type Steps = BTreeMap<RecordId, Vec<Arc<GraphEdge>>>;

impl Graph {
    /// The shortest ways from an error to a later one, over what leads to what, by whoever states it. With
    /// `frequently_confused_with` among `kinds`, a step may also go to what is taken for the other, in both directions.
    pub fn paths(&self, from: &RecordId, to: &RecordId, kinds: &[EdgeKind]) -> Result<Ways, GraphError> {
        self.expect(from)?;
        self.expect(to)?;
        let kinds = if kinds.is_empty() { &CAUSAL } else { kinds };
        let left = self.steps_left(from, to, kinds);
        let mut paths = Vec::new();
        let mut truncated = false;
        if left.contains_key(from) {
            // Every node that is tried is one step nearer, so that no try is in vain.
            let mut tried = vec![(Vec::new(), from.clone())];
            while let Some((way, here)) = tried.pop() {
                if here == *to {
                    if paths.len() == MAX_PATHS {
                        truncated = true;
                        break;
                    }
                    paths.push(way);
                    continue;
                }
                let wanted = left.get(&here).and_then(|steps| steps.checked_sub(1));
                let nearer = self.after(&here, kinds).into_iter();
                let nearer = nearer.filter(|(next, _)| left.get(next).copied() == wanted);
                // The last is tried first.
                for (next, edges) in nearer.rev() {
                    let step = PathStep {
                        from: here.clone(),
                        to: next.clone(),
                        edges: edges.iter().map(|edge| GraphEdge::clone(edge)).collect(),
                    };
                    let way: Vec<PathStep> = way.iter().cloned().chain([step]).collect();
                    tried.push((way, next));
                }
            }
        }
        Ok(Ways {
            steps: left.get(from).copied(),
            paths,
            truncated,
        })
    }

    /// Steps that are left to `to`, of every record from which they are not more than from `from`.
    fn steps_left(&self, from: &RecordId, to: &RecordId, kinds: &[EdgeKind]) -> HashMap<RecordId, u32> {
        let mut left = HashMap::from([(to.clone(), 0_u32)]);
        let mut waiting = VecDeque::from([(to.clone(), 0_u32)]);
        while let Some((here, steps)) = waiting.pop_front() {
            if here == *from {
                break;
            }
            for (earlier, _) in self.before(&here, kinds) {
                if !left.contains_key(&earlier) {
                    left.insert(earlier.clone(), steps + 1);
                    waiting.push_back((earlier, steps + 1));
                }
            }
        }
        left
    }

    /// Errors that follow this one: what it leads to, and what says that this one precedes it.
    fn after(&self, id: &RecordId, kinds: &[EdgeKind]) -> Steps {
        self.beside(id, kinds, EdgeKind::LeadsTo, EdgeKind::PrecededBy)
    }

    fn before(&self, id: &RecordId, kinds: &[EdgeKind]) -> Steps {
        self.beside(id, kinds, EdgeKind::PrecededBy, EdgeKind::LeadsTo)
    }

    /// Records at the other end of what this one states of one kind, and of what others state of it of the other kind;
    /// of what is confused with it either way.
    fn beside(&self, id: &RecordId, kinds: &[EdgeKind], own: EdgeKind, of_others: EdgeKind) -> Steps {
        let is = |edge: &GraphEdge, kind: EdgeKind| {
            (edge.kind == kind || edge.kind == EdgeKind::FrequentlyConfusedWith) && kinds.contains(&edge.kind)
        };
        let mut steps = Steps::new();
        for edge in self.stated_by(id).iter().filter(|edge| is(edge, own)) {
            if let Some(target) = edge.target.clone() {
                steps.entry(target).or_default().push(Arc::clone(edge));
            }
        }
        for edge in self.aimed_at(id).iter().filter(|edge| is(edge, of_others)) {
            steps.entry(edge.from.clone()).or_default().push(Arc::clone(edge));
        }
        steps.remove(id);
        steps
    }
}
