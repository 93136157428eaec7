//! The embedded sheet, scripts and icon. Each address holds the hash of its content, so that browsers may keep the
//! file for ever and never mix versions.

use std::sync::LazyLock;

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use sha2::{Digest, Sha256};

use super::layout::AssetLinks;
use crate::web::error::{Code, Problem};

/// A year, the longest that caches honour; the address changes with the content.
pub(in crate::web) const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Hash bytes in an address: enough to tell versions of a file apart.
const HASH_BYTES: usize = 8;

#[derive(Debug)]
pub struct Asset {
    pub href: String,
    media_type: &'static str,
    pub body: &'static str,
}

static CSS: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "site",
        "css",
        "text/css; charset=utf-8",
        include_str!("../../../../static/site.css"),
    )
});
static JS: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "site",
        "js",
        "text/javascript; charset=utf-8",
        include_str!("../../../../static/site.js"),
    )
});
/// What is asked while something is typed.
static TYPING: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "typing",
        "js",
        "text/javascript; charset=utf-8",
        include_str!("../../../../static/typing.js"),
    )
});
/// Of the form of a record alone.
static EDIT: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "edit",
        "js",
        "text/javascript; charset=utf-8",
        include_str!("../../../../static/edit.js"),
    )
});
/// Of a log that is read in the tab alone.
static TAB: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "tab",
        "js",
        "text/javascript; charset=utf-8",
        include_str!("../../../../static/tab.js"),
    )
});
/// Of a site of files alone.
static FILES: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "files",
        "js",
        "text/javascript; charset=utf-8",
        include_str!("../../../../static/files.js"),
    )
});
static ICON: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "favicon",
        "svg",
        "image/svg+xml",
        include_str!("../../../../static/favicon.svg"),
    )
});

pub fn links() -> AssetLinks {
    AssetLinks {
        css: &CSS.href,
        js: &JS.href,
        typing: &TYPING.href,
        icon: &ICON.href,
    }
}

/// What a site of files has of these.
#[derive(Debug, Clone, Copy)]
pub struct SiteAssets {
    pub css: &'static Asset,
    pub js: &'static Asset,
    pub files: &'static Asset,
    pub tab: &'static Asset,
    pub icon: &'static Asset,
}

pub fn of_site() -> SiteAssets {
    SiteAssets {
        css: &CSS,
        js: &JS,
        files: &FILES,
        tab: &TAB,
        icon: &ICON,
    }
}

pub(super) fn tab_script() -> &'static str {
    &TAB.href
}

pub(super) fn edit_script() -> &'static str {
    &EDIT.href
}

pub async fn get(file: web::Path<String>) -> Result<HttpResponse, Problem> {
    let wanted = file.into_inner();
    let all: [&Asset; 6] = [&CSS, &JS, &TYPING, &EDIT, &TAB, &ICON];
    let found = all
        .into_iter()
        .find(|asset| asset.href.strip_prefix("/static/") == Some(wanted.as_str()));
    let Some(asset) = found else {
        return Err(Problem::new(
            Code::NotFound,
            "no such file is embedded in this version",
        ));
    };
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, asset.media_type))
        .insert_header((header::CACHE_CONTROL, FOR_EVER))
        .body(asset.body))
}

/// `GET /favicon.ico`, which some browsers ask for whatever the page says.
pub async fn favicon() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, ICON.href.as_str()))
        .finish()
}

/// The address of a file: with the hash of its content, so that it may be kept for ever.
pub fn hashed(folder: &str, name: &str, extension: &str, body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    let hash = hex::encode(digest.get(..HASH_BYTES).unwrap_or_default());
    format!("{folder}/{name}.{hash}.{extension}")
}

fn asset(name: &str, extension: &str, media_type: &'static str, body: &'static str) -> Asset {
    Asset {
        href: hashed("/static", name, extension, body.as_bytes()),
        media_type,
        body,
    }
}
