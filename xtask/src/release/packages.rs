//! The packages: what they hold, where it goes, what they ask of the system.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::about::{AGENT, About, Machine, SERVER, VERSION};
use crate::shell;

/// What must lie on a machine behind the installation, and its mode.
type Files = &'static [(&'static str, u32)];

const OF_AGENT: Files = &[
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
    ("usr/share/man/man1/peerless-agent.1", 0o644),
];
const OF_SERVER: Files = &[
    ("usr/bin/peerless", 0o755),
    ("etc/default/peerless", 0o600),
    ("usr/lib/systemd/system/peerless.service", 0o644),
    ("usr/share/bash-completion/completions/peerless", 0o644),
    ("usr/share/zsh/site-functions/_peerless", 0o644),
    ("usr/share/fish/vendor_completions.d/peerless.fish", 0o644),
    ("usr/share/man/man1/peerless.1", 0o644),
];

/// All four packages, each installed below a root of its own.
pub(super) fn check_all(folder: &Path) -> Result<()> {
    let scratch = std::env::temp_dir().join(format!("peerless-release-{}", std::process::id()));
    std::fs::create_dir(&scratch)?;
    let checked = [
        (SERVER, OF_SERVER, "etc/default/peerless"),
        (AGENT, OF_AGENT, "etc/peerless-agent.toml"),
    ]
    .into_iter()
    .try_for_each(|of| check_both(folder, of, &scratch));
    std::fs::remove_dir_all(&scratch)?;
    checked
}

fn check_both(folder: &Path, (about, files, settings): (About, Files, &str), scratch: &Path) -> Result<()> {
    let program = folder.join(about.name);
    let machine = Machine::of(&program)?;
    let deb = folder.join(format!("{}_{VERSION}-1_{}.deb", about.name, machine.debian));
    let rpm = folder.join(format!("{}-{VERSION}-1.{}.rpm", about.name, machine.name));
    let roots = ["deb", "rpm"].map(|kind| scratch.join(format!("{}-{kind}", about.name)));
    let fields = install_deb(&deb, &roots[0], settings)?;
    ensure!(
        fields.contains("libc6 (>= 2.17)"),
        "the deb asks for another glibc: {fields}"
    );
    let requires = install_rpm(&rpm, &roots[1], settings)?;
    ensure!(
        requires
            .iter()
            .any(|name| name.starts_with("libc.so.6(GLIBC_2.17)")),
        "the rpm asks for another glibc: {requires:?}"
    );
    for (package, root) in [deb, rpm].iter().zip(&roots) {
        check(root, (about, files), (&program, machine))?;
        println!("{}: complete", package.display());
    }
    Ok(())
}

/// Unpacks the Debian package below `root`; returns what it depends on.
fn install_deb(package: &Path, root: &Path, settings: &str) -> Result<String> {
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
        kept.lines().any(|line| line == format!("/{settings}")),
        "the settings are no conffile, so that an update would write over them: {kept}"
    );
    ask(["--field", "Depends"])
}

/// Unpacks the RPM below `root`, checksums included; returns what it requires.
fn install_rpm(package: &Path, root: &Path, settings: &str) -> Result<Vec<String>> {
    let opened = ::rpm::Package::open(package).with_context(|| package.display().to_string())?;
    opened.verify_digests()?;
    let license = opened.metadata.get_license()?;
    ensure!(license == "Apache-2.0", "the rpm's licence is {license:?}");
    let files = opened.metadata.get_file_entries()?;
    let place = Path::new("/").join(settings);
    let kept = files.iter().find(|file| file.path() == place);
    ensure!(
        kept.is_some_and(|file| file.flags().contains(::rpm::FileFlags::CONFIG)),
        "the settings are no configuration file, so that an update would write over them"
    );
    opened.extract(root)?;
    let requires = opened.metadata.get_requires()?;
    Ok(requires.into_iter().map(|one| one.name).collect())
}

/// Fails where something is missing from a root, or is not what was built; and starts the program there.
fn check(root: &Path, (about, files): (About, Files), (program, machine): (&Path, Machine)) -> Result<()> {
    for (name, mode) in files {
        let path = root.join(name);
        let metadata = std::fs::metadata(&path).with_context(|| format!("the package has no /{name}"))?;
        ensure!(metadata.is_file() && metadata.len() > 0, "/{name} is empty");
        let own = metadata.permissions().mode() & 0o777;
        ensure!(own == *mode, "/{name} has mode {own:o}, not {mode:o}");
    }
    let name = about.name;
    let installed = root.join("usr/bin").join(name);
    ensure!(
        std::fs::read(&installed)? == std::fs::read(program)?,
        "the packed program is not {}",
        program.display()
    );
    let unit = std::fs::read_to_string(root.join(format!("usr/lib/systemd/system/{name}.service")))?;
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart="));
    let started = start
        .and_then(|start| start.split(' ').next())
        .unwrap_or_default();
    ensure!(
        root.join(started.trim_start_matches('/')).is_file(),
        "the unit starts {started:?}, which the package does not hold"
    );
    let mut command = machine.start(&installed);
    if about == AGENT {
        command.args(["daemon", "--help", "--config"]);
        command.arg(root.join("etc/peerless-agent.toml"));
    } else {
        command.arg("--version");
    }
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}: {}", installed.display(), output.status);
    }
    Ok(())
}
