//! What is open on a node and what has ended, by record. What is open is made anew from the node's reports; when it began and how often
//! it was reported is taken over from the rows that are there.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use kb_core::ids::NodeId;
use kb_core::report::{Bearing, Ruled};
use kb_core::severity::{Action, Severity};
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::batch;
use super::convert::{count_from, id_from};
use super::engine::{Cells, Engine, Value, values};
use super::finding_words::{bearing, policy_from, policy_text};
use super::fleet_handling::{handling_columns, handling_from};
use super::fleet_life::{self, Before, Life, Now, about_text, life_columns};
use super::fleet_list::vocabulary;
use super::fleet_summary::News;
use super::open_faults::names_from;
use super::session::Tx;
use crate::store::{
    Causes, Gravity, NodeFinding, OpenFault, ReportListing, SUMMARY_FINDINGS, SUMMARY_NAME_CHARACTERS,
    SUMMARY_TITLE_CHARACTERS, StoreError, cut, word,
};

/// Rules that tell what a report warns of: devices, what the ledger holds open, and pairs.
const OF_WARNINGS: [&str; 3] = ["absent/", "health/", "pair/"];
/// Rules of what a report tells by its verdict alone. Its causes say what that is about.
const OF_VERDICT: &str = "verdict/";
/// The subject of what is about no GPU or pair of its own.
const WHOLE: &str = "report";

/// What a report or two show of one record, or by one rule where no record explains it.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) record: Option<String>,
    pub(super) rule: String,
    title: String,
    subjects: BTreeSet<String>,
    /// GPUs, pairs and causes, by names; nothing of what names none.
    about: BTreeSet<String>,
    pub(super) gravity: Gravity,
    by_policy: Option<Ruled>,
    /// Ends of the runs of the reports that show it.
    ends: Vec<OffsetDateTime>,
    /// The report that is new, or that has other findings now, shows it.
    is_news: bool,
    simulated: bool,
}

/// What the reports that tell of a node show, by its name: the latest, the one that stands and each whose fault is open. Of those of which
/// only a warning is open (`only_warn`) what is worse than that is left out; where nothing else tells of the warning, its reason does.
pub(super) async fn shown<DB: Engine>(
    tx: &mut Tx<DB>,
    news: &News<'_>,
    (told, only_warn): (&[ReportListing], &[&OpenFault]),
) -> Result<BTreeMap<String, Shown>, StoreError> {
    let sql = "SELECT f.report_id, COALESCE(m.record_id, f.record_id), f.rule, f.title, f.subject, f.bearing, f.severity, \
        f.action, f.by_policy, p.only_warns, p.open_causes \
        FROM finding f JOIN report p ON p.node_id = f.node_id AND p.id = f.report_id \
        LEFT JOIN moved m ON m.former = f.record_id \
        WHERE f.node_id = $1 AND f.report_id IN (SELECT n.latest_report FROM node n WHERE n.id = $1 \
        UNION SELECT n.proof_report FROM node n WHERE n.id = $1 \
        UNION SELECT o.id FROM report o WHERE o.node_id = $1 AND o.open_causes IS NOT NULL)";
    let mut shown: BTreeMap<String, Shown> = BTreeMap::new();
    let mut unnamed: Vec<&OpenFault> = only_warn.to_vec();
    for row in tx.all(sql, values![news.node]).await? {
        let id = row.text(0)?;
        let Some(report) = told.iter().find(|report| report.id.as_str() == id) else {
            continue;
        };
        let (record, rule) = (row.maybe_text(1)?, row.text(2)?);
        let rule = cut(&rule, SUMMARY_NAME_CHARACTERS).to_owned();
        let title = cut(&row.text(3)?, SUMMARY_TITLE_CHARACTERS).to_owned();
        let gravity = Gravity {
            bearing: bearing(&row.text(5)?)?,
            severity: vocabulary::<Severity>("severity", &row.text(6)?)?,
            action: vocabulary::<Action>("action", &row.text(7)?)?,
        };
        // The latest is the first that is told: what it shows is how the node was seen.
        let is_latest = told.first().is_some_and(|latest| latest.id == report.id);
        if row.maybe_text(9)?.is_some() && !is_latest && is_of_whole(&rule, gravity) {
            continue;
        }
        if gravity.counts() && is_of_warning(&rule, gravity) {
            unnamed.retain(|other| other.report.id != report.id);
        }
        let subject = row.text(4)?;
        let about = about(&rule, &subject, row.maybe_text(10)?.as_deref())?;
        let by_policy = policy_from(&row.text(8)?)?;
        let name = record.clone().unwrap_or_else(|| format!("rule:{rule}"));
        let one = shown.entry(name).or_insert_with(|| Shown {
            record,
            rule: rule.clone(),
            title: title.clone(),
            subjects: BTreeSet::new(),
            about: BTreeSet::new(),
            gravity,
            by_policy: by_policy.clone(),
            ends: Vec::new(),
            is_news: false,
            simulated: true,
        });
        // The first by name, in whatever order they come.
        one.title = one.title_beside(title, report.ended());
        one.rule = one.rule.clone().min(rule);
        if gravity.weight() > one.gravity.weight() {
            one.gravity = gravity;
            one.by_policy = by_policy;
        }
        one.subjects.insert(subject);
        one.about.extend(about);
        one.simulated &= report.simulated;
        one.is_news |= id == news.report.as_str();
        if !one.ends.contains(&report.ended()) {
            one.ends.push(report.ended());
        }
    }
    for fault in unnamed {
        let (name, one) = of_warning(fault, news);
        let about = one.about.clone();
        shown.entry(name).or_insert(one).about.extend(about);
    }
    Ok(shown)
}

