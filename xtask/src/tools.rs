//! Programs that chores need beside Rust, and how to get them on Debian and Ubuntu.

use std::path::Path;

use anyhow::{Result, bail};

use crate::shell;

pub(crate) struct Tool {
    /// What it is for, shown when it is missing.
    purpose: &'static str,
    package: &'static str,
    /// Where it may be; `*` stands for one folder name.
    places: &'static [&'static str],
}

pub(crate) const TESTS: &[Tool] = &[
    Tool {
        purpose: "store contract and two servers on one PostgreSQL",
        package: "postgresql",
        places: &["/usr/lib/postgresql/*/bin/initdb"],
    },
    Tool {
        purpose: "pages in a real browser",
        package: "chromium",
        places: &["/usr/bin/chromium"],
    },
    Tool {
        purpose: "driving the browser",
        package: "chromium-driver",
        places: &["/usr/bin/chromedriver"],
    },
    Tool {
        purpose: "ETag through a gzip proxy",
        package: "nginx-light",
        places: &["/usr/sbin/nginx"],
    },
    Tool {
        purpose: "docker-compose.yml against its schema",
        package: "docker-compose",
        places: &["/usr/bin/docker-compose", "/usr/local/bin/docker-compose"],
    },
    Tool {
        purpose: "rules and metrics for Prometheus, by promtool",
        package: "prometheus",
        places: &["/usr/bin/promtool"],
    },
    Tool {
        purpose: "units, by systemd-analyze",
        package: "systemd",
        places: &["/usr/bin/systemd-analyze"],
    },
    Tool {
        purpose: "a certificate for the example of a proxy",
        package: "openssl",
        places: &["/usr/bin/openssl"],
    },
];

/// What a Slurm of one machine needs.
pub(crate) const SLURM: &[Tool] = &[
    Tool {
        purpose: "controller of Slurm",
        package: "slurmctld",
        places: &["/usr/sbin/slurmctld"],
    },
    Tool {
        purpose: "nodes of Slurm",
        package: "slurmd",
        places: &["/usr/sbin/slurmd"],
    },
    Tool {
        purpose: "scontrol and sbatch",
        package: "slurm-client",
        places: &["/usr/bin/sbatch"],
    },
    Tool {
        purpose: "how Slurm's programs trust each other",
        package: "munge",
        places: &["/usr/sbin/munged"],
    },
];

/// What the module for browsers is built with: a compiler and a standard library in source, for this project's own compiler has
/// no library for WebAssembly.
pub(crate) const WASM: &[Tool] = &[
    Tool {
        purpose: "compiler for WebAssembly",
        package: "rustc-web",
        places: &["/usr/bin/rustc"],
    },
    Tool {
        purpose: "standard library, to be built for WebAssembly",
        package: "rust-web-src",
        places: &["/usr/lib/rustlib/src/rust/library/Cargo.lock"],
    },
    Tool {
        purpose: "linker for WebAssembly",
        package: "lld",
        places: &["/usr/bin/wasm-ld"],
    },
];

/// What a Python program in a folder of its own needs.
pub(crate) const PYTHON: &[Tool] = &[Tool {
    purpose: "a folder of its own for schemathesis",
    package: "python3-venv",
    places: &["/usr/lib/*/ensurepip/__init__.py"],
}];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
}

/// What all chores need but those for Arm, at once: two that run side by side cannot both install.
pub(crate) fn run(options: &Options) -> Result<()> {
    let all = [TESTS, PYTHON, WASM, SLURM];
    require_each(all.into_iter().flatten(), options.install)
}

/// Fails with the exact command to run when something is missing; installs it first when told to.
pub(crate) fn require(tools: &'static [Tool], install: bool) -> Result<()> {
    require_each(tools.iter(), install)
}

fn require_each(tools: impl Iterator<Item = &'static Tool> + Clone, install: bool) -> Result<()> {
    let mut missing = missing(tools.clone());
    if !missing.is_empty() && install {
        install_packages(&missing)?;
        missing = self::missing(tools);
    }
    if missing.is_empty() {
        return Ok(());
    }
    for tool in &missing {
        eprintln!("missing: {} ({})", tool.package, tool.purpose);
    }
    let packages: Vec<_> = missing.iter().map(|tool| tool.package).collect();
    bail!(
        "install what is missing, as root:\n  apt-get install -y --no-install-recommends {}\nor let the same command do it with --install",
        packages.join(" ")
    )
}

fn install_packages(missing: &[&Tool]) -> Result<()> {
    shell::run(shell::command("apt-get", &["update", "-qq"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(missing.iter().map(|tool| tool.package));
    shell::run(shell::command("apt-get", &arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn missing(tools: impl Iterator<Item = &'static Tool>) -> Vec<&'static Tool> {
    tools
        .filter(|tool| !tool.places.iter().any(|place| is_there(place)))
        .collect()
}

/// Whether `place` names a file; at most one `*` in it.
fn is_there(place: &str) -> bool {
    let Some((before, after)) = place.split_once('*') else {
        return Path::new(place).is_file();
    };
    let Ok(folders) = std::fs::read_dir(before) else {
        return false;
    };
    folders
        .flatten()
        .any(|folder| folder.path().join(after.trim_start_matches('/')).is_file())
}
