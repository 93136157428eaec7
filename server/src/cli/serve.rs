//! `peerless serve`.

use std::io::Write as _;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use crate::config::ServeArgs;
use crate::startup::{Application, Environment, greet};
use crate::telemetry;

pub(super) async fn run(settings: &ServeArgs) -> anyhow::Result<ExitCode> {
    telemetry::log_to_stderr(settings.log);
    // Before anything takes time: a signal that comes during the start must not be lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let environment = if settings.without_shipped {
        Environment::with(Vec::new())
    } else {
        Environment::system()?
    };
    let application = Application::build(settings, environment).await?;
    // Nobody has to read it.
    let _ = std::io::stdout().write_all(greet(&application, settings).as_bytes());
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    application.run_until_stopped(stop).await?;
    Ok(ExitCode::SUCCESS)
}
