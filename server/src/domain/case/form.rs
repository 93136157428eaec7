//! The questions that vendors' forms ask when a part is to be exchanged, and the facts that answer them.

use kb_core::report::{Fact, Gpu, Report};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question of the form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// `machine`, `GPU 3` or `case`.
    pub about: String,
    pub question: String,
    /// `None`: not known.
    pub answer: Option<String>,
    /// Where it is not known: why, and what tells it.
    pub how: Option<String>,
}

/// A question, names of facts that answer it (the first that is there), and what tells it on the machine.
struct Question {
    text: &'static str,
    facts: &'static [&'static str],
    how: &'static str,
}

const OF_MACHINE: [Question; 8] = [
    Question {
        text: "Maker and model",
        facts: &["dmi.product_name", "dmi.product", "host.product"],
        how: "dmidecode -t system",
    },
    Question {
        text: "Serial number of the machine",
        facts: &["dmi.product_serial", "dmi.serial", "host.serial"],
        how: "dmidecode -s system-serial-number",
    },
    Question {
        text: "BIOS version",
        facts: &["dmi.bios_version", "bios.version"],
        how: "dmidecode -s bios-version",
    },
    Question {
        text: "Operating system",
        facts: &["os.name"],
        how: "cat /etc/os-release",
    },
    Question {
        text: "Kernel",
        facts: &["kernel.release"],
        how: "uname -r",
    },
    Question {
        text: "Driver version",
        facts: &["driver.version", "nvml.driver_version"],
        how: "nvidia-smi",
    },
    Question {
        text: "Kind of driver",
        facts: &["driver.flavour"],
        how: "cat /proc/driver/nvidia/version",
    },
    Question {
        text: "Fabric Manager",
        facts: &["fabric_manager.version", "fabric_manager.service"],
        how: "nv-fabricmanager --version",
    },
];

const OF_GPU: [Question; 12] = [
    Question {
        text: "Serial number",
        facts: &["serial", "board.serial", "gpu.serial"],
        how: "nvidia-smi -q: Serial Number",
    },
    Question {
        text: "Part number",
        facts: &["board.part_number", "part_number"],
        how: "nvidia-smi -q: GPU Part Number",
    },
    Question {
        text: "Slot",
        facts: &["pci.slot", "slot", "pcie.slot"],
        how: "lspci -vv: Physical Slot, or dmidecode -t slot",
    },
    Question {
        text: "VBIOS",
        facts: &["vbios.version", "vbios"],
        how: "nvidia-smi -q: VBIOS Version",
    },
    Question {
        text: "InfoROM image",
        facts: &["inforom.image_version", "inforom.version"],
        how: "nvidia-smi -q: Inforom Version, Image Version",
    },
    Question {
        text: "GSP firmware",
        facts: &["gsp.version"],
        how: "nvidia-smi -q: GSP Firmware Version",
    },
    Question {
        text: "Uncorrectable memory errors, whole life",
        facts: &["ecc.aggregate_uncorrected"],
        how: "nvidia-smi -q -d ECC: Aggregate",
    },
    Question {
        text: "Rows remapped after uncorrectable errors",
        facts: &["remapped_rows.uncorrected"],
        how: "nvidia-smi -q -d ROW_REMAPPER",
    },
    Question {
        text: "Row remapping failed",
        facts: &["remapped_rows.failure"],
        how: "nvidia-smi -q -d ROW_REMAPPER",
    },
    Question {
        text: "NVLinks up",
        facts: &["nvlink.links_active"],
        how: "nvidia-smi nvlink -s",
    },
    Question {
        text: "PCIe lanes",
        facts: &["pcie.link_width"],
        how: "nvidia-smi -q: Link Width",
    },
    Question {
        text: "Temperature, °C",
        facts: &["temperature.gpu_c"],
        how: "nvidia-smi -q -d TEMPERATURE",
    },
];

/// What no report has: a person must add it.
const OF_CASE: [(&str, &str); 3] = [
    (
        "nvidia-bug-report.log.gz",
        "the server keeps none: run nvidia-bug-report.sh as root, before the next boot",
    ),
    (
        "Result of the vendor's diagnostic",
        "no report has it: run dcgmi diag -r 4, or the vendor's field diagnostic, with the node drained",
    ),
    (
        "Workload at the time of the failure",
        "no report tells of it: ask the scheduler for the jobs of that time",
    ),
];

/// All questions with what a report answers. `xids` says what the timeline holds, which was read from `read` of all reports.
pub(super) fn answers(report: &Report, xids: Option<String>, (read, all): (usize, u32)) -> Vec<Answer> {
    let machine = OF_MACHINE
        .iter()
        .map(|question| answer("machine", question, |name| report.host.get(name)));
    let gpus = report
        .gpus
        .iter()
        .enumerate()
        .flat_map(|(index, gpu)| of_gpu(&format!("GPU {index}"), gpu));
    let case = OF_CASE.iter().map(|(question, how)| Answer {
        about: "case".to_owned(),
        question: (*question).to_owned(),
        answer: None,
        how: Some((*how).to_owned()),
    });
    let xids = Answer {
        about: "case".to_owned(),
        question: "Xids".to_owned(),
        how: xids.is_none().then(|| {
            format!("{read} of the node's {all} reports were read, and none of these tells of one; look at the kernel log: dmesg | grep Xid")
        }),
        answer: xids,
    };
    machine.chain(gpus).chain([xids]).chain(case).collect()
}

fn of_gpu(about: &str, gpu: &Gpu) -> Vec<Answer> {
    let own = [
        ("Model", &gpu.name),
        ("UUID", &gpu.uuid),
        ("PCI address", &gpu.pci_address),
    ];
    let own = own.into_iter().map(|(question, fact)| Answer {
        about: about.to_owned(),
        question: question.to_owned(),
        answer: fact.value.clone(),
        how: why_not(fact, "nvidia-smi -q"),
    });
    let read = OF_GPU
        .iter()
        .map(|question| answer(about, question, |name| gpu.facts.get(name)));
    own.chain(read).collect()
}

fn answer<'r>(about: &str, question: &Question, fact: impl Fn(&str) -> Option<&'r Fact>) -> Answer {
    let mut facts = question.facts.iter().filter_map(|name| fact(name)).peekable();
    let first = facts.peek().copied();
    let known = facts.find_map(|fact| fact.value.as_ref());
    Answer {
        about: about.to_owned(),
        question: question.text.to_owned(),
        answer: known.map(plain),
        how: match (known, first) {
            (Some(_), _) => None,
            (None, Some(fact)) => why_not(fact, question.how),
            (None, None) => Some(format!("no report has it: {}", question.how)),
        },
    }
}

fn why_not<T>(fact: &Fact<T>, how: &str) -> Option<String> {
    if fact.value.is_some() {
        return None;
    }
    let reason = fact.gap.as_ref().map_or("not read", |gap| gap.reason.as_str());
    Some(format!("{reason}: {how}"))
}

/// A JSON value in one line; texts without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
