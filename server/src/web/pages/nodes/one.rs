//! `/nodes/{id}`: verdict, cause and what to do first; then what is open, what is different, its history and its reports.

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::{NodeId, ReportId};
use kb_core::report::Report;
use kb_core::verdict::Verdict;
use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::findings::{FindingView, findings};
use super::history::{Strip, strip};
use super::rows::{
    ChangeRow, EventRow, ReportLink, ReportRow, change_row, event_row, hardware, report_link, report_row,
};
use super::{Link, asked, list, node_href, told};
use crate::domain::fleet_changes::{self, Compared};
use crate::domain::fleet_filter::Asked;
use crate::domain::policy::Site;
use crate::feed::Generation;
use crate::render::advice::Text;
use crate::render::i18n::Locale;
use crate::render::i18n::fleet::Words;
use crate::render::record;
use crate::render::record::first::FirstThing;
use crate::render::record::texts;
use crate::render::words::{Mark, Row, encoded, moment, record_href};
use crate::store::{Known, NodeEvent, NodeFinding, NodeListing, ReportListing, ReportQuery, Scope};
use crate::web::auth::FleetReader;
use crate::web::error::{Code, Problem};
use crate::web::limits::PAGE_DEFAULT;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{filters, html, html_not_shared, locale};
use crate::web::session::Session;
use crate::web::state::AppState;

/// Events on the page of a node; the API has more.
const SHOWN_EVENTS: u32 = 20;

#[derive(Debug, Template)]
#[template(path = "pages/node.html")]
pub struct NodePage {
    pub layout: Layout,
    pub words: &'static Words,
    pub id: String,
    pub facts: Vec<String>,
    pub labels: Vec<Link>,
    pub verdict: Mark,
    pub simulated: bool,
    /// Since when, or how long ago that was.
    pub since: String,
    pub cause: Option<CauseView>,
    pub action: &'static str,
    /// Which rule set decided, and whether the policy makes something milder.
    pub decided: String,
    pub milder: Option<String>,
    pub fix: Option<FirstThing>,
    /// What the report itself says to do, where no record does.
    pub own_fix: Option<String>,
    pub standing: ReportLink,
    pub last_seen: Option<ReportLink>,
    pub hardware: Vec<Row>,
    pub findings: Vec<FindingView>,
    pub ended: Vec<FindingView>,
    /// Where the forms of findings go, and what proves them; nothing for who may not send them.
    pub forms: Option<Forms>,
    pub good: Option<ReportLink>,
    /// Nothing where there is nothing to compare with.
    pub changes: Option<Vec<ChangeRow>>,
    pub strip: Strip,
    pub events: Vec<EventRow>,
    pub reports: Vec<ReportRow>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms {
    pub action: String,
    pub csrf: String,
}

/// The worst of what is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseView {
    pub title: Text,
    pub record: Option<Link>,
    pub rule: String,
}

/// All that a node's page is made of.
#[derive(Debug)]
pub struct Source<'s> {
    pub node: &'s NodeListing,
    pub findings: &'s [NodeFinding],
    pub compared: &'s Compared,
    pub events: &'s [NodeEvent],
    pub reports: &'s [ReportListing],
    /// Address of older reports.
    pub next: Option<String>,
    pub forms: Option<Forms>,
    /// What the node is judged by now.
    pub site: &'s Site,
    pub now: OffsetDateTime,
}

