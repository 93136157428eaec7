//! The Python wheel that carries `peerless`, for whoever has pip and is not root (`PyPA`'s "Binary distribution format").

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::about::{self, Machine, SERVER};
use crate::shell;

pub(super) fn make(program: &Path, into: &Path) -> Result<PathBuf> {
    let machine = Machine::of(program)?;
    let (name, version) = (SERVER.name, about::VERSION);
    let glibc = about::GLIBC.replace('.', "_");
    // Older versions of pip know the second name alone.
    let platform = format!("manylinux_{glibc}_{0}.manylinux2014_{0}", machine.name);
    let described = format!("{name}-{version}.dist-info");
    let metadata = format!(
        "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {}\nLicense: {}\nRequires-Python: >=3.7\n\n{}\n",
        SERVER.summary,
        about::LICENSE,
        SERVER.description
    );
    let mut tags = String::new();
    for tag in platform.split('.') {
        writeln!(tags, "Tag: py3-none-{tag}")?;
    }
    let wheel = format!("Wheel-Version: 1.0\nGenerator: peerless\nRoot-Is-Purelib: false\n{tags}");
    let licence = std::fs::read(shell::root().join("LICENSE"))?;
    let bytes = std::fs::read(program).with_context(|| program.display().to_string())?;
    let files = [
        (format!("{name}-{version}.data/scripts/{name}"), bytes, 0o755),
        (format!("{described}/LICENSE"), licence, 0o644),
        (format!("{described}/METADATA"), metadata.into_bytes(), 0o644),
        (format!("{described}/WHEEL"), wheel.into_bytes(), 0o644),
    ];
    let path = into.join(format!("{name}-{version}-py3-none-{platform}.whl"));
    let mut zip = ZipWriter::new(std::fs::File::create(&path)?);
    let mut add = |name: &str, bytes: &[u8], mode| -> Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            // The oldest that the format knows: all files are of one version.
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(mode);
        zip.start_file(name, options)?;
        Ok(zip.write_all(bytes)?)
    };
    let mut record = String::new();
    for (name, bytes, mode) in &files {
        add(name, bytes, *mode)?;
        let sum = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        writeln!(record, "{name},sha256={sum},{}", bytes.len())?;
    }
    writeln!(record, "{described}/RECORD,,")?;
    add(&format!("{described}/RECORD"), record.as_bytes(), 0o644)?;
    zip.finish()?;
    Ok(path)
}
