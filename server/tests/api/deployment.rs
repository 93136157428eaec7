//! What `deploy/server` and `deploy/prometheus` ship: a unit, a proxy with TLS, manifests and alerts that their own tools and the
//! server take.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use peerless::web::limits::DRAIN;
use reqwest::{Certificate, Client};
use tempfile::TempDir;
use yaml_rust2::{Yaml, YamlLoader};

use crate::process::until;
use crate::receiver::{self, Receiver};
use crate::test_app::{TestApp, client};

const SERVER: &str = env!("CARGO_BIN_EXE_peerless");
const HINT: &str = "run `cargo xtask test --install`";

fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(shipped(name)).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Every setting of a manifest or unit is one that the server knows.
fn known(variables: &BTreeSet<String>) {
    let help = Command::new(SERVER).args(["serve", "--help"]).output().unwrap();
    let help = said(&help);
    for variable in variables {
        assert!(help.contains(&format!("[env: {variable}")), "{variable}");
    }
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let unit = text("server/peerless.service");
    assert!(unit.contains("ExecStart=/usr/bin/peerless serve\n"));
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("peerless.service");
    fs::write(&file, unit.replace("/usr/bin/peerless", SERVER)).unwrap();
    let verified = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&file)
        .output()
        .unwrap_or_else(|error| panic!("systemd-analyze: {error}: {HINT}"));
    let said = said(&verified);
    let ours: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("peerless.service"))
        .collect();
    assert_eq!(ours, Vec::<&str>::new());
    let set = unit
        .lines()
        .filter_map(|line| Some(line.strip_prefix("Environment=")?.split_once('=')?.0.to_owned()));
    known(&set.collect());
    let stop = unit.lines().find_map(|line| line.strip_prefix("TimeoutStopSec="));
    assert!(stop.unwrap().parse::<u64>().unwrap() > DRAIN.as_secs());
}

/// nginx with the example's text, in a folder and on ports of its own.
struct Proxy {
    folder: TempDir,
    ports: [u16; 2],
    process: Option<Child>,
}

