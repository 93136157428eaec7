//! Variables of the environment that are meant for Peerless and that no program of it reads.
//!
//! A setting that is silently passed over is worse than one that is refused: `PEERLESS_FAIL_ON` or `PEERLESS_SERVR`
//! changes nothing, and nothing says so.

/// What both programs, the scripts below `deploy` and the tests read. One list for all: the environment of a machine is
/// often set in one place, and a variable of the server is no mistake beside the agent.
pub const KNOWN: [&str; 51] = [
    "PEERLESS_ALERTMANAGER",
    "PEERLESS_ALERT_LABELS",
    "PEERLESS_ALLOW_SIMULATED",
    "PEERLESS_ANONYMOUS_WRITING",
    "PEERLESS_CA_FILE",
    "PEERLESS_CONFIG",
    "PEERLESS_DATABASE",
    "PEERLESS_DATA_DIR",
    "PEERLESS_ENROL_ONLY",
    "PEERLESS_EXPECT",
    "PEERLESS_FUZZ_SECONDS",
    "PEERLESS_HOST_ROOT",
    "PEERLESS_INSECURE_LOGIN",
    "PEERLESS_JOIN_TOKEN_FILE",
    "PEERLESS_KB_KEY",
    "PEERLESS_LISTEN",
    "PEERLESS_LOCK_FILE",
    "PEERLESS_LOG",
    "PEERLESS_LOGIN_HEADER",
    "PEERLESS_NODE_ID",
    "PEERLESS_OIDC_CA_FILE",
    "PEERLESS_OIDC_CLIENT_ID",
    "PEERLESS_OIDC_CLIENT_SECRET_FILE",
    "PEERLESS_OIDC_ISSUER",
    "PEERLESS_OIDC_ROLES",
    "PEERLESS_OIDC_ROLE_CLAIM",
    "PEERLESS_POLICY",
    "PEERLESS_POLICY_CANDIDATE",
    "PEERLESS_POLICY_SHARE",
    "PEERLESS_PUBLIC_FLEET",
    "PEERLESS_PUBLIC_URL",
    "PEERLESS_RATE_LIMIT",
    "PEERLESS_REDACT",
    "PEERLESS_SERVER",
    "PEERLESS_SIGNATURES",
    "PEERLESS_SIGN_PASSWORD",
    "PEERLESS_SPOOL",
    "PEERLESS_SPOOL_MAX_DAYS",
    "PEERLESS_SPOOL_MAX_MIB",
    "PEERLESS_SQLITE_MAX_BYTES",
    "PEERLESS_STATE",
    "PEERLESS_STORE_TEST_CHILD",
    "PEERLESS_STORE_TEST_KILLS",
    "PEERLESS_TAB",
    "PEERLESS_TEST_POSTGRES",
    "PEERLESS_TOKEN",
    "PEERLESS_TRUSTED_PROXIES",
    "PEERLESS_WEBHOOK",
    "PEERLESS_WEBHOOK_SECRET_FILE",
    "PEERLESS_WITHOUT_SHIPPED",
    "PEERLESS_WORKERS",
];

/// Beginnings of what the continuous integration and the tests set for themselves.
const OF_TESTS: [&str; 2] = ["PEERLESS_CI_", "PEERLESS_TEST_"];

const PREFIX: &str = "PEERLESS_";
/// Of a name whose beginning is misspelt.
const NEAR_PREFIX: &str = "PEER";
/// Letters added, left out, changed or swapped, up to which a name is taken for a known one.
const MOST_SLIPS: usize = 3;
/// The same where the beginning is misspelt: other programs have variables, too.
const MOST_SLIPS_ELSEWHERE: usize = 2;

/// One sentence for each name that no program of Peerless reads. `options` are the long options of the program that
/// asks, without their dashes: many of them have no variable.
pub fn strange<'a>(names: impl IntoIterator<Item = &'a str>, options: &[String]) -> Vec<String> {
    let mut found: Vec<String> = names
        .into_iter()
        .filter_map(|name| sentence(name, options))
        .collect();
    found.sort_unstable();
    found
}

