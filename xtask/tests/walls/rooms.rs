//! Which room may use which: the tables of docs/ARCHITECTURE.md. A row names only rooms of rows above it, so that no table can hold a
//! circle.

/// The rooms directly below one module.
pub(crate) struct House {
    pub(crate) package: &'static str,
    pub(crate) library: &'static str,
    /// How the heading of its table in ARCHITECTURE begins.
    pub(crate) heading: &'static str,
    /// Rooms that the text above that table speaks of, so that its rows need not.
    pub(crate) common: &'static [&'static str],
    pub(crate) rooms: &'static [Room],
}

pub(crate) struct Room {
    pub(crate) name: &'static str,
    pub(crate) may_use: &'static [&'static str],
}

const fn room(name: &'static str, may_use: &'static [&'static str]) -> Room {
    Room { name, may_use }
}

pub(crate) const HOUSES: [House; 5] = [
    House {
        package: "kb-core",
        library: "kb_core",
        heading: "### `kb-core/src`",
        common: &[],
        rooms: KB_CORE,
    },
    House {
        package: "server",
        library: "peerless",
        heading: "### `server/src`",
        common: &["clock", "telemetry", "config"],
        rooms: SERVER,
    },
    House {
        package: "search",
        library: "peerless_search",
        heading: "### `search/src`",
        common: &["error"],
        rooms: SEARCH,
    },
    House {
        package: "tab",
        library: "peerless_tab",
        heading: "### `tab/src`",
        common: &[],
        rooms: TAB,
    },
    House {
        package: "agent",
        library: "peerless_agent",
        heading: "### `agent/src`",
        common: &["clock", "files", "process", "decompress"],
        rooms: AGENT,
    },
];

const KB_CORE: &[Room] = &[
    room("ids", &[]),
    room("intake", &[]),
    room("wire", &[]),
    room("error_words", &[]),
    room("terminal", &[]),
    room("near", &["terminal"]),
    room("unreachable", &[]),
    room("variables", &["terminal", "near"]),
    room("severity", &[]),
    room("text", &["ids"]),
    room("signature", &["ids", "severity"]),
    room("annex", &["ids", "severity", "text", "signature"]),
    room("record", &["ids", "text", "signature", "annex"]),
    room("compare", &["ids", "text"]),
    room("form", &["severity", "text", "annex"]),
    room("transition", &["ids", "record"]),
    room("matcher", &["ids", "signature"]),
    room("reason", &["ids", "signature"]),
    room("report", &["ids", "severity"]),
    room("observation", &["ids", "severity", "report"]),
    room(
        "policy",
        &["ids", "near", "severity", "text", "report", "observation"],
    ),
    room("verdict", &["ids", "report", "observation", "policy"]),
    room("baseline", &["report", "verdict"]),
    room("render", &["reason", "signature", "baseline"]),
    room(
        "scanner",
        &[
            "ids",
            "error_words",
            "signature",
            "matcher",
            "reason",
            "render",
            "report",
            "observation",
        ],
    ),
    room("propose", &["signature", "matcher", "scanner"]),
    room("templates", &["scanner", "propose"]),
    room(
        "validate",
        &[
            "ids",
            "text",
            "signature",
            "annex",
            "record",
            "matcher",
            "scanner",
        ],
    ),
    room("redact", &[]),
    room(
        "health",
        &[
            "ids",
            "severity",
            "text",
            "report",
            "observation",
            "policy",
            "verdict",
        ],
    ),
    room(
        "convert",
        &["ids", "text", "report", "observation", "verdict", "scanner"],
    ),
    room("simulate", &["ids", "report", "verdict"]),
    room("schema", &["annex", "record", "report"]),
];

const SERVER: &[Room] = &[
    room("clock", &[]),
    room("allocator", &[]),
    room("telemetry", &[]),
    room("config", &["telemetry"]),
    room("store", &[]),
    room("bundle", &["store"]),
    room("feed", &["store", "bundle"]),
    room("clean", &[]),
    room("domain", &["clock", "store", "feed", "clean"]),
    room("render", &["store", "feed", "domain"]),
    room(
        "web",
        &[
            "clock",
            "telemetry",
            "config",
            "store",
            "bundle",
            "feed",
            "domain",
            "render",
        ],
    ),
    room("site", &["feed", "domain", "render", "web"]),
    room(
        "startup",
        &[
            "clock",
            "telemetry",
            "config",
            "store",
            "bundle",
            "feed",
            "clean",
            "domain",
            "render",
            "web",
            "site",
        ],
    ),
    room(
        "cli",
        &[
            "clock",
            "telemetry",
            "config",
            "store",
            "bundle",
            "feed",
            "clean",
            "domain",
            "render",
            "web",
            "site",
            "startup",
        ],
    ),
];

const TAB: &[Room] = &[
    room("pack", &[]),
    room("knowledge", &["pack"]),
    room("answer", &["knowledge"]),
    room("reading", &["knowledge", "answer"]),
    room("finding", &["pack", "knowledge"]),
    room("browser", &["pack", "knowledge", "reading", "finding"]),
];

const SEARCH: &[Room] = &[
    room("error", &[]),
    room("analysis", &["error"]),
    room("index", &["error", "analysis"]),
    room("query", &["error", "analysis", "index"]),
    room("rank", &["error", "index", "query"]),
    room("answer", &["error", "analysis", "index", "query", "rank"]),
];

const AGENT: &[Room] = &[
    room("clock", &[]),
    room("files", &[]),
    room("process", &[]),
    room("decompress", &[]),
    room("host", &["clock", "files", "process"]),
    room("gpu", &["clock", "files", "process", "host"]),
    room("worker", &["clock", "files", "process", "gpu"]),
    room("probe", &["clock", "files", "process", "worker", "host", "gpu"]),
    room("slurm", &["clock", "files", "process"]),
    room("gate", &["clock", "files", "process", "slurm"]),
    room("drained", &["clock", "files", "process", "slurm"]),
    room("upload", &["clock", "files", "process", "decompress"]),
    room("policy", &["clock", "files", "process", "upload"]),
    room("ledger", &["clock", "files", "process", "host", "policy"]),
    room("signatures", &["clock", "files", "process", "upload"]),
    room("output", &["clock", "files", "process", "probe", "gate"]),
    room(
        "cli",
        &[
            "clock",
            "files",
            "process",
            "host",
            "gpu",
            "worker",
            "probe",
            "slurm",
            "gate",
            "drained",
            "ledger",
            "policy",
            "upload",
            "signatures",
        ],
    ),
    room(
        "commands",
        &[
            "clock",
            "files",
            "process",
            "decompress",
            "host",
            "gpu",
            "worker",
            "probe",
            "slurm",
            "gate",
            "drained",
            "ledger",
            "policy",
            "upload",
            "signatures",
            "output",
            "cli",
        ],
    ),
];