impl Shown {
    /// Whether it has no name but the verdict's.
    fn is_of_verdict(&self) -> bool {
        self.record.is_none() && self.rule.starts_with(OF_VERDICT)
    }

    /// The title beside that of another report. What has no name is called as the newest report calls it.
    fn title_beside(&self, other: String, ended: OffsetDateTime) -> String {
        let newest = self.ends.iter().max().filter(|_| self.is_of_verdict());
        match newest.map(|newest| newest.cmp(&ended)) {
            Some(Ordering::Less) => other,
            Some(Ordering::Greater) => self.title.clone(),
            Some(Ordering::Equal) | None => self.title.clone().min(other),
        }
    }
}

/// What a finding is about: where only a verdict tells of it, what its report tells; else what it names.
fn about(rule: &str, subject: &str, causes: Option<&str>) -> Result<BTreeSet<String>, StoreError> {
    if rule.starts_with(OF_VERDICT) {
        let names = causes.map(names_from).transpose()?.unwrap_or_default();
        let causes = Causes {
            names,
            ..Causes::default()
        };
        return Ok(causes.faults());
    }
    let named = (subject != WHOLE).then(|| cut(subject, SUMMARY_NAME_CHARACTERS).to_owned());
    Ok(named.into_iter().collect())
}

/// The finding of a report of which only a warning is open that no finding of its own names.
fn of_warning(OpenFault { report, causes }: &OpenFault, news: &News<'_>) -> (String, Shown) {
    let rule = format!("{OF_VERDICT}{}", Verdict::Degraded.word());
    let why = causes.only_warns.as_deref().unwrap_or_default();
    let one = Shown {
        record: None,
        rule: rule.clone(),
        title: cut(why, SUMMARY_TITLE_CHARACTERS).to_owned(),
        subjects: BTreeSet::from([WHOLE.to_owned()]),
        about: causes.faults(),
        gravity: Gravity {
            bearing: Bearing::Warning,
            severity: None,
            action: None,
        },
        by_policy: None,
        ends: vec![report.ended()],
        is_news: report.id == *news.report,
        simulated: report.simulated,
    };
    (format!("rule:{rule}"), one)
}

/// Whether a finding tells of more than a warning, or of the report as a whole.
fn is_of_whole(rule: &str, gravity: Gravity) -> bool {
    gravity.bearing > Bearing::Warning || rule.starts_with(OF_VERDICT)
}

/// Whether a finding names what stays open as a warning. Another that is no worse may explain the fault that is over.
fn is_of_warning(rule: &str, gravity: Gravity) -> bool {
    !is_of_whole(rule, gravity) && OF_WARNINGS.iter().any(|start| rule.starts_with(start))
}

