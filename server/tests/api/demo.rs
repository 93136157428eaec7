//! `peerless serve --demo`: all verdicts, marked on every page, for this machine alone, gone afterwards.

use std::collections::BTreeSet;

use crate::process::{Server, folder, run};
use crate::test_app::client;

#[tokio::test]
async fn a_demo_has_every_verdict_and_a_history_and_says_on_every_page_what_it_is() {
    let (folder, _) = folder();
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = crate::process::peerless();
    command.env("TMPDIR", &temporary);
    let server = Server::start_by(command, &["--demo"], &folder.path().join("log"));
    let get = async |path: &str| {
        client()
            .get(format!("{}{path}", server.url))
            .send()
            .await
            .unwrap()
    };

    let mut verdicts = BTreeSet::new();
    let mut nodes = 0;
    let mut next = Some("/api/v1/nodes?limit=100".to_owned());
    while let Some(path) = next {
        let page: serde_json::Value = get(&path).await.json().await.unwrap();
        for node in page["nodes"].as_array().unwrap() {
            nodes += 1;
            verdicts.insert(node["latest"]["verdict"].as_str().unwrap().to_owned());
            let id = node["id"].as_str().unwrap();
            let simulated = node["latest"]["simulated"].as_bool().unwrap();
            assert_eq!(simulated, id.starts_with("demo-"), "{node}");
            if simulated {
                assert!(
                    node["latest"]["reason"]
                        .as_str()
                        .unwrap()
                        .starts_with("simulated: "),
                    "{node}"
                );
            }
        }
        let cursor = page["next"].as_str().or(page["next_cursor"].as_str());
        next = cursor.map(|cursor| format!("/api/v1/nodes?limit=100&cursor={cursor}"));
    }
    assert_eq!(nodes, 203);
    let all = [
        "broken",
        "degraded",
        "healthy",
        "no_fault_seen",
        "refused",
        "unknown",
    ];
    assert_eq!(verdicts.iter().map(String::as_str).collect::<Vec<_>>(), all);

    let history = get("/nodes/demo-r01-n2").await.text().await.unwrap();
    assert!(history.matches("/reports/").count() >= 25, "{history}");
    let lost = get("/api/v1/nodes/demo-r01-n2").await.text().await.unwrap();
    assert!(lost.contains("broken"), "{lost}");
    for path in [
        "/",
        "/nodes",
        "/nodes/demo-r01-n2",
        "/search",
        "/graph",
        "/login",
        "/nothing-there",
        "/docs/api",
    ] {
        let asked = client()
            .get(format!("{}{path}", server.url))
            .header("accept", "text/html");
        let page = asked.send().await.unwrap().text().await.unwrap();
        assert!(page.contains("This is a demo."), "{path}: {page}");
    }
    let chinese = get("/nodes?lang=zh").await.text().await.unwrap();
    assert!(chinese.contains("这是演示"), "{chinese}");

    // Nobody can write: there is no account, and no link that makes one.
    let written = client()
        .post(format!("{}/api/v1/reports", server.url))
        .body("{}")
        .send()
        .await
        .unwrap();
    assert_eq!(written.status(), 401);
    let said = server.terminate();
    assert!(
        said.contains("This is a demo") && !said.contains("first-admin"),
        "{said}"
    );
    assert_eq!(
        std::fs::read_dir(&temporary).unwrap().count(),
        0,
        "the database is gone"
    );
}

#[test]
fn a_demo_serves_this_machine_alone_and_has_a_database_of_its_own() {
    let outside = run(&["serve", "--demo", "--listen", "0.0.0.0:0"]);
    assert_eq!(outside.status.code(), Some(1), "{outside:?}");
    let told = String::from_utf8_lossy(&outside.stderr).into_owned();
    assert!(told.contains("serves this machine alone"), "{told}");
    let (_folder, data) = folder();
    let both = run(&["serve", "--demo", "--data-dir", &data]);
    assert_eq!(both.status.code(), Some(64), "{both:?}");
}
