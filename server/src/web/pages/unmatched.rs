//! `/unmatched` and `/unmatched/{id}`: lines that look like errors and that no record knows, and what editors do with them.

use std::fmt::Write as _;

use actix_web::http::header;
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::RecordId;
use kb_core::near;
use kb_core::propose::propose;
use serde::Deserialize;
use time::OffsetDateTime;

use super::layout::{Layout, Section};
use super::{html_not_shared, locale};
use crate::domain::unmatched::{self, known_as, suggested_id};
use crate::render::i18n::Locale;
use crate::render::i18n::unmatched::Words;
use crate::render::words::{Link, Row, encoded, grouped, moment, record_href};
use crate::store::{
    Unmatched, UnmatchedChange, UnmatchedHistory, UnmatchedOrder, UnmatchedQuery, UnmatchedSince,
    UnmatchedState, UnmatchedStep,
};
use crate::web::api::unmatched::one as found;
use crate::web::auth::Editor;
use crate::web::compute::Desk;
use crate::web::error::{Code, Problem};
use crate::web::limits::PAGE_DEFAULT;
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

const FIELDS: [&str; 5] = ["do", "to", "reason", "record", "seen"];
/// What the form says of lines that nobody has changed.
const NEVER: &str = "never";

#[derive(Debug, Template)]
#[template(path = "pages/unmatched.html")]
pub struct UnmatchedPage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) filter: UnmatchedParams,
    pub(in crate::web::pages) states: Vec<Choice>,
    pub(in crate::web::pages) orders: Vec<Choice>,
    pub(in crate::web::pages) rows: Vec<Entry>,
    pub(in crate::web::pages) next: Option<String>,
    /// Lines of pasted texts.
    pub(in crate::web::pages) pasted: Vec<Entry>,
}

#[derive(Debug)]
pub struct Choice {
    pub value: &'static str,
    pub name: &'static str,
    pub is_chosen: bool,
}

#[derive(Debug)]
pub struct Entry {
    pub href: String,
    pub template: String,
    pub count: String,
    pub nodes: String,
    pub last_seen: String,
    pub state: &'static str,
    pub assignee: String,
}

#[derive(Debug, Template)]
#[template(path = "pages/unmatched_one.html")]
pub struct UnmatchedOnePage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) csrf: String,
    pub(in crate::web::pages) action: String,
    /// When it was changed before it was shown.
    pub(in crate::web::pages) seen: String,
    pub(in crate::web::pages) list: String,
    pub(in crate::web::pages) id: String,
    /// An id for the record that is begun from them.
    pub(in crate::web::pages) suggested: String,
    pub(in crate::web::pages) template: String,
    pub(in crate::web::pages) facts: Vec<Row>,
    pub(in crate::web::pages) record: Option<Link>,
    pub(in crate::web::pages) known_as: Vec<Link>,
    pub(in crate::web::pages) examples: Vec<String>,
    pub(in crate::web::pages) pattern: Option<String>,
    pub(in crate::web::pages) days: Vec<(String, String)>,
    pub(in crate::web::pages) nodes: Vec<(String, String)>,
    /// Whether steps can be taken: lines of pasted texts only expire.
    pub(in crate::web::pages) has_steps: bool,
    pub(in crate::web::pages) is_open: bool,
    pub(in crate::web::pages) assignee: String,
    pub(in crate::web::pages) is_mine: bool,
}

/// Filters, as the form sends them: a field that is empty filters nothing.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct UnmatchedParams {
    #[serde(default)]
    pub state: Option<String>,
    #[serde(default)]
    pub assignee: String,
    #[serde(default)]
    pub node: String,
    #[serde(default)]
    pub q: String,
    #[serde(default)]
    pub sort: String,
    #[serde(default)]
    pub skip: Option<u32>,
}

