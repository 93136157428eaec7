//! Images in the layout of OCI, written without an engine: `podman load`, `docker load` and `skopeo copy oci-archive:…` read
//! them. Beside the program each has the C library that it needs, and the certificates of authorities; no shell, no other program.

mod layer;
mod system;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::about::{self, AGENT, About, Machine};
use layer::{Layer, pack};

/// The user whom the programs run as: nobody's on any system.
const USER: u32 = 10_001;

/// Writes the image of a program.
pub(super) fn make((about, program): (About, &Path), epoch: u32, into: &Path) -> Result<PathBuf> {
    let machine = Machine::of(program)?;
    let mut layer = Layer::new(epoch);
    system::add(&mut layer, machine)?;
    let folder = if about == AGENT {
        "var/lib/peerless-agent"
    } else {
        "data"
    };
    layer.folder(folder, 0o750, USER);
    let bytes = std::fs::read(program).with_context(|| program.display().to_string())?;
    layer.file(&format!("usr/bin/{}", about.name), bytes, 0o755);
    let (packed, diff_id) = layer.finish()?;

    let mut blobs = Blobs::default();
    let packed = blobs.add("application/vnd.oci.image.layer.v1.tar+gzip", packed);
    let config = serde_json::to_vec(&config(about, machine, &diff_id, epoch)?)?;
    let config = blobs.add("application/vnd.oci.image.config.v1+json", config);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [packed],
    });
    let manifest = blobs.add(
        "application/vnd.oci.image.manifest.v1+json",
        serde_json::to_vec(&manifest)?,
    );
    let version = about::VERSION;
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": manifest.get("mediaType"),
            "digest": manifest.get("digest"),
            "size": manifest.get("size"),
            "annotations": {
                "org.opencontainers.image.ref.name": version,
                // The name that podman and containerd give it.
                "io.containerd.image.name": format!("localhost/{}:{version}", about.name),
            },
        }],
    });
    // What Docker read before it read layouts.
    let older = json!([{
        "Config": place(&config),
        "RepoTags": [format!("{}:{version}", about.name)],
        "Layers": [place(&packed)],
    }]);
    let mut files = vec![
        (
            "oci-layout".to_owned(),
            br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec(),
        ),
        ("index.json".to_owned(), serde_json::to_vec(&index)?),
        ("manifest.json".to_owned(), serde_json::to_vec(&older)?),
    ];
    files.extend(blobs.files);
    let path = into.join(format!("{}-{version}-oci-{}.tar", about.name, machine.debian));
    std::fs::write(&path, pack(files, epoch)?)?;
    Ok(path)
}

fn config(about: About, machine: Machine, diff_id: &str, epoch: u32) -> Result<Value> {
    let created = OffsetDateTime::from_unix_timestamp(epoch.into())?.format(&Rfc3339)?;
    let name = about.name;
    let user = format!("{USER}:{USER}");
    let program = format!("/usr/bin/{name}");
    let labels = json!({
        "org.opencontainers.image.title": name,
        "org.opencontainers.image.description": about.summary,
        "org.opencontainers.image.version": about::VERSION,
        "org.opencontainers.image.licenses": about::LICENSE,
    });
    let process = if about == AGENT {
        json!({
            "User": user,
            // The toolkit of NVIDIA brings the driver's libraries where these ask for them.
            "Env": [
                "PATH=/usr/bin",
                "NVIDIA_VISIBLE_DEVICES=all",
                "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                "PEERLESS_STATE=/var/lib/peerless-agent",
            ],
            "Entrypoint": [program],
            "Labels": labels,
            "Cmd": ["probe"],
        })
    } else {
        json!({
            "User": user,
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": [program],
            "Labels": labels,
            "Cmd": ["serve", "--listen", "0.0.0.0:8080", "--data-dir", "/data"],
            "ExposedPorts": { "8080/tcp": {} },
            "Volumes": { "/data": {} },
        })
    };
    Ok(json!({
        "created": created,
        "architecture": machine.debian,
        "os": "linux",
        "config": process,
        "rootfs": { "type": "layers", "diff_ids": [diff_id] },
        "history": [{ "created": created, "created_by": "cargo xtask release" }],
    }))
}

/// Contents by their sums.
#[derive(Default)]
struct Blobs {
    files: Vec<(String, Vec<u8>)>,
}

impl Blobs {
    fn add(&mut self, kind: &str, bytes: Vec<u8>) -> Value {
        let described = json!({
            "mediaType": kind,
            "digest": digest(&bytes),
            "size": bytes.len(),
        });
        self.files.push((place(&described), bytes));
        described
    }
}

/// Where the content of a descriptor stands.
fn place(described: &Value) -> String {
    let digest = described["digest"].as_str().unwrap_or_default();
    format!("blobs/{}", digest.replace(':', "/"))
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}
