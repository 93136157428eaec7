//! The summary of a node and what is open on it, made anew from its reports in the transaction of what changes them.

use kb_core::ids::{NodeId, ReportId};
use kb_core::severity::Action;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::advice::{self, Decided};
use super::engine::{Cells, Engine, values};
use super::fleet_findings::{self, Shown};
use super::open_faults;
use super::report_rows::{LISTING_WIDTH, listing_columns, listing_from};
use super::session::Tx;
use crate::store::{
    Hardware, OpenFault, ReportListing, SUMMARY_NAME_CHARACTERS, StoreError, as_open, cut, place_of,
    standing, word,
};

/// A change that a summary follows.
#[derive(Debug, Clone, Copy)]
pub(super) struct News<'n> {
    pub(super) node: &'n NodeId,
    pub(super) report: &'n ReportId,
    /// The report is new; its findings may come later.
    pub(super) is_new: bool,
    pub(super) at: OffsetDateTime,
    pub(super) hardware: Option<&'n Hardware>,
}

/// Makes the summary of a node anew. The node's row must be locked.
pub(super) async fn refresh<DB: Engine>(tx: &mut Tx<DB>, news: News<'_>) -> Result<(), StoreError> {
    let Some((last_seen, stands, rule_set)) = reports(tx, news.node).await? else {
        return Ok(());
    };
    let open = open_faults::of(tx, news.node, stands.simulated).await?;
    let only_warn: Vec<&OpenFault> = open
        .iter()
        .filter(|fault| fault.causes.only_warns.is_some())
        .collect();
    let told: Vec<ReportListing> = [&last_seen, &stands]
        .into_iter()
        .chain(open.iter().map(|fault| &fault.report))
        .cloned()
        .collect();
    let shown = fleet_findings::shown(tx, &news, (&told, &only_warn)).await?;
    let cause = fleet_findings::worst(&shown);
    keep_summary(
        tx,
        &news,
        (&last_seen, &stands, &rule_set),
        cause,
        fleet_findings::milder(&shown),
    )
    .await?;
    fleet_findings::keep(tx, &news, shown).await
}

/// A node's latest report, and the one that stands, with the rule set that it was judged by.
async fn reports<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
) -> Result<Option<(ReportListing, ReportListing, String)>, StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        ", n.latest_report, n.proof_report, p.only_warns, p.rule_set FROM node n \
         JOIN report p ON p.node_id = n.id AND p.id IN (n.latest_report, n.proof_report) WHERE n.id = $1"
    );
    let (mut last_seen, mut proof) = (None, None);
    for row in tx.all(sql, values![node]).await? {
        let report = listing_from(&row, 0)?;
        let rule_set = row.text(LISTING_WIDTH + 3)?;
        if row.text(LISTING_WIDTH)? == report.id.as_str() {
            last_seen = Some((report.clone(), rule_set.clone()));
        }
        if row.maybe_text(LISTING_WIDTH + 1)?.as_deref() == Some(report.id.as_str()) {
            let open = as_open(report, row.maybe_text(LISTING_WIDTH + 2)?.as_deref());
            proof = Some((open, rule_set));
        }
    }
    Ok(last_seen.map(|(last_seen, of_last_seen)| {
        let (proof, of_proof) = proof.unzip();
        let stands = standing(proof, &last_seen);
        let of_proof = of_proof.filter(|_| stands.id != last_seen.id);
        (last_seen, stands, of_proof.unwrap_or(of_last_seen))
    }))
}

async fn keep_summary<DB: Engine>(
    tx: &mut Tx<DB>,
    news: &News<'_>,
    (last_seen, stands, rule_set): (&ReportListing, &ReportListing, &str),
    cause: Option<&Shown>,
    milder: i64,
) -> Result<(), StoreError> {
    let sql = "SELECT verdict, since, model, driver FROM node_summary WHERE node_id = $1";
    let before = tx.first(sql, values![news.node]).await?;
    let mut since = stands.ended();
    let (mut model, mut driver) = (String::new(), String::new());
    if let Some(row) = &before {
        if row.text(0)? == stands.verdict.word() {
            since = since.min(row.time(1)?);
        }
        (model, driver) = (row.text(2)?, row.text(3)?);
    }
    // A report that came late tells how the machine was, and not how it is.
    if let Some(hardware) = news.hardware.filter(|_| last_seen.id == *news.report) {
        let told = |told: &Option<String>, known: String| {
            let told = told
                .as_deref()
                .map(|told| cut(told, SUMMARY_NAME_CHARACTERS).to_owned());
            told.unwrap_or(known)
        };
        (model, driver) = (told(&hardware.model, model), told(&hardware.driver, driver));
    }
    let record = cause
        .and_then(|cause| cause.record.as_deref())
        .unwrap_or_default();
    let rule = cause.map_or("", |cause| cause.rule.as_str());
    let action = match cause {
        Some(cause) => cause.gravity.action,
        None if stands.verdict <= Verdict::NoFaultSeen => Some(Action::None),
        None => None,
    };
    let action = action.map(word).unwrap_or_default();
    let hostname = last_seen.hostname.as_deref().unwrap_or_default();
    let search = format!("{} {hostname}", news.node).to_lowercase();
    let sql = "INSERT INTO node_summary (node_id, verdict, verdict_order, since, standing_report, heard_at, simulated, gpus, \
        model, driver, cause_record, cause_rule, action, search, rule_set, milder) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
        ON CONFLICT (node_id) DO UPDATE SET \
        verdict = excluded.verdict, verdict_order = excluded.verdict_order, since = excluded.since, \
        standing_report = excluded.standing_report, heard_at = excluded.heard_at, simulated = excluded.simulated, \
        gpus = excluded.gpus, model = excluded.model, driver = excluded.driver, cause_record = excluded.cause_record, \
        cause_rule = excluded.cause_rule, action = excluded.action, search = excluded.search, \
        rule_set = excluded.rule_set, milder = excluded.milder";
    let row = values![
        news.node,
        stands.verdict.word(),
        place_of(stands.verdict),
        since,
        &stands.id,
        last_seen.ended(),
        stands.simulated,
        stands.gpus,
        &model,
        &driver,
        record,
        rule,
        &action,
        &search,
        rule_set,
        milder,
    ];
    tx.run(sql, row).await?;
    let decided = Decided {
        report: &stands.id,
        verdict: stands.verdict.word(),
        action: &action,
        cause: (record, rule),
        rule_set,
    };
    advice::note(tx, news.node, news.at, decided).await
}

/// Locks the row of a node before its reports, in the order of an upload.
pub(super) async fn lock<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId) -> Result<(), StoreError> {
    tx.run("UPDATE node SET reports = reports WHERE id = $1", values![node])
        .await?;
    Ok(())
}

/// Whether a report is the latest of its node, the one whose verdict stands, or one whose fault is open, or of whose fault other rules took something.
pub(super) async fn is_told_by<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    report: &ReportId,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM node n JOIN report p ON p.node_id = n.id AND p.id = $2 \
        WHERE n.id = $1 AND (n.latest_report = $2 OR n.proof_report = $2 OR p.open_causes IS NOT NULL OR p.ruled_out IS NOT NULL)";
    Ok(tx.first(sql, values![node, report]).await?.is_some())
}
