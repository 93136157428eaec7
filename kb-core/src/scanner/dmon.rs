//! Tables of `dcgmi dmon`: the columns that tell of health, each cell said as dcgm-exporter says the same field, which records know.
//!
//! ```text
//! #Entity   XIDER   EDVTL   TMPTR
//! ID                        C
//! GPU 3     79      0       45         DCGM_FI_DEV_XID_ERRORS{gpu="3"} 79
//! ```

use std::ops::Range;

use super::dmon_fields::{HEALTH, is_known};
use super::dmon_lines::{Head, Kind, Row, head, read};

/// Columns that a note names.
const MOST_NAMED: usize = 8;
/// Tables that are told of.
const MOST_TABLES: usize = 8;
/// Lines behind the last row in which a further one is still noticed: looking for prefixes costs too much for a whole log.
const WATCHED_LINES: u64 = 1_000;

/// What a cell says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// As dcgm-exporter says it.
    pub(super) text: String,
    /// Where the cell stands in its line.
    pub(super) place: Range<usize>,
    pub(super) is_bad: bool,
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    /// Bytes behind the beginning of the head.
    start: usize,
}

/// The table that is read, and what was not read of tables.
#[derive(Debug, Default)]
pub(super) struct Tables {
    columns: Vec<Column>,
    /// Where the head began in its line.
    head: usize,
    is_open: bool,
    /// The last line that is looked at.
    watched_to: u64,
    not_read: Vec<(u64, Vec<String>)>,
    /// The first row that was not read, or not wholly, and how many there were.
    dropped: Option<(u64, u64)>,
}

impl Tables {
    /// Whether a line may be a row. Behind a table its rows are told of, but not read.
    pub(super) fn is_watching(&self, number: u64) -> bool {
        !self.columns.is_empty() && (self.is_open || number <= self.watched_to)
    }

    /// A long line is no row.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    /// Takes the next line of a text, without colours; gives what its cells say.
    pub(super) fn take(&mut self, line: &[u8], number: u64) -> Vec<Cell> {
        if let Some(head) = head(line) {
            self.begin(line, head, number);
            return Vec::new();
        }
        if !self.is_watching(number) {
            return Vec::new();
        }
        match read(line, self.head) {
            Kind::Row(row) if self.is_open => {
                self.watch(number);
                if !self.has_place_for_all(line, &row) {
                    self.drop_row(number);
                }
                self.cells(line, &row)
            }
            Kind::Row(row) => {
                if is_of_values(line, &row) {
                    self.watch(number);
                    self.drop_row(number);
                }
                Vec::new()
            }
            Kind::Between => Vec::new(),
            Kind::Other => {
                self.close();
                Vec::new()
            }
        }
    }

    fn begin(&mut self, line: &[u8], head: Head, number: u64) {
        let (start, columns) = (head.start, head.columns);
        self.columns = columns
            .into_iter()
            .map(|word| Column {
                start: word.start.saturating_sub(start),
                name: String::from_utf8_lossy(line.get(word).unwrap_or_default()).into_owned(),
            })
            .collect();
        self.head = start;
        self.is_open = true;
        self.watch(number);
        let names = self.columns.iter().map(|column| &column.name);
        let unknown: Vec<String> = names.filter(|name| !is_known(name)).cloned().collect();
        let is_told = self.not_read.iter().any(|(_, names)| *names == unknown);
        if !unknown.is_empty() && !is_told && self.not_read.len() < MOST_TABLES {
            self.not_read.push((number, unknown));
        }
    }

    fn watch(&mut self, number: u64) {
        self.watched_to = number.saturating_add(WATCHED_LINES);
    }

    fn drop_row(&mut self, number: u64) {
        self.dropped.get_or_insert((number, 0)).1 += 1;
    }

    /// Whether a row has a value in each column.
    fn is_whole(&self, row: &Row) -> bool {
        row.values.len() == self.columns.len()
    }

    /// Whether each number of a row stands in a column that is known by it.
    fn has_place_for_all(&self, line: &[u8], row: &Row) -> bool {
        let is_in_column = |value: &Range<usize>| {
            let start = value.start.saturating_sub(row.start);
            self.columns.iter().any(|column| column.start == start)
        };
        let mut numbers = row.values.iter().filter(|value| number(line, value).is_some());
        self.is_whole(row) || numbers.all(is_in_column)
    }

    fn cells(&self, line: &[u8], row: &Row) -> Vec<Cell> {
        let index = String::from_utf8_lossy(line.get(row.index.clone()).unwrap_or_default());
        let label = if row.is_of_gpu { "gpu" } else { "entity" };
        let is_whole = self.is_whole(row);
        let cells = self.columns.iter().enumerate().filter_map(|(at, column)| {
            // A value that there is not leaves its column empty.
            let place = if is_whole {
                row.values.get(at)
            } else {
                let start = row.start + column.start;
                row.values.iter().find(|word| word.start == start)
            };
            let place = place?.clone();
            let (_, field, bad) = HEALTH.iter().find(|(name, ..)| *name == column.name)?;
            let value = number(line, &place)?;
            let is_bad = bad.is(value);
            let is_worth_saying = value != 0 || is_bad;
            is_worth_saying.then(|| Cell {
                text: format!("{field}{{{label}=\"{index}\"}} {value}"),
                place,
                is_bad,
            })
        });
        cells.collect()
    }

    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let columns = self.not_read.iter().map(|(line, names)| {
            let named = names
                .iter()
                .take(MOST_NAMED)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            let further = if names.len() > MOST_NAMED { ", …" } else { "" };
            format!("the table of dcgmi dmon on line {line} has columns that were not read: {named}{further}")
        });
        let rows = self.dropped.iter().map(|(line, count)| {
            format!(
                "rows of tables of dcgmi dmon that were not read, or not wholly: {count}, the first on line {line}"
            )
        });
        columns.chain(rows)
    }
}

