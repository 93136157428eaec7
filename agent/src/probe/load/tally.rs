//! What each GPU did and was like under load, added up step by step.

use std::collections::BTreeMap;

use kb_core::report::{Conditions, Fact, Load, LoadOfGpu, Spread, fact_name};

use crate::worker::protocol::{LoadedGpu, Took, WrongLoad};

/// What NVML is asked about, besides the throttle reasons.
const READ: [&str; 4] = [
    fact_name::CLOCK_SM_MHZ,
    fact_name::CLOCK_MEMORY_MHZ,
    fact_name::TEMPERATURE_GPU_C,
    fact_name::POWER_DRAW_W,
];
/// Operations a second of a rate of 1.
const TERA: f64 = 1e12;
const GIGA: f64 = 1e9;

pub(super) struct Tally(Vec<OfGpu>);

struct OfGpu {
    told: LoadOfGpu,
    values: BTreeMap<&'static str, Vec<f64>>,
}

impl Tally {
    pub(super) fn of(gpus: &[u32]) -> Self {
        let of = |gpu: &u32| OfGpu {
            told: LoadOfGpu {
                gpu: *gpu,
                launches: 0,
                copies: 0,
                checks: 0,
                wrong_checksums: 0,
                wrong_copies: 0,
                first_wrong: None,
                samples: 0,
                figures: BTreeMap::new(),
                throttled: BTreeMap::new(),
                counters: BTreeMap::new(),
            },
            values: BTreeMap::new(),
        };
        Self(gpus.iter().map(of).collect())
    }

    fn gpu(&mut self, gpu: u32) -> Option<&mut OfGpu> {
        self.0.iter_mut().find(|of| of.told.gpu == gpu)
    }

    pub(super) fn work(&mut self, gpus: &[LoadedGpu]) {
        for did in gpus {
            let Some(of) = self.gpu(did.gpu) else { continue };
            let copies = [did.from_host, did.to_host, did.to_peer].map(|took| u64::from(took.times));
            of.told.launches += u64::from(did.launch.times);
            of.told.copies += copies.iter().sum::<u64>();
            of.told.checks += u64::from(did.checks);
        }
    }

    pub(super) fn wrong(&mut self, wrong: &[WrongLoad]) {
        for wrong in wrong {
            let Some(of) = self.gpu(wrong.gpu) else { continue };
            if wrong.is_checksum {
                of.told.wrong_checksums += 1;
            } else {
                of.told.wrong_copies += 1;
            }
            of.told.first_wrong.get_or_insert_with(|| wrong.message.clone());
        }
    }

    /// Notes how fast the work of a step was. `bytes` of copies between GPUs, and with host memory.
    pub(super) fn rates(&mut self, gpus: &[LoadedGpu], [bytes, host_bytes]: [u64; 2]) {
        for did in gpus {
            let rates = [
                (Load::FMA_RATE, did.launch, did.operations / TERA),
                (Load::FROM_HOST, did.from_host, as_float(host_bytes) / GIGA),
                (Load::TO_HOST, did.to_host, as_float(host_bytes) / GIGA),
                (Load::TO_PEER, did.to_peer, as_float(bytes) / GIGA),
            ];
            let Some(of) = self.gpu(did.gpu) else { continue };
            for (name, Took { times, seconds }, each) in rates {
                if times > 0 && seconds > 0.0 {
                    of.values.entry(name).or_default().push(each / seconds);
                }
            }
        }
    }

    /// Takes in what NVML told; a GPU of which it told nothing has no sample.
    pub(super) fn sample(&mut self, conditions: &[Conditions]) {
        for read in conditions {
            let Some(of) = self.gpu(read.gpu) else { continue };
            let value = |name: &str| read.facts.get(name).and_then(|fact| fact.value.as_ref());
            for name in READ {
                if let Some(number) = value(name).and_then(serde_json::Value::as_f64) {
                    of.values.entry(name).or_default().push(number);
                }
            }
            let reasons = value(fact_name::THROTTLE_REASONS).and_then(serde_json::Value::as_array);
            let Some(reasons) = reasons else { continue };
            of.told.samples += 1;
            for reason in reasons.iter().filter_map(serde_json::Value::as_str) {
                *of.told.throttled.entry(reason.to_owned()).or_default() += 1;
            }
        }
    }

    pub(super) fn count(&mut self, gpu: u32, counters: BTreeMap<String, Fact>) {
        if let Some(of) = self.gpu(gpu) {
            of.told.counters = counters;
        }
    }

    pub(super) fn into_gpus(self) -> Vec<LoadOfGpu> {
        let told = |of: OfGpu| {
            let figures = of.values.iter();
            let figures =
                figures.filter_map(|(name, values)| Some(((*name).to_owned(), Spread::of(values)?)));
            LoadOfGpu {
                figures: figures.collect(),
                ..of.told
            }
        };
        self.0.into_iter().map(told).collect()
    }
}

#[allow(clippy::cast_precision_loss, reason = "2^53 bytes are more than any copy has")]
fn as_float(bytes: u64) -> f64 {
    bytes as f64
}
