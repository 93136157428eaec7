//! `peerless policy explain [CODE]`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use kb_core::policy::{Code, Said, table};

use super::super::at_hand::KnowledgeArgs;
use super::super::say;
use super::PolicyFileArgs;
use crate::domain::labels;
use crate::feed::Generation;

/// What to explain, and for which node.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// An Xid ("xid 63"), a record or a cause; without one every known Xid, one a line
    #[arg(value_name = "CODE")]
    code: Vec<String>,
    /// The model of the GPU: rules for one model count only where it is said
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// A label of the node, once for each: pool=test
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = labels::parse)]
    labels: Vec<(String, String)>,
    #[command(flatten)]
    file: PolicyFileArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

pub(super) async fn run(arguments: ExplainArgs) -> anyhow::Result<ExitCode> {
    let generation = arguments.knowledge.current().await?;
    let labels: BTreeMap<String, String> = arguments.labels.iter().cloned().collect();
    let policy = arguments.file.read(&generation)?.for_node(&labels);
    let model = arguments.model.as_deref();
    if arguments.code.is_empty() {
        say(table(&policy.explain_xids(model)).trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let records: Vec<&str> = generation
        .records()
        .map(|published| published.id().as_str())
        .collect();
    // `xid 63` comes as two words where nobody puts quotation marks around it.
    let code = Code::parse(&arguments.code.join(" "), &records)?;
    say(policy.explain(&code, model, said(&generation, &code)))?;
    Ok(ExitCode::SUCCESS)
}

/// What the record of a code says.
fn said(generation: &Generation, code: &Code) -> Option<Said> {
    let id = code.own_record()?.parse().ok()?;
    let annex = &generation.record(&id)?.record.annex;
    Some(Said {
        severity: annex.severity,
        action: annex.action,
        at_fault: annex.at_fault.as_ref().map(|at_fault| at_fault.who),
    })
}
