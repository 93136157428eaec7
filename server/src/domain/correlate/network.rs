//! Links of network adapters in a report's kernel log: one that went down and came up again happens at each restart of a switch,
//! and says nothing against the node; one that does so again and again does.

use std::collections::BTreeMap;

use kb_core::report::{Bearing, Report};

use crate::domain::policy::names::find;
use crate::feed::Generation;
use crate::store::NewFinding;

/// The record of the line, by the id that it ships under.
const RECORD: &str = "rdma/nic-link-down";
/// So often a link goes down in one boot before it is a fault: a switch that is updated restarts once or twice.
const FLAPS: usize = 3;
const DRIVER: &str = "mlx5_core ";
/// The ends of its lines. The name of the interface stands before them, and changes when it is renamed.
const DOWN: &str = "Link down";
const UP: &str = "Link up";

/// What the log tells of one link.
#[derive(Default)]
struct Link {
    downs: usize,
    is_down: bool,
}

/// Makes an event of links that are up again. What the site's policy has decided stays.
pub(super) fn settle((generation, report): (&Generation, &Report), found: &mut [NewFinding]) {
    let now = find(generation, RECORD).map(|published| published.id().as_str());
    let is_of_link = |finding: &&mut NewFinding| {
        let record = finding.record.as_ref();
        record.is_some_and(|(id, _)| id.as_str() == now.unwrap_or(RECORD)) && finding.by_policy.is_none()
    };
    let mut of_links = found.iter_mut().filter(is_of_link).peekable();
    if of_links.peek().is_none() || !are_up_again(report) {
        return;
    }
    for finding in of_links {
        finding.gravity.bearing = Bearing::Event;
    }
}

/// Whether all links that the log tells of are up, at the end. Where it tells of none, nothing is known of them.
fn are_up_again(report: &Report) -> bool {
    let links = links(report);
    !links.is_empty() && links.values().all(|link| !link.is_down && link.downs < FLAPS)
}

/// By PCI address of the adapter's port.
fn links(report: &Report) -> BTreeMap<&str, Link> {
    let mut links: BTreeMap<&str, Link> = BTreeMap::new();
    for line in report.logs.iter().flat_map(|log| log.text.lines()) {
        let Some((_, message)) = line.split_once(DRIVER) else {
            continue;
        };
        let Some((address, rest)) = message.split_once(' ') else {
            continue;
        };
        if rest.contains(DOWN) {
            let link = links.entry(address).or_default();
            link.downs += 1;
            link.is_down = true;
        } else if rest.contains(UP) {
            links.entry(address).or_default().is_down = false;
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use kb_core::ids::Revision;
    use serde_json::json;

    use super::*;
    use crate::domain::correlate::samples::{proven, report};
    use crate::feed::samples::generation_of;
    use crate::store::Gravity;

    fn bearing(lines: &[&str]) -> Bearing {
        let mut body = report(2, &[proven(0, 1)]);
        body["logs"] = json!([{ "source": "kmsg", "text": lines.join("\n") }]);
        let report: Report = serde_json::from_value(body).unwrap();
        let mut found = [NewFinding {
            record: Some((RECORD.parse().unwrap(), Revision(1))),
            rule: "0".to_owned(),
            subject: "report".to_owned(),
            title: String::new(),
            evidence: "[]".to_owned(),
            gravity: Gravity {
                bearing: Bearing::Warning,
                ..Gravity::default()
            },
            by_policy: None,
        }];
        settle((&generation_of(&[]), &report), &mut found);
        found[0].gravity.bearing
    }

    #[test]
    fn a_link_that_is_up_again_is_an_event_and_one_that_flaps_or_is_down_a_warning() {
        let (down, up) = (
            "[ 71.5] mlx5_core 0000:5e:00.0 ens1f0np0: Link down",
            "[ 90.1] mlx5_core 0000:5e:00.0 ens1f0np0: Link up",
        );
        assert_eq!(bearing(&[down, up]), Bearing::Event);
        assert_eq!(bearing(&[up, down]), Bearing::Warning);
        assert_eq!(bearing(&[down, up, down, up, down, up]), Bearing::Warning);
        let other = "[ 95.0] mlx5_core 0000:9e:00.0 ens2f0np0: Link down";
        assert_eq!(bearing(&[down, up, other]), Bearing::Warning);
    }

    #[test]
    fn a_link_is_its_port_whatever_the_interface_is_called() {
        let down = "[ 5.1] mlx5_core 0000:5e:00.0 eth0: Link down";
        let renamed = "[ 6.0] mlx5_core 0000:5e:00.0 ens1f0np0: renamed from eth0";
        let up = "[ 8.2] mlx5_core 0000:5e:00.0 ens1f0np0: Link up";
        assert_eq!(bearing(&[down, renamed, up]), Bearing::Event);
        let other_port = "[ 8.2] mlx5_core 0000:5e:00.1 ens1f1np1: Link up";
        assert_eq!(bearing(&[down, renamed, other_port]), Bearing::Warning);
    }

    #[test]
    fn a_log_that_tells_of_no_link_does_not_say_that_it_is_up() {
        assert_eq!(bearing(&["[ 71.5] unrelated"]), Bearing::Warning);
    }
}
