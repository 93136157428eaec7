//! The Chinese pages of nodes say nothing in English.

use std::time::Duration;

use askama::Template as _;
use kb_core::annex::{Action, Severity};
use kb_core::report::Bearing;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::chinese::{CHINESE, assert_nothing_is_english, generation, listing, report};
use crate::domain::fleet::{Fault, Fleet};
use crate::domain::fleet_changes::{Change, Compared, Shown};
use crate::domain::fleet_filter::Asked;
use crate::domain::policy::Site;
use crate::render::i18n::Locale;
use crate::store::{
    Cause, Handling, HandlingKind, HeardNode, LabelCount, NodeChange, NodeEvent, NodeFinding, NodeListing,
    NodeSummary, ReportListing, VerdictCount,
};
use crate::web::pages;

#[test]
fn chinese_pages_of_nodes_say_nothing_in_english() {
    let report = report();
    let look = ReportListing {
        id: "look".parse().unwrap(),
        ..listing(&report)
    };
    let node = NodeListing {
        id: report.node.id.clone(),
        hostname: Some("gpu07".to_owned()),
        labels: [("rack".to_owned(), "r17".to_owned())].into(),
        first_seen: OffsetDateTime::UNIX_EPOCH,
        reports: 2,
        summary: NodeSummary {
            verdict: Verdict::Broken,
            since: OffsetDateTime::UNIX_EPOCH,
            heard_at: OffsetDateTime::UNIX_EPOCH,
            simulated: true,
            gpus: 2,
            model: None,
            driver: Some("570.1".to_owned()),
            cause: Some(Cause {
                record: None,
                rule: "health/xid-79".to_owned(),
            }),
            action: Some(Action::ResetGpu),
            rule_set: None,
            milder: 1,
        },
        latest: listing(&report),
        last_seen: look,
    };
    let fleet = Fleet {
        nodes: 2,
        gpus: 4,
        verdicts: vec![VerdictCount {
            verdict: Verdict::Broken,
            nodes: 2,
            gpus: 4,
            simulated: 1,
        }],
        actions: vec![(None, 1), (Some(Action::ResetGpu), 1)],
        models: vec![(None, 1), (Some("NVIDIA H200".to_owned()), 1)],
        drivers: vec![(None, 1)],
        labels: vec![LabelCount {
            name: "rack".to_owned(),
            value: "r17".to_owned(),
            nodes: 2,
        }],
        faults: vec![Fault {
            record: None,
            rule: "unexplained".to_owned(),
            title_zh: None,
            title: "refused".to_owned(),
            severity: Some(Severity::Fatal),
            is_notice: false,
            nodes: 2,
        }],
        silent: 1,
        oldest: vec![HeardNode {
            id: report.node.id.clone(),
            hostname: None,
            at: OffsetDateTime::UNIX_EPOCH,
        }],
    };
    let locale = Locale::from(CHINESE);
    let pairs = [
        ("q", "gpu07"),
        ("verdict", "broken"),
        ("action", "unknown"),
        ("record", "cuda/x"),
        ("model", "unknown"),
        ("driver", "570.1"),
        ("label", "rack=r17"),
        ("silent_hours", "24"),
        ("simulated", "false"),
        ("sort", "-heard"),
    ];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let asked = Asked::read(&pairs, OffsetDateTime::UNIX_EPOCH).unwrap();
    let counts = pages::nodes::counts::counts(fleet, &asked, OffsetDateTime::UNIX_EPOCH, locale);
    let base = "http://localhost".to_owned();
    // It has been silent for long.
    let now = OffsetDateTime::UNIX_EPOCH + time::Duration::days(9);
    for nodes in [std::slice::from_ref(&node), &[]] {
        let page = pages::nodes::list::page(nodes, true, &asked, counts.clone(), base.clone(), (locale, now));
        assert_nothing_is_english("nodes", &page.render().unwrap());
    }
    let page = pages::nodes::list::page(&[], false, &Asked::default(), counts, base, (locale, now));
    assert_nothing_is_english("no nodes", &page.render().unwrap());
}

