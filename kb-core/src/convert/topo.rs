//! `nvidia-smi topo -m` and `topo -p2p`.
//!
//! The second prints the same whatever capability it is asked for, so that has to be told. GPU numbers are
//! nvidia-smi's, which are CUDA's only with `CUDA_DEVICE_ORDER=PCI_BUS_ID`.

use super::draft::{Capability, Draft};
use super::error::ConvertError;
use super::format::Section;
use super::lines::Line;
use crate::report::{Fact, P2pStatus};

const MATRIX: &str = "nvidia-smi topo -m";
const P2P: &str = "nvidia-smi topo -p2p";

/// Columns in front of the affinities, as `GPU` numbers; `None` for network cards.
struct Columns(Vec<Option<u32>>);

impl Columns {
    fn read(draft: &mut Draft, section: &Section<'_>) -> Result<Self, ConvertError> {
        let header = section.lines.iter().find(|line| line.text.contains("GPU0"));
        let header = header.ok_or_else(|| {
            ConvertError::new("there is no header with GPU0", "give all that nvidia-smi printed")
        })?;
        let names = header.text.split('\t').map(str::trim);
        // Columns are tabs apart; a space would be within "CPU Affinity".
        let names: Vec<&str> = names
            .filter(|name| !name.is_empty() && !name.contains(' '))
            .collect();
        let mut columns = Vec::new();
        for name in names {
            let number = gpu_number(name);
            if let Some(number) = number {
                draft.gpu(number, header.number)?;
            }
            columns.push(number);
        }
        let in_order = columns
            .iter()
            .flatten()
            .zip(0..)
            .all(|(number, place)| *number == place);
        if !in_order || columns.iter().flatten().next().is_none() {
            return Err(ConvertError::damaged(
                header.number,
                "the header does not name the GPUs in order",
            ));
        }
        Ok(Self(columns))
    }

    fn cells<'a>(&self, line: &'a Line) -> Result<Vec<(u32, &'a str)>, ConvertError> {
        let words: Vec<&str> = line.words().skip(1).collect();
        if words.len() < self.0.len() {
            return Err(ConvertError::damaged(
                line.number,
                format!("this row has {} of {} columns", words.len(), self.0.len()),
            ));
        }
        let cells = self.0.iter().zip(words);
        Ok(cells
            .filter_map(|(number, word)| Some(((*number)?, word)))
            .collect())
    }

    fn gpus(&self) -> usize {
        self.0.iter().flatten().count()
    }
}

fn gpu_number(name: &str) -> Option<u32> {
    name.strip_prefix("GPU")?.parse().ok()
}

fn rows<'a>(
    section: &'a Section<'_>,
    columns: &Columns,
    tool: &str,
) -> Result<Vec<(u32, &'a Line)>, ConvertError> {
    let mut rows: Vec<(u32, &Line)> = Vec::new();
    let behind_header = section
        .lines
        .iter()
        .skip_while(|line| !line.text.contains("GPU0"))
        .skip(1);
    for line in behind_header {
        let Some(number) = line.words().next().and_then(gpu_number) else {
            // Rows of network cards stand behind those of the GPUs.
            if rows.len() == columns.gpus() {
                break;
            }
            continue;
        };
        if usize::try_from(number).ok() != Some(rows.len()) {
            return Err(ConvertError::damaged(
                line.number,
                format!("row {} is missing before GPU{number}", rows.len()),
            ));
        }
        rows.push((number, line));
        if rows.len() == columns.gpus() {
            break;
        }
    }
    if rows.len() < columns.gpus() {
        return Err(ConvertError::cut(
            section.last_line(),
            &format!("the table of {tool}"),
        ));
    }
    Ok(rows)
}

