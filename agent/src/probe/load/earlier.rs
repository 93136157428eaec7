//! The last good run with load on this node, beside which rates are laid.

use std::collections::BTreeSet;

use kb_core::report::{EarlierLoad, EarlierOfGpu, Fact, GapKind, Gpu, Load, Report};

/// What the GPUs of this run reached then, found by their UUIDs.
pub(super) fn of(report: &Fact<Box<Report>>, gpus: &[Gpu]) -> Fact<EarlierLoad> {
    let source = &report.source;
    let Some(earlier) = &report.value else {
        let none = Fact::missing(GapKind::Skipped, "no earlier run", source);
        return report.gap.clone().map_or(none, |gap| Fact::without(gap, source));
    };
    let uuids = |gpus: &[Gpu]| -> Option<BTreeSet<String>> {
        let uuids = gpus.iter().map(|gpu| gpu.uuid.value.clone());
        uuids.collect()
    };
    // With other GPUs beside it a GPU has another peer, and more or less of the way to the host.
    let are_same = uuids(gpus).is_some_and(|now| uuids(&earlier.gpus).as_ref() == Some(&now));
    let rates = Load::RATES.into_iter();
    let rates: Vec<&str> = rates.filter(|rate| are_same || *rate == Load::FMA_RATE).collect();
    let now = (0..).zip(gpus);
    let gpus: Vec<EarlierOfGpu> = now
        .filter_map(|(gpu, now)| {
            let uuid = now.uuid.value.as_ref()?;
            let then = earlier
                .gpus
                .iter()
                .position(|then| then.uuid.value.as_ref() == Some(uuid))?;
            let load = earlier.load.as_ref()?.of_gpu(u32::try_from(then).ok()?)?;
            let median = |name: &str| Some((name.to_owned(), load.figures.get(name)?.median));
            Some(EarlierOfGpu {
                gpu,
                medians: rates.iter().copied().filter_map(median).collect(),
            })
        })
        .collect();
    if gpus.is_empty() {
        return Fact::missing(GapKind::Skipped, "no earlier run of these GPUs", source);
    }
    let earlier = EarlierLoad {
        report: earlier.report_id.clone(),
        at: earlier.finished_at.clone(),
        gpus,
    };
    Fact::read(earlier, source)
}