pub async fn list(
    _: Editor,
    request: HttpRequest,
    params: Query<UnmatchedParams>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let params = params.into_inner();
    let some = |text: &str| {
        let text = text.replace('\0', "").trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let query = UnmatchedQuery {
        state: state_of(params.state.as_deref())?,
        assignee: some(&params.assignee),
        node: some(&params.node),
        text: some(&params.q),
        order: order_of(&params.sort)?,
        skip: params.skip.unwrap_or(0).min(i32::MAX.unsigned_abs()),
        limit: PAGE_DEFAULT + 1,
    };
    let found = state.store.unmatched(&query).await?;
    let locale = locale::of(&request);
    let mut page = page(found, params, locale);
    let messages = unmatched::pasted(state.store.as_ref()).await?.into_iter();
    let messages = messages.take(PAGE_DEFAULT as usize);
    page.pasted = messages.map(|one| row(one, page.words, locale)).collect();
    html_not_shared(&page)
}

pub(in crate::web::pages) fn page(
    mut found: Vec<Unmatched>,
    filter: UnmatchedParams,
    locale: Locale,
) -> UnmatchedPage {
    let words = Words::of(locale.language);
    let more = found.len() > PAGE_DEFAULT as usize;
    found.truncate(PAGE_DEFAULT as usize);
    let next = more.then(|| {
        let mut address = String::from("/unmatched?");
        for (name, value) in [
            ("state", filter.state.as_deref().unwrap_or("open")),
            ("assignee", &filter.assignee),
            ("node", &filter.node),
            ("q", &filter.q),
            ("sort", &filter.sort),
        ] {
            // Writing to a String cannot fail.
            let _ = write!(address, "{name}={}&", encoded(value));
        }
        let skip = filter.skip.unwrap_or(0).saturating_add(PAGE_DEFAULT);
        locale.href(format!("{address}skip={skip}"))
    });
    let chosen = filter.state.as_deref().unwrap_or("open");
    let choice = |value, name, chosen: &str| Choice {
        value,
        name,
        is_chosen: value == chosen,
    };
    let sort = if filter.sort.is_empty() {
        "count"
    } else {
        &filter.sort
    };
    UnmatchedPage {
        layout: Layout::new(format!("{} · Peerless", words.title), Section::Unmatched)
            .spoken(locale)
            .in_both("/unmatched"),
        words,
        states: vec![
            choice("open", words.open, chosen),
            choice("ignored", words.ignored, chosen),
            choice("known", words.known, chosen),
            choice("", words.all, chosen),
        ],
        orders: vec![
            choice("count", words.lines, sort),
            choice("nodes", words.nodes, sort),
            choice("last_seen", words.last_seen, sort),
        ],
        rows: found.into_iter().map(|one| row(one, words, locale)).collect(),
        next,
        pasted: Vec::new(),
        filter,
    }
}

/// Open where nothing is asked, all where the choice is empty.
fn state_of(word: Option<&str>) -> Result<Option<UnmatchedState>, Problem> {
    match word {
        None => Ok(Some(UnmatchedState::Open)),
        Some("") => Ok(None),
        Some(word) => UnmatchedState::from_word(word)
            .map(Some)
            .ok_or_else(|| not_among("state", word, &["open", "ignored", "known"])),
    }
}

fn order_of(word: &str) -> Result<UnmatchedOrder, Problem> {
    match word {
        "" | "count" => Ok(UnmatchedOrder::Count),
        "nodes" => Ok(UnmatchedOrder::Nodes),
        "last_seen" => Ok(UnmatchedOrder::LastSeen),
        word => Err(not_among("sort", word, &["count", "nodes", "last_seen"])),
    }
}

fn not_among(parameter: &str, word: &str, known: &[&str]) -> Problem {
    let (shown, choices) = (near::shown(word), near::choices(word, known));
    Problem::new(
        Code::BadQuery,
        format!("{parameter}={shown} is none of its values: {choices}"),
    )
}

fn row(one: Unmatched, words: &Words, locale: Locale) -> Entry {
    Entry {
        href: locale.href(format!("/unmatched/{}", one.id)),
        template: one.template,
        count: grouped(one.count),
        nodes: grouped(one.nodes),
        last_seen: moment(one.last_seen),
        state: words.state(one.state),
        assignee: one.assignee.unwrap_or_default(),
    }
}

pub async fn get(
    editor: Editor,
    session: Option<Session>,
    request: HttpRequest,
    id: Path<String>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let history = found(&state, &id).await?;
    let generation = state.knowledge.current();
    let examples = history.unmatched.examples.clone();
    let bytes = examples.iter().map(String::len).sum();
    let work = move || {
        let pattern = propose(examples.iter().map(String::as_str)).ok();
        let known = known_as(&generation.matcher, &examples);
        (pattern.map(|proposal| proposal.regex), known)
    };
    let (pattern, known) = Desk::of(&request).compute(bytes, work).await?;
    let known = known.iter().map(RecordId::as_str).collect::<Vec<_>>();
    let csrf = session.map(|session| session.csrf).unwrap_or_default();
    let locale = locale::of(&request);
    html_not_shared(&one_page(
        history,
        (pattern, &known),
        (csrf, &editor.0.name),
        locale,
    ))
}

pub(in crate::web::pages) fn one_page(
    history: UnmatchedHistory,
    (pattern, known): (Option<String>, &[&str]),
    (csrf, caller): (String, &str),
    locale: Locale,
) -> UnmatchedOnePage {
    let words = Words::of(locale.language);
    let UnmatchedHistory {
        unmatched: one,
        by_day,
        by_node,
    } = history;
    let link = |id: &str| Link {
        text: id.to_owned(),
        href: locale.href(record_href(id)),
    };
    let counted = |list: Vec<(String, u64)>| -> Vec<(String, String)> {
        let named = list.into_iter().map(|(name, count)| {
            let name = if name.is_empty() {
                words.elsewhere.to_owned()
            } else {
                name
            };
            (name, grouped(count))
        });
        named.collect()
    };
    let mut facts = vec![
        Row::new(words.state_label, words.state(one.state)),
        Row::new(words.lines, grouped(one.count)),
        Row::new(words.nodes, grouped(one.nodes)),
        Row::new(words.first_seen, moment(one.first_seen)),
        Row::new(words.last_seen, moment(one.last_seen)),
    ];
    if let Some(assignee) = &one.assignee {
        facts.push(Row::new(words.assignee, assignee));
    }
    if let Some(reason) = &one.reason {
        facts.push(Row::new(words.reason, reason));
    }
    if let (Some(by), Some(at)) = (&one.changed_by, one.changed_at) {
        facts.push(Row::new(words.changed, format!("{by}, {}", moment(at))));
    }
    let address = format!("/unmatched/{}", one.id);
    UnmatchedOnePage {
        layout: Layout::new(format!("{} · Peerless", words.title), Section::Unmatched)
            .spoken(locale)
            .in_both(&address),
        words,
        csrf,
        action: locale.href(address),
        seen: seen(one.changed_at),
        list: locale.href("/unmatched"),
        facts,
        record: one.record.as_ref().map(|id| link(id.as_str())),
        known_as: known.iter().map(|id| link(id)).collect(),
        pattern,
        days: counted(by_day),
        nodes: counted(by_node),
        has_steps: !one.id.starts_with('p'),
        is_open: one.state == UnmatchedState::Open,
        is_mine: one.assignee.as_deref() == Some(caller),
        assignee: one.assignee.unwrap_or_default(),
        suggested: suggested_id(&one.template).map_or_else(String::new, |id| id.to_string()),
        id: one.id,
        template: one.template,
        examples: one.examples,
    }
}

fn seen(changed_at: Option<OffsetDateTime>) -> String {
    changed_at.map_or_else(|| NEVER.to_owned(), |at| at.unix_timestamp_nanos().to_string())
}

/// A form that does not say what was shown changes whatever there is.
fn since(seen: &str) -> Result<UnmatchedSince, Problem> {
    if seen.is_empty() {
        return Ok(UnmatchedSince::Whatever);
    }
    if seen == NEVER {
        return Ok(UnmatchedSince::Nothing(None));
    }
    let at = seen.parse().ok();
    let at = at.and_then(|nanos| OffsetDateTime::from_unix_timestamp_nanos(nanos).ok());
    let at = at.ok_or_else(|| Problem::new(Code::MalformedBody, format!("{seen:?} is no time")))?;
    Ok(UnmatchedSince::Nothing(Some(at)))
}

pub async fn post(
    editor: Editor,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&FIELDS)?;
    let step = match form.get("do") {
        "take" => UnmatchedStep::Assign(Some(editor.0.name.clone())),
        "assign" => UnmatchedStep::Assign(Some(form.get("to").to_owned())),
        "release" => UnmatchedStep::Assign(None),
        "ignore" => UnmatchedStep::Ignore(form.get("reason").to_owned()),
        "known" => UnmatchedStep::KnownAs(form.get("record").trim().parse()?),
        "reopen" => UnmatchedStep::Reopen,
        other => {
            let detail = format!("the form has no button {other:?}");
            return Err(Problem::new(Code::MalformedBody, detail));
        }
    };
    let id = found(&state, &id).await?.unmatched.id;
    let change = UnmatchedChange {
        id: id.clone(),
        step,
        by: editor.0.by(),
        at: state.clock.now(),
        since: since(form.get("seen"))?,
    };
    unmatched::change(state.store.as_ref(), change).await?;
    let address = locale::of(&request).href(format!("/unmatched/{id}"));
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, address))
        .finish())
}
