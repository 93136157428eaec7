//! The named sets of contexts. They are part of the program and not of the records: what a match costs, and whether it is
//! exact, rests on them, so they are tested with the engine (decision 0013).

/// A named set of ways to print a phrase.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) name: &'static str,
    pub(crate) ways: &'static [&'static [Way]],
}

/// One way: regexes (Rust syntax) that end where the phrase begins, and that begin where it ends.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) said: Said,
    /// Of both regexes, and of the phrase: `i` or nothing.
    pub(crate) flags: &'static str,
    /// Any of these, at most [`MOST_BEFORE`] bytes of it. A group called `number` must hold one of the phrase's numbers.
    pub(crate) before: &'static [&'static str],
    /// This, at most [`MOST_AFTER`] bytes of it.
    pub(crate) after: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Text,
    /// Its numbers: `700`.
    Decimal,
    /// `2bc`.
    Hex,
    /// `000002bc`.
    HexOfEight,
}

/// How far before a phrase is looked, in bytes. The longest ways have the arguments of a call, or a path, in them.
pub(crate) const MOST_BEFORE: usize = 1024;

/// How far behind it, in bytes.
pub(crate) const MOST_AFTER: usize = 512;

/// The group of a number that must be the phrase's.
pub(super) const NUMBER: &str = "number";

pub(crate) fn context(name: &str) -> Option<(usize, &'static Context)> {
    CONTEXTS
        .iter()
        .enumerate()
        .find(|(_, context)| context.name == name)
}

impl Context {
    pub(crate) fn ways(&self) -> impl Iterator<Item = &'static Way> + use<> {
        self.ways.iter().copied().flatten()
    }

    pub(super) fn prints_text(&self) -> bool {
        self.ways().any(|way| way.said == Said::Text)
    }

    pub(super) fn prints_numbers(&self) -> bool {
        self.ways().any(|way| way.said != Said::Text || way.has_number())
    }
}

impl Way {
    pub(super) fn has_number(&self) -> bool {
        let group = format!("(?P<{NUMBER}>");
        self.before.iter().any(|before| before.contains(&group))
    }
}

/// All sets. A name that a record uses is kept for good: records of others may use it too.
pub(crate) static CONTEXTS: &[Context] = &[
    Context {
        name: "cuda-error",
        ways: &[CUDA_ERROR],
    },
    Context {
        name: "cuda-error-loose",
        ways: &[CUDA_ERROR, CUDA_ERROR_LOOSE],
    },
    Context {
        name: "alone",
        ways: &[ALONE],
    },
    Context {
        name: "cuda-number",
        ways: &[CUDA_NUMBER],
    },
    Context {
        name: "cuda-check",
        ways: &[CUDA_CHECK],
    },
    Context {
        name: "cuda-result",
        ways: &[CUDA_RESULT],
    },
    Context {
        name: "cycles",
        ways: &[CYCLES],
    },
    Context {
        name: "managed-cuda",
        ways: &[MANAGED_CUDA],
    },
    Context {
        name: "nvml-error",
        ways: &[NVML_ERROR],
    },
];

/// What `cudaGetErrorString` or `cuGetErrorString` says, as programs print it.
const CUDA_ERROR: &[Way] = &[
    Way {
        said: Said::Text,
        flags: "i",
        before: &[
            r"\bCUDA (?:runtime |driver |kernel |memcpy )?(?:error|failure|failed|exception)\b[ -~]{0,99}?(?:[:,(] ?|['!] ?)",
            r"\bcudaSuccess(?: \(\d+ vs\. 0\)|(?: \|\| e == cudaErrorCudartUnloading)?: CUDA:) *",
            concat!(
                r"(?-i:\bcu(?:da)?[A-Z])[a-z0-9_]*(?:\([^()\n]*\))?(?: [a-z0-9_]+)? ?(?:failed|returned)",
                r#"(?: an)?(?: error)?(?: with(?: error)?)?(?: code)?(?: \(?\d+\)?)?[:!,=]? ?[('\"]?"#,
            ),
            r"\bCuda (?:Runtime|Driver) \(",
            r"\[CUDA\] ",
            r"\bUnable to create CUDA context: ",
            r"\bcuda(?:SafeCall|CheckError)\(\) failed (?:at [!-~]+ )?: ",
            r"\bGPUassert: ",
            r"\bGpu API call\)? ?\(?",
            r"\bcode: ?\d+, reason: ",
            r#"\.cuh?['\"]? in line \d+ ?: "#,
        ],
        after: r#"(?:$|["'.,;:!)\]\\]| \(| (?:in|at|on line|kernel)\b| [!-~]{1,99}\.cuh?\b)"#,
    },
    Way {
        said: Said::Text,
        flags: "i",
        before: &[r"\b"],
        after: r"\.? (?:in |at )?(?:file )?[!-9;-~]{1,99}\.cuh?\b",
    },
    Way {
        said: Said::Text,
        flags: "",
        before: &[
            r"\bwhat\(\): +[a-z_ ]+:? failed to synchronize: ",
            r"\bparallel_for failed: ",
            r"\bTHCudaCheck FAIL file=[!-~]+ line=\d+ error=\d+ : ",
            concat!(
                r"\berror in (?:modulated_deformable_im2col_cuda|deformable_im2col|correlation_forward_cuda_kernel|",
                r"correlation_backward_cuda_kernel): ",
            ),
            r"\baddKernel launch failed: ",
            r"\bFailed to launch vectorAdd kernel \(error code ",
            r"\bFailed to allocate device vector [ABC] \(error code ",
        ],
        after: r"(?:$|[^ 0-9A-Za-z_]| at )",
    },
    Way {
        said: Said::Text,
        flags: "",
        before: &[r"Gpu API call \("],
        after: r" ?\)",
    },
    Way {
        said: Said::Text,
        flags: "",
        before: &[r"\(-217(?::Gpu API call)?\) "],
        after: " +in function",
    },
    Way {
        said: Said::Text,
        flags: "",
        before: &[r"line \d{1,6}: "],
        after: " !!!",
    },
    Way {
        said: Said::Text,
        flags: "",
        before: &[r"\bcu[A-Z][A-Za-z0-9]{2,40} failed: "],
        after: " -",
    },
];