/// Whether all behind the entity of a row can be values: `GPU 3 fell off the bus` is no row.
fn is_of_values(line: &[u8], row: &Row) -> bool {
    let is_value = |place: &Range<usize>| {
        let text = line.get(place.clone()).unwrap_or_default();
        let is_number = std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok());
        is_number || matches!(text, b"N/A" | b"-")
    };
    !row.values.is_empty() && row.values.iter().all(is_value)
}

fn number(line: &[u8], place: &Range<usize>) -> Option<u64> {
    std::str::from_utf8(line.get(place.clone())?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(table: &str) -> (Vec<String>, Vec<String>) {
        let mut tables = Tables::default();
        let lines = (1..).zip(table.lines());
        let cells: Vec<Cell> = lines
            .flat_map(|(number, line)| tables.take(line.as_bytes(), number))
            .collect();
        let text = |cell: &Cell| format!("{}{}", if cell.is_bad { "! " } else { "" }, cell.text);
        (cells.iter().map(text).collect(), tables.notes().collect())
    }

    #[test]
    fn each_column_of_health_is_said_as_the_exporter_says_it() {
        let (cells, notes) = said(
            "#Entity   XIDER   TMPTR   EDVTL   DVCCTR   ZORG   ICVLD\n\
             ID                C                               \n\
             GPU 0     0       45      0       1        7      1    \n\
             GPU 3     79      N/A     2       65       7      0    \n\
             \n\
             #Entity   XIDER   TMPTR   EDVTL   DVCCTR   ZORG   ICVLD\n\
             ID                C                               \n\
             GPU 4             45      3                7      1    \n\
             the end\n\
             GPU 5     79      45      0       0        7      1    \n",
        );
        assert_eq!(
            cells,
            [
                r#"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="0"} 1"#,
                r#"DCGM_FI_DEV_INFOROM_CONFIG_VALID{gpu="0"} 1"#,
                r#"! DCGM_FI_DEV_XID_ERRORS{gpu="3"} 79"#,
                r#"! DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu="3"} 2"#,
                r#"! DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="3"} 65"#,
                r#"! DCGM_FI_DEV_INFOROM_CONFIG_VALID{gpu="3"} 0"#,
                r#"! DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu="4"} 3"#,
                r#"DCGM_FI_DEV_INFOROM_CONFIG_VALID{gpu="4"} 1"#,
            ]
        );
        assert_eq!(
            notes,
            [
                "the table of dcgmi dmon on line 1 has columns that were not read: ZORG",
                "rows of tables of dcgmi dmon that were not read, or not wholly: 1, the first on line 10",
            ]
        );
    }

    #[test]
    fn links_and_switches_have_rows_and_other_tables_have_none() {
        let (cells, _) = said("# Entity        NVLRPE\nID\nGPU 0 LINK 4    3\nSW 1 LINK 2     0\n");
        assert_eq!(cells, [r#"! DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL{gpu="0"} 3"#]);
        let (cells, notes) = said("# gpu   XIDER\nGPU 0   79\n#EntityX XIDER\nGPU 0   79\n");
        assert_eq!((cells, notes), (vec![], vec![]));
    }

    #[test]
    fn a_mig_instance_is_not_named_as_a_gpu() {
        let (cells, _) = said("#Entity     XIDER\nGPU 0       31\nGPU-I 1     79\nGPU-CI 2    13\n");
        assert_eq!(
            cells,
            [
                r#"! DCGM_FI_DEV_XID_ERRORS{gpu="0"} 31"#,
                r#"! DCGM_FI_DEV_XID_ERRORS{entity="1"} 79"#,
                r#"! DCGM_FI_DEV_XID_ERRORS{entity="2"} 13"#,
            ]
        );
    }

    #[test]
    fn a_row_that_is_not_read_is_told() {
        const HEAD: &str = "#Entity   XIDER   TMPTR\n";
        let dropped = |table: &str| said(&format!("{HEAD}{table}")).1.pop();
        assert_eq!(
            dropped("GPU 0     79      45\nGPU 1             45\nGPU 2     N/A     45\n"),
            None
        );
        assert_eq!(dropped("step 1\nGPU 0 fell off the bus\nCPU 3 at 100 %\n"), None);
        let told = |table: &str, end: &str| {
            let note = dropped(table);
            assert!(
                note.as_ref().is_some_and(|note| note.ends_with(end)),
                "{table}: {note:?}"
            );
        };
        told(
            "GPU 0     0       45\nstep 1\nGPU 1     79      45\n",
            "1, the first on line 4",
        );
        told(
            "step 1\nstep 2\nGPU 0     0       45\nGPU 1     79      45\n",
            "2, the first on line 4",
        );
        // A value that stands below no column.
        told("GPU 0   79\n", "1, the first on line 2");
    }
}
