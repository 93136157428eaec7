//! Lines that no record knows: from a report to a record that is begun.

use std::time::Duration;

use peerless::store::{Role, Scope};
use serde_json::{Value, json as object};

use crate::page_form::PageForm;
use crate::process::peerless;
use crate::reports::report;
use crate::test_app::{TestApp, json, problem};

const KNOWN: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

/// A report whose kernel log has these lines.
fn with_log(id: &str, node: &str, lines: &[String]) -> Value {
    let mut body = report(id);
    body["node"]["id"] = object!(node);
    body["node"]["hostname"] = object!("trainbox1");
    body["logs"] = object!([{ "source": "kmsg", "when": "during", "text": lines.join("\n") }]);
    body
}

fn line(link: u32, pid: u32) -> String {
    format!(
        "Nov 28 17:17:45 trainbox1 kernel: zorgblat: link {link} of GPU 0000:3b:00.0 failed for user 'ann' \
         (pid {pid}, /home/ann/train.py, token=hunter2hunter2) on trainbox1"
    )
}

async fn upload(app: &TestApp, body: &Value) {
    let token = app.token(&[Scope::Report]).await;
    let request = app.post("/api/v1/reports").bearer_auth(&token).json(body);
    assert_eq!(request.send().await.unwrap().status(), 201);
}

async fn get(app: &TestApp, token: &str, path: &str) -> Value {
    json(app.get_with(path, token).await).await
}

