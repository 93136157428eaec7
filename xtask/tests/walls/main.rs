//! The walls of docs/ARCHITECTURE.md: which room uses which, where SQL, HTTP and `unsafe` may stand, and which files use each other in a
//! circle. Read from the imports and paths of production code; what a macro writes is not seen.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of #[test] functions"
)]

mod circles;
mod matter;
mod modules;
mod page;
mod rooms;
mod source;
mod tokens;

use std::collections::BTreeSet;
use std::path::Path;

use crate::modules::Tree;
use crate::rooms::{HOUSES, House};

/// Packages, and how their own code names their library.
const PACKAGES: [(&str, &str); 5] = [
    ("kb-core", "kb_core"),
    ("search", "peerless_search"),
    ("tab", "peerless_tab"),
    ("server", "peerless"),
    ("agent", "peerless_agent"),
];

/// Files in a circle that need no excuse: a type and its parts may name each other.
const SMALL: usize = 3;

fn tree(package: &str, library: &str) -> Tree {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Tree::read(root, package, library)
}

fn fail_on(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn a_row_names_only_rooms_above_it() {
    for house in &HOUSES {
        for (at, room) in house.rooms.iter().enumerate() {
            for used in room.may_use {
                let above = house.rooms[..at].iter().any(|other| other.name == *used);
                assert!(above, "{}: `{}` stands above `{used}`", house.package, room.name);
            }
        }
    }
}

#[test]
fn the_tables_are_those_of_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/ARCHITECTURE.md")).unwrap();
    let mut broken = Vec::new();
    for house in &HOUSES {
        let rows = page::rows(&page, house.heading);
        for room in house.rooms {
            let Some((_, uses)) = rows.iter().find(|(rooms, _)| rooms.contains(&room.name)) else {
                broken.push(format!("{}: no row for `{}`", house.heading, room.name));
                continue;
            };
            let told = |name: &&str| !house.common.contains(name);
            let may_use: BTreeSet<&str> = room.may_use.iter().copied().filter(told).collect();
            let says = uses
                .as_ref()
                .map(|uses| uses.iter().copied().filter(told).collect::<BTreeSet<&str>>());
            if says.as_ref().is_some_and(|says| *says != may_use) {
                broken.push(format!(
                    "{}: `{}` may use {may_use:?}, the page says {says:?}",
                    house.heading, room.name
                ));
            }
        }
    }
    fail_on(&broken);
}

#[test]
fn an_exception_says_why() {
    let mut exceptions = matter::MATTERS.iter().flat_map(|matter| matter.exceptions);
    assert!(exceptions.all(|(_, why)| !why.is_empty()));
}

#[test]
fn a_room_uses_only_what_its_row_names() {
    let arrows = HOUSES.iter().flat_map(arrows);
    let told =
        |(file, line, used)| format!("{file}:{line}: uses `{used}`, which the row of its room does not name");
    fail_on(&arrows.map(told).collect::<Vec<String>>());
}

/// Uses of one room by another that the table does not allow: file, line, the room that is used.
fn arrows(house: &House) -> Vec<(String, usize, String)> {
    let tree = tree(house.package, house.library);
    let mut arrows = Vec::new();
    let mut unnamed = BTreeSet::new();
    for source in &tree.sources {
        let Some(from) = room_of(&source.module) else {
            continue;
        };
        let Some(row) = house.rooms.iter().find(|room| room.name == from) else {
            unnamed.insert(from.to_owned());
            continue;
        };
        let paths = source
            .imports
            .iter()
            .map(|import| &import.path)
            .chain(&source.paths);
        let mut seen = BTreeSet::new();
        for path in paths {
            let Some(target) = tree.absolute(source, path) else {
                continue;
            };
            let written = room_of(&target).filter(|room| house.rooms.iter().any(|other| other.name == *room));
            // A name that a room's parent passes on belongs to the room that defines it.
            let defined = || room_of(&tree.sources[tree.file_of(&target)?].module);
            let Some(used) = written.or_else(defined) else {
                continue;
            };
            if used != from && !row.may_use.contains(&used) && seen.insert(used.to_owned()) {
                arrows.push((source.file.clone(), path.line, used.to_owned()));
            }
        }
    }
    assert!(unnamed.is_empty(), "{}: no row for {unnamed:?}", house.package);
    arrows
}

/// The room that a path leads into.
fn room_of(path: &[String]) -> Option<&str> {
    path.first().map(String::as_str)
}

#[test]
fn sql_http_unsafe_and_libraries_stand_in_their_rooms() {
    let mut broken = Vec::new();
    for (package, library) in PACKAGES {
        for source in tree(package, library).sources {
            for matter in matter::MATTERS
                .iter()
                .filter(|matter| !matter.may_stand_in(&source.file))
            {
                let words = matter.words.iter();
                let lines = words.filter_map(|word| Some((source.line_of(word)?, word)));
                broken.extend(
                    lines.map(|(line, word)| format!("{}:{line}: `{word}`: {}", source.file, matter.rule)),
                );
            }
        }
    }
    fail_on(&broken);
}

/// Reason: docs/adr/0020.
#[test]
fn web_asks_the_store_for_reads_only() {
    let mut broken = Vec::new();
    let sources = tree("server", "peerless").sources;
    for source in sources
        .iter()
        .filter(|source| source.file.starts_with("server/src/web/"))
    {
        let calls = source
            .calls_on("store")
            .filter(|(method, _)| !matter::STORE_READS.contains(method));
        broken.extend(calls.map(|(method, line)| {
            let file = &source.file;
            format!("{file}:{line}: `store.{method}` is no read: a use case of `domain` judges and writes")
        }));
    }
    fail_on(&broken);
}

/// What several of them show stands in `render`.
#[test]
fn api_mcp_and_command_line_use_no_page() {
    let tree = tree("server", "peerless");
    let mut broken = Vec::new();
    for source in &tree.sources {
        let is_other = [&["web", "api"][..], &["web", "mcp"], &["cli"]]
            .iter()
            .any(|room| starts_with(&source.module, room));
        if !is_other {
            continue;
        }
        let imports = source.imports.iter().map(|import| &import.path);
        for path in imports.chain(&source.paths) {
            let target = tree.absolute(source, path);
            if target.is_some_and(|target| starts_with(&target, &["web", "pages"])) {
                let place = format!("{}:{}", source.file, path.line);
                broken.push(format!(
                    "{place}: uses a page; what others show, too, stands in `render`"
                ));
            }
        }
    }
    fail_on(&broken);
}

fn starts_with(path: &[String], room: &[&str]) -> bool {
    path.len() >= room.len() && path.iter().zip(room).all(|(segment, name)| segment == name)
}

#[test]
fn no_more_than_three_files_form_a_circle() {
    let mut broken = Vec::new();
    for (package, library) in PACKAGES {
        let tree = tree(package, library);
        let graph: Vec<BTreeSet<usize>> = (0..tree.sources.len()).map(|file| tree.used_by(file)).collect();
        for circle in circles::circles(&graph)
            .iter()
            .filter(|circle| circle.len() > SMALL)
        {
            let name = |file: usize| tree.sources[file].file.as_str();
            let arrows = circle.iter().map(|&file| {
                let used = circle.iter().filter(|other| graph[file].contains(other));
                let used: Vec<&str> = used.map(|&used| name(used)).collect();
                format!("  {} uses {}", name(file), used.join(", "))
            });
            let arrows: Vec<String> = arrows.collect();
            broken.push(format!(
                "{} files in a circle:\n{}",
                circle.len(),
                arrows.join("\n")
            ));
        }
    }
    fail_on(&broken);
}