impl Proxy {
    fn new(upstream: u16) -> Self {
        let folder = TempDir::new().unwrap();
        // Both at once, so that they differ.
        let listeners = [(), ()].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports = listeners.map(|listener| listener.local_addr().unwrap().port());
        let here = folder.path().display();
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ])
            .args(["-days", "1", "-subj", "/CN=peerless.example"])
            .args(["-addext", "subjectAltName=DNS:peerless.example"])
            // One that signs others is not taken for a server's own.
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(folder.path().join("peerless.key"))
            .arg("-out")
            .arg(folder.path().join("peerless.crt"))
            .output()
            .unwrap_or_else(|error| panic!("openssl: {error}: {HINT}"));
        assert!(made.status.success(), "{}", said(&made));
        let [plain, tls] = ports;
        let mut example = text("server/nginx.conf");
        for (from, to) in [
            ("/etc/nginx/", &format!("{here}/")),
            ("listen 80;", &format!("listen 127.0.0.1:{plain};")),
            (
                "listen 443 ssl http2;",
                &format!("listen 127.0.0.1:{tls} ssl http2;"),
            ),
            ("    listen [::]:80;\n", &String::new()),
            ("    listen [::]:443 ssl http2;\n", &String::new()),
            ("server 127.0.0.1:8080;", &format!("server 127.0.0.1:{upstream};")),
        ] {
            assert!(example.contains(from), "{from}");
            example = example.replace(from, to);
        }
        fs::write(folder.path().join("peerless.conf"), example).unwrap();
        let main = format!(
            "daemon off; master_process off; pid {here}/pid; error_log stderr; events {{}}\n\
             http {{ access_log off; client_body_temp_path {here}/body; proxy_temp_path {here}/proxy;\n\
             fastcgi_temp_path {here}/f; uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;\n\
             include {here}/peerless.conf; }}\n"
        );
        fs::write(folder.path().join("nginx.conf"), main).unwrap();
        Self {
            folder,
            ports,
            process: None,
        }
    }

    fn nginx(&self) -> Command {
        let mut command = Command::new("nginx");
        command
            .arg("-c")
            .arg(self.path("nginx.conf"))
            .arg("-p")
            .arg(self.folder.path());
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // Ended already, perhaps.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[tokio::test]
async fn the_proxy_adds_tls_and_hides_metrics() {
    let app = TestApp::start_with(|options| {
        options.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let mut proxy = Proxy::new(app.port);
    let tested = proxy
        .nginx()
        .arg("-t")
        .output()
        .unwrap_or_else(|error| panic!("nginx: {error}: {HINT}"));
    assert!(tested.status.success(), "{}", said(&tested));
    let started = proxy.nginx().stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    proxy.process = Some(started.unwrap());
    // For the provider of TLS.
    let _ = client();
    let certificate = fs::read(proxy.path("peerless.crt")).unwrap();
    let [plain, tls] = proxy.ports;
    let client = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only(Certificate::from_pem_bundle(&certificate).unwrap())
        .resolve("peerless.example", ([127, 0, 0, 1], tls).into())
        .build()
        .unwrap();
    let address = format!("https://peerless.example:{tls}");
    let get = |path: &str| client.get(format!("{address}{path}")).send();
    until("nginx listens", || async { get("/healthz").await.is_ok() }).await;
    app.wait_for_index();
    let ready = get("/readyz").await.unwrap();
    assert_eq!(ready.status(), 200);
    assert!(
        ready.headers()["strict-transport-security"]
            .to_str()
            .unwrap()
            .contains("max-age=")
    );
    assert_eq!(get("/metrics").await.unwrap().status(), 404);
    assert_eq!(app.get("/metrics").await.status(), 200, "without the proxy");
    // Longer than what nginx takes by default (1 MiB).
    let long = client
        .post(format!("{address}/api/v1/match"))
        .header("content-type", "text/plain")
        .body("a line\n".repeat(300_000))
        .send()
        .await
        .unwrap();
    assert_eq!(long.status(), 200);
    let moved = self::client().get(format!("http://127.0.0.1:{plain}/x?y=1"));
    let moved = moved.header("host", "peerless.example").send().await.unwrap();
    assert_eq!(moved.status(), 301);
    assert_eq!(moved.headers()["location"], "https://peerless.example/x?y=1");
}

/// The documents of a manifest.
fn manifest() -> Vec<Yaml> {
    YamlLoader::load_from_str(&text("server/kubernetes.yaml")).unwrap()
}

fn of_kind<'a>(documents: &'a [Yaml], kind: &str) -> &'a Yaml {
    let mut found = documents
        .iter()
        .filter(|document| document["kind"].as_str() == Some(kind));
    found.next().unwrap_or_else(|| panic!("no {kind}"))
}

fn items(list: &Yaml) -> &[Yaml] {
    list.as_vec().unwrap()
}

fn named<'a>(list: &'a Yaml, name: &str) -> &'a Yaml {
    let found = items(list)
        .iter()
        .find(|item| item["name"].as_str() == Some(name));
    found.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_manifests_fit_together() {
    let documents = manifest();
    for document in &documents {
        assert!(document["apiVersion"].as_str().is_some() && document["metadata"]["name"].as_str().is_some());
    }
    let deployment = of_kind(&documents, "Deployment");
    let template = &deployment["spec"]["template"];
    let labels = &template["metadata"]["labels"];
    assert_eq!(&deployment["spec"]["selector"]["matchLabels"], labels);
    // Two pods would write one SQLite file.
    assert_eq!(deployment["spec"]["replicas"].as_i64(), Some(1));
    assert_eq!(deployment["spec"]["strategy"]["type"].as_str(), Some("Recreate"));
    let pod = &template["spec"];
    let grace = pod["terminationGracePeriodSeconds"].as_i64().unwrap();
    assert!(grace.unsigned_abs() > DRAIN.as_secs());
    let container = named(&pod["containers"], "server");
    for mount in items(&container["volumeMounts"]) {
        named(&pod["volumes"], mount["name"].as_str().unwrap());
    }
    let claim = &named(&pod["volumes"], "data")["persistentVolumeClaim"]["claimName"];
    assert_eq!(
        claim,
        &of_kind(&documents, "PersistentVolumeClaim")["metadata"]["name"]
    );
    let port = named(&container["ports"], "http")["containerPort"]
        .as_i64()
        .unwrap();
    let arguments: Vec<&str> = items(&container["args"])
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert!(arguments.contains(&format!("--listen=0.0.0.0:{port}").as_str()));
    let taken = Command::new(SERVER)
        .args(&arguments)
        .arg("--help")
        .output()
        .unwrap();
    assert!(taken.status.success(), "{}", said(&taken));
    let set = items(&container["env"])
        .iter()
        .map(|item| item["name"].as_str().unwrap().to_owned());
    known(&set.collect());
    let service = of_kind(&documents, "Service");
    assert_eq!(&service["spec"]["selector"], labels);
    let exposed = named(&service["spec"]["ports"], "http");
    assert_eq!(exposed["targetPort"].as_str(), Some("http"));
    for ingress in documents
        .iter()
        .filter(|document| document["kind"].as_str() == Some("Ingress"))
    {
        let rule = &ingress["spec"]["rules"][0];
        let tls = &ingress["spec"]["tls"][0];
        assert_eq!(tls["hosts"][0], rule["host"], "TLS for what is served");
        let backend = &rule["http"]["paths"][0]["backend"]["service"];
        assert_eq!(backend["name"], service["metadata"]["name"]);
        assert_eq!(backend["port"]["name"], exposed["name"]);
        let url = &named(&container["env"], "PEERLESS_PUBLIC_URL")["value"];
        assert_eq!(
            url.as_str().unwrap(),
            format!("https://{}", rule["host"].as_str().unwrap())
        );
    }
}