/// How many the policy makes milder.
pub(super) fn milder(shown: &BTreeMap<String, Shown>) -> i64 {
    let milder = |one: &&Shown| one.by_policy.as_ref().is_some_and(Ruled::is_milder);
    i64::try_from(shown.values().filter(milder).count()).unwrap_or(i64::MAX)
}

/// The worst that says something against the node.
pub(super) fn worst(shown: &BTreeMap<String, Shown>) -> Option<&Shown> {
    let weighing = shown.values().filter(|one| one.gravity.counts());
    // Of equals the first by name.
    weighing.rev().max_by_key(|one| one.gravity.weight())
}

pub(super) async fn keep<DB: Engine>(
    tx: &mut Tx<DB>,
    news: &News<'_>,
    shown: BTreeMap<String, Shown>,
) -> Result<(), StoreError> {
    follow_moves(tx, news.node).await?;
    let sql = concat!(
        "SELECT name, ",
        life_columns!(),
        ", ",
        handling_columns!(),
        " FROM node_finding WHERE node_id = $1"
    );
    let mut before: BTreeMap<String, Before> = BTreeMap::new();
    for row in tx.all(sql, values![news.node]).await? {
        before.insert(row.text(0)?, Before::of(&row, 1)?);
    }
    let mut shown: Vec<(String, Shown)> = shown.into_iter().collect();
    shown.sort_by_key(|(_, one)| std::cmp::Reverse(one.gravity.weight()));
    shown.truncate(SUMMARY_FINDINGS);
    let ended = before
        .iter()
        .filter(|(name, kept)| kept.is_open && !shown.iter().any(|(open, _)| open == *name));
    let mut has_ended = false;
    for (name, _) in ended {
        has_ended = true;
        let sql = "UPDATE node_finding SET is_open = $3, ended_at = $4 WHERE node_id = $1 AND name = $2";
        tx.run(sql, values![news.node, name, false, news.at]).await?;
    }
    keep_open(tx, news, &shown, &before).await?;
    if has_ended {
        forget(tx, news.node).await?;
    }
    Ok(())
}

async fn keep_open<DB: Engine>(
    tx: &mut Tx<DB>,
    news: &News<'_>,
    open: &[(String, Shown)],
    before: &BTreeMap<String, Before>,
) -> Result<(), StoreError> {
    let lives: Vec<Life> = open
        .iter()
        .map(|(name, one)| life(news, one, before.get(name)))
        .collect();
    let words: Vec<[String; 4]> = open
        .iter()
        .zip(&lives)
        .map(|((_, one), life)| {
            let (severity, action) = (one.gravity.severity.map(word), one.gravity.action.map(word));
            let by_policy = policy_text(one.by_policy.as_ref());
            [
                severity.unwrap_or_default(),
                action.unwrap_or_default(),
                by_policy,
                about_text(&life.about),
            ]
        })
        .collect();
    let mut rows = Vec::with_capacity(open.len());
    let all = open.iter().zip(&lives).zip(&words);
    for (((name, one), life), [severity, action, by_policy, about]) in all {
        rows.push([
            Value::from(news.node),
            Value::from(name),
            Value::from(one.record.as_deref()),
            Value::from(&one.rule),
            Value::from(&one.title),
            Value::from(i64::try_from(one.subjects.len()).unwrap_or_default()),
            Value::from(severity),
            Value::from(action),
            Value::from(one.gravity.bearing.word()),
            Value::from(one.simulated),
            Value::from(true),
            Value::from(life.first_at),
            Value::from(life.opened_at),
            Value::from(life.last_at),
            Value::from(life.reports),
            Value::from(by_policy),
            Value::from(about),
        ]);
    }
    let columns = "node_finding (node_id, name, record_id, rule, title, subjects, severity, action, bearing, simulated, is_open, \
        first_at, opened_at, last_at, reports, by_policy, about)";
    let tail = "ON CONFLICT (node_id, name) DO UPDATE SET record_id = excluded.record_id, rule = excluded.rule, \
        title = excluded.title, subjects = excluded.subjects, severity = excluded.severity, action = excluded.action, \
        bearing = excluded.bearing, simulated = excluded.simulated, is_open = excluded.is_open, first_at = excluded.first_at, \
        opened_at = excluded.opened_at, last_at = excluded.last_at, reports = excluded.reports, by_policy = excluded.by_policy, \
        about = excluded.about, ended_at = NULL";
    batch::insert(tx, columns, tail, &rows).await?;
    for ((name, _), life) in open.iter().zip(&lives).filter(|(_, life)| life.is_another) {
        fleet_life::begin_again(tx, (news.node, name), life.opened_at).await?;
    }
    Ok(())
}

