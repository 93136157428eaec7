//! What a program is made of (`CycloneDX` 1.5), from what cargo says of its dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::about::{self, About, Machine};
use crate::shell;

pub(super) fn make((about, program): (About, &Path), epoch: u32, into: &Path) -> Result<PathBuf> {
    let machine = Machine::of(program)?;
    let triple = format!("{}-unknown-linux-gnu", machine.name);
    let mut command = shell::cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        &triple,
    ]);
    let output = command.output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let document = document(&metadata, about, epoch)?;
    let path = into.join(format!(
        "{}-{}-{}.cdx.json",
        about.name,
        about::VERSION,
        machine.name
    ));
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Packages that are linked or that build code that is, not those of tests.
fn document(metadata: &Value, about: About, epoch: u32) -> Result<Value> {
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let needs: BTreeMap<&str, Vec<&str>> = list(metadata.pointer("/resolve/nodes").unwrap_or(&Value::Null))
        .filter_map(|node| {
            let needs = list(&node["deps"])
                .filter(|need| list(&need["dep_kinds"]).any(|kind| kind["kind"].as_str() != Some("dev")));
            Some((
                node["id"].as_str()?,
                needs.filter_map(|need| need["pkg"].as_str()).collect(),
            ))
        })
        .collect();
    let root = packages.iter().find(|(_, package)| package["name"] == about.name);
    let (root, _) = root.with_context(|| format!("cargo knows no package {}", about.name))?;
    let mut found = BTreeSet::new();
    let mut open = vec![*root];
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(needs.get(id).into_iter().flatten());
        }
    }
    let purl = |id: &str| packages.get(id).map(|package| purl(package)).unwrap_or_default();
    let mut components: Vec<Value> = found
        .iter()
        .filter(|id| *id != root)
        .filter_map(|id| packages.get(id))
        .map(|package| component(package, "library"))
        .collect();
    components.sort_by_key(|component| component["bom-ref"].to_string());
    let mut dependencies: Vec<Value> = found
        .iter()
        .map(|id| {
            let mut on: Vec<String> = needs.get(id).into_iter().flatten().map(|id| purl(id)).collect();
            on.sort();
            json!({ "ref": purl(id), "dependsOn": on })
        })
        .collect();
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    let own = packages
        .get(root)
        .map(|package| component(package, "application"));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": OffsetDateTime::from_unix_timestamp(epoch.into())?.format(&Rfc3339)?,
            "component": own,
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn component(package: &Value, kind: &str) -> Value {
    let purl = purl(package);
    // Older packages separate by a slash what SPDX separates by OR.
    let license = package["license"]
        .as_str()
        .map(|license| license.replace('/', " OR "));
    let licenses = license.map(|license| ("licenses", json!([{ "expression": license }])));
    let fields = [
        ("type", json!(kind)),
        ("bom-ref", json!(purl)),
        ("name", package["name"].clone()),
        ("version", package["version"].clone()),
        ("purl", json!(purl)),
    ];
    let fields = fields.into_iter().chain(licenses);
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect())
}

fn purl(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