#[tokio::test]
async fn the_probes_ask_what_the_server_answers() {
    let app = TestApp::start().await;
    app.wait_for_index();
    let documents = manifest();
    let pod = &of_kind(&documents, "Deployment")["spec"]["template"]["spec"];
    let container = named(&pod["containers"], "server");
    for (probe, path) in [
        ("startupProbe", "/healthz"),
        // Not /readyz: a database that is away is no reason to start the server anew.
        ("livenessProbe", "/healthz"),
        ("readinessProbe", "/readyz"),
    ] {
        let asked = &container[probe]["httpGet"];
        assert_eq!(asked["path"].as_str(), Some(path));
        assert_eq!(asked["port"].as_str(), Some("http"));
        assert_eq!(app.get(path).await.status(), 200);
    }
}

/// Names of the server's metrics in a text, histograms by their base.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_ours = |word: &&str| {
        ["http_", "knowledge_", "fleet_"]
            .iter()
            .any(|start| word.starts_with(start))
    };
    let ours = words.filter(is_ours);
    ours.map(|word| word.trim_end_matches("_bucket").to_owned())
        .collect()
}

/// An alert on a name that nothing prints would be silent for ever.
#[tokio::test]
async fn the_alerts_ask_for_metrics_that_the_server_prints() {
    let receiver = Receiver::start(&[]);
    let secret = receiver::secret();
    let app = TestApp::start_with(|options| {
        receiver::set(options, &receiver, &secret);
        options.settings.tell.alertmanager = vec![receiver.url.clone()];
    })
    .await;
    app.get("/healthz").await;
    // The tasks that tell begin their counters a moment after the start.
    for counter in ["webhook_errors_total 0", "alertmanager_errors_total 0"] {
        receiver::metric(&app, counter).await;
    }
    let printed = app.get("/metrics").await.text().await.unwrap();
    let rules = text("prometheus/peerless.rules.yaml");
    let (asked, printed_names) = (metrics_in(&rules), metrics_in(&printed));
    assert!(asked.is_subset(&printed_names), "{asked:?} of {printed_names:?}");
    assert!(asked.len() >= 5, "{asked:?}");
    for name in ["knowledge_left_out_records", "knowledge_rejected_patterns"] {
        assert!(
            printed.contains(&format!("{name} 0\n")),
            "an alert from the start: {name}"
        );
    }
    let folder: &Path = &shipped("prometheus");
    for arguments in [
        ["check", "rules", "peerless.rules.yaml"],
        ["test", "rules", "peerless.tests.yaml"],
    ] {
        let checked = Command::new("promtool")
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap_or_else(|error| panic!("promtool: {error}: {HINT}"));
        assert!(checked.status.success(), "{}", said(&checked));
    }
}
