//! Columns that line up.

use kb_core::verdict::Verdict;

use super::Style;

pub(super) struct Cell {
    text: String,
    verdict: Option<Verdict>,
}

impl Cell {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            verdict: None,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn coloured(text: impl Into<String>, verdict: Verdict) -> Self {
        Self {
            text: text.into(),
            verdict: Some(verdict),
        }
    }
}

pub(super) fn lay_out(rows: &[Vec<Cell>], style: Style) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width_of).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        let mut pending = 0;
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&" ".repeat(pending + 2));
            match cell.verdict {
                Some(verdict) => line.push_str(&style.verdict(verdict, &cell.text)),
                None => line.push_str(&cell.text),
            }
            pending = width.saturating_sub(cell.text.chars().count());
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
