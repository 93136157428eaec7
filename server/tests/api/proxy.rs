//! Entity tags through a proxy that compresses: nginx makes them weak, and editing still works.

use std::process::{Child, Command, Stdio};

use peerless::store::Scope;
use reqwest::Method;
use tempfile::TempDir;

use crate::process::until;
use crate::records::P2P;
use crate::test_app::{TestApp, client};

/// nginx on a port of its own, with its files in a folder of its own.
pub struct Proxy {
    pub url: String,
    process: Child,
    _folder: TempDir,
}

impl Proxy {
    pub async fn start(upstream: u16) -> Self {
        let folder = TempDir::new().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let root = folder.path().display();
        let config = format!(
            "daemon off; master_process off; pid {root}/pid; error_log stderr; events {{}}\n\
             http {{ access_log off; client_body_temp_path {root}/body; proxy_temp_path {root}/proxy;\n\
             fastcgi_temp_path {root}/f; uwsgi_temp_path {root}/u; scgi_temp_path {root}/s;\n\
             gzip on; gzip_proxied any; gzip_min_length 1; gzip_types *;\n\
             server {{ listen 127.0.0.1:{port}; location / {{ proxy_http_version 1.1;\n\
             proxy_set_header Accept-Encoding ''; proxy_pass http://127.0.0.1:{upstream}; }} }} }}\n"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, config).unwrap();
        let process = Command::new("nginx")
            .arg("-c")
            .arg(&file)
            .arg("-p")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx is not installed: run `cargo xtask test --install`");
        let proxy = Self {
            url: format!("http://127.0.0.1:{port}"),
            process,
            _folder: folder,
        };
        let client = client();
        until("nginx listens", || async {
            client.get(format!("{}/healthz", proxy.url)).send().await.is_ok()
        })
        .await;
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Ended already, perhaps.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn a_weakened_tag_is_as_good() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit]).await;
    let proxy = Proxy::start(app.port).await;
    let client = client();
    let record = format!("{}{P2P}", proxy.url);
    let response = client
        .get(&record)
        .header("accept-encoding", "gzip")
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let tag = response.headers()["etag"].clone();
    assert_eq!(tag, "W/\"r1\"", "nginx makes the tag weak");

    let again = client
        .request(Method::GET, &record)
        .header("if-none-match", &tag)
        .send()
        .await
        .unwrap();
    assert_eq!(again.status(), 304);

    let edited = app
        .get(P2P)
        .await
        .text()
        .await
        .unwrap()
        .replace("hardware", "HARDWARE")
        .replacen("by-HARDWARE", "by-hardware", 1);
    let put = |text: String| {
        let request = client
            .put(&record)
            .bearer_auth(&token)
            .header("content-type", "application/json");
        request.header("if-match", &tag).body(text).send()
    };
    assert_eq!(put(edited.clone()).await.unwrap().status(), 200);
    assert_eq!(put(edited + " ").await.unwrap().status(), 412);
}
