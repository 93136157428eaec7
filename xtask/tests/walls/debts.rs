//! What breaks a wall today, and why it still does. Pay these, and add none.

/// A use that the row of a room does not allow.
pub(crate) struct Use {
    pub(crate) file: &'static str,
    pub(crate) uses: &'static str,
    pub(crate) why: &'static str,
}

/// A circle that a file is part of, and how many files it may have.
pub(crate) struct Circle {
    pub(crate) file: &'static str,
    pub(crate) files: usize,
    pub(crate) why: &'static str,
}

const fn owed(file: &'static str, uses: &'static str, why: &'static str) -> Use {
    Use { file, uses, why }
}

pub(crate) const USES: &[Use] = &[
    owed(
        "kb-core/src/annex/mod.rs",
        "record",
        "reads a text as a record does, and `record` uses `annex`",
    ),
    owed(
        "kb-core/src/signature/mod.rs",
        "annex",
        "severity, action and blame are defined in `annex`",
    ),
    owed(
        "kb-core/src/record/signatures.rs",
        "transition",
        "kinds of edges are defined in `transition`",
    ),
    owed(
        "kb-core/src/matcher/build.rs",
        "scanner",
        "how many bytes name a device is defined in `scanner`",
    ),
    owed(
        "kb-core/src/matcher/mod.rs",
        "scanner",
        "a matcher starts its scanner",
    ),
    owed(
        "kb-core/src/report/mod.rs",
        "verdict",
        "the verdict is part of the report",
    ),
    owed(
        "kb-core/src/report/pair.rs",
        "verdict",
        "the verdict is part of the report",
    ),
    owed(
        "kb-core/src/report/mod.rs",
        "health",
        "the states of a node are part of the report",
    ),
    owed(
        "kb-core/src/verdict/exit.rs",
        "health",
        "an open fault decides the exit code",
    ),
    owed(
        "kb-core/src/verdict/rows/service.rs",
        "health",
        "a recovery that is due names the cause",
    ),
    owed(
        "kb-core/src/verdict/run.rs",
        "health",
        "a look's states weigh on its verdict",
    ),
    owed(
        "server/src/clean/judge.rs",
        "domain",
        "logs are judged as a look-up judges them",
    ),
    owed(
        "server/src/config.rs",
        "web",
        "settings hold the types that `web` is built from",
    ),
    owed(
        "agent/src/worker/place.rs",
        "probe",
        "both sides make the same pattern",
    ),
];

pub(crate) const CIRCLES: &[Circle] = &[
    Circle {
        file: "kb-core/src/signature/check.rs",
        files: 5,
        why: "the checks share one error, defined among them",
    },
    Circle {
        file: "kb-core/src/scanner/engine.rs",
        files: 11,
        why: "the steps of a scan share their state",
    },
    Circle {
        file: "server/src/web/state.rs",
        files: 5,
        why: "the state holds what its extractors read",
    },
    Circle {
        file: "server/src/domain/graph/export.rs",
        files: 4,
        why: "each format is called by what it exports",
    },
];
