//! The agent on Arm with the stand-in for the driver, which is built for Arm and opened as the driver's libraries are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use fake_gpu::Scenario;
use fake_gpu::scenario::Library;
use serde_json::Value;

use super::trial::{Expected, Trial};
use super::{TRIPLE, compiler};
use crate::shell;

/// Small buffers, and time for steps that an emulator does.
const ARGUMENTS: [&str; 7] = [
    "probe",
    "--json",
    "--buffer-kib=4",
    "--step-timeout=60",
    "--timeout=110",
    "--fail-on=unknown",
    "--expect=p2p=all",
];

pub(super) fn run(trial: &Trial, agent: &Path) -> Result<()> {
    shell::run(&mut compiler::cargo(
        &["build", "--package", "fake-gpu", "--lib"],
        TRIPLE,
    )?)?;
    let library = std::path::absolute(compiler::folder().join(TRIPLE).join("debug/libfake_gpu.so"))?;
    for (name, scenario, code, verdict) in [
        ("healthy", Scenario::healthy(2), 0, "healthy"),
        ("refused", Scenario::refused_gns(), 2, "refused"),
        ("private mirror", Scenario::private_mirror(), 2, "broken"),
        ("ECC error", Scenario::ecc_error(), 2, "broken"),
        (
            "half the links down",
            Scenario::half_the_links_down(),
            1,
            "degraded",
        ),
        ("no library", Scenario::library_missing(), 3, "unknown"),
    ] {
        let folder = trial.path(name);
        fs::create_dir(&folder)?;
        let installed = fake_gpu::install(&folder, &scenario)?;
        for named in Library::ALL {
            let place = installed.library(named);
            if place.is_symlink() {
                fs::remove_file(&place)?;
                symlink(&library, &place)?;
            }
        }
        let mut command = trial.command(agent, &ARGUMENTS);
        command
            .env_remove("CUDA_VISIBLE_DEVICES")
            .envs(installed.environment());
        let expected = Expected {
            name: &format!("peerless-agent probe, stand-in: {name}"),
            input: "",
            code,
            says: verdict,
        };
        let report: Value = serde_json::from_slice(&expected.of(&command)?.stdout).context("no report")?;
        let found = report.pointer("/conclusion/verdict").and_then(Value::as_str);
        ensure!(found == Some(verdict), "{name}: the verdict is {found:?}");
        ensure!(
            installed.calls()?.contains_key("cuInit") == (verdict != "unknown"),
            "{name}: the stand-in was not what the agent opened"
        );
    }
    Ok(())
}
