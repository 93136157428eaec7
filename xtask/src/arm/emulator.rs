//! Starts programs for Arm. Where the system does not start them by itself, `deploy/with-arm.sh` does: the agent starts itself again,
//! which qemu cannot do for it unless the system knows qemu as the interpreter of such programs.

/// What runs programs for Arm on other processors.
pub(super) const QEMU: &str = "/usr/bin/qemu-aarch64-static";

#[cfg(feature = "arm")]
pub(super) use starting::Emulator;

#[cfg(feature = "arm")]
mod starting {
    use std::path::Path;
    use std::process::Command;

    use anyhow::{Context as _, Result, bail};

    use crate::shell;

    /// Of Debian's `libc6:arm64`.
    const LOADER: &str = "/lib/ld-linux-aarch64.so.1";
    /// The C library of `libc6-dev-arm64-cross`. qemu is told of it only where `/` has no loader for Arm: with the loader of one glibc and
    /// the library of another, a program that starts a thread hangs.
    const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

    #[derive(Clone, Copy)]
    pub(crate) enum Emulator {
        /// The system starts them.
        None,
        Script,
    }

    impl Emulator {
        /// Finds by `program` what this machine needs.
        pub(crate) fn find(program: &Path) -> Result<Self> {
            let ask = |emulator: Self| emulator.command(program).arg("--version").output();
            if ask(Self::None).is_ok_and(|output| output.status.success()) {
                return Ok(Self::None);
            }
            let output = ask(Self::Script).context("deploy/with-arm.sh")?;
            if output.status.success() {
                return Ok(Self::Script);
            }
            bail!(
                "{} does not start: {}: {}\nOn other processors than Arm it needs qemu-user-static (`cargo xtask arm --install`) and \
                 either Linux 6.7 with user namespaces, or a system that has registered qemu with binfmt_misc",
                program.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            )
        }

        /// The program, to be given arguments. Killing what is started ends the program.
        pub(crate) fn command(self, program: &Path) -> Command {
            let mut command = match self {
                Self::None => Command::new(program),
                Self::Script => {
                    let mut command = Command::new(shell::root().join("deploy/with-arm.sh"));
                    command.arg(program);
                    command
                }
            };
            if !Path::new(LOADER).is_file() {
                command.env("QEMU_LD_PREFIX", LIBRARIES);
            }
            command
        }
    }
}
