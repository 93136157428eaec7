//! Is the environment that a caller gives one that records can be compared with? A name that nobody knows, or a version that
//! cannot be read, would be as if it were not given, and the caller would take the answer for one about this machine.

use std::collections::BTreeMap;

use super::environment::{MAX_VALUE_BYTES, is_version};
use crate::matcher::Matcher;

/// Components with a version that the scanner reads in texts or that forms ask for; records name more.
const VERSIONED: [&str; 8] = [
    "cuda",
    "cudnn",
    "driver",
    "kernel",
    "nccl",
    "pytorch",
    "tensorflow",
    "vllm",
];
/// Components with a name in place of a version.
const NAMED: [&str; 2] = ["gpu_model", "os"];
/// Names less alike than this (Jaro-Winkler, 0 to 1) are not offered.
const LEAST_ALIKE: f64 = 0.7;
/// Letters at the beginning that make a short name like a long one, and how much: `gpuu` is like `gpu_model`.
const SAME_BEGINNING: (usize, f64) = (3, 0.1);

/// What is wrong with an environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// No record and no text of ours speaks of such a component.
    #[error("environment: {component:?} is no component that records know{}", meant(nearest.as_deref()))]
    Unknown {
        /// As given.
        component: String,
        /// The component whose name is most like it.
        nearest: Option<String>,
    },
    /// A version that does not begin with a number.
    #[error(
        "environment: {value:?} is no version of {component}: write numbers, such as {component}=550.54.14, or leave it out"
    )]
    Version {
        /// As given.
        component: String,
        /// As given.
        value: String,
    },
    /// Nothing, or more than any version or model has.
    #[error("environment: the value of {component} has {bytes} bytes, it may have 1 to {MAX_VALUE_BYTES}")]
    Length {
        /// As given.
        component: String,
        /// Its length.
        bytes: usize,
    },
    /// The same name in two spellings.
    #[error("environment: {0} is given twice")]
    Twice(String),
}

impl EnvironmentError {
    /// The component it is about, as given.
    pub fn component(&self) -> &str {
        match self {
            Self::Unknown { component, .. }
            | Self::Version { component, .. }
            | Self::Length { component, .. }
            | Self::Twice(component) => component,
        }
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; driver, cuda, nccl, pytorch and gpu_model are some that they do".to_owned(),
        |nearest| format!("; is {nearest} meant?"),
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Version,
    Name,
}

/// Refuses components that no record of `matcher` names, and versions that cannot be compared. Case of names is ignored.
pub fn check_environment(
    given: &BTreeMap<String, String>,
    matcher: &Matcher,
) -> Result<(), EnvironmentError> {
    let mut seen: Vec<String> = Vec::new();
    for (component, value) in given {
        let name = component.to_ascii_lowercase();
        let Some(kind) = kind(&name, matcher) else {
            return Err(EnvironmentError::Unknown {
                component: component.clone(),
                nearest: nearest(&name, matcher),
            });
        };
        if value.trim().is_empty() || value.len() > MAX_VALUE_BYTES {
            return Err(EnvironmentError::Length {
                component: component.clone(),
                bytes: value.trim().len(),
            });
        }
        if kind == Kind::Version && !is_version(value) {
            return Err(EnvironmentError::Version {
                component: component.clone(),
                value: value.clone(),
            });
        }
        if seen.contains(&name) {
            return Err(EnvironmentError::Twice(component.clone()));
        }
        seen.push(name);
    }
    Ok(())
}

fn kind(name: &str, matcher: &Matcher) -> Option<Kind> {
    if NAMED.contains(&name) {
        return Some(Kind::Name);
    }
    if VERSIONED.contains(&name) {
        return Some(Kind::Version);
    }
    let mut of_records = matcher
        .conditions()
        .filter(|condition| condition.component.eq_ignore_ascii_case(name))
        .peekable();
    of_records.peek()?;
    let is_ordered = of_records.any(|condition| {
        condition.introduced.is_some() || condition.fixed.is_some() || condition.last_affected.is_some()
    });
    Some(if is_ordered { Kind::Version } else { Kind::Name })
}

fn nearest(name: &str, matcher: &Matcher) -> Option<String> {
    let of_records = matcher.conditions().map(|condition| condition.component.as_str());
    let all = VERSIONED.into_iter().chain(NAMED).chain(of_records);
    let alike = all.map(|known| (alike(name, &known.to_ascii_lowercase()), known));
    let (score, nearest) = alike.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))?;
    (score >= LEAST_ALIKE).then(|| nearest.to_owned())
}

fn alike(one: &str, other: &str) -> f64 {
    let (letters, more) = SAME_BEGINNING;
    let begins = one.get(..letters).is_some_and(|begins| other.starts_with(begins));
    strsim::jaro_winkler(one, other) + if begins { more } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::record;
    use super::*;
    use crate::signature::AppliesTo;

    fn matcher() -> Matcher {
        let condition = |component: &str, introduced: Option<&str>, any_of: &[&str]| AppliesTo {
            component: component.to_owned(),
            introduced: introduced.map(str::to_owned),
            fixed: None,
            last_affected: None,
            any_of: any_of.iter().map(|&any| any.to_owned()).collect(),
        };
        let mut one = record("mpi/a", "openmpi fails");
        one.applies_to = vec![
            condition("openmpi", Some("4.1"), &[]),
            condition("board", None, &["*HGX*"]),
        ];
        Matcher::build(vec![one]).0
    }

    fn checked(component: &str, value: &str) -> Result<(), EnvironmentError> {
        let given = BTreeMap::from([(component.to_owned(), value.to_owned())]);
        check_environment(&given, &matcher())
    }

    #[test]
    fn what_records_know_is_taken() {
        for (component, value) in [
            ("driver", "550.54.14"),
            ("Driver", "R550"),
            ("cuda", "12.4"),
            ("gpu_model", "NVIDIA H200"),
            ("os", "Ubuntu 22.04"),
            ("openmpi", "4.1.6rc1"),
            ("board", "HGX H200"),
        ] {
            assert_eq!(checked(component, value), Ok(()), "{component}={value}");
        }
    }

    #[test]
    fn a_name_that_nobody_knows_is_refused_with_the_nearest() {
        for (component, meant) in [
            ("drver", Some("driver")),
            ("gpuu", Some("gpu_model")),
            ("GPU", Some("gpu_model")),
            ("torch", Some("pytorch")),
            ("open-mpi", Some("openmpi")),
            ("colour", None),
        ] {
            let EnvironmentError::Unknown { nearest, .. } = checked(component, "1").unwrap_err() else {
                panic!("{component}")
            };
            assert_eq!(nearest.as_deref(), meant, "{component}");
        }
        let told = checked("drver", "1").unwrap_err().to_string();
        assert_eq!(
            told,
            "environment: \"drver\" is no component that records know; is driver meant?"
        );
    }

    #[test]
    fn a_value_that_cannot_be_compared_is_refused() {
        for (component, value) in [
            ("driver", "abc"),
            ("openmpi", "latest"),
            ("driver", ""),
            ("os", " "),
        ] {
            assert!(checked(component, value).is_err(), "{component}={value}");
        }
        assert!(checked("gpu_model", &"H".repeat(MAX_VALUE_BYTES + 1)).is_err());
        let twice = ["cuda", "CUDA"].map(|name| (name.to_owned(), "12".to_owned()));
        let twice = check_environment(&BTreeMap::from(twice), &matcher());
        assert_eq!(twice, Err(EnvironmentError::Twice("cuda".to_owned())));
    }
}
