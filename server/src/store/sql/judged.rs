//! A stored report is judged by other rules: what it tells then, and what the rules took of its fault.

use std::collections::BTreeSet;

use kb_core::ids::{NodeId, ReportId};
use kb_core::verdict::Verdict;

use super::convert::{id_from, verdict_from};
use super::engine::{Cells, Engine, values};
use super::fleet_summary::{self, News};
use super::open_faults::{self, names_from};
use super::report_findings::note_findings;
use super::report_rows::{LISTING_WIDTH, listing_columns, listing_from};
use super::session::Tx;
use super::{proofs, standing};
use crate::store::{Causes, Found, JudgedBy, NewReport, ReportSaved, StoreError};

/// What the name of a verdict begins with, among the names of causes that rules took away.
const VERDICT: &str = "verdict:";
/// The name of a fault that was open before causes were kept.
const OF_BEFORE: &str = "report:";

/// By what a report was judged.
pub(super) async fn by<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    report: &ReportId,
) -> Result<Option<JudgedBy>, StoreError> {
    let sql = concat!(
        "SELECT ",
        listing_columns!(),
        ", p.rule_set, p.open_causes, p.gone_from, p.only_warns FROM report p WHERE p.node_id = $1 AND p.id = $2"
    );
    let Some(row) = tx.first(sql, values![node, report]).await? else {
        return Ok(None);
    };
    let open = match row.maybe_text(LISTING_WIDTH + 1)? {
        Some(names) => Some(Causes {
            names: names_from(&names)?,
            gone_from: row.maybe_text(LISTING_WIDTH + 2)?.map(id_from).transpose()?,
            only_warns: row.maybe_text(LISTING_WIDTH + 3)?,
        }),
        None => None,
    };
    Ok(Some(JudgedBy {
        report: listing_from(&row, 0)?,
        rule_set: row.text(LISTING_WIDTH)?,
        open,
        tells: fleet_summary::is_told_by(tx, node, report).await?,
    }))
}

/// Notes what a report tells by other rules, with its findings. What is not [`ReportSaved::Stored`] must not be committed.
pub(super) async fn anew<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<ReportSaved, StoreError> {
    let (node, id) = (&report.node, &report.id);
    fleet_summary::lock(tx, node).await?;
    if let Some(judged) = &report.judged
        && !proofs::is_up_to_date(tx, node, (judged, 0)).await?
    {
        return Ok(ReportSaved::Overtaken);
    }
    let counts = !report.simulated || !standing::has_real(tx, node).await?;
    if let Some(found) = &report.found {
        // The verdict of a report that says nothing of its node stays, and with it the rules that it was judged by.
        let rule_set = if counts {
            found.rule_set.clone()
        } else {
            String::new()
        };
        let found = Found {
            seq: found.seq,
            rule_set,
            findings: found.findings.clone(),
        };
        if !note_findings(tx, (node, id), &found).await? {
            return Ok(ReportSaved::Duplicate);
        }
    }
    if counts {
        proofs::refute(tx, report, true).await?;
        proofs::note_refuted(tx, report).await?;
        stand_anew(tx, report).await?;
    }
    let news = News {
        node,
        report: id,
        is_new: false,
        at: report.ended(),
        hardware: None,
    };
    fleet_summary::refresh(tx, news).await?;
    Ok(ReportSaved::Stored)
}

/// Notes verdict and causes, and what stands of the node then.
async fn stand_anew<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<(), StoreError> {
    let ruled_out = ruled_out(tx, report).await?;
    let sql = "UPDATE report SET verdict = $3, weight = $4, reason = $5, ended_at = $6, ruled_out = $7 \
        WHERE node_id = $1 AND id = $2";
    let row = values![
        &report.node,
        &report.id,
        report.verdict.word(),
        report.weight.word(),
        &report.reason,
        report.ended_at,
        ruled_out.as_deref(),
    ];
    tx.run(sql, row).await?;
    open_faults::end(tx, &report.node, &report.id).await?;
    standing::follow(tx, report).await?;
    open_faults::stand(tx, &report.node, report.simulated).await?;
    let sql = "UPDATE node SET judged_anew = judged_anew + 1 WHERE id = $1";
    tx.run(sql, values![&report.node]).await?;
    Ok(())
}

/// What rules took of the fault of a report, by names, as it is kept: what it told while it was open, and does not tell any more. Rules that
/// make it tell all of that again leave nothing.
async fn ruled_out<DB: Engine>(tx: &mut Tx<DB>, report: &NewReport) -> Result<Option<String>, StoreError> {
    let sql = "SELECT open_causes, only_warns, verdict, ruled_out FROM report WHERE node_id = $1 AND id = $2";
    let Some(row) = tx.first(sql, values![&report.node, &report.id]).await? else {
        return Ok(None);
    };
    let mut told = BTreeSet::new();
    if let Some(names) = row.maybe_text(3)? {
        told.extend(names_from(&names)?);
    }
    if let Some(names) = row.maybe_text(0)? {
        let names = names_from(&names)?.into_iter();
        told.extend(names.filter(|name| !name.starts_with(OF_BEFORE)));
        let verdict = match row.maybe_text(1)? {
            Some(_) => Verdict::Degraded,
            None => verdict_from(&row.text(2)?)?,
        };
        told.insert(format!("{VERDICT}{}", verdict.word()));
    }
    if report.tells_of_fault() {
        let names: BTreeSet<&String> = report.causes.names.iter().collect();
        told.retain(|name| match name.strip_prefix(VERDICT).map(verdict_from) {
            Some(Ok(verdict)) => report.opens() < verdict,
            _ => !names.contains(name),
        });
    }
    let told: Vec<String> = told.into_iter().collect();
    Ok((!told.is_empty()).then(|| serde_json::Value::from(told).to_string()))
}
