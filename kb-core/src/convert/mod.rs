//! What other tools print, turned into a report: results without the agent.
//!
//! ```text
//! bytes -> lines (colours off) -> prefixes (of launchers, off) -> format (sections, by what a tool prints first)
//!       -> nvbandwidth, p2p_test, simple_p2p, nccl_tests, topo, nccl_log, driver_lines -> draft -> finish -> report
//! ```
//!
//! The tools' own defects are mended where that can be done, and told in the report's notes where not. Damaged and
//! cut output is an error that names the line; nothing is made up for what is missing.

mod draft;
mod driver_lines;
mod error;
mod finish;
mod format;
mod lines;
mod matrix;
mod nccl_log;
mod nccl_tests;
mod nvbandwidth;
mod p2p_test;
mod prefixes;
mod simple_p2p;
mod topo;

pub use draft::Capability;
pub use error::ConvertError;
pub use format::Format;

use crate::report::{Engine, Node, Report};
use draft::Draft;

/// What the output does not say itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which tool it is; found out where absent.
    pub format: Option<Format>,
    /// The node that the output is of.
    pub node: Node,
    /// When it was printed, RFC 3339, UTC.
    pub taken_at: String,
    /// Version of the program that converts.
    pub agent_version: String,
    /// What p2pBandwidthLatencyTest copied with: it prints the same with and without `--sm_copy`.
    pub engine: Option<Engine>,
    /// Size of one transfer of nvbandwidth and p2pBandwidthLatencyTest, which they do not print.
    pub bytes: Option<u64>,
    /// The capabilities of `topo -p2p` matrices in their order: they look all the same.
    pub capabilities: Vec<Capability>,
    /// The collective of an nccl-tests output that does not name it (before 2.17).
    pub collective: Option<String>,
    /// Of an NCCL log of several hosts, the lines of this one.
    pub host: Option<String>,
}

impl Options {
    /// Of output that says the rest itself.
    pub fn new(node: Node, taken_at: String, agent_version: String) -> Self {
        Self {
            format: None,
            node,
            taken_at,
            agent_version,
            engine: None,
            bytes: None,
            capabilities: Vec::new(),
            collective: None,
            host: None,
        }
    }
}

/// Turns output into a report.
pub fn convert(bytes: &[u8], options: &Options) -> Result<Report, ConvertError> {
    let mut draft = Draft::default();
    let may_be_json = options
        .format
        .is_none_or(|format| format == Format::NvbandwidthJson);
    if may_be_json && nvbandwidth::is_json(bytes) {
        return from_json(bytes, options);
    }
    let lines = prefixes::without_prefixes(lines::lines(bytes));
    let first = lines.iter().find(|line| !line.text.trim().is_empty());
    let begins_as_json = first.is_some_and(|line| nvbandwidth::is_json(line.text.as_bytes()));
    if options.format == Some(Format::NvbandwidthJson) || (may_be_json && begins_as_json) {
        let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        return from_json(text.join("\n").as_bytes(), options);
    }
    let mut capabilities = options.capabilities.iter().copied();
    for section in format::sections(&lines, options.format)? {
        if !draft.tools.contains(&section.format.tool()) {
            draft.tools.push(section.format.tool());
        }
        match section.format {
            Format::Nvbandwidth => nvbandwidth::text(&mut draft, &section, options)?,
            Format::NvbandwidthJson => {}
            Format::P2pBandwidthLatencyTest => p2p_test::read(&mut draft, &section, options)?,
            Format::SimpleP2p => simple_p2p::read(&mut draft, &section)?,
            Format::NcclTests => nccl_tests::read(&mut draft, &section, options)?,
            Format::Topo => topo::matrix(&mut draft, &section)?,
            Format::TopoP2p => topo::p2p(&mut draft, &section, capabilities.next())?,
            Format::NcclLog => nccl_log::read(&mut draft, &section, options)?,
        }
    }
    driver_lines::read(&mut draft, &lines);
    finish::finish(draft, options)
}

fn from_json(bytes: &[u8], options: &Options) -> Result<Report, ConvertError> {
    let mut draft = Draft::default();
    draft.tools.push(Format::NvbandwidthJson.tool());
    nvbandwidth::json(&mut draft, bytes, options)?;
    finish::finish(draft, options)
}
