//! `/fleet/facets`: versions and settings that affected nodes have more often than others, as a table. Association, not cause.

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use serde::Deserialize;
use time::OffsetDateTime;

use super::Link;
use crate::domain::facets::{Affected, Association, Facets};
use crate::feed::Generation;
use crate::render::advice::Text;
use crate::render::i18n::Locale;
use crate::render::i18n::facets::Words;
use crate::render::record::texts;
use crate::render::words::{encoded, moment, record_href};
use crate::web::auth::FleetReader;
use crate::web::compute::Desk;
use crate::web::error::Problem;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{filters, html, locale};
use crate::web::state::AppState;

/// Rows of a page; there are a hundred at most.
const PAGE: usize = 25;
/// Chances below this are shown as less than it.
const LEAST_CHANCE: f64 = 0.0001;

/// What the address says.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Asked {
    /// Simulated nodes in place of real ones.
    #[serde(default)]
    pub(in crate::web::pages) simulated: bool,
    /// What is wrong: the name of a finding or of a test. Without it, all.
    pub(in crate::web::pages) about: Option<String>,
    /// Rows to leave out.
    #[serde(default)]
    pub(in crate::web::pages) skip: usize,
}

impl Asked {
    fn href(&self, locale: Locale) -> String {
        let mut pairs = Vec::new();
        if self.simulated {
            pairs.push("simulated=true".to_owned());
        }
        pairs.extend(
            self.about
                .as_deref()
                .map(|about| format!("about={}", encoded(about))),
        );
        if self.skip > 0 {
            pairs.push(format!("skip={}", self.skip));
        }
        if pairs.is_empty() {
            return locale.href("/fleet/facets");
        }
        locale.href(format!("/fleet/facets?{}", pairs.join("&")))
    }
}

/// Address of the page, about one thing that is wrong.
pub(in crate::web::pages) fn about_href(name: &str, simulated: bool, locale: Locale) -> String {
    let asked = Asked {
        simulated,
        about: Some(name.to_owned()),
        ..Asked::default()
    };
    asked.href(locale)
}