fn sentence(name: &str, options: &[String]) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    if !upper.starts_with(NEAR_PREFIX) || KNOWN.contains(&name) {
        return None;
    }
    let show = crate::terminal::harmless(name);
    let (slips, near) = nearest(&upper)?;
    let Some(rest) = upper.strip_prefix(PREFIX) else {
        return (slips <= MOST_SLIPS_ELSEWHERE)
            .then(|| format!("the variable {show} is not read: did you mean {near}?"));
    };
    if OF_TESTS.iter().any(|begin| name.starts_with(begin)) || is_of_kubernetes(rest) {
        return None;
    }
    let option = rest.to_ascii_lowercase().replace('_', "-");
    // A word more (PEERLESS_STATE_DIR) is no slip of the pen.
    let longer = |known: &&&str| {
        upper
            .strip_prefix(**known)
            .is_some_and(|more| more.starts_with('_'))
    };
    let begun = KNOWN.iter().filter(longer).max_by_key(|known| known.len());
    if let Some(begun) = begun.filter(|_| slips > 1 && !options.contains(&option)) {
        return Some(format!("the variable {show} is not read: did you mean {begun}?"));
    }
    Some(if slips <= MOST_SLIPS {
        format!("the variable {show} is not read: did you mean {near}?")
    } else if let Some(near) = (!options.contains(&option))
        .then(|| crate::near::nearest(&option, options.iter().map(String::as_str)))
        .flatten()
    {
        format!(
            "the variable {show} is not read: did you mean the option --{near}? It has no variable of that name, so give it on \
             the command line or in the settings file"
        )
    } else if options.contains(&option) {
        format!(
            "the variable {show} is not read: --{option} has none, so give it on the command line or in the settings \
             file (the nearest variable is {near})"
        )
    } else {
        format!(
            "the variable {show} is not read, and no setting has that name (the nearest variable is {near})"
        )
    })
}

fn nearest(name: &str) -> Option<(usize, &'static str)> {
    let slips = |known: &&'static str| (strsim::damerau_levenshtein(name, known), *known);
    KNOWN.iter().map(slips).min()
}

/// Kubernetes sets these in every pod beside a service that is called `peerless` or `peerless-…`.
fn is_of_kubernetes(rest: &str) -> bool {
    let rest = format!("_{rest}");
    rest.ends_with("_SERVICE_HOST")
        || rest.contains("_SERVICE_PORT")
        || rest.ends_with("_PORT")
        || rest
            .split_once("_PORT_")
            .is_some_and(|(_, number)| number.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<String> {
        let options = ["fail-on", "expect", "timeout"].map(str::to_owned);
        strange([name], &options).pop()
    }

    #[test]
    fn a_misspelt_name_is_told_with_the_nearest() {
        for (name, near) in [
            ("PEERLESS_SERVR", "PEERLESS_SERVER"),
            ("PEERLESS_SERVER_URL", "PEERLESS_SERVER"),
            ("PEERLESS_STATE_DIR", "did you mean PEERLESS_STATE?"),
            ("PEERLESS_NODEID", "PEERLESS_NODE_ID"),
            ("PEERLESS_SPOOL_MAX_MB", "PEERLESS_SPOOL_MAX_MIB"),
            ("peerless_token", "PEERLESS_TOKEN"),
            ("PEERLES_STATE", "PEERLESS_STATE"),
        ] {
            let said = of(name).unwrap();
            assert!(said.contains(name) && said.contains(near), "{name}: {said}");
        }
    }

    #[test]
    fn an_option_without_a_variable_is_named() {
        for (name, option) in [
            ("PEERLESS_FAIL_ON", "--fail-on"),
            ("PEERLESS_TIMEOUT", "--timeout"),
        ] {
            let said = of(name).unwrap();
            assert!(said.contains(option) && said.contains("PEERLESS_"), "{said}");
        }
        assert!(
            of("PEERLESS_TIMOUT")
                .unwrap()
                .contains("did you mean the option --timeout?")
        );
        assert!(of("PEERLESS_SOMETHING_ELSE").unwrap().contains("no setting"));
    }

    #[test]
    fn what_is_known_or_somebody_elses_is_passed_over() {
        for name in KNOWN.into_iter().chain([
            "PATH",
            "PEER",
            "PEER_ADDRESS",
            "PEERTUBE_TOKEN",
            "PEERLESS_CI_ARM",
            "PEERLESS_TEST_KILLS",
            "PEERLESS_SERVICE_HOST",
            "PEERLESS_SERVICE_PORT",
            "PEERLESS_SERVICE_PORT_HTTP",
            "PEERLESS_PORT",
            "PEERLESS_PORT_8080_TCP",
            "PEERLESS_PORT_8080_TCP_ADDR",
            "PEERLESS_AGENT_METRICS_SERVICE_HOST",
        ]) {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
