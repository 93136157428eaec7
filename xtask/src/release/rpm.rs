//! Packages for RPM, put together by the crate `rpm`.

use std::path::{Path, PathBuf};

use ::rpm::{BuildConfig, CompressionType, Dependency, FileOptions, PackageBuilder};
use anyhow::{Context as _, Result};

use super::about::SERVER;
use super::files::Kind;
use super::scripts::{MAKE_USER, RELOAD, STOP};
use super::tree::Tree;
use super::{about, glibc};

pub(super) fn make(tree: &Tree, epoch: u32, into: &Path) -> Result<PathBuf> {
    let (about, architecture) = (tree.about, tree.machine.name);
    let mut builder = PackageBuilder::new(
        about.name,
        about::VERSION,
        about::LICENSE,
        architecture,
        about.summary,
    );
    // gzip: what every rpm reads.
    let config = BuildConfig::default()
        .compression(CompressionType::Gzip)
        .source_date(epoch);
    builder.using_config(config);
    builder
        .release("1")
        .description(about.description)
        .build_host("localhost")
        .packager(about::MAINTAINER);
    for library in glibc::required(&tree.program)? {
        builder.requires(Dependency::any(library));
    }
    if about == SERVER {
        // `$1` is 0 where the package goes, and 1 where another version takes its place.
        let removed = format!("[ \"$1\" = 0 ] || exit 0\n{STOP}");
        builder
            .requires(Dependency::any("shadow-utils"))
            .pre_install_script(MAKE_USER)
            .post_install_script(RELOAD)
            .pre_uninstall_script(removed);
    }
    for file in &tree.files {
        let options = FileOptions::new(format!("/{}", file.path)).permissions(u16::try_from(file.mode)?);
        let options = match file.kind {
            Kind::Plain => options,
            Kind::Settings => options.config().noreplace(),
            Kind::Documentation => options.doc(),
        };
        builder
            .with_file(tree.root.join(&file.path), options)
            .with_context(|| file.path.clone())?;
    }
    let package = into.join(format!("{}-{}-1.{architecture}.rpm", about.name, about::VERSION));
    builder.build()?.write_file(&package)?;
    Ok(package)
}
