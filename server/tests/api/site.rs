//! A site of files: that it holds together by itself, that its search ranks as the server's, and what the command refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use peerless::domain::search::search;
use peerless::domain::tab::finder;
use peerless::feed::{Generation, offline};
use peerless::render::i18n::Language;
use peerless::site::{MANIFEST, Module, Written, write};
use peerless_search::SearchRequest;
use peerless_tab::{FindRequest, Finder, Knowledge, Pack};
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{folder, peerless};

const BOTH: [Language; 2] = [Language::English, Language::Chinese];

static SHIPPED: LazyLock<Arc<Generation>> =
    LazyLock::new(|| Arc::new(offline(peerless::bundle::embedded().unwrap()).unwrap()));

fn module() -> Module {
    Module {
        worker: b"// reads".to_vec(),
        wasm: b"\0asm".to_vec(),
    }
}

/// Written once for all tests: there are thousands of pages.
static SITE: LazyLock<(TempDir, Written)> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let written = write(&SHIPPED, &module(), &BOTH, folder.path()).unwrap();
    (folder, written)
});

fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(bytes)
        .read_to_end(&mut text)
        .unwrap();
    text
}

/// Values of the attributes that lead somewhere.
fn links(html: &str) -> Vec<&str> {
    let mut links = Vec::new();
    for name in [
        "href",
        "src",
        "action",
        "data-page",
        "data-tab",
        "data-worker",
        "data-module",
        "data-index",
        "data-signatures",
        "data-kept-at",
    ] {
        for (at, _) in html.match_indices(&format!(" {name}=")) {
            let value = &html[at + name.len() + 2..];
            let value = match value.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().unwrap(),
                None => value.split([' ', '>']).next().unwrap(),
            };
            links.push(value);
        }
    }
    links
}

/// The file that a link on a page leads to; `None` where it leaves the site.
fn target(page: &str, link: &str) -> Option<String> {
    if link.starts_with("https://") || link.starts_with("http://") {
        return None;
    }
    assert!(
        !link.starts_with('/'),
        "{page}: {link} leads out of a path that the site may stand below"
    );
    let path = link.split(['?', '#']).next().unwrap();
    if path.is_empty() {
        return Some(page.to_owned());
    }
    let mut place: Vec<&str> = page.split('/').collect();
    place.pop();
    for part in path.split('/') {
        match part {
            ".." => assert!(place.pop().is_some(), "{page}: {link} leads out of the site"),
            part => place.push(part),
        }
    }
    Some(place.join("/"))
}

#[test]
fn every_link_of_a_site_leads_to_a_file_of_it() {
    let (root, written) = &*SITE;
    let files = files_below(root.path());
    assert_eq!(written.files, files.len());
    assert_eq!(
        written.bytes,
        files.values().map(|body| body.len() as u64).sum::<u64>()
    );
    let mut reached = BTreeSet::new();
    let mut look = |page: &str, html: &str| {
        for link in links(html) {
            if let Some(file) = target(page, link) {
                assert!(files.contains_key(&file), "{page}: {link} leads to no file");
                reached.insert(file);
            }
        }
    };
    for (name, body) in &files {
        if is_page(name) {
            look(name, std::str::from_utf8(body).unwrap());
        } else if name.starts_with("r/") && name.ends_with(".json.gz") {
            let texts: Value = serde_json::from_slice(&unpacked(body)).unwrap();
            let page = |id: &str| format!("r/{id}.html");
            for (id, text) in texts["records"].as_object().unwrap() {
                assert!(files.contains_key(&page(id)), "{name}: {id}");
                for html in [&text["main"], &texts["head"], &texts["foot"]] {
                    look(&page(id), html.as_str().unwrap());
                }
            }
        }
    }
    let mut missed = files
        .keys()
        .filter(|name| is_page(name) && !reached.contains(*name));
    assert_eq!(missed.next(), None, "nothing leads to it");
}

#[test]
fn a_site_says_each_record_in_both_languages() {
    let (root, written) = &*SITE;
    assert_eq!(written.records, SHIPPED.len());
    // Bar of the project: 25 MB with the module, which comes on top here and has some 1.5 MB packed.
    assert!(written.bytes < 23_400_000, "{} bytes", written.bytes);
    let mut files = BTreeMap::new();
    for published in SHIPPED.records() {
        let id = published.id();
        let page = fs::read_to_string(root.path().join(format!("r/{id}.html"))).unwrap();
        let (segment, _) = id.as_str().rsplit_once('/').unwrap();
        assert!(page.starts_with("<!doctype html>\n<html lang=\"en\""), "{id}");
        assert!(page.contains("<h1"), "{id}");
        let (_, texts) = page.split_once(" data-second=").unwrap();
        let (texts, _) = texts.split_once('>').unwrap();
        let texts = files
            .entry(format!("r/{segment}/{texts}.json.gz"))
            .or_insert_with_key(|name| {
                let packed = fs::read(root.path().join(name)).unwrap();
                // A page waits for the whole file: at 1.6 Mbit/s this is a fifth of a second.
                assert!(packed.len() < 40_000, "{name}: {}", packed.len());
                serde_json::from_slice::<Value>(&unpacked(&packed)).unwrap()
            });
        let main = texts["records"][id.as_str()]["main"].as_str().unwrap();
        assert!(main.contains("原因"), "{id}: {main}");
    }
    let home = fs::read_to_string(root.path().join("index.zh.html")).unwrap();
    assert!(home.contains("背后没有服务器") && home.contains("domains") && home.contains("<noscript>"));
}

