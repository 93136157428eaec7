//! What the sections say, gathered by GPU number until all is known.

use std::collections::BTreeMap;

use super::error::ConvertError;
use crate::report::{
    Cell, Check, Engine, Fact, Failure, Gap, GapKind, LogExcerpt, Measurement, Operation, P2pStatus,
};

/// Most GPUs of a node, as the server takes them.
const MOST_GPUS: u32 = 64;
/// Most measurements of a report, as the server takes them.
const MOST_MEASUREMENTS: usize = 1_000;

/// Everything read so far; GPUs have the numbers that the tools gave them.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) tools: Vec<&'static str>,
    pub(super) hostname: Option<String>,
    pub(super) host: BTreeMap<String, Fact>,
    pub(super) gpus: BTreeMap<u32, DraftGpu>,
    pub(super) pairs: BTreeMap<(u32, u32), DraftPair>,
    pub(super) directions: BTreeMap<(u32, u32), DraftDirection>,
    pub(super) measurements: Vec<Measurement>,
    pub(super) logs: Vec<LogExcerpt>,
    pub(super) failures: Vec<Failure>,
    pub(super) notes: Vec<Failure>,
}

#[derive(Debug, Default)]
pub(super) struct DraftGpu {
    pub(super) name: Option<Fact<String>>,
    pub(super) pci_address: Option<Fact<String>>,
    pub(super) uuid: Option<Fact<String>>,
    pub(super) facts: BTreeMap<String, Fact>,
}

/// Two GPUs, the lower number first.
#[derive(Debug, Default)]
pub(super) struct DraftPair {
    pub(super) nvlinks: Option<Fact<u32>>,
    pub(super) common_ancestor: Option<Fact<String>>,
    pub(super) facts: BTreeMap<String, Fact>,
}

#[derive(Debug, Default)]
pub(super) struct DraftDirection {
    pub(super) can_access_peer: Option<Fact<bool>>,
    pub(super) nvml: BTreeMap<Capability, Fact<P2pStatus>>,
    pub(super) checks: Vec<Check>,
}

/// What `nvidia-smi topo -p2p` is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// `r`
    Read,
    /// `w`
    Write,
    /// `n`
    Nvlink,
    /// `a`
    Atomics,
    /// `p`
    Pci,
}

