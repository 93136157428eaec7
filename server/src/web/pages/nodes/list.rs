//! `/nodes`: all nodes counted, and the list of those that are asked for.

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use time::OffsetDateTime;

use super::asked::{self, Hidden, Kept};
use super::counts::{Counts, counts};
use super::{Link, node_href, told};
use crate::domain::fleet;
use crate::domain::fleet_filter::Asked;
use crate::domain::fleet_names::{self, Absent, Named};
use crate::render::i18n::fleet::Words;
use crate::render::i18n::{Locale, facets, lookup};
use crate::render::words::{Mark, moment, record_href, verdict};
use crate::store::{Known, NodeListing, NodeOrder};
use crate::web::asked_nodes;
use crate::web::error::Problem;
use crate::web::limits::PAGE_DEFAULT;
use crate::web::links::base_url;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{html, locale};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/nodes.html")]
pub struct NodesPage {
    pub layout: Layout,
    pub words: &'static Words,
    pub counts: Counts,
    pub columns: Vec<Column>,
    pub nodes: Vec<NodeView>,
    pub base_url: String,
    /// What affected nodes have in common.
    pub in_common: Link,
    /// Names that were asked for and that no node has.
    pub absent: Vec<String>,
    pub next: Option<String>,
    pub text: String,
    pub kept: Vec<Kept>,
    pub hidden: Vec<Hidden>,
}

/// The head of a column by which the list can be sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub label: &'static str,
    pub href: Option<String>,
    /// `ascending` or `descending`, where the list is in its order.
    pub sorted: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    pub id: String,
    pub href: String,
    /// Host name, unless redacted.
    pub hostname: Option<String>,
    /// Labels, each with the list of the nodes that have it.
    pub labels: Vec<Link>,
    pub verdict: Mark,
    /// A stand-in took the driver's place.
    pub simulated: bool,
    pub reason: String,
    pub record: Option<Link>,
    pub action: &'static str,
    pub gpus: u32,
    pub model: Option<String>,
    pub driver: Option<String>,
    pub since: String,
    pub heard: String,
    /// Verdict of the latest run, where another one stands.
    pub last_seen: Option<&'static str>,
    /// How long nothing was heard of it, where that is too long.
    pub silent: Option<String>,
}

/// Builds the list; `more` says that others follow, `base_url` is where this server is reached.
pub fn page(
    nodes: &[NodeListing],
    more: bool,
    asked: &Asked,
    counts: Counts,
    base_url: String,
    (locale, now): (Locale, OffsetDateTime),
) -> NodesPage {
    let words = Words::of(locale.language);
    let last = nodes.last().filter(|_| more);
    NodesPage {
        layout: Layout::new(format!("{} · Peerless", words.nodes), Section::Nodes)
            .spoken(locale)
            .in_both(&asked::href(asked, Locale::ENGLISH)),
        words,
        counts,
        columns: columns(asked, locale),
        nodes: nodes
            .iter()
            .map(|node| node_view(node, asked, (locale, now)))
            .collect(),
        base_url,
        in_common: Link {
            href: locale.href("/fleet/facets"),
            text: facets::Words::of(locale.language).title.to_owned(),
        },
        absent: Vec::new(),
        next: last.map(|node| asked::next_href(asked, &asked.cursor(node), locale)),
        text: asked.filter.text.clone().unwrap_or_default(),
        kept: asked::kept(asked, locale),
        hidden: asked::hidden(asked),
    }
}

fn columns(asked: &Asked, locale: Locale) -> Vec<Column> {
    let words = Words::of(locale.language);
    let of = |label, order: Option<NodeOrder>| {
        let is_falling = matches!(order, Some(NodeOrder::Heard | NodeOrder::Since | NodeOrder::Gpus));
        let is_sorted = order == Some(asked.order);
        let word = if is_falling == asked.reversed {
            "ascending"
        } else {
            "descending"
        };
        Column {
            label,
            href: order.map(|order| asked::href(&asked::sorted(asked, order), locale)),
            sorted: is_sorted.then_some(word),
        }
    };
    vec![
        of(words.node, Some(NodeOrder::Id)),
        of(words.verdict, Some(NodeOrder::Verdict)),
        of(words.why, None),
        of(words.action, None),
        of(words.gpus, Some(NodeOrder::Gpus)),
        of(words.since, Some(NodeOrder::Since)),
        of(words.last_run, Some(NodeOrder::Heard)),
    ]
}

