//! Words by which a text says on what machine it was written and what its devices are. They are looked for together with the
//! signatures, so that lines without them cost nothing; the scanner reads what stands beside them.

pub(crate) struct Words {
    /// In ASCII lower case.
    pub(crate) text: &'static str,
    pub(crate) component: &'static str,
    /// A model's name begins within the words, at this byte; a version stands behind them.
    pub(crate) model_at: Option<usize>,
    /// Less means that the value is nearer to what runs: what a framework was built with, before what the driver could run.
    pub(crate) rank: u8,
}

const fn version(text: &'static str, component: &'static str, rank: u8) -> Words {
    Words {
        text,
        component,
        model_at: None,
        rank,
    }
}

const fn model(text: &'static str, model_at: usize) -> Words {
    Words {
        text,
        component: "gpu_model",
        model_at: Some(model_at),
        rank: 0,
    }
}

/// As nvidia-smi, the kernel driver, NCCL's banner, `torch.utils.collect_env`, nvcc, deviceQuery and frameworks write.
pub(crate) static WORDS: [Words; 22] = [
    version("driver version:", "driver", 0),
    version("kernel module for x86_64", "driver", 0),
    version("kernel module for aarch64", "driver", 0),
    version("x86_64 kernel module", "driver", 0),
    version("aarch64 kernel module", "driver", 0),
    version("cuda used to build pytorch:", "cuda", 0),
    version("cuda runtime version:", "cuda", 1),
    version("cuda compilation tools, release", "cuda", 1),
    version("cuda version:", "cuda", 2),
    version("nccl version", "nccl", 0),
    version("nvidia-nccl-cu12==", "nccl", 1),
    version("pytorch version:", "pytorch", 0),
    version("torch==", "pytorch", 1),
    version("tensorflow version:", "tensorflow", 0),
    version("vllm api server version", "vllm", 0),
    version("vllm version:", "vllm", 0),
    version("cudnn version:", "cudnn", 0),
    model("gpu 0: nvidia", 7),
    model("gpu 0: tesla", 7),
    model("|   0  nvidia ", 7),
    model("device 0: \"nvidia", 11),
    model("device: 0, name: nvidia", 17),
];

/// Words of lines that say what a device is, in ASCII lower case. Lines without them cost nothing.
pub(crate) static NAMING: [&str; 11] = [
    "nvrm: ",
    " 0000:",
    " controller: ",
    " bridge: ",
    " device: ",
    " peripheral: ",
    " accelerators: ",
    "| 00000000:",
    "gpu 00000000:",
    "bus id ",
    "pci function ",
];

/// Heads of the reports that programs print of errors that they raise, and what is said around them, in ASCII lower case.
pub(crate) static RAISED: [&str; 9] = [
    "traceback (most recent call last)",
    "above exception was the direct cause",
    "handling of the above exception",
    "--- logging error ---",
    "exception ignored in",
    "exception was never retrieved",
    "what():  ",
    "' panicked at ",
    "panic: ",
];

#[cfg(test)]
mod tests {
    use crate::matcher::{Found, Glance};
    use crate::scanner::testing::{matcher_of, pattern, record};

    #[test]
    fn names_of_devices_are_looked_for_where_a_pattern_asks_for_a_device() {
        let line = b"nvidia 0000:3b:00.0: enabling device";
        let stated = |of_gpu: &[&str]| {
            let mut record = record("cuda/a", "the zorgblat axle broke");
            record.patterns = vec![pattern("0", "zorgblat wheel")];
            record.of_gpu = of_gpu.iter().map(|id| (*id).to_owned()).collect();
            let matcher = matcher_of(vec![record]);
            let mut found = Vec::new();
            let mut glance = Glance::default();
            matcher
                .filter()
                .search(line, 0..line.len(), &mut glance, |woken| found.push(woken));
            found.iter().any(|found| matches!(found, Found::Stated(_)))
        };
        assert!(!stated(&[]));
        assert!(stated(&["0"]));
    }
}
