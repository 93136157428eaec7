//! How large programs and images may be, and which glibc they may need.

use std::path::Path;

use anyhow::{Result, ensure};

use super::about::{AGENT, Machine, SERVER, VERSION};
use super::glibc;

/// The glibc of RHEL 7, SLES 12 SP2 and everything newer. That of the Arm is the first that has one.
const MOST_GLIBC: [u32; 2] = [2, 17];
/// Name of a program, most bytes of it, most bytes of its image.
const MOST: [(&str, u64, u64); 2] = [
    (SERVER.name, 40_000_000, 40_000_000),
    (AGENT.name, 8_000_000, 15_000_000),
];

pub(super) fn check(folder: &Path) -> Result<()> {
    for (name, most_program, most_image) in MOST {
        let program = folder.join(name);
        let machine = Machine::of(&program)?;
        let glibc = glibc::check(&program, &MOST_GLIBC)?;
        let image = folder.join(format!("{name}-{VERSION}-oci-{}.tar", machine.debian));
        for (file, most) in [(&program, most_program), (&image, most_image)] {
            let bytes = std::fs::metadata(file)?.len();
            ensure!(
                bytes < most,
                "{} has {bytes} bytes, the limit is {most}",
                file.display()
            );
            println!("{}: {bytes} bytes", file.display());
        }
        println!("{}: glibc {glibc}", program.display());
    }
    Ok(())
}
