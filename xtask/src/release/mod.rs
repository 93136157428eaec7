//! `cargo xtask release DIR` builds both programs, packs them, writes sums and bills of materials, signs where told to, and holds
//! all of it to what was promised. `cargo xtask package DIR` packs programs that lie there already.

#[cfg(feature = "release")]
mod about;
#[cfg(feature = "release")]
mod deb;
#[cfg(feature = "release")]
mod files;
#[cfg(feature = "release")]
mod glibc;
#[cfg(feature = "release")]
mod oci;
#[cfg(feature = "release")]
mod packages;
#[cfg(feature = "release")]
mod rpm;
#[cfg(feature = "release")]
mod sbom;
#[cfg(feature = "release")]
mod scripts;
#[cfg(feature = "release")]
mod sizes;
#[cfg(feature = "release")]
mod sums;
#[cfg(feature = "release")]
mod tree;
#[cfg(feature = "release")]
mod wheel;

use std::path::PathBuf;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where all of it goes; made when it is missing.
    folder: PathBuf,
    /// What it is built for: x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu [default: this machine].
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Secret key of minisign: signs the sums.
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
    /// The programs lie in the folder already.
    #[arg(long, conflicts_with = "target")]
    built: bool,
}

#[derive(clap::Args)]
pub(crate) struct PackageOptions {
    /// Where the programs lie, and the packages go.
    folder: PathBuf,
    /// Secret key of minisign: signs the sums.
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
}

#[cfg(feature = "release")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = std::path::absolute(&options.folder)?;
    if !options.built {
        std::fs::create_dir_all(&folder)?;
        let mut build = crate::shell::command("deploy/build-release.sh", &[]);
        build.arg(&folder).args(&options.target);
        if let Some(target) = &options.target
            && let Some(compiler) = crate::arm::compiler(target)?
        {
            build.env("RUSTC", compiler);
        }
        // Not the flags of the chore's own build.
        build.env_remove("RUSTFLAGS");
        crate::shell::run(&mut build)?;
    }
    pack(&folder, options.sign_key.as_deref())?;
    sizes::check(&folder)?;
    packages::check_all(&folder)?;
    println!("{} files have the sums of SHA256SUMS", sums::check(&folder)?);
    Ok(())
}

#[cfg(feature = "release")]
pub(crate) fn package(options: &PackageOptions) -> Result<()> {
    pack(
        &std::path::absolute(&options.folder)?,
        options.sign_key.as_deref(),
    )
}

#[cfg(feature = "release")]
fn pack(folder: &std::path::Path, key: Option<&std::path::Path>) -> Result<()> {
    let epoch = about::epoch()?;
    let scratch = std::env::temp_dir().join(format!("peerless-package-{}", std::process::id()));
    std::fs::create_dir(&scratch)?;
    let made = pack_in(&scratch, folder, epoch);
    std::fs::remove_dir_all(&scratch)?;
    let mut made = made?;
    made.push(sums::write(folder)?);
    if let Some(key) = key {
        made.push(sums::sign(folder, key)?);
    }
    for file in made {
        println!("{}: {} bytes", file.display(), std::fs::metadata(&file)?.len());
    }
    Ok(())
}

#[cfg(feature = "release")]
fn pack_in(scratch: &std::path::Path, folder: &std::path::Path, epoch: u32) -> Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    for about in [about::SERVER, about::AGENT] {
        let program = folder.join(about.name);
        let tree = tree::Tree::make(about, &program, scratch.join(about.name))?;
        made.push(deb::make(&tree, epoch, folder)?);
        made.push(rpm::make(&tree, epoch, folder)?);
        made.push(oci::make((about, &program), epoch, folder)?);
        made.push(sbom::make((about, &program), epoch, folder)?);
    }
    made.push(wheel::make(&folder.join(about::SERVER.name), folder)?);
    Ok(made)
}

/// Runs this command again with what reads programs and packages built in.
#[cfg(not(feature = "release"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut flags = Vec::new();
    if let Some(target) = &options.target {
        flags.extend(["--target".into(), target.into()]);
    }
    if options.built {
        flags.push("--built".into());
    }
    again("release", &options.folder, (flags, options.sign_key.as_deref()))
}

#[cfg(not(feature = "release"))]
pub(crate) fn package(options: &PackageOptions) -> Result<()> {
    again(
        "package",
        &options.folder,
        (Vec::new(), options.sign_key.as_deref()),
    )
}

#[cfg(not(feature = "release"))]
fn again(
    chore: &str,
    folder: &std::path::Path,
    (flags, key): (Vec<std::ffi::OsString>, Option<&std::path::Path>),
) -> Result<()> {
    use crate::shell;

    let mut command = shell::xtask_with("release", false);
    command.arg(chore).arg(std::path::absolute(folder)?).args(flags);
    if let Some(key) = key {
        command.arg("--sign-key").arg(std::path::absolute(key)?);
    }
    shell::run(&mut command)
}
