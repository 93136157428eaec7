//! Settings of the operator's that keep NCCL from using peer access: with them, arm A shows nothing about it.

use std::collections::BTreeMap;

use kb_core::report::{Fact, NcclArm};
use serde_json::Value;

/// The setting that switches peer access off, told as `NCCL_P2P_DISABLE=1 in the environment`. NCCL takes a variable
/// of the environment before its own files, and the user's file before the system's; the files count where they are those
/// that the processes read.
pub(super) fn of(host: &BTreeMap<String, Fact>, own_files: bool) -> Option<String> {
    ["P2P_DISABLE", "P2P_LEVEL"].into_iter().find_map(|name| {
        let (value, place) = setting(host, name, own_files)?;
        let value = value.trim();
        let is_off = match name {
            "P2P_DISABLE" => value.parse::<i64>().is_ok_and(|number| number != 0),
            // 0 is how it was written before the levels had names.
            _ => matches!(value, "LOC" | "0"),
        };
        is_off.then(|| format!("NCCL_{name}={value} in {place}"))
    })
}

/// The value that NCCL takes, and where it stands.
fn setting<'a>(
    host: &'a BTreeMap<String, Fact>,
    name: &str,
    own_files: bool,
) -> Option<(&'a str, &'static str)> {
    let variable = host.get(&format!("environment.nccl_{}", name.to_ascii_lowercase()));
    if let Some(value) = variable.and_then(|fact| fact.value.as_ref()?.as_str()) {
        return Some((value, "the environment"));
    }
    let files = [
        ("nccl.conf.user", "~/.nccl.conf"),
        ("nccl.conf.system", "/etc/nccl.conf"),
    ];
    files.into_iter().filter(|_| own_files).find_map(|(fact, place)| {
        let settings = host.get(fact)?.value.as_ref()?;
        let value = settings.get(format!("NCCL_{name}")).and_then(Value::as_str)?;
        Some((value, place))
    })
}

/// Why the verdict is open.
pub(super) fn reason(setting: &str, only: &NcclArm) -> String {
    let came_to = only
        .reason
        .as_deref()
        .unwrap_or("collectives gave the right data");
    format!(
        "{setting} keeps NCCL from using peer access, so nothing is shown about it; without it: {came_to}"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(facts: &[(&str, Value)]) -> BTreeMap<String, Fact> {
        let fact = |(name, value): &(&str, Value)| ((*name).to_owned(), Fact::read(value.clone(), "test"));
        facts.iter().map(fact).collect()
    }

    #[test]
    fn settings_that_switch_peer_access_off_are_named() {
        for (name, value, expected) in [
            ("environment.nccl_p2p_disable", "1", Some("NCCL_P2P_DISABLE=1")),
            ("environment.nccl_p2p_disable", "0", None),
            ("environment.nccl_p2p_level", "LOC", Some("NCCL_P2P_LEVEL=LOC")),
            ("environment.nccl_p2p_level", "SYS", None),
        ] {
            let found = of(&facts(&[(name, json!(value))]), true);
            let expected = expected.map(|expected| format!("{expected} in the environment"));
            assert_eq!(found, expected, "{name}={value}");
        }
    }

    #[test]
    fn the_environment_goes_before_the_files() {
        let file = ("nccl.conf.system", json!({"NCCL_P2P_DISABLE": "1"}));
        let expected = Some("NCCL_P2P_DISABLE=1 in /etc/nccl.conf".to_owned());
        assert_eq!(of(&facts(std::slice::from_ref(&file)), true), expected);
        assert_eq!(
            of(&facts(std::slice::from_ref(&file)), false),
            None,
            "another root's"
        );
        let user = ("nccl.conf.user", json!({"NCCL_P2P_DISABLE": "0"}));
        assert_eq!(of(&facts(&[file.clone(), user]), true), None);
        let variable = ("environment.nccl_p2p_disable", json!("0"));
        assert_eq!(of(&facts(&[file, variable]), true), None);
    }
}
