//! All files of a site, in order: first what every page needs, then the pages, and last the page at its root, which says until then
//! that the site is not complete.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::data::{Data, packed};
use super::folder::{Folder, FolderError};
use super::layout::{Site, texts_name};
use super::record::{self, SecondTexts};
use super::{home, lists, notes};
use crate::feed::{Generation, PublishedRecord};
use crate::render::i18n::Language;
use crate::render::site_address::{domain_name, file};
use crate::web::pages::assets::of_site;

/// The module for browsers, as `cargo xtask wasm` writes it.
#[derive(Debug, Clone)]
pub struct Module {
    pub worker: Vec<u8>,
    pub wasm: Vec<u8>,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    pub records: usize,
    pub files: usize,
    pub bytes: u64,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("the domains {0} and {1} would have the same page: rename one of them")]
    SameName(String, String),
    #[error("a page cannot be made: {0}")]
    Page(#[from] askama::Error),
    #[error("a file cannot be packed: {0}")]
    Packing(#[from] io::Error),
}

/// Records whose texts in the second language are one file. A page waits for all of them, and each file packs by itself: 24 are at most 34 kB,
/// a fifth of a second at 1.6 Mbit/s, and make the files 8 % larger than one for each folder.
const TEXTS_TOGETHER: usize = 24;

type Groups<'a> = BTreeMap<String, Vec<&'a PublishedRecord>>;

/// Writes the site of these records. The first language is that of the records' pages; the second comes into them by script.
pub fn write(
    generation: &Arc<Generation>,
    module: &Module,
    languages: &[Language],
    root: &Path,
) -> Result<Written, SiteError> {
    let site = Site {
        languages,
        seq: generation.seq.0,
    };
    let mut folders = Groups::new();
    let mut domains = Groups::new();
    for published in generation.records().map(AsRef::as_ref) {
        let published: &PublishedRecord = published;
        let (folder, _) = record::folder(published.id().as_str());
        folders.entry(folder).or_default().push(published);
        let domain = published.record.document.domain.clone();
        domains.entry(domain).or_default().push(published);
    }
    refuse_same_names(&domains)?;
    let data = Data::of(generation, module)?;
    let assets = of_site();
    let assets = [assets.css, assets.js, assets.files, assets.tab, assets.icon];
    let seconds: Vec<Language> = languages
        .iter()
        .copied()
        .filter(|one| site.second(*one).is_some())
        .collect();

    let mut names = BTreeSet::from(["README.txt", "_headers", ".nojekyll"].map(str::to_owned));
    names.extend(assets.iter().map(|asset| below(&asset.href)));
    names.extend(data.bodies.iter().map(|(name, _)| name.clone()));
    names.extend(
        generation
            .records()
            .map(|published| file(&format!("r/{}", published.id()), None)),
    );
    for language in languages {
        let second = site.second(*language);
        let own = ["index", "search", "log", "records", "graph"].map(|name| file(name, second));
        names.extend(own);
        names.extend(domains.keys().map(|name| file(&domain_name(name), second)));
    }
    for second in &seconds {
        for (name, records) in &folders {
            let parts = records.chunks(TEXTS_TOGETHER).enumerate();
            names.extend(parts.map(|(no, _)| second_name(name, *second, no)));
        }
    }

    let at_root = names.iter().filter(|name| is_page(name) && !name.contains('/'));
    let headers = notes::headers(&data.names.worker, at_root.map(String::as_str));
    let mut folder = Folder::begin(root, names, site.seq)?;
    for language in languages {
        folder.put(&file("index", site.second(*language)), notes::BEGUN.as_bytes())?;
    }
    for asset in assets {
        folder.put(&below(&asset.href), asset.body.as_bytes())?;
    }
    for (name, body) in &data.bodies {
        folder.put(name, body)?;
    }
    folder.put("README.txt", notes::read_me(&data.names.worker).as_bytes())?;
    folder.put("_headers", headers.as_bytes())?;
    // GitHub Pages would otherwise read each page as one of its own.
    folder.put(".nojekyll", b"")?;
    for (name, records) in &folders {
        for (no, part) in records.chunks(TEXTS_TOGETHER).enumerate() {
            for published in part {
                let page = record::page(site, generation, published, no)?;
                folder.put(&file(&format!("r/{}", published.id()), None), page.as_bytes())?;
            }
            for second in &seconds {
                let texts = SecondTexts::of(site, generation, *second, part)?;
                let texts = serde_json::to_vec(&texts).map_err(io::Error::from)?;
                folder.put(&second_name(name, *second, no), &packed(&texts)?)?;
            }
        }
    }
    for language in languages.iter().copied() {
        let second = site.second(language);
        for (name, records) in &domains {
            let page = lists::domain(site, generation, language, name, records)?;
            folder.put(&file(&domain_name(name), second), page.as_bytes())?;
        }
        let page = lists::records(site, generation, language)?;
        folder.put(&file("records", second), page.as_bytes())?;
        let page = lists::graph(site, generation, language)?;
        folder.put(&file("graph", second), page.as_bytes())?;
        let page = home::search(site, &data.names, language)?;
        folder.put(&file("search", second), page.as_bytes())?;
        let page = home::log(site, &data.names, language)?;
        folder.put(&file("log", second), page.as_bytes())?;
    }
    folder.bytes -= (notes::BEGUN.len() * languages.len()) as u64;
    for language in languages.iter().copied() {
        let page = home::home(site, &data.names, generation.len(), language)?;
        folder.put(&file("index", site.second(language)), page.as_bytes())?;
    }
    let (files, bytes) = folder.end()?;
    Ok(Written {
        records: generation.len(),
        files,
        bytes,
    })
}

fn below(href: &str) -> String {
    href.trim_start_matches('/').to_owned()
}

fn second_name(folder: &str, second: Language, part: usize) -> String {
    format!("{folder}/{}.json.gz", texts_name(second, part))
}

fn refuse_same_names(domains: &Groups<'_>) -> Result<(), SiteError> {
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for domain in domains.keys() {
        if let Some(other) = names.insert(domain_name(domain), domain) {
            return Err(SiteError::SameName(other.to_owned(), domain.clone()));
        }
    }
    Ok(())
}

fn is_page(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "html")
}
