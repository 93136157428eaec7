//! `peerless policy explain [CODE]`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use kb_core::policy::{Code, Explained, Policy, Said, table};

use super::super::at_hand::KnowledgeArgs;
use super::super::say;
use super::PolicyFileArgs;
use crate::domain::labels;
use crate::domain::policy::names::{Names, by_all_names, find, known_as};
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
    let policy = by_all_names(policy, &generation);
    let model = arguments.model.as_deref();
    if arguments.code.is_empty() {
        say(table(&policy.explain_xids(model)).trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let names = Names::of(&generation);
    // `xid 63` comes as two words where nobody puts quotation marks around it.
    let code = names.parse(&arguments.code.join(" "))?;
    say(explained(&policy, (&generation, &code), model))?;
    Ok(ExitCode::SUCCESS)
}

/// What a code means, its record being the one that has the id today, or had it.
fn explained(policy: &Policy, (generation, code): (&Generation, &Code), model: Option<&str>) -> Explained {
    let published = code.own_record().and_then(|id| find(generation, id));
    let known = match (code, published) {
        (Code::Record(_), Some(published)) => Code::Record(known_as(generation, published).to_string()),
        _ => code.clone(),
    };
    let mut explained = policy.explain(&known, model, said(generation, code));
    explained.code = code.clone();
    if let Some(published) = published {
        explained.record = Some(published.id().to_string());
    }
    explained
}

/// What the record of a code says.
fn said(generation: &Generation, code: &Code) -> Option<Said> {
    let annex = &find(generation, code.own_record()?)?.record.annex;
    Some(Said {
        severity: annex.severity,
        action: annex.action,
        at_fault: annex.at_fault.as_ref().map(|at_fault| at_fault.who),
    })
}
