//! What lies on a machine behind the installation of a program, beside what the program prints of itself.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// Edited on the machine: an update leaves it.
    Settings,
    /// May be left out on small systems.
    Documentation,
}

pub(super) struct File {
    /// In this repository.
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) mode: u32,
    pub(super) kind: Kind,
}

impl File {
    const fn new(from: &'static str, to: &'static str, mode: u32, kind: Kind) -> Self {
        Self { from, to, mode, kind }
    }
}

pub(super) const OF_AGENT: &[File] = &[
    File::new(
        "deploy/agent/peerless-agent.toml",
        "etc/peerless-agent.toml",
        0o644,
        Kind::Settings,
    ),
    File::new(
        "deploy/agent/peerless-agent.service",
        "usr/lib/systemd/system/peerless-agent.service",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/node-condition.sh",
        "usr/share/peerless-agent/node-condition.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/node-problem-detector.json",
        "usr/share/peerless-agent/node-problem-detector.json",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/slurm/prolog.sh",
        "usr/share/peerless-agent/slurm/prolog.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/slurm/epilog.sh",
        "usr/share/peerless-agent/slurm/epilog.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/agent/slurm/healthcheck.sh",
        "usr/share/peerless-agent/slurm/healthcheck.sh",
        0o755,
        Kind::Plain,
    ),
    File::new(
        "deploy/prometheus/peerless-agent.rules.yaml",
        "usr/share/peerless-agent/prometheus.rules.yaml",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "docs/AGENT.md",
        "usr/share/doc/peerless-agent/AGENT.md",
        0o644,
        Kind::Documentation,
    ),
    File::new(
        "LICENSE",
        "usr/share/doc/peerless-agent/copyright",
        0o644,
        Kind::Documentation,
    ),
];

pub(super) const OF_SERVER: &[File] = &[
    File::new(
        "deploy/server/peerless.default",
        "etc/default/peerless",
        0o600,
        Kind::Settings,
    ),
    File::new(
        "deploy/server/peerless.service",
        "usr/lib/systemd/system/peerless.service",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "deploy/server/nginx.conf",
        "usr/share/peerless/nginx.conf",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "deploy/prometheus/peerless.rules.yaml",
        "usr/share/peerless/prometheus.rules.yaml",
        0o644,
        Kind::Plain,
    ),
    File::new(
        "docs/OPERATIONS.md",
        "usr/share/doc/peerless/OPERATIONS.md",
        0o644,
        Kind::Documentation,
    ),
    File::new(
        "LICENSE",
        "usr/share/doc/peerless/copyright",
        0o644,
        Kind::Documentation,
    ),
];
