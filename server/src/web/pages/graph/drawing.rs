//! A graph as boxes and lines with their places, for `templates/partials/graph.html`. The same graph always gives the
//! same drawing: it is computed here, so that nothing moves once the page is there, and no script is needed.
//!
//! Time goes from left to right, a column a step. In each column boxes stand below each other, and below these, set in,
//! what is only taken for another. Boxes are ordered by what they are joined to in the columns nearer to the middle, which
//! keeps lines from crossing. Lengths are CSS pixels.

use super::label::Label;
use super::lines::{Line, line};

pub(super) const BOX_WIDTH: i32 = 196;
pub(super) const BOX_HEIGHT: i32 = 62;
/// From the left edge of a column to that of the next.
const COLUMN: i32 = BOX_WIDTH + 84;
/// From the top of a box to that of the one below.
const ROW: i32 = BOX_HEIGHT + 14;
/// How far boxes that are only taken for another are set in.
pub(super) const INDENT: i32 = 24;
const MARGIN: i32 = 16;
const HEADING: i32 = 28;
/// A column that is shorter than the longest begins lower, but no more than this.
const LOWERED_MOST: i32 = 2 * ROW;

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) label: Label,
    pub(super) href: Option<String>,
    /// All that is known of it, for those who point at it or hear it.
    pub(super) title: String,
    pub(super) class: &'static str,
    /// Step, 0 in the middle.
    pub(super) column: i32,
    /// True for what is only taken for another.
    pub(super) below: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// Index of a node: the earlier one.
    pub(super) from: usize,
    pub(super) to: usize,
    /// True for an arrow, false for a dashed line.
    pub(super) causal: bool,
    /// 1 to 3.
    pub(super) weight: u8,
    pub(super) title: String,
    pub(super) href: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawing {
    pub title: String,
    pub description: String,
    pub width: i32,
    pub height: i32,
    pub headings: Vec<TextLine>,
    pub lines: Vec<Line>,
    /// Boxes, by column from left to right and in it from top to bottom: the order in which the keyboard reaches them.
    pub boxes: Vec<NodeBox>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeBox {
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    pub width: i32,
    pub height: i32,
    pub class: &'static str,
    pub href: Option<String>,
    pub title: String,
    pub words: Vec<TextLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine {
    pub x: i32,
    pub y: i32,
    pub class: &'static str,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) column: i32,
    pub(super) below: bool,
}

/// Words above a column, and above what is set in below it.
pub(super) type Heading<'a> = dyn Fn(i32, bool) -> Option<&'a str> + 'a;

pub(super) fn draw(nodes: &[Node], edges: &[Edge], heading: &Heading<'_>) -> Drawing {
    let columns = super::order::columns(nodes, edges);
    let tallest = columns.iter().map(|column| rows(column.above.len())).max();
    let first = columns.first().map_or(0, |column| column.number);
    let mut spots: Vec<Option<Spot>> = vec![None; nodes.len()];
    let mut drawing = Drawing::default();
    let mut sequence = Vec::with_capacity(nodes.len());
    for column in &columns {
        let x = MARGIN + (column.number - first) * COLUMN;
        if let Some(text) = heading(column.number, false).filter(|_| !column.above.is_empty()) {
            drawing.headings.push(words(x, MARGIN + 12, "g-head", text));
        }
        let lowered = (tallest.unwrap_or_default() - rows(column.above.len())) / 2;
        let mut y = MARGIN + HEADING + lowered.min(LOWERED_MOST);
        for &node in &column.above {
            place(
                &mut spots,
                node,
                Spot {
                    x,
                    y,
                    column: column.number,
                    below: false,
                },
            );
            sequence.push(node);
            y += ROW;
        }
        if let Some(text) = heading(column.number, true).filter(|_| !column.below.is_empty()) {
            drawing.headings.push(words(x + INDENT, y + 12, "g-head", text));
            y += HEADING;
        }
        for &node in &column.below {
            place(
                &mut spots,
                node,
                Spot {
                    x: x + INDENT,
                    y,
                    column: column.number,
                    below: true,
                },
            );
            sequence.push(node);
            y += ROW;
        }
        drawing.height = drawing.height.max(y - (ROW - BOX_HEIGHT) + MARGIN);
        drawing.width = drawing.width.max(x + INDENT + BOX_WIDTH + MARGIN);
    }
    for edge in edges {
        let spot = |node: usize| spots.get(node).copied().flatten();
        if let (Some(from), Some(to)) = (spot(edge.from), spot(edge.to)) {
            drawing.lines.extend(line(edge, from, to));
        }
    }
    for node in sequence {
        if let (Some(spot), Some(node)) = (spots.get(node).copied().flatten(), nodes.get(node)) {
            drawing.boxes.push(boxed(node, spot));
        }
    }
    drawing
}

fn rows(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX / ROW).saturating_mul(ROW)
}

fn place(spots: &mut [Option<Spot>], node: usize, spot: Spot) {
    if let Some(slot) = spots.get_mut(node) {
        *slot = Some(spot);
    }
}

fn boxed(node: &Node, spot: Spot) -> NodeBox {
    let baselines = [18, 35, 51];
    let lines = node.label.lines.iter().zip(baselines);
    NodeBox {
        x: spot.x,
        y: spot.y,
        width: BOX_WIDTH,
        height: BOX_HEIGHT,
        class: node.class,
        href: node.href.clone(),
        title: node.title.clone(),
        words: lines
            .map(|((class, text), baseline)| words(spot.x + 10, spot.y + baseline, class, text))
            .collect(),
    }
}

fn words(x: i32, y: i32, class: &'static str, text: &str) -> TextLine {
    TextLine {
        x,
        y,
        class,
        text: text.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn node(name: &str, column: i32, below: bool) -> Node {
        Node {
            label: Label::of(name),
            href: None,
            title: name.to_owned(),
            class: "g-node",
            column,
            below,
        }
    }

    pub(crate) fn edge(from: usize, to: usize, causal: bool) -> Edge {
        Edge {
            from,
            to,
            causal,
            weight: 1,
            title: String::new(),
            href: None,
        }
    }

    fn overlap(a: &NodeBox, b: &NodeBox) -> bool {
        a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
    }

    /// A middle with `each` causes, effects and lookalikes, of which every one has a further one.
    fn busy(each: usize) -> (Vec<Node>, Vec<Edge>) {
        let mut nodes = vec![node("t/middle", 0, false)];
        let mut edges = Vec::new();
        for (column, below) in [(-1, false), (1, false), (0, true)] {
            for number in 0..each {
                let near = nodes.len();
                nodes.push(node(&format!("t/n{column}-{number}"), column, below));
                nodes.push(node(
                    &format!("t/f{column}-{number}"),
                    column * 2 + i32::from(below),
                    below,
                ));
                let (from, to) = if column < 0 { (near, 0) } else { (0, near) };
                edges.push(edge(from, to, !below));
                edges.push(edge(near, near + 1, true));
            }
        }
        (nodes, edges)
    }

    #[test]
    fn fifty_boxes_stand_apart_within_the_drawing() {
        let (nodes, edges) = busy(8);
        assert_eq!(nodes.len(), 49);
        let drawing = draw(&nodes, &edges, &|column, _| {
            Some(if column < 0 { "before" } else { "after" })
        });
        assert_eq!(drawing.boxes.len(), nodes.len());
        for (at, a) in drawing.boxes.iter().enumerate() {
            assert!(a.x >= 0 && a.y >= HEADING, "{a:?}");
            assert!(
                a.x + a.width <= drawing.width && a.y + a.height <= drawing.height,
                "{a:?}"
            );
            assert!(drawing.boxes.iter().skip(at + 1).all(|b| !overlap(a, b)), "{a:?}");
        }
        assert_eq!(
            drawing,
            draw(&nodes, &edges, &|column, _| {
                Some(if column < 0 { "before" } else { "after" })
            })
        );
    }

    #[test]
    fn time_goes_from_left_to_right_and_the_keyboard_with_it() {
        let nodes = [
            node("t/b", 0, false),
            node("t/c", 1, false),
            node("t/a", -1, false),
            node("t/x", 0, true),
        ];
        let drawing = draw(
            &nodes,
            &[edge(2, 0, true), edge(0, 1, true), edge(0, 3, false)],
            &|_, _| None,
        );
        let order: Vec<&str> = drawing.boxes.iter().map(|shown| shown.title.as_str()).collect();
        assert_eq!(order, ["t/a", "t/b", "t/x", "t/c"]);
        let x = |at: usize| drawing.boxes[at].x;
        assert!(x(0) < x(1) && x(1) < x(2) && x(2) < x(3));
        assert!(drawing.boxes[2].y > drawing.boxes[1].y);
    }
}
