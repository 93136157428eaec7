//! `peerless-agent convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kb_core::convert::{Capability, Format};
use kb_core::ids::NodeId;
use kb_core::report::Engine;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

#[derive(Debug, Args)]
#[command(
    after_help = "Taken are the table and -j of nvbandwidth, p2pBandwidthLatencyTest, simpleP2P, the tables of \
    nccl-tests, `nvidia-smi topo -m` and `topo -p2p`, and logs with NCCL_DEBUG=INFO or NCCL_RUN_DIAGNOSTICS=1, also \
    several in one file. `peerless-agent report --from FILE` uploads the result."
)]
pub(crate) struct ConvertArgs {
    /// What the tool printed; - is standard input
    pub(crate) file: PathBuf,
    /// Tool that printed it [default: told by its first line]
    #[arg(long, value_name = "TOOL", value_parser = format())]
    pub(crate) format: Option<Format>,
    /// Write the report here in place of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Id of the node that it is of [default: this one's]
    #[arg(long = "node-id", alias = "node", value_name = "ID")]
    pub(crate) node: Option<NodeId>,
    /// Folder that stands for / where this node's own id is read
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) host_root: PathBuf,
    /// When it was printed, as 2026-11-21T07:21:49Z [default: when the file was last written]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) taken_at: Option<OffsetDateTime>,
    /// What p2pBandwidthLatencyTest copied with; it prints the same for both [default: ce]
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<CopyEngine>,
    /// Size of one transfer of nvbandwidth or p2pBandwidthLatencyTest, where it was not the tool's default
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) bytes: Option<u64>,
    /// What each `topo -p2p` was asked for, in their order: r,w,n,a,p
    #[arg(long, value_name = "LETTERS", value_delimiter = ',', value_parser = capability)]
    pub(crate) p2p: Vec<Capability>,
    /// Collective of an nccl-tests output that does not name it: `all_reduce`
    #[arg(long, value_name = "NAME", value_parser = collective)]
    pub(crate) collective: Option<String>,
    /// Host of an NCCL log whose lines are taken, where it has those of several
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
}

/// What moves the bytes of a copy.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CopyEngine {
    /// The copy engine
    Ce,
    /// A kernel (`--sm_copy`)
    Sm,
}

impl From<CopyEngine> for Engine {
    fn from(engine: CopyEngine) -> Self {
        match engine {
            CopyEngine::Ce => Self::Ce,
            CopyEngine::Sm => Self::Sm,
        }
    }
}

fn format() -> impl clap::builder::TypedValueParser<Value = Format> {
    use clap::builder::TypedValueParser as _;
    let names = Format::ALL.map(Format::name);
    clap::builder::PossibleValuesParser::new(names)
        .try_map(|name| Format::of_name(&name).ok_or_else(|| format!("{name:?} is no format")))
}

fn capability(letter: &str) -> Result<Capability, String> {
    Capability::of_letter(letter).ok_or_else(|| format!("{letter:?} is none of r, w, n, a, p"))
}

fn collective(name: &str) -> Result<String, String> {
    let fits =
        (1..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let wrong = || format!("{name:?} is no collective such as all_reduce");
    fits.then(|| name.to_owned()).ok_or_else(wrong)
}

fn time(text: &str) -> Result<OffsetDateTime, String> {
    let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|error| error.to_string())?;
    let utc = time.checked_to_offset(time::UtcOffset::UTC);
    utc.ok_or_else(|| "the year must be 0 to 9999".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        assert_eq!(capability("w"), Ok(Capability::Write));
        assert!(capability("x").is_err());
        assert!(collective("all_reduce").is_ok() && collective("../x").is_err() && collective("").is_err());
        assert!(time("2026-11-21T07:21:49+01:00").is_ok() && time("yesterday").is_err());
    }
}
