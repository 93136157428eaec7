use kb_core::report::{GapKind, PairVerdict};
use serde_json::json;

use super::*;

fn facts(facts: &[(&str, Value)]) -> BTreeMap<String, Fact> {
    let fact = |(name, value): &(&str, Value)| ((*name).to_owned(), Fact::read(value.clone(), "test"));
    facts.iter().map(fact).collect()
}

fn by_level(value: &str) -> Option<Limit> {
    of(&facts(&[("environment.nccl_p2p_level", json!(value))]), true)
}

/// Links that join the two, and NVML's word for their common ancestor.
fn pair(nvlinks: Option<u32>, ancestor: Option<&str>) -> Pair {
    fn told<T>(value: Option<T>) -> Fact<T> {
        let missing = || Fact::missing(GapKind::Failed, "not told", "test");
        value.map_or_else(missing, |value| Fact::read(value, "test"))
    }
    Pair {
        a: 0,
        b: 1,
        nvlinks: told(nvlinks),
        nvswitch: told(Some(false)),
        common_ancestor: told(ancestor.map(str::to_owned)),
        facts: BTreeMap::new(),
        directions: Vec::new(),
        verdict: PairVerdict::undecided(),
    }
}

#[test]
fn peer_access_is_off_where_nccl_reads_a_one() {
    for (value, off) in [
        ("1", true),
        ("1 # off", true),
        ("0", false),
        ("2", false),
        ("yes", false),
    ] {
        let found = of(&facts(&[("environment.nccl_p2p_disable", json!(value))]), true);
        let expected = off.then(|| format!("NCCL_P2P_DISABLE={value} in the environment"));
        assert_eq!(found.map(|limit| limit.setting), expected);
    }
}

#[test]
fn each_level_goes_as_far_as_nccl_says() {
    // What each level allows of: an NVLink, PIX, PXB, PHB, NODE, SYS.
    for (values, expected) in [
        (&["LOC", "0"][..], [false; 6]),
        (&["NVL", "NVB"], [true, false, false, false, false, false]),
        (&["PIX", "1"], [true, true, false, false, false, false]),
        (&["PXB", "2"], [true, true, true, false, false, false]),
        (&["PHB", "3"], [true, true, true, true, true, false]),
        (&["SYS", "4", "5", "99"], [true; 6]),
    ] {
        for value in values {
            let limit = by_level(value).unwrap();
            let linked = limit.allows(&pair(Some(4), Some("SYS")));
            let ancestors = ["PIX", "PXB", "PHB", "NODE", "SYS"];
            let by_pcie = ancestors.map(|ancestor| limit.allows(&pair(Some(0), Some(ancestor))));
            let found: Vec<_> = std::iter::once(linked).chain(by_pcie).collect();
            assert_eq!(found, expected.map(Some), "{value}");
        }
    }
}

#[test]
fn what_nccl_does_not_know_is_no_level() {
    for value in ["", "pix", "NODE", "PIX ", "-1"] {
        assert_eq!(by_level(value), None, "{value:?}");
    }
}

#[test]
fn an_unknown_distance_is_not_judged() {
    let limit = by_level("PIX").unwrap();
    assert_eq!(
        limit.allows(&pair(None, Some("SYS"))),
        None,
        "NVLink may join them"
    );
    assert_eq!(limit.allows(&pair(None, Some("PIX"))), Some(true));
    assert_eq!(limit.allows(&pair(Some(0), None)), None);
    assert_eq!(by_level("LOC").unwrap().allows(&pair(None, None)), Some(false));
}

#[test]
fn the_environment_goes_before_the_files() {
    let setting = |listed: &[(&str, Value)], own| of(&facts(listed), own).map(|limit| limit.setting);
    let file = ("nccl.conf.system", json!({"NCCL_P2P_DISABLE": "1"}));
    let expected = Some("NCCL_P2P_DISABLE=1 in /etc/nccl.conf".to_owned());
    assert_eq!(setting(std::slice::from_ref(&file), true), expected);
    assert_eq!(
        setting(std::slice::from_ref(&file), false),
        None,
        "another root's"
    );
    let user = ("nccl.conf.user", json!({"NCCL_P2P_DISABLE": "0"}));
    assert_eq!(setting(&[file.clone(), user], true), None);
    let variable = ("environment.nccl_p2p_disable", json!("0"));
    assert_eq!(setting(&[file, variable], true), None);
}
