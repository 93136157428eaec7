//! Which tool printed what: sections begin at the line that a tool prints first.

use super::error::ConvertError;
use super::lines::Line;

/// What can be converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// nvbandwidth's table.
    Nvbandwidth,
    /// nvbandwidth with `-j`.
    NvbandwidthJson,
    /// The CUDA sample p2pBandwidthLatencyTest.
    P2pBandwidthLatencyTest,
    /// The CUDA sample simpleP2P.
    SimpleP2p,
    /// A program of nccl-tests.
    NcclTests,
    /// `nvidia-smi topo -m`.
    Topo,
    /// `nvidia-smi topo -p2p`.
    TopoP2p,
    /// A log of a program with `NCCL_DEBUG` or `NCCL_RUN_DIAGNOSTICS`.
    NcclLog,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Nvbandwidth,
        Self::NvbandwidthJson,
        Self::P2pBandwidthLatencyTest,
        Self::SimpleP2p,
        Self::NcclTests,
        Self::Topo,
        Self::TopoP2p,
        Self::NcclLog,
    ];

    /// As `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nvbandwidth => "nvbandwidth",
            Self::NvbandwidthJson => "nvbandwidth-json",
            Self::P2pBandwidthLatencyTest => "p2p-bandwidth-latency-test",
            Self::SimpleP2p => "simple-p2p",
            Self::NcclTests => "nccl-tests",
            Self::Topo => "topo",
            Self::TopoP2p => "topo-p2p",
            Self::NcclLog => "nccl-log",
        }
    }

    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::Nvbandwidth | Self::NvbandwidthJson => "nvbandwidth",
            Self::P2pBandwidthLatencyTest => "p2pBandwidthLatencyTest",
            Self::SimpleP2p => "simpleP2P",
            Self::NcclTests => "nccl-tests",
            Self::Topo => "nvidia-smi topo -m",
            Self::TopoP2p => "nvidia-smi topo -p2p",
            Self::NcclLog => "NCCL log",
        }
    }

    /// By the name that `--format` takes.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

#[derive(Debug)]
pub(super) struct Section<'a> {
    pub(super) format: Format,
    pub(super) lines: Vec<&'a Line>,
    /// The last line before it that is not empty: in a transcript the command.
    pub(super) command: &'a str,
}

impl Section<'_> {
    pub(super) fn last_line(&self) -> usize {
        self.lines.last().map_or(1, |line| line.number)
    }
}

/// The sections of a text in order. NCCL's log lines between those of the program make one section of their own.
pub(super) fn sections(lines: &[Line], chosen: Option<Format>) -> Result<Vec<Section<'_>>, ConvertError> {
    if let Some(format) = chosen {
        let all = lines
            .iter()
            .filter(|line| format == Format::NcclLog || !is_nccl_log(&line.text));
        return Ok(vec![Section {
            format,
            lines: all.collect(),
            command: "",
        }]);
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut log = Vec::new();
    let mut before = "";
    for line in lines {
        if is_nccl_log(&line.text) {
            log.push(line);
            continue;
        }
        match heading(&line.text) {
            Some(format) if !goes_on(sections.last(), format, &line.text) => sections.push(Section {
                format,
                lines: vec![line],
                command: before,
            }),
            _ => {
                if let Some(section) = sections.last_mut() {
                    section.lines.push(line);
                }
            }
        }
        if !line.text.trim().is_empty() {
            before = &line.text;
        }
    }
    if !log.is_empty() {
        sections.push(Section {
            format: Format::NcclLog,
            lines: log,
            command: "",
        });
    }
    if sections.is_empty() {
        let tools = Format::ALL.map(Format::name);
        return Err(ConvertError::new(
            "none of the tools that can be converted begins its output like this",
            format!(
                "where the beginning is missing, say which it is: --format {}",
                tools.join(", ")
            ),
        ));
    }
    Ok(sections)
}

fn heading(text: &str) -> Option<Format> {
    let trimmed = text.trim();
    if trimmed.starts_with("nvbandwidth Version:") {
        return Some(Format::Nvbandwidth);
    }
    if trimmed.starts_with("[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]") {
        return Some(Format::P2pBandwidthLatencyTest);
    }
    if is_simple_p2p(trimmed) {
        return Some(Format::SimpleP2p);
    }
    if trimmed.starts_with("# nccl-tests version") || trimmed.starts_with("# nThread ") {
        return Some(Format::NcclTests);
    }
    let mut columns = trimmed.split_whitespace();
    if text.starts_with(char::is_whitespace) && columns.next() == Some("GPU0") {
        if trimmed.contains("CPU Affinity") {
            return Some(Format::Topo);
        }
        return columns
            .all(|name| name.starts_with("GPU"))
            .then_some(Format::TopoP2p);
    }
    None
}

/// The sample prints the path by which it was started: `[./simpleP2P] - Starting...`.
fn is_simple_p2p(text: &str) -> bool {
    let started = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    started.is_some_and(|(path, rest)| {
        path.rsplit('/').next() == Some("simpleP2P") && rest.trim_start().starts_with("- Starting")
    })
}

/// nccl-tests has two lines that may be the first one.
fn goes_on(section: Option<&Section<'_>>, format: Format, text: &str) -> bool {
    let parameters = |text: &str| text.trim().starts_with("# nThread ");
    section.is_some_and(|section| {
        format == Format::NcclTests
            && section.format == format
            && parameters(text)
            && !section.lines.iter().any(|line| parameters(&line.text))
    })
}

fn is_nccl_log(text: &str) -> bool {
    [" NCCL INFO ", " NCCL WARN "]
        .iter()
        .any(|mark| text.contains(mark))
        || text.trim_start().starts_with("NCCL DIAG ")
        || text.trim_start().starts_with("NCCL version ")
        || text.contains(" NCCL DIAG ")
}
