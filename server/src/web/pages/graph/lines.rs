//! The line of an edge, as data of an SVG path.

use super::drawing::{BOX_HEIGHT, BOX_WIDTH, Edge, INDENT, Spot};

/// How far a line between boxes of one column swings out.
const SWING: i32 = 46;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub d: String,
    pub class: &'static str,
    pub arrow: bool,
    pub title: String,
    pub href: Option<String>,
}

/// The line of an edge between two boxes; none from a box to itself.
pub(super) fn line(edge: &Edge, from: Spot, to: Spot) -> Option<Line> {
    if from == to {
        return None;
    }
    let class = match (edge.causal, edge.weight) {
        (false, _) => "g-line dashed",
        (true, 0 | 1) => "g-line",
        (true, 2) => "g-line more",
        (true, _) => "g-line most",
    };
    Some(Line {
        d: data(edge.causal, from, to),
        class,
        arrow: edge.causal,
        title: edge.title.clone(),
        href: edge.href.clone(),
    })
}

fn data(causal: bool, from: Spot, to: Spot) -> String {
    let middle = |spot: Spot| spot.y + BOX_HEIGHT / 2;
    let (y1, y2) = (middle(from), middle(to));
    if from.column == to.column {
        let (upper, lower) = if from.y < to.y { (from, to) } else { (to, from) };
        if !causal && !upper.below && lower.below {
            // Down beside what is set in, and into it from the left.
            let x = lower.x - INDENT / 2;
            return format!("M{x},{} V{} H{}", upper.y + BOX_HEIGHT, middle(lower), lower.x);
        }
        let (x1, x2) = (from.x + BOX_WIDTH, to.x + BOX_WIDTH);
        let out = x1.max(x2) + SWING;
        return format!("M{x1},{y1} C{out},{y1} {out},{y2} {x2},{y2}");
    }
    let (x1, x2) = if from.column < to.column {
        (from.x + BOX_WIDTH, to.x)
    } else {
        (from.x, to.x + BOX_WIDTH)
    };
    let half = i32::midpoint(x1, x2);
    format!("M{x1},{y1} C{half},{y1} {half},{y2} {x2},{y2}")
}

#[cfg(test)]
mod tests {
    use super::super::drawing::tests::edge;
    use super::*;

    fn spot(x: i32, y: i32, column: i32, below: bool) -> Spot {
        Spot { x, y, column, below }
    }

    #[test]
    fn lines_go_from_box_to_box() {
        let (a, b) = (spot(0, 0, 0, false), spot(280, 76, 1, false));
        let d = |causal, from, to| line(&edge(0, 1, causal), from, to).map(|line| line.d);
        assert_eq!(d(true, a, b).as_deref(), Some("M196,31 C238,31 238,107 280,107"));
        assert_eq!(
            d(true, b, a).as_deref(),
            Some("M280,107 C238,107 238,31 196,31"),
            "a circle closes"
        );
        let below = spot(24, 76, 0, true);
        assert_eq!(d(false, a, below).as_deref(), Some("M12,62 V107 H24"));
        assert_eq!(d(false, below, a), d(false, a, below), "it has no direction");
        assert_eq!(d(true, a, a), None);
    }
}
