//! Logs and metrics. Messages are readable, fields searchable, units stand in the names. Nothing that a client wrote goes in.

use std::fmt;
use std::io::IsTerminal as _;
use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What is logged unless `RUST_LOG` says otherwise. actix-http reports every malformed request as an error of the
/// server's; whoever can connect could fill the log with them.
const DEFAULT_FILTER: &str = "info,tantivy=warn,actix_http=off";

/// False for rmcp, which logs methods, hosts and whole requests as their senders wrote them: whatever `RUST_LOG` says.
fn is_ours_to_tell(metadata: &tracing::Metadata<'_>) -> bool {
    !metadata.target().starts_with("rmcp")
}

/// Sends logs to standard error; `RUST_LOG` chooses what. A second call in one process changes nothing.
pub fn log_to_stderr(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let registry = tracing_subscriber::registry().with(filter);
    let told = filter_fn(is_ours_to_tell);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false);
    let set = match format {
        LogFormat::Json => registry
            .with(lines.json().flatten_event(true).with_filter(told))
            .try_init(),
        LogFormat::Text => registry
            .with(lines.with_ansi(std::io::stderr().is_terminal()).with_filter(told))
            .try_init(),
    };
    // Tests start many servers in one process; the first one's choice stands.
    let _ = set;
}

/// Upper bounds of the latency buckets, in seconds.
const LATENCY_BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
];

const METADATA: Metadata<'static> = Metadata::new("peerless", Level::INFO, None);

/// The counters of one server; each application of a process has its own.
pub struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Metrics {
    pub fn new() -> Result<Self, BuildError> {
        let latency = Matcher::Full("http_request_duration_seconds".to_owned());
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(latency, LATENCY_BUCKETS)?
            .build_recorder();
        let handle = recorder.handle();
        Ok(Self { recorder, handle })
    }

    /// Counts one request. `route` is a pattern, never a path.
    pub fn request(&self, method: &'static str, route: &str, status: u16, elapsed: Duration) {
        let labels = vec![
            Label::new("method", method),
            Label::new("route", route.to_owned()),
            Label::new("status", status.to_string()),
        ];
        let total = Key::from_parts("http_requests_total", labels.clone());
        self.recorder.register_counter(&total, &METADATA).increment(1);
        let duration = Key::from_parts("http_request_duration_seconds", labels);
        self.recorder
            .register_histogram(&duration, &METADATA)
            .record(elapsed.as_secs_f64());
    }

    pub fn count(&self, name: &'static str, by: u64) {
        let key = Key::from_static_name(name);
        self.recorder.register_counter(&key, &METADATA).increment(by);
    }

    pub fn gauge(&self, name: &'static str, value: f64) {
        let key = Key::from_static_name(name);
        self.recorder.register_gauge(&key, &METADATA).set(value);
    }

    /// A gauge for each value of a label; values are words of this program and never what came from outside.
    pub fn gauge_of(&self, name: &'static str, (label, word): (&'static str, &'static str), value: f64) {
        let key = Key::from_parts(name, vec![Label::new(label, word)]);
        self.recorder.register_gauge(&key, &METADATA).set(value);
    }

    /// Sums up recorded times, which take memory until then: it must run even where nobody asks for the metrics.
    pub fn sum_up(&self) {
        self.handle.run_upkeep();
    }

    pub fn render(&self) -> String {
        self.sum_up();
        self.handle.render()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
