//! The agent's packages: what they hold, where it goes, what they ask of the system.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// What lies on a node behind the installation, and its mode.
const FILES: &[(&str, u32)] = &[
    ("usr/bin/peerless-agent", 0o755),
    ("etc/peerless-agent.toml", 0o644),
    ("usr/lib/systemd/system/peerless-agent.service", 0o644),
    ("usr/share/peerless-agent/node-condition.sh", 0o755),
    ("usr/share/peerless-agent/node-problem-detector.json", 0o644),
    ("usr/share/peerless-agent/slurm/prolog.sh", 0o755),
    ("usr/share/peerless-agent/slurm/epilog.sh", 0o755),
    ("usr/share/peerless-agent/slurm/healthcheck.sh", 0o755),
    ("usr/share/peerless-agent/prometheus.rules.yaml", 0o644),
    ("usr/share/bash-completion/completions/peerless-agent", 0o644),
    ("usr/share/zsh/site-functions/_peerless-agent", 0o644),
    ("usr/share/fish/vendor_completions.d/peerless-agent.fish", 0o644),
];
/// One of them: packers for Debian compress manuals.
const MANUALS: &[&str] = &[
    "usr/share/man/man1/peerless-agent.1",
    "usr/share/man/man1/peerless-agent.1.gz",
];

/// The package of the kind in the folder.
pub(super) fn only(folder: &Path, extension: &str) -> Result<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    let one = found.pop();
    ensure!(
        found.is_empty(),
        "more than one .{extension} in {}",
        folder.display()
    );
    one.with_context(|| format!("no .{extension} in {}", folder.display()))
}

/// Unpacks the Debian package below `root`; returns what it depends on.
pub(super) fn install_deb(package: &Path, root: &Path) -> Result<String> {
    shell::run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(root))?;
    let ask = |arguments: [&str; 2]| {
        let [question, what] = arguments;
        let output = Command::new("dpkg-deb")
            .arg(question)
            .arg(package)
            .arg(what)
            .output()?;
        ensure!(
            output.status.success(),
            "{}: {}",
            package.display(),
            output.status
        );
        anyhow::Ok(String::from_utf8(output.stdout)?)
    };
    let kept = ask(["--info", "conffiles"])?;
    ensure!(
        kept.lines().any(|line| line == "/etc/peerless-agent.toml"),
        "the settings are no conffile, so that an update would write over them: {kept}"
    );
    ask(["--field", "Depends"])
}

/// Unpacks the RPM below `root`, checksums included; returns what it requires.
pub(super) fn install_rpm(package: &Path, root: &Path) -> Result<Vec<String>> {
    let opened = ::rpm::Package::open(package).with_context(|| package.display().to_string())?;
    opened.verify_digests()?;
    let license = opened.metadata.get_license()?;
    ensure!(license == "Apache-2.0", "the rpm's licence is {license:?}");
    let files = opened.metadata.get_file_entries()?;
    let settings = files
        .iter()
        .find(|file| file.path() == Path::new("/etc/peerless-agent.toml"));
    ensure!(
        settings.is_some_and(|file| file.flags().contains(::rpm::FileFlags::CONFIG)),
        "the settings are no configuration file, so that an update would write over them"
    );
    opened.extract(root)?;
    let requires = opened.metadata.get_requires()?;
    Ok(requires.into_iter().map(|one| one.name).collect())
}

/// Fails where something is missing from a root, or is not what was built; and starts the program there.
pub(super) fn check(root: &Path, program: &Path) -> Result<()> {
    for (name, mode) in FILES {
        let path = root.join(name);
        let metadata = std::fs::metadata(&path).with_context(|| format!("the package has no /{name}"))?;
        ensure!(metadata.is_file() && metadata.len() > 0, "/{name} is empty");
        let own = metadata.permissions().mode() & 0o777;
        ensure!(own == *mode, "/{name} has mode {own:o}, not {mode:o}");
    }
    ensure!(
        MANUALS.iter().any(|name| root.join(name).is_file()),
        "the package has no manual"
    );
    let installed = root.join("usr/bin/peerless-agent");
    ensure!(
        std::fs::read(&installed)? == std::fs::read(program)?,
        "the packed program is not {}",
        program.display()
    );
    let unit = std::fs::read_to_string(root.join("usr/lib/systemd/system/peerless-agent.service"))?;
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart="));
    let started = start
        .and_then(|start| start.split(' ').next())
        .unwrap_or_default();
    ensure!(
        root.join(started.trim_start_matches('/')).is_file(),
        "the unit starts {started:?}, which the package does not hold"
    );
    let output = Command::new(&installed)
        .args(["daemon", "--help", "--config"])
        .arg(root.join("etc/peerless-agent.toml"))
        .output()?;
    if !output.status.success() {
        bail!("{} --help: {}", installed.display(), output.status);
    }
    Ok(())
}
