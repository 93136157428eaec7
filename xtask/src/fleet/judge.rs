//! What the server says of the fleet, beside what was planted. Only the interface is asked.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::expected::{DRAINING, Expected};
use super::faults::Kind;
use super::plan::{self, Plan, Planted};
use super::server::Client;

/// The server works out anew what is five minutes old, and looks each minute.
const LONGEST_KEPT: Duration = Duration::from_mins(8);

/// What became of one fault.
#[expect(clippy::struct_excessive_bools, reason = "each is a column of the table")]
pub(super) struct Judged {
    pub(super) kind: Kind,
    pub(super) nodes: usize,
    pub(super) found: bool,
    pub(super) cause: bool,
    pub(super) blame: bool,
    pub(super) action: bool,
    /// Whether what came with the update is named; absent where nothing came.
    pub(super) facet: Option<bool>,
    /// What was planted on the first node.
    pub(super) planted: String,
    /// What the server said of it.
    pub(super) said: String,
}

#[derive(Default)]
pub(super) struct Verdict {
    pub(super) faults: Vec<Judged>,
    pub(super) healthy: usize,
    /// Healthy nodes with a finding that is open and is no mere event.
    pub(super) false_alarms: Vec<String>,
    /// Healthy nodes with an action that takes them out of service.
    pub(super) drained: Vec<String>,
    /// Healthy nodes of which an application's error is told, as it was.
    pub(super) of_applications: usize,
    /// Facets that name an update which did no harm, or nothing that was updated.
    pub(super) wrong_facets: Vec<String>,
}

/// What is said of a node.
struct Said {
    findings: Vec<Finding>,
    action: Option<String>,
    verdict: String,
    changes: Vec<String>,
}

struct Finding {
    cause: String,
    rule: String,
    blame: Option<String>,
    action: Option<String>,
    bearing: String,
    title: String,
}

pub(super) struct Judge<'c> {
    client: &'c mut Client,
    /// What records hold at fault.
    blames: BTreeMap<String, Option<String>>,
}

impl<'c> Judge<'c> {
    pub(super) fn new(client: &'c mut Client) -> Self {
        Self {
            client,
            blames: BTreeMap::new(),
        }
    }

    pub(super) fn fleet(&mut self, plan: &Plan) -> Result<Verdict> {
        let mut verdict = Verdict::default();
        let facets = self.facets()?;
        for planted in &plan.planted {
            let mut judged = self.fault(planted, &facets)?;
            judged.planted = planted.words(plan);
            verdict.faults.push(judged);
        }
        let versions: Vec<&str> = plan.planted.iter().filter_map(|one| one.version).collect();
        // Of a branch its number is named as well as its version.
        let is_planted = |facet: &&Facet| versions.iter().any(|version| version.starts_with(&facet.value));
        let is_version = |facet: &&Facet| ["driver.", "bios."].iter().any(|of| facet.name.starts_with(of));
        let wrong = facets
            .iter()
            .filter(|facet| is_version(facet) && !is_planted(facet));
        verdict.wrong_facets = wrong
            .map(|facet| format!("{} {}", facet.name, facet.value))
            .collect();
        let is_healthy = |(_, node): &(usize, &plan::Node)| node.fault.is_none();
        for (at, _) in plan.nodes.iter().enumerate().filter(is_healthy) {
            verdict.healthy += 1;
            self.healthy(at, &mut verdict)?;
        }
        Ok(verdict)
    }

    fn healthy(&mut self, at: usize, verdict: &mut Verdict) -> Result<()> {
        let name = plan::name(at);
        let Some(said) = self.node(at)? else {
            verdict
                .false_alarms
                .push(format!("{name}: the server does not know it"));
            return Ok(());
        };
        let of_application = |finding: &&Finding| finding.blame.as_deref() == Some("application");
        if said.findings.iter().any(|finding| of_application(&finding)) {
            verdict.of_applications += 1;
        }
        let against = said
            .findings
            .iter()
            .find(|finding| finding.is_against() && !of_application(finding));
        if let Some(finding) = against {
            verdict.false_alarms.push(format!(
                "{name} ({}): {}: {}",
                said.verdict, finding.cause, finding.title
            ));
        }
        if said
            .action
            .as_deref()
            .is_some_and(|action| DRAINING.contains(&action))
        {
            verdict.drained.push(format!("{name}: {:?}", said.action));
        }
        Ok(())
    }

    fn fault(&mut self, planted: &Planted, facets: &[Facet]) -> Result<Judged> {
        let expected = Expected::of(planted.kind);
        let mut nodes = Vec::new();
        for node in &planted.nodes {
            if let Some(mut said) = self.node(*node)? {
                said.changes = self.changes(*node)?;
                nodes.push(said);
            }
        }
        let facet = planted
            .version
            .and_then(|version| facets.iter().find(|facet| facet.value == version));
        let right = |finding: &&Finding| finding.is_against() && finding.is_one_of(expected.causes);
        let most = |is: &dyn Fn(&Said) -> bool| {
            let good = nodes.iter().filter(|said| is(said)).count();
            !nodes.is_empty() && good * 5 >= nodes.len() * 4
        };
        let of_right =
            |said: &Said, is: &dyn Fn(&Finding) -> bool| said.findings.iter().filter(right).any(is);
        let blame = |finding: &Finding| {
            let blame = finding.blame.as_deref();
            blame.is_some_and(|blame| expected.blames.contains(&blame))
        };
        let action = |said: &Said| {
            let own = said
                .findings
                .iter()
                .filter(right)
                .filter_map(|finding| finding.action.as_deref());
            own.chain(said.action.as_deref())
                .any(|action| expected.actions.contains(&action))
        };
        let is_named = match planted.kind {
            // What changed on the node, or what sets the group apart.
            Kind::DriverRegression | Kind::AcsAfterBios => {
                let version = planted.version.unwrap_or_default();
                let changed = most(&|said| said.changes.iter().any(|change| change.contains(version)));
                Some(facet.is_some() || (planted.nodes.len() < 5 && changed))
            }
            _ => None,
        };
        let is_group = planted.kind == Kind::DriverRegression;
        Ok(Judged {
            kind: planted.kind,
            nodes: planted.nodes.len(),
            found: most(&|said| said.findings.iter().any(Finding::is_against))
                || (is_group && facet.is_some()),
            cause: most(&|said| of_right(said, &|_| true)) || (is_group && facet.is_some()),
            blame: most(&|said| of_right(said, &blame))
                || (is_group && facet.is_some_and(|facet| facet.blame == "driver")),
            // An association starts no action: then no node may be taken out of service for it.
            action: most(&action) || (is_group && facet.is_some() && most(&|said| said.is_in_service())),
            facet: is_named,
            planted: String::new(),
            said: nodes.first().map(Said::words).unwrap_or_default(),
        })
    }