/// A finding that was seen at the beginning of time, and what was done about it.
fn finding(handling: Option<HandlingKind>) -> NodeFinding {
    let at = OffsetDateTime::UNIX_EPOCH;
    NodeFinding {
        name: "rule:health/xid-79".to_owned(),
        record: None,
        rule: "health/xid-79".to_owned(),
        title: "演练".to_owned(),
        subjects: 1,
        severity: Some(Severity::Fatal),
        action: Some(Action::ResetGpu),
        bearing: Bearing::Fault,
        simulated: true,
        is_open: true,
        first_at: at,
        opened_at: at,
        last_at: at,
        ended_at: None,
        reports: 3,
        by_policy: None,
        owner: Some("管理员".to_owned()),
        handling: handling.map(|kind| Handling {
            kind,
            note: Some("演练".to_owned()),
            by: "管理员".to_owned(),
            at,
        }),
    }
}

#[test]
fn the_chinese_page_of_a_node_says_nothing_in_english() {
    let report = report();
    let at = OffsetDateTime::UNIX_EPOCH;
    let look = ReportListing {
        id: "look".parse().unwrap(),
        ..listing(&report)
    };
    let summary = |cause, action| NodeSummary {
        verdict: Verdict::Broken,
        since: at,
        heard_at: at,
        simulated: true,
        gpus: 2,
        model: None,
        driver: None,
        cause,
        action,
        rule_set: None,
        milder: 1,
    };
    let node = |summary| NodeListing {
        id: report.node.id.clone(),
        hostname: Some("gpu07".to_owned()),
        labels: [("rack".to_owned(), "r17".to_owned())].into(),
        first_seen: at,
        reports: 2,
        summary,
        latest: listing(&report),
        last_seen: look.clone(),
    };
    let hardware = "cuda/peer-access-unsupported-by-hardware".parse().unwrap();
    let by_record = Cause {
        record: Some(hardware),
        rule: "refused-without-link".to_owned(),
    };
    let by_rule = Cause {
        record: None,
        rule: "health/xid-79".to_owned(),
    };
    let shown = [Shown::Value("x".to_owned()), Shown::Unread, Shown::Absent];
    let changes = shown.iter().enumerate().map(|(index, shown)| Change {
        gpu: index.checked_sub(1),
        fact: "driver.version".to_owned(),
        before: shown.clone(),
        now: Shown::Unread,
    });
    let compared = |good: bool, changes: Option<Vec<Change>>| Compared {
        latest: Some(report.clone()),
        good: good.then(|| listing(&report)),
        changes,
    };
    let later = at + Duration::from_hours(24);
    let ended = NodeFinding {
        is_open: false,
        ..finding(None)
    };
    let findings = [
        finding(None),
        finding(Some(HandlingKind::Acknowledged)),
        finding(Some(HandlingKind::Silenced(later))),
        ended,
    ];
    for (summary, compared, findings) in [
        (
            summary(Some(by_record), Some(Action::None)),
            compared(true, Some(changes.collect())),
            &findings[..],
        ),
        (
            summary(Some(by_rule), None),
            compared(true, Some(Vec::new())),
            &findings[..1],
        ),
        (summary(None, None), compared(true, None), &[]),
        (summary(None, None), compared(false, None), &[]),
    ] {
        let node = node(summary);
        let page = pages::nodes::one::page(
            pages::nodes::one::Source {
                node: &node,
                findings,
                compared: &compared,
                events: &[NodeEvent {
                    at,
                    report: None,
                    change: NodeChange::ClockRight,
                }],
                reports: std::slice::from_ref(&node.latest),
                next: Some("/nodes/x".to_owned()),
                forms: Some(pages::nodes::one::Forms {
                    action: "/nodes/x/findings".to_owned(),
                    csrf: "proof".to_owned(),
                }),
                site: &Site::default(),
                now: at,
            },
            &generation(),
            CHINESE.into(),
        );
        assert_nothing_is_english("node", &page.render().unwrap());
    }
}
