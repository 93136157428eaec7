//! `peerless policy replay`, and what a checked policy would change.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use kb_core::policy::Policy;

use super::super::at_hand::KnowledgeArgs;
use super::super::{open_existing, say};
use super::read;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::correlate::Correlator;
use crate::domain::policy::Stages;
use crate::domain::policy::names::by_all_names;
use crate::domain::policy::replay::{Asked, Counts, DAYS_MAX, NODES_MAX, NodeReplay, Outcome, Said, replay};
use crate::feed::Generation;
use crate::store::{Store, word};

const HELP: &str = "\
Reads reports, ledgers, exchanged GPUs and admissions of the database, and changes nothing. A node without a report of the time is \
counted apart: nothing is known of it.";

/// What to replay.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReplayArgs {
    /// The policy that is tried [default: the present one]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The policy that nodes are judged by now [default: none]
    #[arg(long, env = "PEERLESS_POLICY", value_name = "FILE")]
    present: Option<PathBuf>,
    /// Days back from now
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=i64::from(DAYS_MAX)))]
    days: u32,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

pub(super) async fn run(arguments: ReplayArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.knowledge.data).await?;
    let generation = arguments.knowledge.current().await?;
    let of = |path: &PathBuf| read(path, &generation);
    let present = arguments
        .present
        .as_ref()
        .map(of)
        .transpose()?
        .unwrap_or_default();
    let given = arguments.policy.as_ref().map(of).transpose()?;
    let given = given.unwrap_or_else(|| present.clone());
    let (counts, nodes) = all((store.as_ref(), &generation), present, &given, arguments.days).await?;
    for node in &nodes {
        say(line(node))?;
    }
    say(format!("policy {}: {}", given.version, counts.sentence()))?;
    say(format!(
        "by the present policy: {}",
        counts.drains_present.sentence()
    ))?;
    say(format!(
        "by policy {}: {}",
        given.version,
        counts.drains_given.sentence()
    ))?;
    say(format!(
        "{} reports were read; {} of the time were not, since another of the same day or verdict was, or the node has too many",
        counts.reports_read, counts.reports_left_out
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// All nodes, page by page. The policies are about their records under whatever id.
pub(super) async fn all(
    (store, generation): (&dyn Store, &Arc<Generation>),
    present: Policy,
    given: &Policy,
    days: u32,
) -> anyhow::Result<(Counts, Vec<NodeReplay>)> {
    let stages = Stages {
        current: by_all_names(present, generation),
        candidate: None,
    };
    let given = &by_all_names(given.clone(), generation);
    let correlator = Arc::new(Correlator::new());
    let (mut counts, mut nodes, mut after) = (Counts::default(), Vec::new(), None);
    loop {
        let page = replay(
            store,
            Asked {
                knowledge: (generation, &correlator),
                present: &stages,
                given,
                days,
                after,
                nodes: NODES_MAX,
                within: Duration::from_mins(1),
                now: SystemClock.now(),
            },
        )
        .await?;
        counts.add(&page.counts);
        nodes.extend(page.nodes);
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok((counts, nodes)),
        }
    }
}

fn line(node: &NodeReplay) -> String {
    let of = |said: &Said| {
        let action = said.action.map_or_else(|| "no action".to_owned(), word);
        let drain = said
            .drained_at
            .as_ref()
            .map_or_else(String::new, |at| format!(", drained {at}"));
        let outcome = match &said.outcome {
            Some(Outcome::Confirmed { why }) => format!(" (confirmed: {why})"),
            Some(Outcome::Contradicted { why }) => format!(" (contradicted: {why})"),
            Some(Outcome::Untold) => " (nothing tells)".to_owned(),
            None => String::new(),
        };
        format!("{}, {action}{drain}{outcome}", said.verdict.word())
    };
    let known = node.known_from.as_ref().map_or_else(String::new, |at| {
        format!("; older reports than of {at} were not read")
    });
    format!(
        "{}: now {}; then {}{known}",
        node.node,
        of(&node.present),
        of(&node.given)
    )
}