fn life(news: &News<'_>, one: &Shown, before: Option<&Before>) -> Life {
    let now = Now {
        at: news.at,
        ends: &one.ends,
        is_news: one.is_news,
        is_of_new: news.is_new,
        about: &one.about,
        is_unnamed: one.is_of_verdict(),
    };
    fleet_life::life(&now, before)
}

/// Takes what is kept of a record along to the record that it was merged into, or that it is now.
async fn follow_moves<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<(), StoreError> {
    let sql = "SELECT f.name, m.record_id FROM node_finding f JOIN moved m ON m.former = f.record_id WHERE f.node_id = $1";
    for row in tx.all(sql, values![node]).await? {
        let (former, record) = (row.text(0)?, row.text(1)?);
        let sql = "SELECT 1 FROM node_finding WHERE node_id = $1 AND name = $2";
        let sql = if tx.first(sql, values![node, &record]).await?.is_some() {
            "DELETE FROM node_finding WHERE node_id = $1 AND name = $2 AND name <> $3"
        } else {
            "UPDATE node_finding SET name = $3, record_id = $3 WHERE node_id = $1 AND name = $2"
        };
        tx.run(sql, values![node, &former, &record]).await?;
    }
    Ok(())
}

/// Of what has ended the newest are kept.
async fn forget<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<(), StoreError> {
    let most = i64::try_from(SUMMARY_FINDINGS).unwrap_or(i64::MAX);
    // An end that is still to be told stays.
    let sql = "DELETE FROM node_finding WHERE node_id = $1 AND NOT is_open AND told_at IS NULL AND name NOT IN (SELECT name FROM node_finding \
        WHERE node_id = $1 AND NOT is_open ORDER BY last_at DESC, name LIMIT $2)";
    tx.run(sql, values![node, most]).await?;
    Ok(())
}

/// What reports of a node show or have shown.
pub(super) async fn of_node<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
) -> Result<Vec<NodeFinding>, StoreError> {
    let sql = concat!(
        "SELECT name, record_id, rule, title, subjects, severity, action, bearing, simulated, is_open, first_at, opened_at, \
         last_at, ended_at, reports, owner, by_policy, ",
        handling_columns!(),
        " FROM node_finding WHERE node_id = $1"
    );
    let mut found = Vec::new();
    for row in tx.all(sql, values![node]).await? {
        found.push(NodeFinding {
            name: row.text(0)?,
            record: row.maybe_text(1)?.map(id_from).transpose()?,
            rule: row.text(2)?,
            title: row.text(3)?,
            subjects: count_from(row.integer(4)?)?,
            severity: vocabulary("severity", &row.text(5)?)?,
            action: vocabulary("action", &row.text(6)?)?,
            bearing: bearing(&row.text(7)?)?,
            simulated: row.flag(8)?,
            is_open: row.flag(9)?,
            first_at: row.time(10)?,
            opened_at: row.time(11)?,
            last_at: row.time(12)?,
            ended_at: row.maybe_time(13)?,
            reports: count_from(row.integer(14)?)?,
            owner: row.maybe_text(15)?,
            by_policy: policy_from(&row.text(16)?)?,
            handling: handling_from(&row, 17)?,
        });
    }
    found.sort_by_key(|finding| {
        let gravity = Gravity {
            bearing: finding.bearing,
            severity: finding.severity,
            action: finding.action,
        };
        std::cmp::Reverse((finding.is_open, gravity.weight(), finding.last_at))
    });
    Ok(found)
}
