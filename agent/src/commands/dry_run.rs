//! `--dry-run`: what a run would take, where and for how long.

use kb_core::report::Report;

use crate::cli::{RunArgs, StateArgs};
use crate::probe::{self, Depth};

use super::{Extra, make_report, print, say_reason};

/// Asks the driver which GPUs there are, makes no context, and says what a run would do with each.
pub(crate) fn tell(arguments: &RunArgs, state: &StateArgs, extra: &Extra) -> anyhow::Result<u8> {
    let report = make_report((arguments, state), Depth::Passive, false)?;
    let mut lines = Vec::new();
    for (number, gpu) in report.gpus.iter().enumerate() {
        let name = gpu.name.value.as_deref().unwrap_or("unknown model");
        let address = gpu.pci_address.value.as_deref().unwrap_or("unknown address");
        let what = if probe::is_gpu_idle(gpu) {
            "idle: a context (some hundred MB), and windows spread over at most 75 % of its memory, and of what is free all \
             but 2 GiB (or an eighth of its memory, where that is less)"
        } else {
            "in use, or not told: a context (some hundred MB) and no more memory than the checks move"
        };
        lines.push(format!("GPU {number} {name} ({address}): {what}"));
    }
    let mut all = seconds_of_ladder(&report);
    lines.push(format!(
        "{} pairs, {} KiB a check, about {all:.1} s, at most {} s in all and {} s a step; nothing was taken now",
        report.pairs.len(),
        arguments.buffer_kib(),
        arguments.timeout().as_secs_f64(),
        arguments.step_timeout().as_secs_f64(),
    ));
    if let Some(bench) = extra.bench {
        let parts = probe::estimate_bench(bench, &report);
        let seconds: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
        all += seconds;
        let parts: Vec<String> = parts
            .iter()
            .map(|(name, seconds)| format!("{name} {seconds:.1}"))
            .collect();
        lines.push(format!(
            "the bench: at most two buffers of {0} KiB on each idle GPU, and up to twice {0} KiB of host memory for each; \
             about {seconds:.1} s by what the links carry ({1})",
            bench.largest() / 1024,
            if parts.is_empty() { "no GPU is idle".to_owned() } else { parts.join(", ") },
        ));
    }
    if let Some(nccl) = &extra.nccl {
        let library = nccl.library.as_deref().unwrap_or("libnccl.so.2");
        lines.push(match seconds_of_nccl(&report) {
            Some(seconds) => {
                all += seconds;
                format!(
                    "NCCL ({library}), when the GPUs are free again: twice a process for each idle GPU, with two buffers of \
                     8 MiB there, then one process with two buffers of at most {} KiB on each; NVLink SHARP {}; about \
                     {seconds:.1} s",
                    nccl.largest() / 1024,
                    if nccl.nvls { "as NCCL likes" } else { "off" },
                )
            }
            None => format!("NCCL ({library}) would not run: it takes idle GPUs alone, and two of them at least"),
        });
    }
    if let Some(load) = &extra.load {
        let seconds = load.seconds.as_secs_f64();
        all += seconds;
        lines.push(format!(
            "the load: a compute kernel and copies on all idle GPUs at once, at full power, in the bench's buffers; {seconds:.0} s"
        ));
    }
    lines.push(format!(
        "about {all:.0} s in all where everything works; what is slow or hangs takes longer, up to the limits"
    ));
    print(&format!("{}\n", lines.join("\n")))?;
    if report.gpus.is_empty() {
        say_reason(&report);
        return Ok(report.conclusion.exit_code);
    }
    Ok(0)
}

/// Seconds that opening, contexts, the ladder and closing took by GPU on 2 and 4 H200 (docs/benchmarks/bench.md): 0.6 to
/// 0.9, nearly all of it making and ending contexts.
fn seconds_of_ladder(report: &Report) -> f64 {
    let gpus: f64 = report.gpus.iter().map(|_| 1.0).sum();
    0.75 * gpus
}

/// The same of NCCL: 6.8 and 11.2 s with 2 and 4 GPUs, most of it making communicators. It takes idle GPUs alone; `None`
/// where it does not run, with fewer than two.
fn seconds_of_nccl(report: &Report) -> Option<f64> {
    let idle = report.gpus.iter().filter(|gpu| probe::is_gpu_idle(gpu));
    let idle: f64 = idle.map(|_| 1.0).sum();
    (idle >= 2.0).then_some(2.5 + 2.2 * idle)
}
