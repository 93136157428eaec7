//! `peerless export`.

use std::io::Write as _;
use std::process::ExitCode;

use kb_core::ids::Seq;

use super::open_existing;
use crate::bundle::Line;
use crate::config::DataArgs;

/// Records read at once.
const PAGE: u32 = 200;

pub(super) async fn run(data: &DataArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(data).await?;
    let mut output = std::io::stdout().lock();
    let mut after = Seq::default();
    loop {
        let page = store.feed(after, PAGE).await?;
        for change in page.changes {
            let Some(published) = change.published else {
                continue;
            };
            let line = Line {
                id: change.id,
                revision: published.meta.revision,
                document: published.document,
                annex: published.annex,
            };
            serde_json::to_writer(&mut output, &line)?;
            output.write_all(b"\n")?;
        }
        if !page.more {
            return Ok(ExitCode::SUCCESS);
        }
        after = page.reaches;
    }
}