pub(super) fn matrix(draft: &mut Draft, section: &Section<'_>) -> Result<(), ConvertError> {
    let columns = Columns::read(draft, section)?;
    draft.note(
        MATRIX,
        "GPU numbers are nvidia-smi's, which are CUDA's only with CUDA_DEVICE_ORDER=PCI_BUS_ID",
    );
    let mut seen = std::collections::BTreeMap::new();
    for (row, line) in rows(section, &columns, MATRIX)? {
        for (column, word) in columns.cells(line)? {
            if word == "X" && row == column {
                continue;
            }
            let path = path(word).filter(|_| row != column).ok_or_else(|| {
                ConvertError::damaged(
                    line.number,
                    format!("{word:?} is no connection of GPU{row} and GPU{column}"),
                )
            })?;
            if let Some(other) = seen.insert((row.min(column), row.max(column)), path)
                && other != path
            {
                return Err(ConvertError::damaged(
                    line.number,
                    format!(
                        "GPU{row} and GPU{column} are joined by {word}, and the other way by something else"
                    ),
                ));
            }
            let pair = draft.pair(row, column);
            match path {
                Path::Links(count) => pair.nvlinks = Some(Fact::read(count, MATRIX)),
                Path::Bus(name) => {
                    pair.nvlinks = Some(Fact::read(0, MATRIX));
                    pair.common_ancestor = Some(Fact::read(name.to_owned(), MATRIX));
                }
            }
        }
        let mut affinity = line.text.split('\t').map(str::trim).skip(columns.0.len() + 1);
        if let Some(cpus) = affinity.next().filter(|text| !text.is_empty() && *text != "N/A") {
            let fact = Fact::read(cpus.into(), MATRIX);
            draft
                .gpu(row, line.number)?
                .facts
                .insert("cpu.affinity".to_owned(), fact);
        }
        if let Some(node) = affinity.next().filter(|text| !text.is_empty() && *text != "N/A") {
            let fact = Fact::read(node.into(), MATRIX);
            draft
                .gpu(row, line.number)?
                .facts
                .insert("numa.affinity".to_owned(), fact);
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    Links(u32),
    Bus(&'static str),
}

fn path(word: &str) -> Option<Path> {
    if let Some(count) = word.strip_prefix("NV") {
        return count.parse().ok().map(Path::Links);
    }
    let known = ["PIX", "PXB", "PHB", "NODE", "SYS"];
    known.into_iter().find(|name| *name == word).map(Path::Bus)
}

pub(super) fn p2p(
    draft: &mut Draft,
    section: &Section<'_>,
    told: Option<Capability>,
) -> Result<(), ConvertError> {
    let columns = Columns::read(draft, section)?;
    let by_command = || {
        let (_, rest) = section.command.split_once("-p2p")?;
        Capability::of_letter(rest.split_whitespace().next()?)
    };
    let capability = told.or_else(by_command);
    if capability.is_none() {
        draft.note(P2P, "its output does not tell what was asked for (r, w, n, a or p): the statuses are kept as facts of the pairs only (--p2p r,w says which they are)");
    }
    for (row, line) in rows(section, &columns, P2P)? {
        for (column, word) in columns.cells(line)? {
            if row == column && word == "X" {
                continue;
            }
            let status = status(word).filter(|_| row != column).ok_or_else(|| {
                ConvertError::damaged(
                    line.number,
                    format!("{word:?} is no status of GPU{row} towards GPU{column}"),
                )
            })?;
            if let Some(capability) = capability {
                let direction = draft.direction(row, column);
                direction.nvml.insert(capability, Fact::read(status, P2P));
            } else {
                add_unsaid(draft, (row, column), word);
            }
        }
    }
    Ok(())
}

fn add_unsaid(draft: &mut Draft, (row, column): (u32, u32), word: &str) {
    let facts = &mut draft.pair(row, column).facts;
    let fact = facts
        .entry("p2p.status_unsaid".to_owned())
        .or_insert_with(|| Fact::read("".into(), P2P));
    let known = fact.value.as_ref().and_then(|value| value.as_str());
    let mut words: Vec<&str> = known
        .unwrap_or_default()
        .split_whitespace()
        .chain([word])
        .collect();
    words.sort_unstable();
    words.dedup();
    let words = words.join(" ");
    fact.value = Some(words.into());
}

fn status(word: &str) -> Option<P2pStatus> {
    Some(match word {
        "OK" => P2pStatus::Ok,
        "CNS" => P2pStatus::Cns,
        "GNS" => P2pStatus::Gns,
        "TNS" => P2pStatus::Tns,
        "DR" => P2pStatus::Dr,
        "NS" => P2pStatus::Ns,
        "U" => P2pStatus::U,
        _ => return None,
    })
}
