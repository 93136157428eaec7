//! `cargo xtask package DIR` packs what `deploy/build-release.sh` wrote; `cargo xtask release DIR` holds all of it to what
//! was promised.

#[cfg(feature = "release")]
mod about;
#[cfg(feature = "release")]
mod deb;
#[cfg(feature = "release")]
mod glibc;
#[cfg(feature = "release")]
mod pack;
#[cfg(feature = "release")]
mod packages;
#[cfg(feature = "release")]
mod rpm;

use std::path::PathBuf;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What `deploy/build-release.sh` was given.
    folder: PathBuf,
    /// Also the packages that it makes with `packages`.
    #[arg(long)]
    packages: bool,
}

#[derive(clap::Args)]
pub(crate) struct PackageOptions {
    /// What `deploy/build-release.sh` was given: the agent lies there, and the packages go there.
    folder: PathBuf,
}

#[cfg(feature = "release")]
pub(crate) fn package(options: &PackageOptions) -> Result<()> {
    pack::make(&options.folder)
}

/// The glibc of RHEL 7, SLES 12 SP2 and everything newer.
#[cfg(feature = "release")]
const MOST_GLIBC: [u32; 2] = [2, 17];
#[cfg(feature = "release")]
const MOST_AGENT_BYTES: u64 = 8_000_000;

#[cfg(feature = "release")]
pub(crate) fn run(options: &Options) -> Result<()> {
    use anyhow::ensure;

    let agent = options.folder.join("peerless-agent");
    let bytes = std::fs::metadata(&agent)?.len();
    ensure!(
        bytes < MOST_AGENT_BYTES,
        "the agent has {bytes} bytes, the limit is {MOST_AGENT_BYTES}"
    );
    let glibc = glibc::check(&agent, &MOST_GLIBC)?;
    println!("{}: {bytes} bytes, glibc {glibc}", agent.display());
    if !options.packages {
        return Ok(());
    }
    let scratch = std::env::temp_dir().join(format!("peerless-release-{}", std::process::id()));
    std::fs::create_dir(&scratch)?;
    let checked = check_packages(options, &scratch);
    std::fs::remove_dir_all(&scratch)?;
    checked
}

/// Both packages, each installed below a root of its own.
#[cfg(feature = "release")]
fn check_packages(options: &Options, scratch: &std::path::Path) -> Result<()> {
    use anyhow::ensure;

    let agent = options.folder.join("peerless-agent");
    let (deb, rpm) = (
        packages::only(&options.folder, "deb")?,
        packages::only(&options.folder, "rpm")?,
    );
    let roots = [scratch.join("deb"), scratch.join("rpm")];
    let fields = packages::install_deb(&deb, &roots[0])?;
    ensure!(
        fields.contains("libc6 (>= 2.17)"),
        "the deb asks for another glibc: {fields}"
    );
    let requires = packages::install_rpm(&rpm, &roots[1])?;
    ensure!(
        requires
            .iter()
            .any(|name| name.starts_with("libc.so.6(GLIBC_2.17)")),
        "the rpm asks for another glibc: {requires:?}"
    );
    for (package, root) in [deb, rpm].iter().zip(&roots) {
        packages::check(root, &agent)?;
        println!("{}: complete", package.display());
    }
    Ok(())
}

/// Runs this command again with what reads programs and packages built in.
#[cfg(not(feature = "release"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    let flags: &[&str] = if options.packages { &["--packages"] } else { &[] };
    again("release", &options.folder, flags)
}

#[cfg(not(feature = "release"))]
pub(crate) fn package(options: &PackageOptions) -> Result<()> {
    again("package", &options.folder, &[])
}

#[cfg(not(feature = "release"))]
fn again(chore: &str, folder: &std::path::Path, flags: &[&str]) -> Result<()> {
    use crate::shell;

    let mut command = shell::cargo(&["run", "--quiet", "--locked", "--package", "xtask"]);
    command.args(["--features", "release", "--", chore]);
    command.arg(std::path::absolute(folder)?).args(flags);
    shell::run(&mut command)
}
