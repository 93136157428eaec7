//! Variables that change what the driver, NCCL and UCX do. No other variable is recorded, and no value that looks like a secret.

use std::collections::BTreeMap;
use std::ffi::OsString;

use kb_core::report::{Fact, fact_name};
use serde_json::{Map, Value};

use super::HostRoot;

const RECORDED: [&str; 6] = [
    "COMPUTE_PROFILE",
    "CUDA_",
    "NCCL_",
    "NVIDIA_",
    "NVTX_INJECTION",
    "UCX_",
];
/// Whole words in the names of secrets, such as `NVIDIA_API_KEY`: `UCX_IB_PKEY` is a setting.
const SECRET_WORDS: [&str; 14] = [
    "KEY",
    "KEYS",
    "APIKEY",
    "PASS",
    "PASSCODE",
    "PASSPHRASE",
    "PSK",
    "PW",
    "PWD",
    "JWT",
    "CRED",
    "CREDS",
    "AUTH",
    "BEARER",
];
/// The same, also as part of a word: `ACCESSTOKEN`.
const SECRET_PARTS: [&str; 6] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "COOKIE"];
/// What tokens of well-known services begin with, and what stands in front of one.
const SECRET_STARTS: [&str; 8] = [
    "nvapi-",
    "ghp_",
    "github_pat_",
    "glpat-",
    "hf_",
    "sk-",
    "eyJ",
    "Bearer ",
];
/// A run of this many letters and digits, mixed, is nobody's setting.
const SECRET_LETTERS: usize = 32;
const LONGEST: usize = 1_000;
const WITHHELD: &str = "(withheld)";

const SYSTEM_FILE: &str = "etc/nccl.conf";
const USER_FILE: &str = "~/.nccl.conf";

