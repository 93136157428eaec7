//! What `serve` prints when it is up.

use std::fmt::Write as _;

use super::Application;
use crate::config::ServeArgs;

/// The address, the database, the number of records, and what to do next.
pub fn greet(application: &Application, settings: &ServeArgs) -> String {
    let (records, seq) = application.knowledge();
    let host = settings
        .listen
        .rsplit_once(':')
        .map_or("127.0.0.1", |(host, _)| host);
    let shown_host = if matches!(host, "0.0.0.0" | "[::]" | "") {
        "127.0.0.1"
    } else {
        host
    };
    let url = format!("http://{shown_host}:{}", application.port());
    let conflicts = application.seeded().conflicts.len();
    let mut text = format!(
        "Peerless serves on {url}\n  database  {}\n  records   {records} (seq {seq})\n",
        settings.data.shown()
    );
    if conflicts > 0 {
        // Writing to a String cannot fail.
        let _ = text.write_fmt(format_args!(
            "  conflicts {conflicts} edited here and changed in this version: see `peerless conflicts`\n"
        ));
    }
    if settings.demo {
        // Writing to a String cannot fail.
        let _ = text.write_fmt(format_args!(
            "\nThis is a demo: 200 nodes that are made up, and recorded runs of real GPUs. Nobody can write, and all is gone when \
             it ends.\n  {url}/nodes\n"
        ));
        return text;
    }
    // Writing to a String cannot fail.
    let _ = text.write_fmt(format_args!(
        "\nOpen {url} and paste an error, or from a shell:\n  \
         dmesg | curl --data-binary @- -H 'content-type: text/plain' -H 'accept: text/plain' {url}/api/v1/match\n\
         Edits and reports need a token:\n  \
         peerless token create --name me --scope edit --scope publish --scope report\n"
    ));
    if let Some(key) = application.first_admin() {
        let base = settings
            .public_url
            .as_deref()
            .unwrap_or(&url)
            .trim_end_matches('/');
        // Writing to a String cannot fail.
        let _ = text.write_fmt(format_args!(
            "\nNobody has an account yet. Whoever opens this link within an hour becomes the administrator:\n  \
             {base}/first-admin?key={key}\n"
        ));
    }
    text
}
