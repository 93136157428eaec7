//! `peerless try [--pattern REGEX] [FILE]`: a pattern for lines, and what it would take, before it is put into a record.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use kb_core::signature::PatternSpec;

use super::at_hand::KnowledgeArgs;
use super::say;
use crate::bundle;
use crate::domain::workbench::{
    Answer, LineSource, MOST_BYTES, MOST_LINES, Question, ReportLines, Subject, Workbench,
};
use crate::feed;
use crate::render::workbench_text;

/// Exit code where no line is taken, or no pattern can be made.
const NOTHING: u8 = 1;
/// How long logs of kept reports are read.
const PATIENCE: Duration = Duration::from_secs(10);
/// Processor time of the answer.
const TIME: Duration = Duration::from_mins(1);

const HELP: &str = "\
Exit code: 0 a pattern was made or takes a line, 1 no pattern can be made or it takes no line, 2 trouble, 64 the call \
makes no sense.

Examples:
  peerless try error.log
  dmesg | tail -3 | peerless try
  peerless try --pattern 'GPU has fallen off the bus' error.log";

/// Which lines, and what is tried on them.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct TryArgs {
    /// Lines of one error; - or none reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A pattern to try, in Rust regex syntax; without one it is made from the lines
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pattern: Option<String>,
    /// Flags of the pattern: any of i, m, s, x
    #[arg(long, value_name = "FLAGS", requires = "pattern", default_value = "")]
    flags: String,
    /// The answer of POST /api/v1/workbench, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

pub(super) async fn run(arguments: TryArgs) -> anyhow::Result<ExitCode> {
    let (file, json) = (arguments.file.clone(), arguments.json);
    let lines = tokio::task::spawn_blocking(move || read(file)).await??;
    let (generation, sources): (_, Vec<Arc<dyn LineSource>>) = match arguments.knowledge.database().await? {
        Some((store, follower)) => {
            let generation = follower.knowledge().current();
            (generation, vec![Arc::new(ReportLines::new(store))])
        }
        None => (Arc::new(feed::offline(bundle::embedded()?)?), Vec::new()),
    };
    let workbench = Workbench::new(sources);
    let gathered = workbench.gather(PATIENCE).await?;
    let question = Question {
        lines,
        propose: arguments.pattern.is_none(),
        subject: arguments.pattern.map(|regex| {
            Subject::Pattern(PatternSpec {
                id: "tried".to_owned(),
                regex,
                flags: arguments.flags,
                captures: Vec::new(),
            })
        }),
    };
    let work = move || workbench.answer(question, &generation, &gathered, TIME);
    let answer = tokio::task::spawn_blocking(work).await?;
    if json {
        say(serde_json::to_string(&answer)?)?;
    } else {
        say(workbench_text::render(&answer).trim_end())?;
    }
    Ok(code(&answer))
}

fn code(answer: &Answer) -> ExitCode {
    if answer.lines.iter().any(|line| line.taken.is_some()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOTHING)
    }
}

fn read(file: Option<PathBuf>) -> anyhow::Result<Vec<String>> {
    let most = u64::try_from(MOST_BYTES)?.saturating_add(1);
    let mut bytes = Vec::new();
    match file.filter(|file| file.as_os_str() != "-") {
        Some(path) => {
            let shown = || path.display().to_string();
            let file = std::fs::File::open(&path).with_context(shown)?;
            file.take(most).read_to_end(&mut bytes).with_context(shown)?;
        }
        None => {
            std::io::stdin().take(most).read_to_end(&mut bytes)?;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if bytes.len() > MOST_BYTES || lines.len() > MOST_LINES {
        anyhow::bail!("at most {MOST_LINES} lines of {MOST_BYTES} bytes together: give lines of one error");
    }
    Ok(lines)
}