pub(super) fn facts(
    root: &HostRoot,
    home: Option<&str>,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> BTreeMap<String, Fact> {
    let mut facts = BTreeMap::new();
    for (name, value) in variables {
        let name = name.to_string_lossy();
        if is_recorded(&name) {
            let value = shown(&name, &value.to_string_lossy());
            let fact = Fact::read(value.into(), "environment of the agent");
            facts.insert(format!("environment.{}", name.to_ascii_lowercase()), fact);
        }
    }
    facts.insert(
        fact_name::NCCL_CONF_SYSTEM.to_owned(),
        settings(root, SYSTEM_FILE),
    );
    if let Some(home) = home {
        let path = format!("{}/.nccl.conf", home.trim_matches('/'));
        let mut settings = settings(root, &path);
        // The folder's name is the user's, which is nobody's business.
        USER_FILE.clone_into(&mut settings.source);
        facts.insert(fact_name::NCCL_CONF_USER.to_owned(), settings);
    }
    facts
}

/// `NAME=value` lines; `#` begins a comment. Names without `NCCL_` in front are NCCL's too.
fn settings(root: &HostRoot, path: &str) -> Fact {
    root.text(path).map(|content| {
        let lines = content.lines().filter(|line| !line.trim_start().starts_with('#'));
        let pairs = lines.filter_map(|line| line.split_once('='));
        let settings = pairs.map(|(name, value)| {
            let (name, value) = (name.trim(), value.trim());
            (name.to_owned(), Value::from(shown(name, value)))
        });
        Value::Object(settings.collect::<Map<_, _>>())
    })
}

fn is_recorded(name: &str) -> bool {
    RECORDED.iter().any(|start| name.starts_with(start))
}

fn shown(name: &str, value: &str) -> String {
    if looks_secret(name, value) {
        return WITHHELD.to_owned();
    }
    value.chars().take(LONGEST).collect()
}

fn looks_secret(name: &str, value: &str) -> bool {
    if names_secret(name) {
        return true;
    }
    // Options of a plugin: `a=1,passwd:x`.
    let mut options = value.split(|letter: char| letter.is_whitespace() || ",;&".contains(letter));
    if options.any(|option| {
        option
            .split_once(['=', ':'])
            .is_some_and(|(name, _)| names_secret(name))
    }) {
        return true;
    }
    // A name and a password in an address, a key in PEM.
    if value.contains("-----BEGIN") || (value.contains("://") && value.contains('@')) {
        return true;
    }
    let separators = |letter: char| letter.is_whitespace() || ",;:=\"'".contains(letter);
    let mut words = value.split(separators);
    SECRET_STARTS.iter().any(|start| value.contains(start))
        || words.any(|word| is_random(word) || is_access_key(word))
}

fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.any(|word| SECRET_WORDS.contains(&word)) || SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Amazon's: four letters, and sixteen capitals and digits.
fn is_access_key(word: &str) -> bool {
    let rest = ["AKIA", "ASIA"].iter().find_map(|start| word.strip_prefix(start));
    rest.is_some_and(|rest| {
        rest.len() == 16
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    })
}

/// Long, and letters mixed with digits. Slashes, dots and dashes, as in paths and names of GPUs, end a run of letters.
fn is_random(word: &str) -> bool {
    let mut runs = word.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '+'));
    runs.any(|run| {
        let has = |kind: fn(&u8) -> bool| run.as_bytes().iter().any(kind);
        run.len() >= SECRET_LETTERS && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::tests::tree::tree;
    use crate::process::VISIBLE_GPUS;

    fn read(variables: &[(&str, &str)]) -> BTreeMap<String, Fact> {
        let root = tree(&[]);
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        facts(&HostRoot::new(root.path()), None, variables)
    }

    #[test]
    fn settings_are_recorded_and_nothing_else() {
        let facts = read(&[
            ("NCCL_P2P_DISABLE", "1"),
            (
                VISIBLE_GPUS,
                "GPU-8f9c2b1a-1234-5678-9abc-def012345678,MIG-8f9c2b1a-1234-5678-9abc-def012345678",
            ),
            ("NVIDIA_VISIBLE_DEVICES", "all"),
            ("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1"),
            ("UCX_IB_PKEY", "0xffff"),
            (
                "CUDA_INJECTION64_PATH",
                "/opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/libToolsInjection64.so",
            ),
            ("PATH", "/usr/bin"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("MY_NCCL_DEBUG", "INFO"),
        ]);
        let recorded: Vec<&str> = facts
            .keys()
            .filter_map(|name| name.strip_prefix("environment."))
            .collect();
        assert_eq!(
            recorded,
            [
                "cuda_injection64_path",
                "cuda_visible_devices",
                "nccl_p2p_disable",
                "nvidia_visible_devices",
                "ucx_ib_pkey",
                "ucx_net_devices"
            ]
        );
        for (name, fact) in facts.iter().filter(|(name, _)| name.starts_with("environment.")) {
            assert_ne!(fact.value, Some(WITHHELD.into()), "{name}");
        }
    }

    #[test]
    fn secrets_are_withheld() {
        for (name, value) in [
            ("NVIDIA_API_KEY", "short"),
            ("NVIDIA_NGC_TOKEN", "x"),
            ("NVIDIA_ACCESSTOKEN", "x"),
            ("NVIDIA_REGISTRY_PASS", "x"),
            ("NCCL_NET_PW", "x"),
            ("NCCL_NET_PSK", "x"),
            ("UCX_LOGIN_PASSCODE", "x"),
            ("NVIDIA_JWT", "x"),
            ("NCCL_NET_AUTH", "x"),
            ("UCX_CREDENTIALS_FILE", "x"),
            ("NVIDIA_EXTRA", "nvapi-abc"),
            ("NCCL_PLUGIN_ARGS", "url=https://alice:hunter2@host/"),
            ("UCX_EXTRA", "id 0123456789abcdefABCDEF0123456789abcd end"),
            ("NCCL_NET", "AKIAABCDEFGHIJKLMNOP"),
            ("NCCL_PLUGIN_OPTS", "a=1,passwd:x"),
            ("CUDA_EXTRA", "-----BEGIN RSA PRIVATE KEY-----"),
        ] {
            let facts = read(&[(name, value)]);
            let fact = &facts[&format!("environment.{}", name.to_ascii_lowercase())];
            assert_eq!(fact.value, Some(WITHHELD.into()), "{name}");
        }
    }

    #[test]
    fn nccls_files_are_read() {
        let root = tree(&[
            (
                SYSTEM_FILE,
                "# site\nNCCL_IB_HCA = mlx5_0\nNCCL_DEBUG=INFO\nnonsense\n",
            ),
            ("home/alice/.nccl.conf", "NCCL_P2P_LEVEL=SYS\n"),
        ]);
        let facts = facts(
            &HostRoot::new(root.path()),
            Some("/home/alice"),
            std::iter::empty(),
        );
        let system = facts["nccl.conf.system"].value.as_ref().unwrap();
        assert_eq!(
            system,
            &serde_json::json!({"NCCL_IB_HCA": "mlx5_0", "NCCL_DEBUG": "INFO"})
        );
        assert_eq!(
            facts["nccl.conf.user"].value.as_ref().unwrap()["NCCL_P2P_LEVEL"],
            "SYS"
        );
        assert_eq!(facts["nccl.conf.user"].source, "~/.nccl.conf");
        assert!(!format!("{facts:?}").contains("alice"), "{facts:?}");
        assert!(read(&[])["nccl.conf.system"].gap.is_some());
    }

    proptest! {
        #[test]
        fn any_value_is_bounded(name in "\\PC{0,20}", value in "\\PC{0,2000}") {
            let shown = shown(&name, &value);
            prop_assert!(shown.chars().count() <= LONGEST);
        }
    }
}
