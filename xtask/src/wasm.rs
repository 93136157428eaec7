//! `cargo xtask wasm`: the module with which browsers look through logs themselves, and the script of its worker. A server takes
//! the folder with `--tab DIR`, a build of the server with `PEERLESS_TAB_MODULE=DIR`.

#[cfg(feature = "wasm")]
mod glue;

use std::path::PathBuf;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where both files go; made when it is missing.
    #[arg(default_value = "target/tab")]
    folder: PathBuf,
    /// First install what is missing from the distribution (as root).
    #[arg(long)]
    install: bool,
    /// Then run the browser tests that need the module, in Chromium.
    #[arg(long)]
    test: bool,
}

#[cfg(feature = "wasm")]
pub(crate) fn run(options: &Options) -> Result<()> {
    glue::write(&options.folder)
}

/// Builds the module, then runs this command again with what makes the glue built in.
#[cfg(not(feature = "wasm"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    use crate::{shell, tools};

    tools::require(tools::WASM, options.install)?;
    let mut build = shell::cargo(&[
        "rustc",
        "--package=peerless-tab",
        "--lib",
        "--crate-type=cdylib",
        "--profile=tab",
        "--target=wasm32-unknown-unknown",
        "-Zbuild-std=std,panic_abort",
        "--locked",
        "--target-dir",
    ]);
    // A folder of its own: another compiler would build everything else again, too.
    build
        .arg(shell::target().join("wasm"))
        .env("RUSTC", "/usr/bin/rustc")
        // The standard library is built from source, which stable compilers do not offer.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld")
        .env("CARGO_ENCODED_RUSTFLAGS", flags().join("\u{1f}"))
        .env_remove("RUSTFLAGS");
    shell::run(&mut build)?;
    let folder = std::path::absolute(&options.folder)?;
    let mut again = shell::xtask_with("wasm", false);
    again.arg("wasm").arg(&folder);
    shell::run(&mut again)?;
    if options.test {
        tools::require(tools::TESTS, options.install)?;
        let mut tests = shell::cargo(&["nextest", "run", "--workspace", "--locked"]);
        let held = "binary(browser) & (test(tab) + test(site)) - test(measured)";
        tests.args(["--run-ignored=only", "-E", held]);
        shell::run(tests.env("PEERLESS_TEST_TAB", &folder))?;
    }
    Ok(())
}

/// Paths of this machine are replaced, as deploy/build-release.sh does it.
#[cfg(not(feature = "wasm"))]
fn flags() -> Vec<String> {
    use std::path::Path;

    let homes = [
        (crate::shell::root(), "/peerless"),
        (cargo_home(), "/cargo"),
        (Path::new("/usr/lib/rustlib/src/rust").to_path_buf(), "/rust"),
    ];
    let mut flags: Vec<String> = homes
        .iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect();
    // Browsers have it since 2021 to 2023; searching for bytes is several times faster with it.
    flags.push("-Ctarget-feature=+simd128".to_owned());
    // tantivy pulls in a source of random numbers that it does not use in a browser; it names segments by another one.
    flags.push("--cfg=getrandom_backend=\"unsupported\"".to_owned());
    flags
}

#[cfg(not(feature = "wasm"))]
fn cargo_home() -> PathBuf {
    std::env::var_os("CARGO_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    )
}