/// Labels of a node, each with the nodes of the same list that have it.
pub(super) fn labels(node: &NodeListing, asked: &Asked, locale: Locale) -> Vec<Link> {
    let link = |(name, value): (&String, &String)| {
        let wanted = (name.clone(), value.clone());
        let narrowed = asked::with(asked, |filter| {
            if !filter.labels.contains(&wanted) {
                filter.labels.push(wanted);
            }
        });
        Link {
            href: asked::href(&narrowed, locale),
            text: format!("{name}={value}"),
        }
    };
    node.labels.iter().map(link).collect()
}

fn node_view(node: &NodeListing, asked: &Asked, (locale, now): (Locale, OffsetDateTime)) -> NodeView {
    let summary = &node.summary;
    let (told, silent) = told(summary, now, locale);
    let record = summary.cause.as_ref().and_then(|cause| cause.record.as_ref());
    NodeView {
        id: node.id.to_string(),
        href: node_href(&node.id, locale),
        hostname: node.hostname.clone().filter(|name| name != node.id.as_str()),
        labels: labels(node, asked, locale),
        verdict: told,
        silent,
        simulated: summary.simulated,
        reason: node.latest.reason.clone(),
        record: record.map(|id| Link {
            href: locale.href(record_href(id.as_str())),
            text: id.to_string(),
        }),
        action: asked::action_word(&summary.action.map_or(Known::Unknown, Known::Is), locale),
        gpus: summary.gpus,
        model: summary.model.clone(),
        driver: summary.driver.clone(),
        since: moment(summary.since),
        heard: moment(summary.heard_at),
        last_seen: (node.last_seen.id != node.latest.id)
            .then(|| verdict(node.last_seen.verdict, locale.language).label),
    }
}

/// That no node has what was asked for, and what nodes have instead.
fn not_there(absent: &Absent, locale: Locale) -> String {
    let words = Words::of(locale.language);
    let said = match absent.of {
        Named::Model => words.no_such_model(&absent.name),
        Named::Driver => words.no_such_driver(&absent.name),
    };
    if absent.known.is_empty() {
        return said;
    }
    let comma = lookup::Words::of(locale.language).list_comma;
    words.they_have(&said, &absent.known.join(comma))
}

pub async fn list(
    request: HttpRequest,
    pairs: Query<Vec<(String, String)>>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let (locale, now) = (locale::of(&request), state.clock.now());
    let asked = asked_nodes::read(&request, &state, &pairs).await?;
    let mut cursor = pairs.iter().filter(|(name, _)| name == "after");
    let cursor = cursor.next_back().map(|(_, cursor)| cursor.as_str());
    let query = asked.query(cursor, PAGE_DEFAULT + 1)?;
    let mut nodes = state.store.nodes(&query).await?;
    let more = nodes.len() > PAGE_DEFAULT as usize;
    nodes.truncate(PAGE_DEFAULT as usize);
    let generation = state.knowledge.current();
    let silent_before = fleet::silent_before(now, fleet::SILENT_HOURS);
    let counted = fleet::fleet(&*state.store, &generation, asked.filter.clone(), silent_before).await?;
    let counts = counts(counted, &asked, now, locale);
    let absent = if nodes.is_empty() {
        fleet_names::absent(state.store.as_ref(), &asked, now).await?
    } else {
        Vec::new()
    };
    let base_url = base_url(&request, &state);
    let mut page = page(&nodes, more, &asked, counts, base_url, (locale, now));
    page.absent = absent.iter().map(|absent| not_there(absent, locale)).collect();
    html(&page)
}
