//! Which world a line speaks of. A number or a generic message proves nothing by itself: `error 217` and `out of
//! memory` mean a GPU only on a line that says so.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use memchr::memmem::Finder;

use super::rarity::is_word_byte;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Markers(u8);

const CUDA: Markers = Markers(1);
const NCCL: Markers = Markers(1 << 1);
const KERNEL_DRIVER: Markers = Markers(1 << 2);
const NVML: Markers = Markers(1 << 3);
const FABRIC: Markers = Markers(1 << 4);
const INFINIBAND: Markers = Markers(1 << 5);
const FRAMEWORK: Markers = Markers(1 << 6);
const GPU: Markers = Markers(1 << 7);

/// The driver's word for its errors; in lower case it is the transaction of DHCP, of remote calls and of databases too.
pub(super) const XID: &str = "xid";
/// Several of them.
const XIDS: &str = "xids";

/// Suffixes of files of device code; without a point before them they are names of hosts and of terminals (`cu01`, `/dev/cu.usb`).
const DEVICE_CODE: [&str; 2] = ["cu", "cuh"];

/// Words that begin at a word's start; with `true` they must end there too, or at a number (`GPU0`).
const WORDS: &[(&str, bool, Markers)] = &[
    ("cuda", false, CUDA),
    // As the linker is told of its libraries: -lcuda, -lcudart.
    ("lcuda", false, CUDA),
    // NVIDIA's samples: checkCudaErrors() Driver API error = 0709.
    ("checkcudaerrors", true, CUDA),
    ("cudnn", false, CUDA),
    ("cublas", false, CUDA),
    ("cufft", false, CUDA),
    ("cusolver", false, CUDA),
    ("cusparse", false, CUDA),
    ("curand", false, CUDA),
    ("nvrtc", false, CUDA),
    ("cupti", false, CUDA),
    // Files of device code: see [`DEVICE_CODE`].
    ("cu", true, CUDA),
    ("cuh", true, CUDA),
    // Calls of the driver API, and programs that wrap them.
    ("cuctx", false, CUDA),
    ("cudevice", false, CUDA),
    ("cuevent", false, CUDA),
    ("cuinit", false, CUDA),
    ("culaunch", false, CUDA),
    ("culink", false, CUDA),
    ("cumem", false, CUDA),
    ("cumodule", false, CUDA),
    ("custream", false, CUDA),
    ("pycuda", false, CUDA),
    ("gpuassert", true, CUDA),
    // As p2pBandwidthLatencyTest of the CUDA samples says it of each pair.
    ("access peer device=", false, CUDA),
    // As DeepSpeed's kernels say that a product of cuBLAS failed, and the status as a number behind it.
    ("kernel execution error. (", false, CUDA),
    ("nccl", false, NCCL),
    // Places in its source: releases before 2.4 print them without its name.
    ("include/socket.h", true, NCCL),
    ("misc/ibvwrap.", false, NCCL),
    ("transport/net_ib.", false, NCCL),
    ("transport/net_socket.", false, NCCL),
    ("transport/p2p.", false, NCCL),
    ("transport/shm.", false, NCCL),
    ("nvrm", true, KERNEL_DRIVER),
    // Only as the driver or a person who means it writes it: see [`names_driver`].
    (XID, true, KERNEL_DRIVER),
    (XIDS, true, KERNEL_DRIVER),
    // A key of exporters and of health checks.
    ("xid_errors", true, KERNEL_DRIVER),
    ("sxid", true, FABRIC),
    ("nvidia", false, KERNEL_DRIVER),
    ("nvml", false, NVML),
    ("nvidia-smi", true, NVML),
    ("nvlink", false, FABRIC),
    // As nvidia-smi writes the NVLink fabric in XML.
    ("<fabric>", false, FABRIC),
    ("nvswitch", false, FABRIC),
    ("fabricmanager", false, FABRIC),
    ("fabric manager", false, FABRIC),
    ("infiniband", false, INFINIBAND),
    ("mlx5", false, INFINIBAND),
    ("ibv_", false, INFINIBAND),
    ("libibverbs", false, INFINIBAND),
    ("libfabric", false, INFINIBAND),
    ("librdmacm", false, INFINIBAND),
    ("rdma", true, INFINIBAND),
    ("rdmacm", true, INFINIBAND),
    ("ucx", true, INFINIBAND),
    // Queue pairs are spoken of by nobody else.
    ("create qp", true, INFINIBAND),
    ("nvshmem", false, GPU),
    ("torch", false, FRAMEWORK),
    ("pytorch", false, FRAMEWORK),
    ("tensorflow", false, FRAMEWORK),
    ("xla", true, FRAMEWORK),
    ("jax", true, FRAMEWORK),
    ("gpu", true, GPU),
    ("gpus", true, GPU),
    // DCGM's word for one.
    ("gpuid", true, GPU),
    // Its keys in JSON.
    ("gpu_id", true, GPU),
    ("gpu_ids", true, GPU),
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = WORDS.iter().map(|(word, _, _)| word);
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .prefilter(false)
        .build(words)
        .ok()
});

