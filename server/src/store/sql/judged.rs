//! A stored report is judged by other rules: what it tells then, and what the rules took of its fault.

use std::collections::BTreeSet;

use kb_core::ids::{NodeId, ReportId};
use kb_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::convert::{id_from, unreadable, verdict_from};
use super::engine::{Cells, Engine, values};
use super::fleet_summary::{self, News};
use super::open_faults::{self, names_from};
use super::report_findings::note_findings;
use super::report_rows::{LISTING_WIDTH, listing_columns, listing_from};
use super::session::Tx;
use super::{proofs, standing};
use crate::store::{Causes, Ended, Found, JudgedBy, NewReport, ReportSaved, StoreError};

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
        ", p.rule_set, p.open_causes, p.gone_from, p.only_warns, p.ruled_out FROM report p WHERE p.node_id = $1 AND p.id = $2"
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
        ended: match row.maybe_text(LISTING_WIDTH + 4)? {
            Some(kept) => RuledOut::from_text(&kept)?.ended,
            None => None,
        },
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
        let rule_set = found.rule_set.clone().filter(|_| counts);
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
    let (ruled_out, takes) = ruled_out(tx, report).await?;
    let ruled_out = ruled_out.map(RuledOut::into_text);
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
    if takes {
        judge_refuted_again(tx, &report.node, &report.id).await?;
    }
    Ok(())
}

/// Has those judged again that may be no proof of health only for what rules took of this report: the node's latest, and those that are open as
/// a warning instead. They may have been judged by the new rules already.
async fn judge_refuted_again<DB: Engine>(
    tx: &mut Tx<DB>,
    node: &NodeId,
    report: &ReportId,
) -> Result<(), StoreError> {
    let sql = "UPDATE report SET correlated_seq = NULL WHERE node_id = $1 AND id <> $2 \
        AND (id = (SELECT n.latest_report FROM node n WHERE n.id = $1) \
        OR (open_causes IS NOT NULL AND weight = 'alarm' AND verdict = 'degraded'))";
    tx.run(sql, values![node, report]).await?;
    Ok(())
}

/// What rules took of the fault of a report: what it told while it was open, and does not tell any more; and whether these rules took something
/// that was not taken before. Rules that make it tell all of that again leave nothing.
async fn ruled_out<DB: Engine>(
    tx: &mut Tx<DB>,
    report: &NewReport,
) -> Result<(Option<RuledOut>, bool), StoreError> {
    let sql = "SELECT open_causes, only_warns, verdict, ruled_out FROM report WHERE node_id = $1 AND id = $2";
    let Some(row) = tx.first(sql, values![&report.node, &report.id]).await? else {
        return Ok((None, false));
    };
    let before = match row.maybe_text(3)? {
        Some(kept) => RuledOut::from_text(&kept)?,
        None => RuledOut::default(),
    };
    let mut all = before.clone();
    if let Some(names) = row.maybe_text(0)? {
        let mut names = names_from(&names)?;
        names.retain(|name| !name.starts_with(OF_BEFORE));
        all.add_open(names, verdict_from(&row.text(2)?)?, row.maybe_text(1)?);
    }
    if report.tells_of_fault() {
        let names: BTreeSet<&String> = report.causes.names.iter().collect();
        all.names
            .retain(|name| match name.strip_prefix(VERDICT).map(verdict_from) {
                Some(Ok(verdict)) => report.opens() < verdict,
                _ => !names.contains(name),
            });
    }
    let takes = !all.names.is_subset(&before.names);
    Ok(((!all.names.is_empty()).then_some(all), takes))
}

/// What rules took of a fault.
#[derive(Debug, Clone, Default)]
struct RuledOut {
    /// By names of causes, and of verdicts.
    names: BTreeSet<String>,
    /// What was over of it but for its warnings, so that it does not come back as a whole.
    ended: Option<Ended>,
}

/// The same as JSON. Most has names alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Names(BTreeSet<String>),
    WithEnded {
        names: BTreeSet<String>,
        ended: KeptEnded,
    },
}

#[derive(Serialize, Deserialize)]
struct KeptEnded {
    names: Vec<String>,
    verdict: String,
    only_warns: String,
}

impl RuledOut {
    fn from_text(text: &str) -> Result<Self, StoreError> {
        let kept: Kept = serde_json::from_str(text).map_err(|_| unreadable("ruled_out", text))?;
        let (names, ended) = match kept {
            Kept::Names(names) => return Ok(Self { names, ended: None }),
            Kept::WithEnded { names, ended } => (names, ended),
        };
        let ended = Ended {
            verdict: verdict_from(&ended.verdict)?,
            causes: Causes {
                names: ended.names,
                gone_from: None,
                only_warns: Some(ended.only_warns),
            },
        };
        Ok(Self {
            names,
            ended: Some(ended),
        })
    }

    fn into_text(self) -> String {
        let names = self.names;
        let ended = self.ended.and_then(|ended| {
            Some(KeptEnded {
                names: ended.causes.names,
                verdict: ended.verdict.word().to_owned(),
                only_warns: ended.causes.only_warns?,
            })
        });
        match ended {
            Some(ended) => json!({ "names": names, "ended": ended }).to_string(),
            None => json!(names).to_string(),
        }
    }

    /// Adds what was open of a report with this verdict.
    fn add_open(&mut self, names: Vec<String>, verdict: Verdict, only_warns: Option<String>) {
        let opened = match only_warns {
            Some(_) => Verdict::Degraded,
            None => verdict,
        };
        self.names.extend(names.iter().cloned());
        self.names.insert(format!("{VERDICT}{}", opened.word()));
        let causes = Causes {
            names,
            gone_from: None,
            only_warns,
        };
        let is_known = self
            .ended
            .as_ref()
            .is_some_and(|ended| ended.covers(verdict, &causes));
        if causes.only_warns.is_some() && !is_known {
            self.ended = Some(Ended { verdict, causes });
        }
    }
}
