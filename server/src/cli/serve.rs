//! `peerless serve`.

use std::borrow::Cow;
use std::io::Write as _;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use crate::clock::{Clock as _, SystemClock};
use crate::config::ServeArgs;
use crate::startup::{Application, Environment, Seeds, demo, greet};
use crate::telemetry;

pub(super) async fn run(settings: &ServeArgs) -> anyhow::Result<ExitCode> {
    telemetry::log_to_stderr(settings.log);
    // Before anything takes time: a signal that comes during the start must not be lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let environment = if settings.without_shipped {
        Environment::with(Seeds::These(Vec::new()))
    } else {
        Environment::with(Seeds::Shipped)
    };
    // Kept until the server has stopped, and removed then.
    let mut folder = None;
    let mut settings = Cow::Borrowed(settings);
    if settings.demo {
        let made = tempfile::Builder::new().prefix("peerless-demo-").tempdir()?;
        settings = Cow::Owned(demo::settings(&settings, made.path())?);
        folder = Some(made);
    }
    let application = Application::build(&settings, environment).await?;
    if settings.demo {
        demo::fill(&application, SystemClock.now()).await?;
    }
    // Nobody has to read it.
    let _ = std::io::stdout().write_all(greet(&application, &settings).as_bytes());
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    application.run_until_stopped(stop).await?;
    drop(folder);
    Ok(ExitCode::SUCCESS)
}
