//! A PostgreSQL server for tests: the distribution's, in a temporary folder, on a free port of 127.0.0.1.
//!
//! It syncs nothing to disk and trusts every local user: for tests only. PostgreSQL refuses to run as root, so when
//! we are root it runs as the user `postgres` that its package makes.

use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The variable by which tests find the server: a URL with the right to make databases.
pub(crate) const VARIABLE: &str = "PEERLESS_TEST_POSTGRES";

/// How long the server may take to accept connections.
const PATIENCE: Duration = Duration::from_secs(30);
/// Another program may take the port between our look and the server's start.
const ATTEMPTS: u32 = 3;

/// A running server; stopped, and its folder removed, when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) url: String,
    server: Child,
    tools: Tools,
    folder: PathBuf,
}

/// Runs a command with a fresh server and [`VARIABLE`] set.
pub(crate) fn run_with(command: &[OsString]) -> Result<()> {
    let Some((program, arguments)) = command.split_first() else {
        bail!("no command is given: cargo xtask postgres -- COMMAND…");
    };
    let folder = std::env::temp_dir().join(format!("peerless-postgres-{}", std::process::id()));
    let running = start(&folder)?;
    let status = Command::new(program)
        .args(arguments)
        .env(VARIABLE, &running.url)
        .status()
        .with_context(|| format!("could not start {}", program.display()))?;
    drop(running);
    if !status.success() {
        bail!("{}: {status}", program.display());
    }
    Ok(())
}

/// Makes a cluster in `folder`, which must not be there yet, and starts its server.
pub(crate) fn start(folder: &Path) -> Result<Running> {
    let tools = Tools::find()?;
    fs::create_dir(folder).with_context(|| format!("could not make {}", folder.display()))?;
    // Also when something fails below.
    let mut cleanup = Cleanup(Some(folder.to_owned()));
    if let Some((user, group)) = tools.run_as {
        chown(folder, Some(user), Some(group)).context("could not give the folder to the user postgres")?;
    }
    let data = folder.join("data");
    tools.run(
        tools
            .command("initdb")
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=postgres",
                "--encoding=UTF8",
                "--locale=C",
            ])
            .arg("-D")
            .arg(&data),
    )?;
    for attempt in 1..=ATTEMPTS {
        let port = free_port()?;
        let mut server = tools.serve(folder, &data, port)?;
        if tools.wait(&mut server, port)? {
            cleanup.0 = None;
            let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
            return Ok(Running {
                url,
                server,
                tools,
                folder: folder.to_owned(),
            });
        }
        eprintln!("the server did not start on port {port} (attempt {attempt})");
    }
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    bail!("PostgreSQL did not start; its log says:\n{log}")
}

impl Drop for Running {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        let mut stop = self.tools.command("pg_ctl");
        stop.args(["stop", "--silent", "--mode=immediate", "-D"])
            .arg(&data);
        if !stop.status().is_ok_and(|status| status.success()) {
            // Already gone, or it does not listen to reason.
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the folder unless told to keep it.
struct Cleanup(Option<PathBuf>);

impl Drop for Cleanup {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// The programs of the newest PostgreSQL installed.
#[derive(Debug)]
struct Tools {
    programs: PathBuf,
    /// User and group to run as; `None`: as we are.
    run_as: Option<(u32, u32)>,
}

impl Tools {
    fn find() -> Result<Self> {
        const HINT: &str = "install it: apt-get install --no-install-recommends postgresql";
        // Debian's place; other systems have the programs in PATH.
        let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .filter_map(|entry| {
                Some((
                    entry.file_name().to_str()?.parse().ok()?,
                    entry.path().join("bin"),
                ))
            })
            .collect();
        versions.sort();
        let programs = match versions.pop() {
            Some((_, programs)) => programs,
            None => std::env::var_os("PATH")
                .iter()
                .flat_map(std::env::split_paths)
                .find(|folder| folder.join("initdb").is_file())
                .with_context(|| format!("PostgreSQL is not installed: {HINT}"))?,
        };
        let is_root = fs::metadata("/proc/self").context("could not read /proc")?.uid() == 0;
        let run_as = if is_root { Some(user_postgres()?) } else { None };
        Ok(Self { programs, run_as })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        if let Some((user, group)) = self.run_as {
            command.uid(user).gid(group);
        }
        // Away from a folder that the user postgres may not read.
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let output = command
            .output()
            .with_context(|| format!("could not start {}", self.programs.display()))?;
        if !output.status.success() {
            let program = command.get_program().display();
            bail!(
                "{program}: {}\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }

    fn serve(&self, folder: &Path, data: &Path, port: u16) -> Result<Child> {
        let log = fs::File::create(folder.join("log")).context("could not make the server's log")?;
        let settings = [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("unix_socket_directories={}", folder.display()),
            "fsync=off".to_owned(),
            "full_page_writes=off".to_owned(),
            "max_connections=200".to_owned(),
        ];
        let mut command = self.command("postgres");
        command.arg("-D").arg(data).arg("-p").arg(port.to_string());
        for setting in settings {
            command.arg("-c").arg(setting);
        }
        command.stdout(Stdio::null()).stderr(log);
        command.spawn().context("could not start postgres")
    }

    /// Waits for the server to accept connections; false when it ended or took too long.
    fn wait(&self, server: &mut Child, port: u16) -> Result<bool> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if server.try_wait()?.is_some() {
                return Ok(false);
            }
            let mut ask = self.command("pg_isready");
            ask.args(["--quiet", "--host=127.0.0.1"])
                .arg(format!("--port={port}"));
            if ask.status()?.success() {
                return Ok(true);
            }
            sleep(Duration::from_millis(50));
        }
        let _ = server.kill();
        let _ = server.wait();
        Ok(false)
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

/// Numbers of the user postgres and its group.
fn user_postgres() -> Result<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").context("could not read /etc/passwd")?;
    let line = users
        .lines()
        .find(|line| line.starts_with("postgres:"))
        .context("there is no user postgres: PostgreSQL does not run as root")?;
    let mut numbers = line.split(':').skip(2);
    let mut number = || numbers.next().and_then(|text| text.parse().ok());
    let user = number().context("the line of postgres in /etc/passwd has no user number")?;
    let group = number().context("the line of postgres in /etc/passwd has no group number")?;
    Ok((user, group))
}