    fn node(&mut self, at: usize) -> Result<Option<Said>> {
        let Some(answer) = self.client.get(&format!("/api/v1/nodes/{}", plan::name(at)))? else {
            return Ok(None);
        };
        let summary = answer.get("summary").context("the node has no summary")?;
        let mut findings = Vec::new();
        for finding in list(&answer, "findings") {
            if text(finding, "state").as_deref() == Some("resolved") {
                continue;
            }
            let rule = text(finding, "rule").unwrap_or_default();
            let cause = text(finding, "record").unwrap_or_else(|| rule.clone());
            let blame = match text(finding, "at_fault") {
                Some(blame) => Some(blame),
                None => self.blame(&cause)?,
            };
            findings.push(Finding {
                blame,
                action: text(finding, "action"),
                bearing: text(finding, "bearing").unwrap_or_default(),
                title: text(finding, "title").unwrap_or_default(),
                rule,
                cause,
            });
        }
        Ok(Some(Said {
            findings,
            action: text(summary, "action"),
            verdict: text(summary, "verdict").unwrap_or_default(),
            changes: Vec::new(),
        }))
    }

    /// What is different since the node was good.
    fn changes(&mut self, at: usize) -> Result<Vec<String>> {
        let changed = self
            .client
            .get(&format!("/api/v1/nodes/{}/changes", plan::name(at)))?;
        let changed = changed.unwrap_or_default();
        Ok(list(&changed, "changes")
            .iter()
            .map(ToString::to_string)
            .collect())
    }

    fn blame(&mut self, record: &str) -> Result<Option<String>> {
        if !record.contains('/') {
            return Ok(None);
        }
        if let Some(known) = self.blames.get(record) {
            return Ok(known.clone());
        }
        let answer = self.client.get(&format!("/api/v1/records/{record}?view=full"))?;
        let blame = answer.as_ref().and_then(|answer| answer.pointer("/ext/at_fault"));
        let blame = blame.and_then(|blame| blame.as_str().or_else(|| blame.get("who")?.as_str()));
        let blame = blame.map(str::to_owned);
        self.blames.insert(record.to_owned(), blame.clone());
        Ok(blame)
    }

    /// What sets nodes apart, worked out since all reports came: the server keeps an answer for some minutes.
    fn facets(&mut self) -> Result<Vec<Facet>> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the server tells by its own clock when it worked them out"
        )]
        let all_came = OffsetDateTime::now_utc();
        let began = Instant::now();
        let answer = loop {
            let Some(answer) = self.client.get("/api/v1/fleet/facets?simulated=true")? else {
                return Ok(Vec::new());
            };
            let computed = text(&answer, "computed_at").context("no computed_at in the facets")?;
            if OffsetDateTime::parse(&computed, &Rfc3339)? >= all_came {
                break answer;
            }
            if began.elapsed() > LONGEST_KEPT {
                bail!("the server gives facets of {computed}, before all reports came");
            }
            std::thread::sleep(Duration::from_secs(5));
        };
        let mut facets: Vec<Facet> = Vec::new();
        for facet in list(&answer, "facets") {
            let facet = Facet {
                name: text(facet, "facet").unwrap_or_default(),
                value: text(facet, "value").unwrap_or_default(),
                blame: text(facet, "part").unwrap_or_default(),
            };
            if !facets
                .iter()
                .any(|known| known.name == facet.name && known.value == facet.value)
            {
                facets.push(facet);
            }
        }
        Ok(facets)
    }
}

/// What sets nodes with a finding apart from those without.
struct Facet {
    name: String,
    value: String,
    blame: String,
}

impl Finding {
    /// An event says nothing against the node.
    fn is_against(&self) -> bool {
        self.bearing != "event"
    }

    /// By its record, or by the rule that found it.
    fn is_one_of(&self, causes: &[&str]) -> bool {
        causes.contains(&self.cause.as_str()) || causes.contains(&self.rule.as_str())
    }
}

impl Said {
    fn is_in_service(&self) -> bool {
        self.action
            .as_deref()
            .is_none_or(|action| !DRAINING.contains(&action))
    }

    fn words(&self) -> String {
        let findings: Vec<String> = self
            .findings
            .iter()
            .map(|one| {
                let blame = one.blame.as_deref().unwrap_or("-");
                let action = one.action.as_deref().unwrap_or("-");
                let title = if one.cause.starts_with("verdict/") {
                    one.title.as_str()
                } else {
                    ""
                };
                format!("{} [{} {blame} {action}] {title}", one.cause, one.bearing)
            })
            .collect();
        let action = self.action.as_deref().unwrap_or("-");
        format!("{}, {action}; {}", self.verdict, findings.join(", "))
    }
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}
