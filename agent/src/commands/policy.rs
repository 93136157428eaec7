//! `peerless-agent policy explain`: what a code means on this node, by the policy that is kept here.

use kb_core::policy::{Code, table};

use crate::cli::{PolicyArgs, PolicyVerb};
use crate::policy::PolicyFile;

use super::{InputError, print};

pub(crate) fn policy(arguments: &PolicyArgs) -> anyhow::Result<u8> {
    let PolicyVerb::Explain = arguments.what;
    let kept = PolicyFile::of(&arguments.state.folder()).read();
    let kept = kept.map_err(|why| anyhow::anyhow!("the policy cannot be read: {why}"))?;
    let told = match &kept {
        Some(kept) => kept.told(),
        None => "no policy was fetched: the records alone decide".to_owned(),
    };
    let policy = kept.map(|kept| kept.given.policy).unwrap_or_default();
    let model = arguments.model.as_deref();
    let text = if arguments.code.is_empty() {
        table(&policy.explain_xids(model))
    } else {
        // `xid 63` comes as two words where nobody puts quotation marks around it.
        let code = Code::parse(&arguments.code.join(" "), &[]);
        let code = code.map_err(|error| InputError(error.to_string()))?;
        format!("{}\n", policy.explain(&code, model, None))
    };
    print(&format!("{told}\n{text}"))?;
    Ok(0)
}