#[test]
fn the_headers_let_the_worker_alone_run_the_module() {
    let (root, _) = &*SITE;
    for name in ["_headers", "README.txt"] {
        let told = fs::read_to_string(root.path().join(name)).unwrap();
        let policies: Vec<&str> = told
            .lines()
            .filter(|line| line.contains("wasm-unsafe-eval'") && line.contains("Policy:"))
            .collect();
        assert_eq!(policies.len(), 1, "{name}: {policies:?}");
        assert!(policies[0].ends_with("default-src 'none'; script-src 'wasm-unsafe-eval'"));
        assert!(told.contains("data/worker."), "{name}");
    }
}

#[test]
fn a_second_site_in_the_same_folder_has_nothing_of_the_first() {
    let root = TempDir::new().unwrap();
    let seeds: Vec<_> = peerless::bundle::embedded()
        .unwrap()
        .into_iter()
        .take(30)
        .collect();
    let more = Arc::new(offline(seeds.clone()).unwrap());
    let fewer = Arc::new(offline(seeds.into_iter().take(20).collect()).unwrap());
    write(&more, &module(), &BOTH, root.path()).unwrap();
    let first = files_below(root.path());
    fs::write(root.path().join("CNAME"), "kb.example").unwrap();
    let written = write(&fewer, &module(), &BOTH[..1], root.path()).unwrap();
    let second = files_below(root.path());
    assert_eq!(second.len(), written.files + 1, "its own and CNAME");
    assert!(first.len() > second.len() && !second.contains_key("index.zh.html"));
    let manifest: Value = serde_json::from_slice(&second[MANIFEST]).unwrap();
    assert_eq!(manifest["complete"], true);
    // The same again, byte for byte.
    write(&fewer, &module(), &BOTH[..1], root.path()).unwrap();
    assert_eq!(files_below(root.path()), second);
}

fn queries() -> Vec<String> {
    let evaluation = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evaluation");
    let mut files: Vec<PathBuf> = vec![evaluation.join("queries.jsonl")];
    for entry in fs::read_dir(&evaluation).unwrap() {
        let path = entry.unwrap().path();
        if std::fs::metadata(path.join("queries.jsonl")).is_ok() {
            files.push(path.join("queries.jsonl"));
        }
    }
    let mut queries = Vec::new();
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let item: Value = serde_json::from_str(line).unwrap();
            let text = item["query"].as_str().or(item["text"].as_str()).unwrap();
            queries.push(text.to_owned());
        }
    }
    queries
}

#[test]
fn the_search_of_a_site_ranks_as_the_server_does() {
    let mut here = Finder::read(&finder(&SHIPPED).unwrap()).unwrap();
    assert!(here.needs_knowledge("CUDA error: out of memory") && !here.needs_knowledge("xid 79"));
    let pack = peerless::domain::tab::pack(&SHIPPED).unwrap();
    here.know(Arc::new(Knowledge::of(Pack::read(&pack).unwrap())));
    assert!(!here.needs_knowledge("CUDA error: out of memory"));
    let queries = queries();
    assert!(queries.len() > 500, "{}", queries.len());
    let mut unlike = Vec::new();
    for text in &queries {
        for is_typing in [false, true] {
            let request = SearchRequest {
                text: text.clone(),
                is_typing,
                ..SearchRequest::default()
            };
            let of_server = search(&SHIPPED, &request).unwrap();
            let asked = FindRequest {
                text: text.clone(),
                typing: is_typing,
                ..FindRequest::default()
            };
            let of_site = here.find(asked).unwrap();
            let ids = |hits: &[peerless_search::SearchHit]| {
                hits.iter().map(|hit| hit.id.to_string()).collect::<Vec<_>>()
            };
            if ids(&of_site.hits) != ids(&of_server.hits) || of_site.total != of_server.total {
                unlike.push(text);
            }
        }
    }
    assert!(
        unlike.is_empty(),
        "{} of {}: {unlike:?}",
        unlike.len(),
        queries.len()
    );
}

#[test]
fn the_command_says_what_is_missing_and_writes_nothing() {
    let (folder, data) = folder();
    let site = folder.path().join("site");
    let run = |arguments: &[&str]| {
        let mut command = peerless();
        command
            .arg("site")
            .arg(&site)
            .args(["--data-dir", &data])
            .args(arguments);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let (code, told) = run(&["--tab", empty.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(
        told.contains("worker.js") && told.contains("cargo xtask wasm"),
        "{told}"
    );
    assert!(std::fs::metadata(&site).is_err());
    for (name, body) in [("worker.js", &b"// reads"[..]), ("tab.wasm", b"\0asm")] {
        fs::write(empty.join(name), body).unwrap();
    }
    fs::create_dir(&site).unwrap();
    fs::write(site.join("thesis.tex"), "").unwrap();
    let (code, told) = run(&["--tab", empty.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(
        told.contains("is not empty") && told.contains("another folder"),
        "{told}"
    );
    assert_eq!(files_below(&site).len(), 1);
    let (code, told) = run(&["--lang", "fr"]);
    assert_eq!(code, Some(64), "{told}");
}

fn is_page(name: &str) -> bool {
    std::path::Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "html")
}
