//! The project's own chores. `cargo xtask --help` lists them.

mod arm;
mod axe;
mod bench;
mod eval;
#[cfg(feature = "fleet")]
mod fleet;
mod lint;
mod oidc;
mod postgres;
mod python_client;
mod random;
mod release;
mod schemathesis;
mod scratch_server;
mod shell;
mod slurm;
mod test;
mod tools;
mod wasm;

use std::ffi::OsString;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of the Peerless project")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run every test: unit, store contract on both engines, HTTP, browser, whole agent runs, kb-seed, compose file.
    Test(test::Options),
    /// Check formatting and lints; with cargo-deny installed also licences, bans and sources.
    Lint,
    /// Run a command with a fresh PostgreSQL server, named to it in `PEERLESS_TEST_POSTGRES`.
    Postgres {
        /// The command and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<OsString>,
    },
    /// Pack what `deploy/build-release.sh` wrote: deb, rpm, wheel, images, bills of materials, sums (needs `dpkg-deb`).
    Package(release::PackageOptions),
    /// Build both programs, pack them and check all of it: glibc, sizes, what the packages hold and need.
    Release(release::Options),
    /// Type-check both programs for Arm, with a compiler that has the standard library for it.
    Arm(arm::Options),
    /// Run the shipped Slurm scripts below a real Slurm on this machine (needs root; 15 s).
    Slurm(slurm::Options),
    /// Build the module with which browsers look through logs themselves (needs Debian's rustc-web, rust-web-src and lld).
    Wasm(wasm::Options),
    /// Ask a server thousands of things that its description allows or forbids (needs Python and the package index).
    Schemathesis(schemathesis::Options),
    /// Generate a Python client from the description and call every operation with it (needs Python and the package index).
    PythonClient(python_client::Options),
    /// Log in at a provider of OpenID Connect on this machine (needs Python and the package index).
    Oidc(oidc::Options),
    /// List the programs beside Rust that these commands need and that are missing; with --install, install them.
    Tools(tools::Options),
    /// Let axe-core look at every page in Chromium (needs Python and the package index).
    Axe(axe::Options),
    /// Measure what the issues demand, with release binaries; prints a Markdown table.
    Bench(bench::Options),
    /// Send a simulated fleet with planted faults to a server that was just started; prints what it found of them.
    #[cfg(feature = "fleet")]
    Fleet(fleet::Options),
    /// Send a simulated fleet with planted faults to a server that was just started; prints what it found of them.
    #[cfg(not(feature = "fleet"))]
    #[command(disable_help_flag = true)]
    Fleet {
        /// Passed on to this program, built with what makes reports.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// How often matching and search are right: collected messages, logs and queries, and texts made from the records.
    Eval(eval::Options),
}

fn main() -> Result<()> {
    match Cli::parse().chore {
        Chore::Test(options) => test::run(&options),
        Chore::Lint => lint::run(),
        Chore::Postgres { command } => postgres::run_with(&command),
        Chore::Package(options) => release::package(&options),
        Chore::Release(options) => release::run(&options),
        Chore::Arm(options) => arm::run(&options),
        Chore::Slurm(options) => slurm::run(&options),
        Chore::Wasm(options) => wasm::run(&options),
        Chore::Schemathesis(options) => schemathesis::run(&options),
        Chore::PythonClient(options) => python_client::run(&options),
        Chore::Oidc(options) => oidc::run(&options),
        Chore::Tools(options) => tools::run(&options),
        Chore::Axe(options) => axe::run(&options),
        Chore::Bench(options) => bench::run(&options),
        #[cfg(feature = "fleet")]
        Chore::Fleet(options) => fleet::run(&options),
        #[cfg(not(feature = "fleet"))]
        Chore::Fleet { arguments } => {
            shell::run(shell::xtask_with("fleet", false).arg("fleet").args(arguments))
        }
        Chore::Eval(options) => eval::run(&options),
    }
}
