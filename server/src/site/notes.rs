//! What a host is told: how the site is given out, and the headers that it should have.

use std::fmt::Write as _;

use crate::web::{POLICY, WORKER_POLICY};

/// The page while the site is not complete.
pub(super) const BEGUN: &str = include_str!("../../../templates/site/begun.html");

/// For hosts that take headers from a file of this form (Netlify, Cloudflare Pages). No address has two policies: browsers would hold
/// both, and the worker could not run.
pub(super) fn headers<'a>(worker: &str, pages: impl Iterator<Item = &'a str>) -> String {
    let mut text = "/*\n  Referrer-Policy: same-origin\n  X-Content-Type-Options: nosniff\n".to_owned();
    let root = pages.map(|page| format!("/{page}"));
    let folders = ["/", "/r/*", "/domains/*"].map(str::to_owned);
    for path in folders.into_iter().chain(root) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{path}\n  Content-Security-Policy: {POLICY}");
    }
    let _ = writeln!(text, "/{worker}\n  Content-Security-Policy: {WORKER_POLICY}");
    text
}

pub(super) fn read_me(worker: &str) -> String {
    format!(
        "A site of files, written by `peerless site` {version}.\n\
         \n\
         Put the whole folder on any host of static files, at the root or below a path. Links lead from file to file. Opened from a disk\n\
         (file://) the records, lists and the graph can be read; browsers refuse there what search and log reading need.\n\
         {manifest} names every file of the site. Where it says \"complete\": false, writing was broken off: run the command again.\n\
         \n\
         Headers. The site works without them. With them the browser itself makes sure that nothing is sent anywhere.\n\
         The file _headers has them for hosts that read such a file; its paths begin at the root of the host.\n\
         \n\
         For every file but the one below:\n\
           Content-Security-Policy: {POLICY}\n\
           Referrer-Policy: same-origin\n\
           X-Content-Type-Options: nosniff\n\
         For {worker} instead:\n\
           Content-Security-Policy: {WORKER_POLICY}\n\
         It may run the module, which is WebAssembly, and every request of it is refused. No page needs 'wasm-unsafe-eval'.\n\
         \n\
         Files in data/ and static/ have the hash of their content in their names and may be kept for ever:\n\
           Cache-Control: public, max-age=31536000, immutable\n\
         Files that end in .gz are unpacked by the site's script, or by the host with Content-Encoding: gzip; both work.\n\
         Let the host compress .html, .css and .js on the way, as most do.\n",
        version = env!("CARGO_PKG_VERSION"),
        manifest = super::MANIFEST,
    )
}