impl Markers {
    pub(super) const ANY: Self = Self(u8::MAX);
    pub(super) const NONE: Self = Self(0);

    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What stands by a number that `xid` introduces, where that alone names nobody: any word of NVIDIA's, or a GPU.
    pub(super) const BY_XID: Self = Self(!INFINIBAND.0);

    pub(super) fn on(text: &[u8], line: &[u8]) -> Self {
        let mut found = Self::NONE;
        let Some(finder) = &*FINDER else {
            return found;
        };
        for hit in finder.find_overlapping_iter(line) {
            if let Some((word, whole, group)) = WORDS.get(hit.pattern().as_usize())
                && !found.meets(*group)
                && (stands_at(line, hit.start(), word.len(), *whole) || names_library(line, hit.start()))
                && (![XID, XIDS].contains(word) || names_driver(text, line, hit.start()))
                && (!DEVICE_CODE.contains(word)
                    || line
                        .get(..hit.start())
                        .is_some_and(|before| before.ends_with(b".")))
            {
                found = Self(found.0 | group.0);
            }
        }
        found
    }

    /// What a generic message of this domain needs: any marker for a GPU domain, but a framework's marker for a framework, whose
    /// messages are not all about GPUs. `None` for a domain that is not about GPUs: its own name is its marker.
    pub(super) fn for_message(domain: &str) -> Option<Self> {
        let groups = Self::of_domain(domain)?;
        Some(if groups.meets(FRAMEWORK) {
            FRAMEWORK
        } else {
            Self::ANY
        })
    }

    /// What a number of this domain needs: the markers of the library that counts so.
    pub(super) fn of_domain(domain: &str) -> Option<Self> {
        let groups = match domain {
            "cuda" | "cudnn" | "cublas" | "nvrtc" => CUDA,
            "pytorch" | "tensorflow" | "jax" | "gpu" => Self(CUDA.0 | FRAMEWORK.0 | GPU.0),
            "nccl" => NCCL,
            "driver" | "nvidia" | "xid" | "kernel" => KERNEL_DRIVER,
            "nvml" | "dcgm" => NVML,
            "nvlink" | "nvswitch" | "sxid" | "fabric-manager" => Self(FABRIC.0 | KERNEL_DRIVER.0),
            "infiniband" | "rdma" => INFINIBAND,
            // What stands between two GPUs is spoken of by every library that uses it.
            "p2p" | "mig" => Self(CUDA.0 | NCCL.0 | NVML.0 | GPU.0),
            _ => return None,
        };
        Some(groups)
    }
}

/// Whether the word at this place is the name of a shared library: `libcuda.so.1`, `libnccl-net.so`.
fn names_library(line: &[u8], at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    before
        .strip_suffix(b"lib")
        .is_some_and(|before| starts_word(line, before.len()))
}

/// Whether `xid` at this place is the driver's: written with a capital, or with an address as the kernel log has it.
fn names_driver(text: &[u8], line: &[u8], at: usize) -> bool {
    let behind = line.get(at + XID.len()..).unwrap_or_default();
    text.get(at) == Some(&b'X') || behind.starts_with(b" (pci")
}

