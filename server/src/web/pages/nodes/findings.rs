//! Findings on the page of a node, and the forms by which they are acknowledged, silenced and owned.

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::NodeId;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

use super::facets::about_href;
use super::{Link, node_href};
use crate::domain::fleet_findings::{self, FindingState};
use crate::feed::Generation;
use crate::render::advice::Text;
use crate::render::i18n::fleet::Words;
use crate::render::i18n::terms;
use crate::render::i18n::{self, Locale};
use crate::render::record::texts;
use crate::render::words::{Mark, moment, record_href, severity};
use crate::store::{FindingChange, FindingStep, HandlingKind, NodeFinding};
use crate::web::auth::Operator;
use crate::web::error::{Code, Problem};
use crate::web::pages::locale;
use crate::web::session::Form;
use crate::web::state::AppState;

const FIELDS: [&str; 5] = ["do", "finding", "note", "until", "owner"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingView {
    pub name: String,
    pub title: Text,
    /// What the nodes that show it have in common.
    pub in_common: Link,
    pub record: Option<Link>,
    /// The rule, where no record explains it.
    pub rule: Option<String>,
    pub severity: Option<Mark>,
    pub action: Option<&'static str>,
    pub state: &'static str,
    /// When it was seen first and last, and how often.
    pub seen: String,
    pub simulated: bool,
    pub owner: Option<String>,
    /// Who said what when it was acknowledged or silenced.
    pub handled: Option<String>,
    pub note: Option<String>,
    pub is_handled: bool,
    /// What the site's policy made of it, and its words.
    pub by_policy: Option<(String, String)>,
}

pub(super) fn findings(
    all: Vec<&NodeFinding>,
    generation: &Generation,
    now: OffsetDateTime,
    locale: Locale,
) -> Vec<FindingView> {
    all.into_iter()
        .map(|finding| view(finding, generation, now, locale))
        .collect()
}

fn view(finding: &NodeFinding, generation: &Generation, now: OffsetDateTime, locale: Locale) -> FindingView {
    let words = Words::of(locale.language);
    let published = finding
        .record
        .as_ref()
        .and_then(|record| generation.record(record));
    let state = FindingState::of(finding, now);
    let handled = finding.handling.as_ref().map(|handling| {
        let at = moment(handling.at);
        match handling.kind {
            HandlingKind::Acknowledged => words.acknowledged_by(&handling.by, &at),
            HandlingKind::Silenced(until) => words.silenced_by(&handling.by, &at, &moment(until)),
        }
    });
    FindingView {
        in_common: Link {
            href: about_href(&finding.name, finding.simulated, locale),
            text: i18n::facets::Words::of(locale.language).title.to_owned(),
        },
        name: finding.name.clone(),
        title: published.map_or_else(
            || Text::new(finding.title.as_str()),
            |published| texts::heading(&published.record, locale.language),
        ),
        record: finding.record.as_ref().map(|id| Link {
            href: locale.href(record_href(id.as_str())),
            text: id.to_string(),
        }),
        rule: finding.record.is_none().then(|| finding.rule.clone()),
        severity: finding.severity.map(|word| severity(word, locale.language)),
        action: finding
            .action
            .map(|action| terms::Words::of(locale.language).action(action)),
        state: words.finding_state(state),
        seen: words.seen(
            u64::from(finding.reports),
            &moment(finding.first_at),
            &moment(finding.last_at),
        ),
        by_policy: finding.by_policy.as_ref().map(|ruled| {
            let rule = u64::from(ruled.rule);
            (words.ruled(ruled.is, rule), ruled.reason.clone())
        }),
        simulated: finding.simulated,
        owner: finding.owner.as_deref().map(|owner| words.owned_by(owner)),
        is_handled: matches!(state, FindingState::Acknowledged | FindingState::Silenced),
        note: finding
            .handling
            .as_ref()
            .and_then(|handling| handling.note.clone()),
        handled,
    }
}

pub async fn send(
    operator: Operator,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&FIELDS)?;
    let node: NodeId = id.parse()?;
    let said = Some(form.get("note").to_owned());
    let step = match form.get("do") {
        "acknowledge" => FindingStep::Acknowledge { note: said },
        "silence" => FindingStep::Silence {
            until: until(form.get("until"))?,
            note: said,
        },
        "release" => FindingStep::Release,
        "own" => FindingStep::Own(Some(operator.0.name.clone())),
        "disown" => FindingStep::Own(None),
        other => {
            let detail = format!("the form has no button {other:?}");
            return Err(Problem::new(Code::MalformedBody, detail));
        }
    };
    let change = FindingChange {
        node: node.clone(),
        name: form.get("finding").to_owned(),
        step,
        by: operator.0.by(),
        at: state.clock.now(),
    };
    fleet_findings::change(state.store.as_ref(), change).await?;
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, node_href(&node, locale::of(&request))))
        .finish())
}

/// The end of a day, as a date field sends it.
fn until(day: &str) -> Result<OffsetDateTime, Problem> {
    let format = format_description!("[year]-[month]-[day]");
    let date = Date::parse(day, &format).ok().and_then(Date::next_day);
    let date = date.ok_or_else(|| Problem::new(Code::MalformedBody, "until must be a day, as 2026-12-31"))?;
    Ok(date.midnight().assume_utc())
}