pub fn page(source: Source<'_>, generation: &Generation, locale: Locale) -> NodePage {
    let words = Words::of(locale.language);
    let (node, summary) = (source.node, &source.node.summary);
    let id = node.id.as_str();
    let mut facts = Vec::new();
    if let Some(hostname) = &node.hostname {
        facts.push(words.host(hostname));
    }
    facts.push(words.report_count(u64::from(node.reports)));
    let (open, ended): (Vec<_>, Vec<_>) = source.findings.iter().partition(|finding| finding.is_open);
    let record = summary.cause.as_ref().and_then(|cause| cause.record.as_ref());
    let published = record.and_then(|record| generation.record(record));
    let fix =
        published.and_then(|published| record::view(record::Source::published(published, &[]), locale).first);
    let cause = summary.cause.as_ref().map(|cause| {
        let shown = open
            .iter()
            .find(|finding| finding.rule == cause.rule && finding.record == cause.record);
        CauseView {
            title: match (published, shown) {
                (Some(published), _) => texts::heading(&published.record, locale.language),
                (None, Some(finding)) => Text::new(finding.title.as_str()),
                (None, None) => Text::new(cause.rule.as_str()),
            },
            record: cause.record.as_ref().map(|id| Link {
                href: locale.href(record_href(id.as_str())),
                text: id.to_string(),
            }),
            rule: cause.rule.clone(),
        }
    });
    let latest = source.compared.latest.as_ref();
    let (verdict, silent) = told(summary, source.now, locale);
    let own_fix = latest.filter(|_| fix.is_none()).and_then(own_fix);
    NodePage {
        layout: Layout::new(format!("{id} · Peerless"), Section::Nodes)
            .spoken(locale)
            .in_both(&node_href(&node.id, Locale::ENGLISH)),
        words,
        id: id.to_owned(),
        facts,
        labels: list::labels(node, &Asked::default(), locale),
        verdict,
        simulated: summary.simulated,
        since: match silent {
            Some(silent) if summary.verdict <= Verdict::NoFaultSeen => silent,
            Some(silent) => format!("{} · {silent}", words.since_moment(&moment(summary.since))),
            None => words.since_moment(&moment(summary.since)),
        },
        cause,
        decided: words.decided_by(
            summary.rule_set.as_deref().unwrap_or(words.not_known),
            &source.site.policy.version,
            words.stage(source.site.stage),
        ),
        milder: (summary.milder > 0).then(|| words.milder_by_policy(u64::from(summary.milder))),
        action: asked::action_word(&summary.action.map_or(Known::Unknown, Known::Is), locale),
        fix,
        own_fix,
        standing: report_link(&node.latest, locale),
        last_seen: (node.last_seen.id != node.latest.id).then(|| report_link(&node.last_seen, locale)),
        hardware: hardware(node, latest, words),
        findings: findings(open, generation, source.now, locale),
        ended: findings(ended, generation, source.now, locale),
        forms: source.forms,
        good: source
            .compared
            .good
            .as_ref()
            .map(|good| report_link(good, locale)),
        changes: source
            .compared
            .changes
            .as_ref()
            .map(|changes| changes.iter().map(|change| change_row(change, words)).collect()),
        strip: strip(source.reports, locale),
        events: source
            .events
            .iter()
            .map(|event| event_row(event, &node.id, locale))
            .collect(),
        reports: source
            .reports
            .iter()
            .map(|report| report_row(report, locale))
            .collect(),
        next: source.next.map(|next| locale.href(next)),
    }
}

/// What the report says to do about what stopped its run.
fn own_fix(report: &Report) -> Option<String> {
    report.failures.iter().find_map(|failure| failure.fix.clone())
}

/// Where a page of reports starts: before this report.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ReportsParams {
    /// When it came, RFC 3339.
    pub before: Option<String>,
    pub id: Option<String>,
}

impl ReportsParams {
    fn cursor(&self) -> Result<Option<(OffsetDateTime, ReportId)>, Problem> {
        let (Some(before), Some(id)) = (&self.before, &self.id) else {
            return Ok(None);
        };
        let before = OffsetDateTime::parse(before, &Rfc3339)
            .map_err(|_| Problem::new(Code::BadQuery, "before must be a time as RFC 3339 writes it"))?;
        Ok(Some((before, id.parse()?)))
    }
}

pub async fn get(
    caller: FleetReader,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    params: Query<ReportsParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let id: NodeId = id.parse()?;
    let before = params.cursor()?;
    let query = ReportQuery {
        node: Some(id.clone()),
        before,
        limit: PAGE_DEFAULT + 1,
    };
    let Some(node) = state.store.node(&id).await? else {
        return Err(Problem::new(Code::NotFound, format!("no node {id} has reported")));
    };
    let locale = locale::of(&request);
    let events = state.store.node_events(&id, SHOWN_EVENTS).await?;
    let findings = state.store.node_findings(&id).await?;
    let compared = fleet_changes::compare(state.store.as_ref(), &node).await?;
    let mut reports = state.store.reports(query).await?;
    let more = reports.len() > PAGE_DEFAULT as usize;
    reports.truncate(PAGE_DEFAULT as usize);
    let next = reports.last().filter(|_| more).and_then(|last| {
        let before = last.received_at.format(&Rfc3339).ok()?;
        let (id, before, last_id) = (encoded(id.as_str()), encoded(&before), encoded(last.id.as_str()));
        Some(format!("/nodes/{id}?before={before}&id={last_id}"))
    });
    let may = caller.0.as_ref().is_some_and(|actor| actor.may(Scope::Fleet));
    let forms = session.filter(|_| may).map(|session| Forms {
        action: locale.href(format!("/nodes/{}/findings", encoded(id.as_str()))),
        csrf: session.csrf,
    });
    let is_own = forms.is_some();
    let generation = state.knowledge.current();
    let site = state
        .correlator
        .site(state.store.as_ref(), &generation, &id)
        .await?;
    let source = Source {
        site: &site,
        node: &node,
        findings: &findings,
        compared: &compared,
        events: &events,
        reports: &reports,
        next,
        forms,
        now: state.clock.now(),
    };
    let page = page(source, &generation, locale);
    if is_own {
        html_not_shared(&page)
    } else {
        html(&page)
    }
}
