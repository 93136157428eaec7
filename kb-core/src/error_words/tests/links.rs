//! Ports, links and what is healthy.

use super::{looks_like_error, only_the_first_looks_like_one};

#[test]
fn states_of_ports_behind_a_blank_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("mlx5_0: port 1 state DOWN", "mlx5_0: port 1 state Active"),
        ("ib0 port status down", "ib0 port status up"),
        ("mlx5_0: port 1 state INIT", "mlx5_0: port 1 state initialized"),
        ("port 1 phy state Polling", "port 1 phy state LinkUp"),
        ("port 2 state disabled", "persistence state disabled"),
        ("NVLink 3 down", "NVLink 3 up"),
        ("ib0 down", "slow down"),
        ("GPU 3: link 7 down", "loss scale down"),
        ("port 1 state DOWN 00:12:01", "port 1 down 1.5 MB/s"),
    ]);
    for line in [
        "learning rate down 3%",
        "cooling down",
        "port 1 down to x8",
        "nvlink bandwidth down 2%",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn fewer_links_that_are_up_than_there_are_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("Active links: 17/18", "Active links: 18/18"),
        ("active_links=17/18", "active_links=18/18"),
        (r#"{"active_links": "17/18"}"#, r#"{"active_links": "18/18"}"#),
        ("NVLinks up: 17 (of 18)", "NVLinks up: 18 (of 18)"),
        ("NVLinks up: 17 of 18", "NVLinks up: 18 of 18"),
        ("links up: 17 out of 18", "links up: 18 out of 18"),
        ("GPUs online: 7/8", "GPUs online: 8/8"),
        ("ports up = 1 (2)", "ports up = 2 (2)"),
    ]);
    for line in ["Active GPUs: 4/8", "links up: 7/8/2026", "Active workers: 3/4"] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn counters_of_links_that_went_down_look_like_errors() {
    only_the_first_looks_like_one(&[
        (
            "LinkDownedCounter:...............3",
            "LinkDownedCounter:...............0",
        ),
        (
            "LinkDownedCounter.................3",
            "LinkDownedCounter.................0",
        ),
        ("link_downed: 4", "link_downed: 0"),
        (r#""link_downed": 4,"#, r#""link_downed": 0,"#),
        ("link_down_events_phy: 3", "link_down_events_phy: 0"),
        (
            r#"node_infiniband_link_downed_total{device="mlx5_0",port="1"} 4"#,
            r#"node_infiniband_link_downed_total{device="mlx5_0",port="1"} 0"#,
        ),
        (
            "SymbolErrorCounter:..............2",
            "SymbolErrorCounter:..............0",
        ),
        (
            "PortRcvErrors:...................2",
            "PortRcvErrors:...................0",
        ),
    ]);
}

#[test]
fn what_is_said_to_be_not_healthy_looks_like_an_error() {
    only_the_first_looks_like_one(&[
        ("healthy: false", "healthy: true"),
        (
            r#"{"gpu": 3, "healthy": false}"#,
            r#"{"gpu": 3, "healthy": true}"#,
        ),
        ("GPU 3 healthy=false", "GPU 3 healthy=true"),
        ("is_healthy: False", "is_healthy: True"),
        ("isHealthy=false", "unhealthy: false"),
        ("INFO healthy: unknown", "INFO not healthy: false"),
    ]);
}