/// The same further from CUDA's name, a call or the error's number: not for words that file systems or libraries say too.
const CUDA_ERROR_LOOSE: &[Way] = &[
    Way {
        said: Said::Text,
        flags: "i",
        before: &[
            r#"\bCuda[0-9A-Z_a-z]{0,16}(?:Exception|Error)[0-9A-Z_a-z]{0,10}[:,(] {0,2}['\"(]?"#,
            concat!(
                r"(?-i:\bcu(?:da|blas|rand|fft|sparse|solver|pti|vid|dnn)?[A-Z][A-Za-z0-9_]{2,60})[ -~]{0,120}?",
                r#"(?:[:;,=>'\"(\[!|-] {0,3}|\b(?:error|errors|code|status|with|returned|failed|reason) {1,2})['\"(]?"#,
            ),
            concat!(
                r"\bCUDA\b[ -~]{0,60}?",
                r"\b(?:errors?|err|fail(?:s|ed|ure)?|exception|fault|abort(?:ed)?|reason|status|caught)\b",
                r#"[ -~]{0,100}?(?:[:;,=>'\"(\[!|-] {0,3}|\bdue to )['\"(]?"#,
            ),
        ],
        after: AFTER_LOOSE,
    },
    Way {
        said: Said::Text,
        flags: "i",
        before: &[concat!(
            r"(?:err(?:or)?|code|status|returned|fail(?:ed|ure)?)\b[^A-Za-z0-9\n]{0,4}",
            r"(?P<number>\d{1,4})[^A-Za-z0-9\n]{1,4}",
        )],
        after: AFTER_LOOSE,
    },
];

const AFTER_LOOSE: &str = concat!(
    r"(?:$|[^A-Za-z0-9_ ]| [(\[|<;!-]|",
    r" (?:in|at|on|kernel|when|while|calling|during|file|line|for|from|result|code)\b|",
    r" [!-~]{1,99}\.(?:cuh?|cpp|hpp|cc)\b)",
);

/// Words that nothing else says: whatever stands before them.
const ALONE: &[Way] = &[Way {
    said: Said::Text,
    flags: "i",
    before: &[r"\b"],
    after: AFTER_LOOSE,
}];

/// The number of a `cudaError_t` or `CUresult` as bindings, libraries and the debugger print it without its name.
const CUDA_NUMBER: &[Way] = &[
    Way {
        said: Said::Decimal,
        flags: "",
        before: &[r"\bCuError\(code="],
        after: r"\)",
    },
    Way {
        said: Said::Decimal,
        flags: "",
        before: &[r"\bCuda Error in [A-Za-z:~]{2,60}: "],
        after: r"\b",
    },
    Way {
        said: Said::Decimal,
        flags: "",
        before: &[r"\bFailed to encode tensor map: "],
        after: r"\b",
    },
    Way {
        said: Said::Hex,
        flags: "",
        before: &[r"\bCuda API error detected: cu[A-Za-z0-9_]{2,60} returned \(0x"],
        after: r"\)",
    },
];

/// The number of a `cudaError_t` in a failed check: `error == cudaSuccess (77 vs. 0)`.
const CUDA_CHECK: &[Way] = &[Way {
    said: Said::Decimal,
    flags: "",
    before: &[r"\bcudaSuccess \("],
    after: r" vs\. 0\)",
}];

/// The number of a `CUresult` as CUDA.jl prints it.
const CUDA_RESULT: &[Way] = &[Way {
    said: Said::HexOfEight,
    flags: "",
    before: &[r"cudaError_enum\(0x"],
    after: r"\)",
}];

/// What Cycles, the renderer of Blender, calls a `CUresult`.
const CYCLES: &[Way] = &[
    Way {
        said: Said::Text,
        flags: "",
        before: &[r"\b"],
        after: r" in (?:cu[A-Z][A-Za-z0-9]{2,40}\(|CUDA queue )",
    },
    Way {
        said: Said::Text,
        flags: "",
        before: &[r"CUDA error at cu[A-Z][A-Za-z0-9]{2,40}: "],
        after: r"\b",
    },
    Way {
        said: Said::Text,
        flags: "",
        before: &[r"(?:create|configure) CUDA context \("],
        after: r"\)",
    },
];

/// The name that the exceptions of `ManagedCuda` give a `CUresult`, without its `Error`.
const MANAGED_CUDA: &[Way] = &[Way {
    said: Said::Text,
    flags: "i",
    before: &[r"(?:\bCudaException: |\bMessage=|^)(?-i:Error)"],
    after: r"(?-i:: (?:This|The|An?|While)\b)",
}];

/// What the bindings of NVML for Python and Go call an `nvmlReturn_t`.
const NVML_ERROR: &[Way] = &[Way {
    said: Said::Text,
    flags: "",
    before: &[
        r"\bNVMLError(?:_[A-Za-z]{3,30})?: ",
        r"\b[Ff]ailed to (?:initialize|properly shut down) NVML ?(?::|due to) ",
        r"\bnvml(?:: | error: )",
    ],
    after: r#"(?:$|[\s.,;)\"'])"#,
}];
