//! Tables of numbers with GPU numbers above and beside them.

use super::error::ConvertError;
use super::lines::{Line, measured};

#[derive(Debug)]
pub(super) struct Matrix {
    /// One entry a row; `None` for `N/A`.
    pub(super) rows: Vec<Row>,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) values: Vec<Option<f64>>,
}

impl Matrix {
    pub(super) fn cells(&self) -> impl Iterator<Item = (u32, u32, Option<f64>, usize)> {
        self.rows.iter().zip(0_u32..).flat_map(|(row, r)| {
            let values = row.values.iter().zip(0_u32..);
            values.map(move |(value, column)| (r, column, *value, row.line))
        })
    }

    pub(super) fn sum(&self) -> f64 {
        self.cells().filter_map(|(_, _, value, _)| value).sum()
    }

    pub(super) fn is_square(&self) -> bool {
        self.rows.iter().all(|row| row.values.len() == self.rows.len())
    }
}

/// Reads the table whose header is next and moves behind it. `name` is for errors, `corner` precedes the column numbers.
pub(super) fn read<'a>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a &'a Line>>,
    (name, heading): (&str, usize),
    corner: Option<&str>,
) -> Result<Matrix, ConvertError> {
    let header = lines.next().ok_or_else(|| ConvertError::cut(heading, name))?;
    let mut columns = 0_usize;
    let mut words = header.words();
    if let Some(corner) = corner
        && words.next() != Some(corner)
    {
        return Err(ConvertError::damaged(
            header.number,
            format!("{name} has no header"),
        ));
    }
    for word in words {
        if word != columns.to_string() {
            return Err(ConvertError::damaged(
                header.number,
                format!("the header of {name} holds {word:?}"),
            ));
        }
        columns += 1;
    }
    if columns == 0 {
        return Err(ConvertError::damaged(
            header.number,
            format!("{name} has no columns"),
        ));
    }
    let mut rows = Vec::new();
    while let Some(line) = lines.next_if(|line| line.words().next() == Some(rows.len().to_string().as_str()))
    {
        let values: Vec<&str> = line.words().skip(1).collect();
        if values.len() != columns {
            return Err(ConvertError::damaged(
                line.number,
                format!(
                    "row {} of {name} has {} of {columns} values",
                    rows.len(),
                    values.len()
                ),
            ));
        }
        let mut read = Vec::new();
        for word in values {
            let value = if word == "N/A" {
                None
            } else {
                Some(figure(word, line.number)?)
            };
            read.push(value);
        }
        rows.push(Row {
            line: line.number,
            values: read,
        });
    }
    if rows.is_empty() {
        return Err(ConvertError::cut(header.number, name));
    }
    Ok(Matrix { rows })
}

pub(super) fn figure(word: &str, line: usize) -> Result<f64, ConvertError> {
    measured(word).ok_or_else(|| ConvertError::damaged(line, format!("{word:?} is no figure")))
}