/// Whether a word stands on a line, beginning at a word's start and, if `whole`, ending at a word's end or a number.
pub(super) fn stands_in(line: &[u8], word: &[u8], whole: bool) -> bool {
    places(line, word).any(|at| stands_at(line, at, word.len(), whole))
}

pub(super) fn stands_by(line: &[u8], word: &Finder<'_>, whole: bool) -> bool {
    word.find_iter(line)
        .any(|at| stands_at(line, at, word.needle().len(), whole))
}

fn stands_at(line: &[u8], at: usize, len: usize, whole: bool) -> bool {
    let ends = || {
        line.get(at + len)
            .is_none_or(|&b| !is_word_byte(b) || b.is_ascii_digit())
    };
    starts_word(line, at) && (!whole || ends())
}

pub(super) fn places<'a>(line: &'a [u8], text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    memchr::memmem::find_iter(line, text)
}

pub(super) fn starts_word(line: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| line.get(before));
    before.is_none_or(|&b| !is_word_byte(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that name a world, and lines that only look as if they did.
    fn check(group: Markers, yes: &[&str], no: &[&str]) {
        let named = |line: &&str| Markers::on(line.as_bytes(), line.as_bytes()).meets(group);
        let missed: Vec<_> = yes.iter().filter(|line| !named(line)).collect();
        let mistaken: Vec<_> = no.iter().filter(|line| named(line)).collect();
        assert!(
            missed.is_empty() && mistaken.is_empty(),
            "missed {missed:?}, mistaken {mistaken:?}"
        );
    }

    #[test]
    fn a_file_of_device_code_and_a_call_of_the_driver_api_name_cuda() {
        check(
            CUDA,
            &[
                "out of memory in /src/blend.cu at line 12",
                "gbar.cuh' in line 153 : out of memory",
                "gpuassert: invalid argument",
                "cuctxsynchronize failed: unspecified launch failure",
                "checkcudaerrors() driver api error = 0709 \"context is destroyed\" from file <a.cpp>, line 3.",
            ],
            &[
                "the current custom path: out of memory",
                "recurring cue: out of memory",
                "cu01 qla2xxx[3]: driver shutting down",
                "/dev/cu.usbmodem: out of memory",
            ],
        );
    }

    #[test]
    fn a_library_below_the_collectives_names_its_world() {
        check(
            INFINIBAND,
            &[
                "libibverbs: warning: couldn't load driver",
                "error: rdma_create_event_channel failed (rdma)",
                "ucx  error no active messages transport",
                "libfabric:4242:core:mr: no memory",
            ],
            &["myucx: error", "the ucxx release", "wardman: no memory"],
        );
    }

    #[test]
    fn a_shared_library_and_a_tools_own_words_name_their_world() {
        for (line, group) in [
            ("cannot load libcuda.so", CUDA),
            ("libcudart.so.12: not found", CUDA),
            ("failed to open libnccl-net.so", NCCL),
            ("libnvidia-ml.so.1: wrong version", KERNEL_DRIVER),
            ("device=0 cannot access peer device=1", CUDA),
            ("!!!! kernel execution error. (m: 8, n: 8, k: 8, error: 13)", CUDA),
            ("unable to create qp.", INFINIBAND),
            ("gpuid 0: d d", GPU),
        ] {
            assert!(
                Markers::on(line.as_bytes(), line.as_bytes()).meets(group),
                "{line}"
            );
        }
        for line in [
            "mylibcuda.so: not found",
            "the libc of cu",
            "calib gpux",
            "recreate qp",
            "mygpuid 3",
        ] {
            let found = Markers::on(line.as_bytes(), line.as_bytes());
            assert_eq!(found, Markers::NONE, "{line}");
        }
    }

    #[test]
    fn a_place_in_the_source_of_nccl_names_it() {
        check(
            NCCL,
            &[
                "node1:18553:18611 [0] include/socket.h:360 warn call to connect failed : connection timed out",
                "n0:5:9 [1] transport/net_ib.cu:80 warn call failed",
            ],
            &[
                "myinclude/socket.h:12 warn call to connect failed",
                "net/socket.cc:12 call to connect failed",
            ],
        );
    }
}
