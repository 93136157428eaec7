//! Libraries and words that may stand in few places.

pub(crate) struct Matter {
    pub(crate) words: &'static [&'static str],
    /// Folders, or single files.
    pub(crate) places: &'static [&'static str],
    /// Files outside of those places, and why.
    pub(crate) exceptions: &'static [(&'static str, &'static str)],
    pub(crate) rule: &'static str,
}

impl Matter {
    pub(crate) fn may_stand_in(&self, file: &str) -> bool {
        let exceptions = self.exceptions.iter().map(|(file, _)| file);
        self.places
            .iter()
            .chain(exceptions)
            .any(|place| file.starts_with(place))
    }
}

pub(crate) const MATTERS: [Matter; 7] = [
    Matter {
        words: &["sqlx"],
        places: &["server/src/store/"],
        exceptions: &[],
        rule: "SQL stands in server/src/store only",
    },
    Matter {
        words: &["actix_web", "actix_http"],
        places: &["server/src/web/"],
        exceptions: &[
            (
                "server/src/startup/mod.rs",
                "binds the socket and starts the server of HTTP",
            ),
            ("server/src/startup/background.rs", "stops that server"),
        ],
        rule: "HTTP is served in server/src/web only",
    },
    Matter {
        words: &["tantivy"],
        places: &["search/src/"],
        exceptions: &[(
            "server/src/telemetry.rs",
            "names the logs of tantivy, which are not wanted",
        )],
        rule: "tantivy stands in search/src only",
    },
    Matter {
        words: &["peerless_search"],
        places: &[
            "server/src/feed/",
            "server/src/domain/",
            "server/src/render/",
            "server/src/web/",
            "server/src/cli/",
            "tab/src/finding.rs",
        ],
        exceptions: &[],
        rule: "only feed, domain, render, web and cli ask search, and the module for a site",
    },
    Matter {
        words: &["reqwest"],
        places: &["agent/src/upload/"],
        exceptions: &[
            (
                "server/src/cli/match_files/remote",
                "`peerless match --server` asks another server",
            ),
            (
                "server/src/web/openid/fetch.rs",
                "asks the provider of OpenID Connect",
            ),
            (
                "server/src/web/webhook/client.rs",
                "sends events to the program that is told",
            ),
        ],
        rule: "requests are sent by agent/src/upload only",
    },
    Matter {
        words: &["unsafe"],
        places: &["agent/src/gpu/"],
        exceptions: &[],
        rule: "`unsafe` stands in agent/src/gpu and fake-gpu only",
    },
    Matter {
        words: &["libloading", "cudarc", "nvml_wrapper", "nvml_wrapper_sys"],
        places: &["agent/src/gpu/"],
        exceptions: &[
            ("agent/src/worker/inventory/mod.rs", "names constants of NVML"),
            (
                "agent/src/worker/inventory/pair.rs",
                "names constants of the driver",
            ),
        ],
        rule: "the libraries of the driver are opened by agent/src/gpu only",
    },
];

/// What `web` may ask of the store itself. `as_ref` hands the store to a use case, and `check_write` changes nothing.
pub(crate) const STORE_READS: [&str; 26] = [
    "advice",
    "as_ref",
    "audit",
    "check_write",
    "comments",
    "feed",
    "feedback",
    "head_seq",
    "list",
    "node",
    "node_events",
    "node_findings",
    "nodes",
    "open_reviews",
    "persons",
    "reports",
    "resolve_alias",
    "reviews",
    "revision",
    "revisions",
    "sessions_of",
    "status",
    "tokens_of",
    "unmatched",
    "unmatched_one",
    "votes",
];
