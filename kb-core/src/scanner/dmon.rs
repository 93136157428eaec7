//! Tables of `dcgmi dmon`: the columns that tell of health, each cell said as dcgm-exporter says the same field, which records know.
//!
//! ```text
//! #Entity   XIDER   EDVTL   TMPTR
//! ID                        C
//! GPU 3     79      0       45         DCGM_FI_DEV_XID_ERRORS{gpu="3"} 79
//! ```

use std::ops::Range;

/// Columns of one table that are read.
const MOST_COLUMNS: usize = 128;
/// Columns that a note names.
const MOST_NAMED: usize = 8;
/// Tables that are told of.
const MOST_TABLES: usize = 8;
/// Bytes of a line that are read: a table has [`MOST_COLUMNS`] columns of 22 characters.
const LONGEST_LINE: usize = 4 << 10;

/// When a cell tells of trouble, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bad {
    /// A history, or a state that asks for nothing: told where a record speaks of it.
    Never,
    NotZero,
    Zero,
    From(u64),
    /// One of these bits.
    Bits(u64),
}

use Bad::{Bits, From as AtLeast, Never, NotZero, Zero};

/// HW slowdown, SW thermal, HW thermal and power brake (`nvmlClocksEventReasons`); other reasons are no trouble.
const SLOWED: u64 = 0x8 | 0x20 | 0x40 | 0x80;