/// The lines once there are so many templates: they are looked at beside the answer to a report.
async fn listed(app: &TestApp, token: &str, most: usize) -> Vec<Value> {
    for _ in 0..200 {
        let answer = get(app, token, "/api/v1/unmatched").await;
        let found = answer["unmatched"].as_array().unwrap().clone();
        if found.len() >= most {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the lines did not come");
}

async fn step(app: &TestApp, token: &str, id: &str, body: Value) -> reqwest::Response {
    let request = app.post(&format!("/api/v1/unmatched/{id}")).bearer_auth(token);
    request.json(&body).send().await.unwrap()
}

#[tokio::test]
async fn lines_that_nobody_knows_are_counted_and_those_of_records_are_not() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    let lines: Vec<String> = vec![
        line(1, 10),
        line(2, 11),
        KNOWN.to_owned(),
        "zorgblat: all is well".to_owned(),
    ];
    upload(&app, &with_log("run-1", "node-1", &lines)).await;
    let found = listed(&app, &editor, 1).await;
    // The same report again, and another of another node.
    let token = app.token(&[Scope::Report]).await;
    let again = with_log("run-1", "node-1", &lines);
    let request = app.post("/api/v1/reports").bearer_auth(&token).json(&again);
    assert_eq!(request.send().await.unwrap().status(), 200);
    let other = [line(7, 99), "zorgblat: fatal axle error 5".to_owned()];
    upload(&app, &with_log("run-2", "node-2", &other)).await;
    assert_eq!(found[0]["count"], 2, "{found:?}");
    let found = listed(&app, &editor, 2).await;
    assert_eq!(found.len(), 2, "{found:?}");
    let first = &found[0];
    assert_eq!((&first["count"], &first["nodes"]), (&object!(3), &object!(2)));
    assert_eq!(first["state"], "open");
    let template = first["template"].as_str().unwrap();
    assert!(
        template.starts_with("zorgblat: link <number> of GPU <pci> failed"),
        "{template}"
    );
    let kept = first.to_string();
    for secret in ["trainbox1", "ann", "hunter2", "train.py"] {
        assert!(!kept.contains(secret), "{secret}: {kept}");
    }
    let on_node = get(&app, &editor, "/api/v1/unmatched?node=node-2&q=axle&sort=nodes").await;
    assert_eq!(on_node["unmatched"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_record_is_begun_with_pattern_examples_and_title() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    upload(&app, &with_log("run-1", "node-1", &[line(1, 10), line(2, 11)])).await;
    let id = listed(&app, &editor, 1).await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/v1/unmatched/{id}?record=cuda/zorgblat-link");
    let detail = get(&app, &editor, &path).await;
    let regex = detail["proposal"]["regex"].as_str().unwrap();
    assert!(regex.contains("zorgblat: link "), "{regex}");
    // The pattern takes the line as it was, before names were replaced.
    let asked = object!({"lines": [line(5, 77)], "pattern": regex});
    let request = app.post("/api/v1/workbench").bearer_auth(&editor).json(&asked);
    let tried = json(request.send().await.unwrap()).await;
    assert_eq!(tried["lines"][0]["taken"], "tried", "{regex}\n{tried}");
    let annex: Value = serde_json::from_str(detail["draft"]["annex"].as_str().unwrap()).unwrap();
    assert_eq!(annex["patterns"][0]["regex"], regex);
    assert!(annex["title"].as_str().unwrap().starts_with("Zorgblat: link"));
    assert_eq!(annex["examples"].as_array().unwrap().len(), 1, "{annex}");
    let document: Value = serde_json::from_str(detail["draft"]["document"].as_str().unwrap()).unwrap();
    assert_eq!(document["id"], "cuda/zorgblat-link");
    assert!(
        document["signature"]
            .as_str()
            .unwrap()
            .starts_with("zorgblat: link 1")
    );

    // The same in the browser: the form of a new record holds it.
    app.person("con", Role::Contributor, false).await;
    let con = app.browser("con").await;
    let list = con.page("/unmatched").await;
    assert!(list.contains(&format!("/unmatched/{id}")), "{list}");
    for (wrong, nearest) in [("state=opn", "open"), ("sort=node", "nodes")] {
        let refused = con.get(&format!("/unmatched?{wrong}")).await;
        assert_eq!(refused.status(), 400, "{wrong}");
        let refused = refused.text().await.unwrap();
        assert!(
            refused.contains("is none of its values") && refused.contains(nearest),
            "{refused}"
        );
    }
    let one = con.page(&format!("/unmatched/{id}")).await;
    let begin = PageForm::of(&one, "action=\"/records/new\"");
    assert!(
        begin.get("id").starts_with("local/zorgblat-link"),
        "{}",
        begin.get("id")
    );
    let form = con
        .page(&format!("/records/new?id=cuda/zorgblat-link&unmatched={id}"))
        .await;
    let form = PageForm::of(&form, "data-edit");
    assert!(form.get("annex").contains("zorgblat: link "));
    assert!(form.get("a:/title").starts_with("Zorgblat: link"));
}

#[tokio::test]
async fn editors_take_on_ignore_and_name_the_record() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    upload(&app, &with_log("run-1", "node-1", &[line(1, 10)])).await;
    let id = listed(&app, &editor, 1).await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let done = async |body: Value| json(step(&app, &editor, &id, body).await).await;
    assert!(done(object!({"step": "take"})).await["assignee"].is_string());
    assert_eq!(
        done(object!({"step": "assign", "to": "ada"})).await["assignee"],
        "ada"
    );
    assert!(done(object!({"step": "release"})).await["assignee"].is_null());
    let ignored = done(object!({"step": "ignore", "reason": "a test"})).await;
    assert_eq!(
        (&ignored["state"], &ignored["reason"]),
        (&object!("ignored"), &object!("a test"))
    );
    let open = get(&app, &editor, "/api/v1/unmatched?state=open").await;
    assert!(open["unmatched"].as_array().unwrap().is_empty());
    let known = done(
        object!({"step": "known_as", "record": crate::records::P2P.trim_start_matches("/api/v1/records/")}),
    )
    .await;
    assert_eq!(known["state"], "known", "{known}");
    assert_eq!(done(object!({"step": "reopen"})).await["state"], "open");

    problem(
        step(&app, &editor, &id, object!({"step": "ignore"})).await,
        400,
        "malformed_body",
    )
    .await;
    problem(
        step(&app, &editor, &id, object!({"step": "ignore", "reason": " "})).await,
        400,
        "malformed_body",
    )
    .await;
    let nobody = object!({"step": "known_as", "record": "cuda/no-such"});
    problem(step(&app, &editor, &id, nobody).await, 404, "not_found").await;
    for other in ["0123456789abcdef", "zz", "%00"] {
        let unknown = step(&app, &editor, other, object!({"step": "reopen"})).await;
        assert_eq!(unknown.status(), 404, "{other}");
    }
    for node in ["node-1", "nod-1"] {
        let path = format!("/api/v1/unmatched?node={node}");
        let status = app.get_with(&path, &editor).await.status();
        assert_eq!(status, if node == "node-1" { 200 } else { 404 }, "{node}");
    }
    let nobody = get(&app, &editor, "/api/v1/unmatched?assignee=adda").await;
    assert_eq!(nobody["note"], "no lines are taken on by `adda`");
    for query in ["state=shut", "sort=x", "limit=0", "cursor=x", "q=%00"] {
        let answer = app.get_with(&format!("/api/v1/unmatched?{query}"), &editor).await;
        problem(answer, 400, "bad_query").await;
    }
    let reader = app.token(&[Scope::Report]).await;
    let refused = app.get_with("/api/v1/unmatched", &reader).await;
    assert_eq!(refused.status(), 403);
    assert_eq!(app.get("/api/v1/unmatched").await.status(), 401);
}

#[tokio::test]
async fn the_page_does_the_same_without_script() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    upload(&app, &with_log("run-1", "node-1", &[line(1, 10)])).await;
    let id = listed(&app, &editor, 1).await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    app.person("con", Role::Contributor, false).await;
    let mut con = app.browser("con").await;
    let path = format!("/unmatched/{id}");
    for (fields, shown) in [
        (vec![("do", "take")], "con"),
        (vec![("do", "ignore"), ("reason", "a drill")], "a drill"),
        (vec![("do", "reopen")], "open"),
    ] {
        let answer = con.send(&path, &fields).await;
        assert_eq!(answer.status(), 303, "{fields:?}");
        let page = con.page(&path).await;
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let chinese = con.page("/unmatched?lang=zh").await;
    assert!(chinese.contains("未知日志行"));
}

#[tokio::test]
async fn an_editor_is_told_that_a_colleague_was_faster() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    upload(&app, &with_log("run-1", "node-1", &[line(1, 10)])).await;
    let found = listed(&app, &editor, 1).await;
    let path = format!("/unmatched/{}", found[0]["id"].as_str().unwrap());
    for name in ["ada", "con"] {
        app.person(name, Role::Contributor, false).await;
    }
    let (mut ada, mut con) = (app.browser("ada").await, app.browser("con").await);
    let of_ada = PageForm::of(&ada.page(&path).await, "value=\"take\"");
    let of_con = PageForm::of(&con.page(&path).await, "value=\"ignore\"");
    assert_eq!(of_ada.send(&mut ada, ("do", "take")).await.status(), 303);
    let mut late = of_con;
    late.set("reason", "a drill");
    let refused = late.send(&mut con, ("do", "ignore")).await;
    assert_eq!(refused.status(), 409);
    let told = refused.text().await.unwrap();
    assert!(told.contains("Ada changed these lines meanwhile"), "{told}");
    // Who has seen it may go on.
    let mut form = PageForm::of(&con.page(&path).await, "value=\"ignore\"");
    form.set("reason", "a drill");
    assert_eq!(form.send(&mut con, ("do", "ignore")).await.status(), 303);
}

#[tokio::test]
async fn the_command_line_lists_them_and_gives_their_examples() {
    let app = TestApp::start().await;
    let editor = app.token(&[Scope::Edit]).await;
    upload(&app, &with_log("run-1", "node-1", &[line(1, 10)])).await;
    let id = listed(&app, &editor, 1).await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let data = app.folder.path().display().to_string();
    let told = async |arguments: &[&str]| {
        let mut command = peerless();
        command
            .arg("unmatched")
            .args(arguments)
            .args(["--data-dir", &data]);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap());
        let output = output.await.unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (is_good, list) = told(&[]).await;
    assert!(
        is_good && list.contains(&id) && list.contains("1 line, 1 node: zorgblat"),
        "{list}"
    );
    let (_, examples) = told(&[&id]).await;
    assert!(examples.starts_with("zorgblat: link 1 of GPU"), "{examples}");
    assert_eq!(told(&["--state", "known"]).await.1, "no such lines are known\n");
    assert!(!told(&["0000000000000000"]).await.0);
}
