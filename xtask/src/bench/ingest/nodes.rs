//! Reports of many nodes, made from two that an agent has written: each node has its own name, boot and GPUs, and machines differ by
//! 0.1 %, as real ones do (docs/benchmarks/bench.md).

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kb_core::report::{Fact, Node, Report};
use serde_json::json;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::Options;
use crate::random::Random;

/// Of so many reports one is a whole bench, as of a node that probes each hour and measures each day.
const BENCH_IN: usize = 24;
const MACHINES_DIFFER_BY: f64 = 0.001;

pub(super) struct Fleet {
    probe: Report,
    bench: Report,
    nodes: usize,
    began: OffsetDateTime,
}

pub(super) fn name(node: usize) -> String {
    format!("n{node:05}")
}

impl Fleet {
    /// `reports` reports, the last of which ends now.
    pub(super) fn read(options: &Options, reports: usize) -> Result<Self> {
        let nodes = usize::try_from(options.nodes)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a server minds by its own clock how old a report is"
        )]
        let now = OffsetDateTime::now_utc();
        let hours = i64::try_from(reports.div_ceil(nodes))?;
        Ok(Self {
            probe: read(&options.probe)?,
            bench: read(&options.bench)?,
            nodes,
            began: now - Duration::hours(hours) - Duration::minutes(1),
        })
    }

    pub(super) fn gpus(&self) -> usize {
        self.probe.gpus.len()
    }

    pub(super) fn node(&self, number: usize) -> usize {
        number % self.nodes
    }

    /// The report with this number, as JSON: one of each node in turn.
    pub(super) fn json(&self, number: usize) -> Result<Vec<u8>> {
        let (node, hour) = (self.node(number), number / self.nodes);
        let template = if (node + hour) % BENCH_IN == 0 {
            &self.bench
        } else {
            &self.probe
        };
        let mut report = template.clone();
        let name = name(node);
        let boot = format!("b0070000-0000-4000-8000-{node:012x}");
        report.report_id = format!("5eed0000-0000-4000-8000-{node:08x}{hour:04x}").parse()?;
        report.node = Node {
            id: name.parse()?,
            hostname: Some(name.clone()),
            boot_id: Some(boot.clone()),
        };
        let turn = Duration::HOUR * i32::try_from(node)? / i32::try_from(self.nodes)?;
        let end = self.began + Duration::hours(i64::try_from(hour)?) + turn;
        report.started_at = (end - Duration::seconds(20)).format(&Rfc3339)?;
        report.finished_at = end.format(&Rfc3339)?;
        for (fact, value, source) in [
            ("host.name", &name, "/proc/sys/kernel/hostname"),
            ("boot.id", &boot, "/proc/sys/kernel/random/boot_id"),
        ] {
            report
                .host
                .insert(fact.to_owned(), Fact::read(json!(value), source));
        }
        for (index, gpu) in report.gpus.iter_mut().enumerate() {
            let uuid = format!("GPU-{node:08x}-0000-4000-8000-{index:012x}");
            gpu.uuid = Fact::read(uuid.clone(), "cuDeviceGetUuid");
            gpu.facts.insert(
                "nvml.uuid".to_owned(),
                Fact::read(json!(uuid), "nvmlDeviceGetUUID"),
            );
        }
        let mut random = Random::new(u64::try_from(number)?);
        let samples = report
            .measurements
            .iter_mut()
            .flat_map(|measurement| &mut measurement.cells)
            .flat_map(|cell| &mut cell.samples);
        for sample in samples {
            let drawn = u32::try_from(random.below(2_001))?;
            *sample *= 1.0 + MACHINES_DIFFER_BY * (f64::from(drawn) / 1_000.0 - 1.0);
        }
        Ok(serde_json::to_vec(&report)?)
    }

    /// The request that sends it, compressed as an agent does it.
    pub(super) fn request(&self, number: usize, token: &str, address: SocketAddr) -> Result<Vec<u8>> {
        let body = zstd::encode_all(self.json(number)?.as_slice(), zstd::DEFAULT_COMPRESSION_LEVEL)?;
        let mut request = format!(
            "POST /api/v1/reports HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-encoding: zstd\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend(body);
        Ok(request)
    }
}

fn read(file: &Path) -> Result<Report> {
    let read = || -> Result<Report> {
        let report: Report = serde_json::from_slice(&std::fs::read(file)?)?;
        ensure!(
            report.simulated,
            "it is of a real machine: only simulated nodes may be multiplied"
        );
        Ok(report)
    };
    read().with_context(|| format!("{}: no report", file.display()))
}