/// Short name, the field as dcgm-exporter names it, and when its value is trouble. Names are those of `dcgmi dmon -l`
/// (`dcgmlib/src/dcgm_fields.cpp` of NVIDIA/DCGM).
const HEALTH: [(&str, &str, Bad); 42] = [
    ("XIDER", "DCGM_FI_DEV_XID_ERRORS", NotZero),
    ("EDVTL", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", NotZero),
    ("EDVL1", "DCGM_FI_DEV_ECC_DBE_VOL_L1", NotZero),
    ("EDVL2", "DCGM_FI_DEV_ECC_DBE_VOL_L2", NotZero),
    ("EDVDV", "DCGM_FI_DEV_ECC_DBE_VOL_DEV", NotZero),
    ("EDVRG", "DCGM_FI_DEV_ECC_DBE_VOL_REG", NotZero),
    ("EDVTX", "DCGM_FI_DEV_ECC_DBE_VOL_TEX", NotZero),
    ("EDATL", "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", Never),
    ("ESVTL", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", Never),
    ("ESATL", "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", Never),
    ("RRF", "DCGM_FI_DEV_ROW_REMAP_FAILURE", NotZero),
    ("RRP", "DCGM_FI_DEV_ROW_REMAP_PENDING", NotZero),
    ("RRAN", "DCGM_FI_DEV_BANK_REMAP_AVAIL_NONE", NotZero),
    ("URMPS", "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", Never),
    ("CRMPS", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", Never),
    ("RPPEN", "DCGM_FI_DEV_RETIRED_PENDING", NotZero),
    ("RPDBE", "DCGM_FI_DEV_RETIRED_DBE", Never),
    ("RPSBE", "DCGM_FI_DEV_RETIRED_SBE", Never),
    ("NFELT", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", NotZero),
    ("NDELT", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", NotZero),
    ("NRELT", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", NotZero),
    ("NRCLT", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", NotZero),
    ("NLCRC", "DCGM_FI_DEV_NVLINK_CRC_TOTAL", NotZero),
    ("NLREP", "DCGM_FI_DEV_NVLINK_REPLAY_TOTAL", NotZero),
    ("NLREC", "DCGM_FI_DEV_NVLINK_RECOVERY_TOTAL", NotZero),
    ("NVLFCE", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_TOTAL", NotZero),
    ("NVLDCE", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_TOTAL", NotZero),
    ("NVLRPE", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL", NotZero),
    ("NVLRCE", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_TOTAL", NotZero),
    ("NLLRF", "DCGM_FI_DEV_NVLINK_RECOVERY_FAILED_TOTAL", NotZero),
    ("GNVERR", "DCGM_FI_DEV_GPU_NVLINK_ERRORS", NotZero),
    ("RPCTR", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", NotZero),
    ("DVCCTR", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", Bits(SLOWED)),
    ("TVIOL", "DCGM_FI_DEV_THERMAL_VIOLATION", NotZero),
    ("RVIOL", "DCGM_FI_DEV_RELIABILITY_VIOLATION", NotZero),
    ("PVIOL", "DCGM_FI_DEV_POWER_VIOLATION", Never),
    ("GPURECOV", "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", NotZero),
    ("FMHSUM", "DCGM_FI_DEV_FABRIC_HEALTH_SUMMARY", AtLeast(2)),
    ("ICVLD", "DCGM_FI_DEV_INFOROM_CONFIG_VALID", Zero),
    ("SEN00", "DCGM_FI_DEV_NVSWITCH_FATAL_ERRORS", NotZero),
    ("SEN01", "DCGM_FI_DEV_NVSWITCH_NON_FATAL_ERRORS", NotZero),
    ("ECPEN", "DCGM_FI_DEV_ECC_PENDING", Never),
];
/// Columns that say how much is done, not how well: nothing is said of them.
const LOAD: [&str; 22] = [
    "GPUTL", "MCUTL", "ECUTL", "DCUTL", "TMPTR", "MMTMP", "POWER", "TOTEC", "SMCLK", "MMCLK", "FBTTL",
    "FBFRE", "FBUSD", "FBRSV", "PSTAT", "FANSP", "GRACT", "SMACT", "SMOCC", "TENSO", "DRAMA", "ECCUR",
];

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
    start: usize,
}

/// The table that is read, and what was not read of tables.
#[derive(Debug, Default)]
pub(super) struct Tables {
    columns: Vec<Column>,
    not_read: Vec<(u64, Vec<String>)>,
}

/// Whether a table begins with this line.
pub(super) fn is_head(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let name = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
    name.and_then(|name| name.strip_prefix(b"Entity"))
        .is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
}

impl Tables {
    pub(super) fn is_open(&self) -> bool {
        !self.columns.is_empty()
    }

    /// A long line is no row.
    pub(super) fn close(&mut self) {
        self.columns.clear();
    }

    /// Takes the next line of a text; gives what its cells say.
    pub(super) fn take(&mut self, line: &[u8], number: u64) -> Vec<Cell> {
        if is_head(line) {
            self.begin(line, number);
            return Vec::new();
        }
        let trimmed = line.trim_ascii();
        // The second line of a head has the units; heads are repeated below a blank line.
        if trimmed.is_empty() || trimmed == b"ID" || trimmed.starts_with(b"ID ") {
            return Vec::new();
        }
        let Some(cells) = self.row(line) else {
            self.close();
            return Vec::new();
        };
        cells
    }

    fn begin(&mut self, line: &[u8], number: u64) {
        let words = words(line);
        let behind = words.iter().position(|word| {
            line.get(word.clone())
                .is_some_and(|name| name.ends_with(b"Entity"))
        });
        let columns = words.into_iter().skip(behind.map_or(0, |head| head + 1));
        self.columns = columns
            .take(MOST_COLUMNS)
            .map(|word| Column {
                name: String::from_utf8_lossy(line.get(word.clone()).unwrap_or_default()).into_owned(),
                start: word.start,
            })
            .collect();
        let is_known = |name: &str| LOAD.contains(&name) || HEALTH.iter().any(|(known, ..)| *known == name);
        let unknown = self
            .columns
            .iter()
            .map(|column| &column.name)
            .filter(|name| !is_known(name));
        let unknown: Vec<String> = unknown.cloned().collect();
        let is_told = self.not_read.iter().any(|(_, names)| *names == unknown);
        if !unknown.is_empty() && !is_told && self.not_read.len() < MOST_TABLES {
            self.not_read.push((number, unknown));
        }
    }

    /// `None` where the line is no row of the table.
    fn row(&self, line: &[u8]) -> Option<Vec<Cell>> {
        let words = words(line);
        let text = |word: &Range<usize>| line.get(word.clone()).unwrap_or_default();
        let of_entity = entity(words.iter().map(text))?;
        let index = String::from_utf8_lossy(words.get(1).map(text)?).into_owned();
        let values = words.get(of_entity..)?;
        let is_whole = values.len() == self.columns.len();
        let label = if text(words.first()?).starts_with(b"GPU") {
            "gpu"
        } else {
            "entity"
        };
        let cells = self.columns.iter().enumerate().filter_map(|(at, column)| {
            // A value that there is not leaves its column empty.
            let place = if is_whole {
                values.get(at)
            } else {
                values.iter().find(|word| word.start == column.start)
            };
            let place = place?.clone();
            let (_, field, bad) = HEALTH.iter().find(|(name, ..)| *name == column.name)?;
            let value: u64 = std::str::from_utf8(line.get(place.clone())?).ok()?.parse().ok()?;
            let is_bad = bad.is(value);
            let is_worth_saying = value != 0 || is_bad;
            is_worth_saying.then(|| Cell {
                text: format!("{field}{{{label}=\"{index}\"}} {value}"),
                place,
                is_bad,
            })
        });
        Some(cells.collect())
    }

    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.not_read.iter().map(|(line, names)| {
            let named = names
                .iter()
                .take(MOST_NAMED)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            let further = if names.len() > MOST_NAMED { ", …" } else { "" };
            format!("the table of dcgmi dmon on line {line} has columns that were not read: {named}{further}")
        })
    }
}

impl Bad {
    fn is(self, value: u64) -> bool {
        match self {
            Never => false,
            NotZero => value != 0,
            Zero => value == 0,
            AtLeast(least) => value >= least,
            Bits(bits) => value & bits != 0,
        }
    }
}

/// How many words name what a row is about: `GPU 3`, `GPU-I 1`, `GPU 0 LINK 4`.
fn entity<'l>(mut words: impl Iterator<Item = &'l [u8]>) -> Option<usize> {
    const ENTITIES: [&[u8]; 9] = [
        b"GPU", b"GPU-I", b"GPU-CI", b"vGPU", b"Switch", b"SW", b"CPU", b"Core", b"CX",
    ];
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    if !ENTITIES.contains(&words.next()?) || !is_number(words.next()?) {
        return None;
    }
    let is_link = words.next() == Some(b"LINK");
    Some(if is_link { 4 } else { 2 })
}

/// Where the words of a line stand.
fn words(line: &[u8]) -> Vec<Range<usize>> {
    let line = line.get(..line.len().min(LONGEST_LINE)).unwrap_or_default();
    let mut words = Vec::new();
    let mut start = None;
    for (at, byte) in line.iter().enumerate() {
        match (start, byte.is_ascii_whitespace()) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                words.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| from..line.len()));
    words
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
            ["the table of dcgmi dmon on line 1 has columns that were not read: ZORG"]
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
    fn a_name_stands_once() {
        let mut names: Vec<&str> = HEALTH.iter().map(|(name, ..)| *name).chain(LOAD).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