impl Capability {
    /// By the letter that nvidia-smi takes.
    pub fn of_letter(letter: &str) -> Option<Self> {
        match letter {
            "r" => Some(Self::Read),
            "w" => Some(Self::Write),
            "n" => Some(Self::Nvlink),
            "a" => Some(Self::Atomics),
            "p" => Some(Self::Pci),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Figure<'a> {
    pub(super) metric: &'a str,
    pub(super) unit: &'a str,
    pub(super) engine: Engine,
    pub(super) operation: Operation,
    pub(super) bytes: u64,
    pub(super) peer_access: Option<bool>,
}

impl Draft {
    /// The GPU of a number; new where it was not named before.
    pub(super) fn gpu(&mut self, number: u32, line: usize) -> Result<&mut DraftGpu, ConvertError> {
        if number >= MOST_GPUS {
            return Err(ConvertError::damaged(
                line,
                format!("GPU {number} is named, and a node has at most {MOST_GPUS}"),
            ));
        }
        Ok(self.gpus.entry(number).or_default())
    }

    pub(super) fn name_gpu(
        &mut self,
        number: u32,
        name: &str,
        address: Option<String>,
        (source, line): (&str, usize),
    ) -> Result<(), ConvertError> {
        let gpu = self.gpu(number, line)?;
        same(number, &mut gpu.name, name.trim().to_owned(), (source, line))?;
        match address {
            Some(address) => same(number, &mut gpu.pci_address, address, (source, line)),
            None => Ok(()),
        }
    }

    pub(super) fn pair(&mut self, one: u32, other: u32) -> &mut DraftPair {
        self.pairs.entry((one.min(other), one.max(other))).or_default()
    }

    pub(super) fn direction(&mut self, initiator: u32, owner: u32) -> &mut DraftDirection {
        self.directions.entry((initiator, owner)).or_default()
    }

    /// Whether the driver grants access. A refusal that any tool met outweighs.
    pub(super) fn access(&mut self, initiator: u32, owner: u32, granted: bool, source: &str) {
        let access = &mut self.direction(initiator, owner).can_access_peer;
        let refused = access.as_ref().is_some_and(|fact| fact.value == Some(false));
        if !refused {
            *access = Some(Fact::read(granted, source));
        }
    }

    /// Adds a figure; the same of another run becomes another sample.
    pub(super) fn measure(
        &mut self,
        figure: Figure<'_>,
        (source, destination): (Option<u32>, Option<u32>),
        sample: Result<f64, &str>,
        line: usize,
    ) -> Result<(), ConvertError> {
        for number in [source, destination].into_iter().flatten() {
            self.gpu(number, line)?;
        }
        let alike = |known: &Measurement| {
            known.metric == figure.metric
                && known.unit == figure.unit
                && known.engine == figure.engine
                && known.operation == figure.operation
                && known.bytes == figure.bytes
                && known.peer_access == figure.peer_access
        };
        let place = self.measurements.iter().position(alike);
        if place.is_none() {
            if self.measurements.len() >= MOST_MEASUREMENTS {
                return Err(ConvertError::at(
                    line,
                    format!("this is more than {MOST_MEASUREMENTS} metrics and sizes"),
                    "convert the runs one by one",
                ));
            }
            self.measurements.push(Measurement {
                metric: figure.metric.to_owned(),
                unit: figure.unit.to_owned(),
                engine: figure.engine,
                operation: figure.operation,
                bytes: figure.bytes,
                peer_access: figure.peer_access,
                at_once: None,
                taken: None,
                cells: Vec::new(),
            });
        }
        let measurement = match place {
            Some(place) => self.measurements.get_mut(place),
            None => self.measurements.last_mut(),
        };
        let Some(measurement) = measurement else {
            return Ok(());
        };
        let known = measurement
            .cells
            .iter_mut()
            .find(|cell| cell.source == source && cell.destination == destination);
        match (known, sample) {
            (Some(cell), Ok(sample)) => {
                cell.samples.push(sample);
                cell.gap = None;
            }
            (Some(_), Err(_)) => {}
            (None, sample) => {
                let samples = sample
                    .map(|sample| vec![sample])
                    .map_err(|reason| Gap::new(GapKind::NotSupported, reason));
                measurement.cells.push(Cell::new(source, destination, samples));
            }
        }
        Ok(())
    }

    /// What a reader of the report has to know; once however often it is found.
    pub(super) fn note(&mut self, about: &str, message: impl Into<String>) {
        let note = Failure::new(format!("convert {about}"), message);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(super) fn on_host(&mut self, name: &str, line: usize) -> Result<(), ConvertError> {
        match &self.hostname {
            Some(known) if known != name => Err(ConvertError::at(
                line,
                format!("this is of host {name}, what stands before is of {known}"),
                "a report is of one node: convert their outputs one by one, or choose with --host",
            )),
            _ => {
                self.hostname = Some(name.to_owned());
                Ok(())
            }
        }
    }
}

/// Sets a fact of a GPU, which must be the same wherever it is told.
fn same(
    number: u32,
    fact: &mut Option<Fact<String>>,
    value: String,
    (source, line): (&str, usize),
) -> Result<(), ConvertError> {
    if let Some(Fact {
        value: Some(known), ..
    }) = fact
        && *known != value
    {
        return Err(ConvertError::at(
            line,
            format!("GPU {number} is {value} here and {known} before"),
            "these are of different machines, or in different orders (CUDA_VISIBLE_DEVICES): convert them one by one",
        ));
    }
    *fact = Some(Fact::read(value, source));
    Ok(())
}

/// `0000:3b:00.0` of a domain, bus and device as numbers.
pub(super) fn address(domain: u32, bus: u32, device: u32) -> Option<String> {
    (bus < 256 && device < 32).then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.0"))
}

/// Reads `0000:3b:00`, `00000000:3b:00.0` and the like.
pub(super) fn parse_address(text: &str) -> Option<String> {
    let text = text.split_once('.').map_or(text, |(address, _)| address);
    let mut parts = text.split(':').map(|part| u32::from_str_radix(part, 16).ok());
    let address = address(parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(address)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        for text in ["00000000:3B:00.0", "0000:3b:00", "0:3b:0"] {
            assert_eq!(parse_address(text).as_deref(), Some("0000:3b:00.0"), "{text}");
        }
        for bad in ["", "3b:00", "0000:3b:20", "0000:100:00", "a:b:c:d", "x:y:z"] {
            assert_eq!(parse_address(bad), None, "{bad}");
        }
    }
}
