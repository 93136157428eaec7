//! Later reports that show fewer GPUs than one that came late: they are judged as if the reports had come in the order of their runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use kb_core::report::Report;
use kb_core::verdict::Verdict;

use super::causes::{is_part, names};
use super::ends::leaves_open;
use super::gone::{gone_since_alarm, gone_within_boot, is_as_many_as_expected};
use super::over::leaves_alarm_open;
use super::past::Past;
use super::{IngestError, machine};
use crate::domain::correlate::of_verdict;
use crate::store::{Causes, NewReport, Origin, Proofs, Refuted, ReportListing, Weight};

/// Most later reports that one is held against: each is read and parsed. The latest is among them.
const MOST: u32 = 144;
/// Of these the first few are asked first: where no GPU is gone, the next one tells so, and the others are not read.
const FEW: u32 = 4;

/// Later reports of the boot in which GPUs are gone that this one, which came late, shows. Each becomes an alarm; those that a later one
/// ends, or tells again, are over.
pub(super) async fn hold_against_later(
    past: &Past<'_>,
    new: &NewReport,
    sent: &Report,
    known: &Proofs,
) -> Result<Vec<Refuted>, IngestError> {
    let at = new.ended();
    let is_late = |report: &&ReportListing| report.simulated == new.simulated && report.ended() > at;
    if !machine::is_of_working(sent) || !known.latest.iter().chain(&known.proofs).any(|one| is_late(&one)) {
        return Ok(Vec::new());
    }
    let mut gone = Gone::before(new);
    let mut held = BTreeSet::from([new.id.clone()]);
    for most in [FEW, MOST] {
        let mut later = past
            .reports
            .reports_after(&new.node, new.simulated, at, most)
            .await?;
        let is_all = u32::try_from(later.len()).is_ok_and(|got| got < most);
        if (is_all || most == MOST)
            && let Some(latest) = known.latest.iter().find(is_late)
        {
            later.push(latest.clone());
        }
        for report in later {
            if held.insert(report.id.clone()) && !gone.go_on(past, (new, sent), &report).await? {
                return Ok(gone.refuted);
            }
        }
        if is_all {
            break;
        }
    }
    Ok(gone.refuted)
}

/// What is gone from report to report.
struct Gone {
    refuted: Vec<Refuted>,
    /// Places in `refuted` whose GPUs are still gone, each with its report.
    open: Vec<(usize, Arc<Report>)>,
    /// An alarm, or an earlier report of the boot, tells of it: GPUs that are gone then do not come back with a new boot.
    is_told: bool,
}

impl Gone {
    fn before(new: &NewReport) -> Self {
        Self {
            refuted: Vec::new(),
            open: Vec::new(),
            is_told: new.weight == Weight::Alarm,
        }
    }

    /// Holds the next report; whether those after it are asked, too.
    async fn go_on(
        &mut self,
        past: &Past<'_>,
        (new, sent): (&NewReport, &Report),
        report: &ReportListing,
    ) -> Result<bool, IngestError> {
        let is_proof = report.weight == Weight::Proof && report.verdict <= Verdict::Degraded;
        let may_warn = report.weight == Weight::Alarm && report.verdict == Verdict::Degraded;
        if !is_proof && !may_warn && report.weight != Weight::Look {
            return Ok(true);
        }
        if report.gpus >= new.gpus && self.open.is_empty() {
            // They were there then: what is gone later is gone from that report.
            return Ok(false);
        }
        let body = past.body(report).await?;
        let is_look = super::weight::origin(&body) == Origin::Look;
        if !is_proof && (!machine::is_of_working(&body) || (may_warn && !is_look)) {
            return Ok(true);
        }
        let in_boot = || gone_within_boot(sent, &body);
        let since = || gone_since_alarm(sent, &body).filter(|_| self.is_told);
        let gone = if is_as_many_as_expected(&body) {
            None
        } else {
            in_boot().or_else(since)
        };
        let Some(gone) = gone else {
            self.end(past, body, is_proof).await?;
            return Ok(!self.open.is_empty());
        };
        self.is_told = true;
        self.tell(past, (new, report), (gone, body)).await?;
        Ok(true)
    }

    /// Ends what a report shows to be over in which no GPU is gone.
    async fn end(&mut self, past: &Past<'_>, later: Arc<Report>, is_proof: bool) -> Result<(), IngestError> {
        let told = std::mem::take(&mut self.open);
        let held = past.on_blocking_thread(move |site| {
            let is_over = |told: &Report| {
                if is_proof {
                    leaves_open(told, &later).is_none()
                } else {
                    leaves_alarm_open(told, (Verdict::Unknown, &[], None), &later, &site.policy).is_none()
                }
            };
            told.into_iter().partition(|(_, told)| is_over(told))
        });
        let (over, open): (Vec<_>, Vec<_>) = held.await?;
        self.open = open;
        self.close(over);
        Ok(())
    }

    async fn tell(
        &mut self,
        past: &Past<'_>,
        (new, report): (&NewReport, &ReportListing),
        (gone, body): (String, Arc<Report>),
    ) -> Result<(), IngestError> {
        let told = (Weight::Alarm, Verdict::Unknown);
        let seen = if body.was_tried() { "tried" } else { "seen" };
        let reason = format!("{gone}; of what was {seen}: {}", report.reason);
        let finding = of_verdict(told, &reason, &[]);
        let (told_by, findings) = (Arc::clone(&body), Vec::from_iter(finding.clone()));
        let names = past.on_blocking_thread(move |site| names(&told_by, told, &findings, &site.policy));
        let causes = Causes {
            names: names.await?,
            gone_from: Some(new.id.clone()),
            only_warns: None,
        };
        let is_again = |place: &usize| {
            let earlier = self.refuted.get(*place);
            earlier.is_some_and(|earlier| is_part(&earlier.causes, &causes))
        };
        let (over, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(place, _)| is_again(place));
        self.open = open;
        self.close(over);
        self.open.push((self.refuted.len(), body));
        self.refuted.push(Refuted {
            id: report.id.clone(),
            weight: Weight::Alarm,
            causes,
            reason,
            finding,
            is_over: false,
        });
        Ok(())
    }

    fn close(&mut self, over: Vec<(usize, Arc<Report>)>) {
        for (place, _) in over {
            if let Some(refuted) = self.refuted.get_mut(place) {
                refuted.is_over = true;
            }
        }
    }
}
