//! What affected nodes have in common, in both languages: rows with links, pages, and tables without rows.

use askama::Template as _;
use time::OffsetDateTime;

use super::chinese::{CHINESE, assert_nothing_is_english, generation};
use crate::domain::facets::{Affected, Association, Facets};
use crate::render::i18n::Locale;
use crate::web::pages::nodes::facets::{Asked, page};

const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";

fn association(affected: Affected, facet: &str, value: &str, chance: f64) -> Association {
    Association {
        facet: facet.to_owned(),
        value: value.to_owned(),
        affected,
        with: (8, 10),
        without: (1, 30),
        racks: 3,
        chance,
    }
}

fn found() -> Facets {
    let record = || Affected::Finding(RECORD.to_owned());
    Facets {
        nodes: 40,
        are_more: true,
        without_rack: 4,
        tries: 120,
        associations: vec![
            association(record(), "driver.version", "590.44 <b>", 1e-9),
            association(record(), "bios.version", "2.4.1", 0.0012),
            association(
                Affected::Finding("rule:outlier/pair".to_owned()),
                "pcie.link.width",
                "8",
                0.004,
            ),
            association(
                Affected::Slower("d2d_bandwidth/1/GB/s".to_owned()),
                "fabric_manager.service",
                "off",
                0.009,
            ),
        ],
    }
}

fn html(found: &Facets, asked: &Asked, locale: Locale) -> String {
    let page = page(found, asked, OffsetDateTime::UNIX_EPOCH, &generation(), locale);
    page.render().unwrap()
}

/// The page without what all pages have.
fn main_of(html: &str) -> &str {
    html.split("<main")
        .nth(1)
        .unwrap()
        .split("</main>")
        .next()
        .unwrap()
}

#[test]
fn rows_lead_to_lists_of_nodes() {
    insta::assert_snapshot!(main_of(&html(&found(), &Asked::default(), Locale::ENGLISH)));
}

#[test]
fn no_row_never_means_that_nothing_is_wrong() {
    let english = |facets: &Facets, asked: &Asked| html(facets, asked, Locale::ENGLISH);
    let about = Asked {
        about: Some("rule:no/such".to_owned()),
        ..Asked::default()
    };
    let behind = Asked {
        skip: usize::MAX,
        ..Asked::default()
    };
    let nothing = |nodes, tries| Facets {
        nodes,
        tries,
        ..Facets::default()
    };
    for (facets, asked, said) in [
        (nothing(0, 0), Asked::default(), "nothing was compared"),
        (nothing(9, 0), Asked::default(), "Nothing was compared"),
        (
            Facets {
                without_rack: 9,
                ..nothing(9, 3)
            },
            Asked::default(),
            "no node is in a known rack",
        ),
        (
            nothing(9, 3),
            Asked::default(),
            "Nodes may have faults all the same",
        ),
        (found(), about, "They may have something in common all the same"),
        (found(), behind, "There are no more rows"),
    ] {
        let html = english(&facets, &asked);
        assert!(html.contains(said), "{said}: {html}");
        assert!(
            !html.contains("<table") && html.contains("Association, not cause"),
            "{html}"
        );
    }
}

#[test]
fn a_table_of_many_rows_has_pages() {
    let mut facets = found();
    let one = facets.associations.remove(0);
    facets.associations = vec![one; 60];
    let mut asked = Asked {
        about: Some(RECORD.to_owned()),
        ..Asked::default()
    };
    for (skip, rows, next) in [(0, 25, Some(25)), (25, 25, Some(50)), (50, 10, None)] {
        asked.skip = skip;
        let html = html(&facets, &asked, Locale::ENGLISH);
        assert_eq!(html.matches("scope=\"row\"").count(), rows, "{skip}");
        assert_eq!(html.contains("rel=\"next\""), next.is_some(), "{skip}");
        if let Some(next) = next {
            let href = format!("about=cuda%2Fpeer-access-unsupported-by-hardware&#38;skip={next}\"");
            assert!(html.contains(&href), "{html}");
        }
    }
}

#[test]
fn the_chinese_page_says_nothing_in_english() {
    let locale = Locale::from(CHINESE);
    let simulated = Asked {
        simulated: true,
        ..Asked::default()
    };
    for (facets, asked) in [
        (found(), Asked::default()),
        (Facets::default(), Asked::default()),
        (found(), simulated),
    ] {
        assert_nothing_is_english("facets", &html(&facets, &asked, locale));
    }
}
