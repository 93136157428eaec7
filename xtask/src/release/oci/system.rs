//! What an image has beside the program: the C library of the Debian that makes the release, with its licence, the
//! certificates of authorities, and the few files that the C library reads.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::super::about::Machine;
use super::USER;
use super::layer::Layer;

/// The agent opens the driver's libraries, which use all of these; the server uses the first five, and asks for names.
const LIBRARIES: [&str; 9] = [
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "libresolv.so.2",
    "libnss_dns.so.2",
    "libnss_files.so.2",
];
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

pub(super) fn add(layer: &mut Layer, machine: Machine) -> Result<()> {
    let multiarch = machine.multiarch();
    for (link, to) in [("lib", "usr/lib"), ("lib64", "usr/lib64")] {
        layer.link(link, to);
    }
    layer.folder("usr/lib64", 0o755, 0);
    for library in LIBRARIES {
        let bytes = read(machine, library)?;
        layer.file(&format!("usr/lib/{multiarch}/{library}"), bytes, 0o755);
    }
    let (_, loader) = machine.loader.rsplit_once('/').unwrap_or_default();
    layer.file(&format!("usr/{}", machine.loader), read(machine, loader)?, 0o755);
    for (from, to) in [
        ("/usr/share/doc/libc6/copyright", "usr/share/doc/libc6/copyright"),
        (
            "/usr/share/doc/libgcc-s1/copyright",
            "usr/share/doc/libgcc-s1/copyright",
        ),
    ] {
        layer.file(to, std::fs::read(from).with_context(|| from.to_owned())?, 0o644);
    }
    let certificates = format!("/{CERTIFICATES}");
    let certificates =
        std::fs::read(&certificates).with_context(|| format!("{certificates}: install ca-certificates"))?;
    layer.file(CERTIFICATES, certificates, 0o644);
    let user = format!("root:x:0:0:root:/:/nonexistent\npeerless:x:{USER}:{USER}::/:/nonexistent\n");
    layer.file("etc/passwd", user.into_bytes(), 0o644);
    layer.file(
        "etc/group",
        format!("root:x:0:\npeerless:x:{USER}:\n").into_bytes(),
        0o644,
    );
    layer.file("etc/nsswitch.conf", b"hosts: files dns\n".to_vec(), 0o644);
    // By this the toolkit of NVIDIA knows where libraries are looked for.
    layer.file("etc/debian_version", b"12\n".to_vec(), 0o644);
    layer.file(
        "etc/ld.so.conf",
        format!("/usr/lib/{multiarch}\n").into_bytes(),
        0o644,
    );
    layer.folder("tmp", 0o1777, 0);
    layer.folder("proc", 0o755, 0);
    layer.folder("sys", 0o755, 0);
    layer.folder("dev", 0o755, 0);
    Ok(())
}

/// A library of this system, or of the one that it compiles for.
fn read(machine: Machine, library: &str) -> Result<Vec<u8>> {
    let multiarch = machine.multiarch();
    let places = [
        PathBuf::from(format!("/usr/lib/{multiarch}/{library}")),
        PathBuf::from(format!("/lib/{multiarch}/{library}")),
        PathBuf::from(format!("/usr/{multiarch}/lib/{library}")),
        Path::new("/").join(machine.loader),
    ];
    let is_it = |path: &&PathBuf| path.ends_with(library) && path.is_file();
    let found = places.iter().find(is_it).with_context(|| {
        format!(
            "{library} for {0} is not on this machine: images are made on Debian or Ubuntu, with libc6 and libgcc-s1 of {0} (or \
             libc6-{1}-cross and libgcc-s1-{1}-cross)",
            machine.name, machine.debian
        )
    })?;
    std::fs::read(found).with_context(|| found.display().to_string())
}
