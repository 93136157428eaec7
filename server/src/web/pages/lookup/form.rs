//! The fields of the box: the text, and the environment it was written in.

use std::collections::BTreeMap;

use crate::render::answer::origin::Only;
use kb_core::near;

use crate::render::i18n::{Language, site};
use crate::web::error::{Code, Problem};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentField {
    pub name: &'static str,
    pub label: &'static str,
    pub example: &'static str,
    pub value: String,
}

pub(in crate::web) const COMPONENTS: [&str; 6] = ["driver", "cuda", "nccl", "pytorch", "gpu_model", "os"];
const EXAMPLES: [&str; 6] = [
    "550.54.14",
    "12.4",
    "2.21.5",
    "2.4.0",
    "NVIDIA H200",
    "Ubuntu 22.04",
];
const MAX_VALUE_BYTES: usize = 100;

pub(super) fn fields(environment: &BTreeMap<String, String>, language: Language) -> Vec<EnvironmentField> {
    let words = site::Words::of(language);
    let field = |(name, example)| EnvironmentField {
        name,
        label: label(name, words),
        example,
        value: environment.get(name).cloned().unwrap_or_default(),
    };
    COMPONENTS.into_iter().zip(EXAMPLES).map(field).collect()
}

/// The fields of a box in which nothing is said yet.
pub fn empty(language: Language) -> Vec<EnvironmentField> {
    fields(&BTreeMap::new(), language)
}

fn label(component: &'static str, words: &site::Words) -> &'static str {
    match component {
        "driver" => words.driver,
        "cuda" => "CUDA",
        "nccl" => "NCCL",
        "pytorch" => "PyTorch",
        "gpu_model" => words.gpu_model,
        "os" => words.os,
        other => other,
    }
}

/// The environment among the fields of a form or query; fields that the form does not have are passed over.
pub(super) fn environment(fields: &[(String, String)]) -> Result<BTreeMap<String, String>, Problem> {
    let mut environment = BTreeMap::new();
    for (name, value) in fields {
        let value = value.trim();
        let known = COMPONENTS.contains(&name.as_str());
        if !known || value.is_empty() {
            continue;
        }
        if value.len() > MAX_VALUE_BYTES {
            let detail = format!(
                "the field {name} has {} bytes, it may have {MAX_VALUE_BYTES}",
                value.len()
            );
            return Err(Problem::new(Code::BadQuery, detail));
        }
        environment.insert(name.clone(), value.to_owned());
    }
    Ok(environment)
}

/// Refuses a field that the form does not have. `csrf` comes with the forms that keep lines.
pub(super) fn known_only(fields: &[(String, String)]) -> Result<(), Problem> {
    const OTHERS: [&str; 6] = ["text", "lang", "csrf", "only_host", "only_rank", "only_gpu"];
    let is_known = |name: &str| COMPONENTS.contains(&name) || OTHERS.contains(&name);
    match fields.iter().find(|(name, _)| !is_known(name)) {
        Some((name, _)) => Err(Problem::new(
            Code::MalformedBody,
            format!("the form has no field {}", near::shown(name)),
        )),
        None => Ok(()),
    }
}

pub(super) fn only(fields: &[(String, String)]) -> Only {
    let chosen = |name: &str| {
        let field = fields.iter().find(|(field, _)| field == name);
        field
            .map(|(_, value)| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    };
    Only {
        host: chosen("only_host"),
        rank: chosen("only_rank"),
        gpu: chosen("only_gpu"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::body;

    #[test]
    fn the_environment_is_read_from_known_fields_only() {
        let fields = body::fields("text=a%0D%0Ab+c&driver=550.54&cuda=+&colour=red").unwrap();
        let environment = environment(&fields).unwrap();
        assert_eq!(environment.len(), 1);
        assert_eq!(environment.get("driver").map(String::as_str), Some("550.54"));
    }

    #[test]
    fn long_values_are_refused() {
        let fields = [("driver".to_owned(), "5".repeat(MAX_VALUE_BYTES + 1))];
        assert!(environment(&fields).is_err());
    }
}
