//! The package for RPM, put together by the crate `rpm`.

use std::path::{Path, PathBuf};

use ::rpm::{BuildConfig, CompressionType, Dependency, FileOptions, PackageBuilder};
use anyhow::{Context, Result};

use super::pack::{Kind, Tree};
use super::{about, glibc};

pub(super) fn make(tree: &Tree, program: &Path, into: &Path) -> Result<PathBuf> {
    let architecture = std::env::consts::ARCH;
    let license = env!("CARGO_PKG_LICENSE");
    let mut builder = PackageBuilder::new(about::NAME, about::VERSION, license, architecture, about::SUMMARY);
    // gzip: what every rpm reads.
    builder.using_config(BuildConfig::default().compression(CompressionType::Gzip));
    builder
        .release("1")
        .description(about::DESCRIPTION)
        .packager(about::MAINTAINER);
    for library in glibc::required(program)? {
        builder.requires(Dependency::any(library));
    }
    for file in &tree.files {
        let options = FileOptions::new(format!("/{}", file.path)).permissions(u16::try_from(file.mode)?);
        let options = match file.kind {
            Kind::Plain => options,
            Kind::Settings => options.config().noreplace(),
            Kind::Documentation => options.doc(),
        };
        builder
            .with_file(tree.root.join(file.path), options)
            .with_context(|| file.path.to_owned())?;
    }
    let package = into.join(format!("{}-{}-1.{architecture}.rpm", about::NAME, about::VERSION));
    builder.build()?.write_file(&package)?;
    Ok(package)
}
