//! Words by which a text says on what machine it was written and what its devices are. They are looked for together with the
//! signatures, so that lines without them cost nothing; the scanner reads what stands beside them.

/// Words that stand before a value.
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
    "nvidia 0000:",
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