#[derive(Debug, Template)]
#[template(path = "pages/facets.html")]
pub struct FacetsPage {
    pub(super) layout: Layout,
    pub(super) words: &'static Words,
    /// What was looked at, and when.
    pub(super) facts: Vec<String>,
    /// What could not be told, and why.
    pub(super) untold: Vec<String>,
    pub(super) rows: Vec<RowView>,
    /// Said where there are no rows.
    pub(super) nothing: Option<String>,
    /// What is wrong alone, where the page is about one thing, and the page about all.
    pub(super) only: Option<(String, String)>,
    pub(super) next: Option<String>,
    /// The other kind of nodes: real or simulated.
    pub(super) others: Link,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowView {
    /// What is wrong: the heading of a record, a rule, or a test.
    pub(super) wrong: Text,
    pub(super) is_slower: bool,
    pub(super) record: Option<Link>,
    pub(super) facet: String,
    pub(super) value: String,
    pub(super) part: &'static str,
    /// `8 of 10`.
    pub(super) with: String,
    /// The affected nodes with the facet; all affected ones where the list cannot be narrowed by the facet.
    pub(super) affected: Option<Link>,
    /// All nodes with the facet.
    pub(super) all_with: Option<Link>,
    pub(super) without: String,
    pub(super) racks: u32,
    pub(super) chance: String,
}

pub async fn get(
    _: FleetReader,
    request: HttpRequest,
    asked: Query<Asked>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let locale = locale::of(&request);
    let (asked, now) = (asked.into_inner(), state.clock.now());
    let desk = Desk::of(&request);
    let (at, found) = state
        .facets
        .get(&desk, state.store.as_ref(), (asked.simulated, now))
        .await?;
    html(&page(&found, &asked, at, &state.knowledge.current(), locale))
}

/// Builds the page. `at` is when the answer was computed.
pub fn page(
    found: &Facets,
    asked: &Asked,
    at: OffsetDateTime,
    generation: &Generation,
    locale: Locale,
) -> FacetsPage {
    let words = Words::of(locale.language);
    let is_asked = |one: &&Association| {
        asked
            .about
            .as_deref()
            .is_none_or(|about| about == name(&one.affected))
    };
    let all: Vec<&Association> = found.associations.iter().filter(is_asked).collect();
    let rest = all.iter().skip(asked.skip);
    let rows: Vec<RowView> = rest
        .take(PAGE)
        .map(|one| row(one, asked.simulated, generation, locale))
        .collect();
    let behind = asked.skip.saturating_add(PAGE);
    let next = Asked {
        skip: behind,
        ..asked.clone()
    };
    let others = Asked {
        simulated: !asked.simulated,
        skip: 0,
        ..asked.clone()
    };
    let alone = Asked {
        about: None,
        skip: 0,
        ..asked.clone()
    };
    FacetsPage {
        layout: Layout::new(format!("{} · Peerless", words.title), Section::Nodes)
            .spoken(locale)
            .in_both(&asked.href(Locale::ENGLISH)),
        words,
        facts: vec![
            if asked.simulated {
                words.of_simulated(u64::from(found.nodes))
            } else {
                words.of_nodes(u64::from(found.nodes))
            },
            words.tries(u64::from(found.tries)),
            words.computed(&moment(at)),
        ],
        untold: untold(found, words),
        nothing: rows.is_empty().then(|| nothing(found, asked, words)),
        rows,
        only: asked.about.clone().map(|about| (about, alone.href(locale))),
        next: (all.len() > behind).then(|| next.href(locale)),
        others: Link {
            href: others.href(locale),
            text: if asked.simulated {
                words.real
            } else {
                words.simulated
            }
            .to_owned(),
        },
    }
}

fn untold(found: &Facets, words: &Words) -> Vec<String> {
    let without_rack = (found.without_rack > 0)
        .then(|| words.without_rack(u64::from(found.without_rack), u64::from(found.nodes), "`rack`"));
    let are_more = found.are_more.then(|| words.are_more.to_owned());
    without_rack.into_iter().chain(are_more).collect()
}

/// An empty table never means that nothing is wrong, and each case says what it does mean.
fn nothing(found: &Facets, asked: &Asked, words: &Words) -> String {
    let said = match (found.nodes, found.tries, asked.skip) {
        (.., 1..) => words.no_more,
        (0, ..) => words.no_nodes,
        (_, 0, _) => words.nothing_tried,
        _ if found.without_rack >= found.nodes => words.no_racks,
        _ if asked.about.is_some() => words.nothing_about,
        _ => words.nothing_apart,
    };
    said.to_owned()
}

fn name(affected: &Affected) -> &str {
    match affected {
        Affected::Finding(name) | Affected::Slower(name) => name,
    }
}

fn row(one: &Association, simulated: bool, generation: &Generation, locale: Locale) -> RowView {
    let words = Words::of(locale.language);
    let name = name(&one.affected);
    let is_slower = matches!(one.affected, Affected::Slower(_));
    // A list of nodes can be asked for a record that is published.
    let record = name.parse().ok().filter(|_| !is_slower);
    let record = record.and_then(|id| generation.record(&id));
    let driver = (one.facet == "driver.version").then(|| format!("driver={}", encoded(&one.value)));
    let of_record = record.map(|published| format!("record={}", encoded(published.record.id().as_str())));
    let list = |conditions: Vec<&str>, text: &str| Link {
        href: locale.href(format!("/nodes?{}&simulated={simulated}", conditions.join("&"))),
        text: text.to_owned(),
    };
    let affected = match (&of_record, &driver) {
        (Some(record), Some(driver)) => Some(list(vec![record, driver], words.list_affected_with)),
        (Some(record), None) => Some(list(vec![record], words.list_affected)),
        (None, _) => None,
    };
    RowView {
        wrong: record.map_or_else(
            || Text::new(name),
            |published| texts::heading(&published.record, locale.language),
        ),
        is_slower,
        record: record.map(|published| Link {
            href: locale.href(record_href(published.record.id().as_str())),
            text: published.record.id().to_string(),
        }),
        facet: one.facet.clone(),
        value: one.value.clone(),
        part: words.part(one.part()),
        with: words.some_of(u64::from(one.with.0), u64::from(one.with.1)),
        affected,
        all_with: driver
            .as_deref()
            .map(|driver| list(vec![driver], words.list_with)),
        without: words.some_of(u64::from(one.without.0), u64::from(one.without.1)),
        racks: one.racks,
        chance: chance(one.chance),
    }
}

fn chance(chance: f64) -> String {
    if chance < LEAST_CHANCE {
        return format!("< {} %", LEAST_CHANCE * 100.0);
    }
    format!("{:.2} %", chance * 100.0)
}
