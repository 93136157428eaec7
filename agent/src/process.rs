//! What holds for every process of the agent.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};

/// No core files: a worker is killed on purpose, and its image holds device memory and the environment.
pub(crate) fn forbid_core_files() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Lowering a limit cannot be refused to a process; if it were, the probe is still worth more than no probe.
    let _ = setrlimit(Resource::Core, none);
}

/// One line on standard error. A reader that is gone is no reason to fail.
pub(crate) fn say(line: &str) {
    let line = kb_core::terminal::harmless_lines(line);
    let _ = writeln!(std::io::stderr().lock(), "peerless-agent: {line}");
}

/// The variable by which CUDA is confined to some GPUs.
pub(crate) const VISIBLE_GPUS: &str = "CUDA_VISIBLE_DEVICES";

/// Has this program, and so its workers, see all GPUs whatever its environment says: it starts itself anew without that.
pub(crate) fn see_all() -> std::io::Result<()> {
    if std::env::var_os(VISIBLE_GPUS).is_none() {
        return Ok(());
    }
    say(&format!(
        "warning: {VISIBLE_GPUS} is not followed: a look is about the whole node (--devices names GPUs)"
    ));
    Err(anew()?.env_remove(VISIBLE_GPUS).exec())
}

/// Confines this program, and so its workers, to some GPUs: it starts itself anew, in its own place, with the
/// environment that CUDA reads. In the order of the bus the numbers are nvidia-smi's.
pub(crate) fn see_only(devices: &str) -> std::io::Result<()> {
    let settings = [(VISIBLE_GPUS, devices), ("CUDA_DEVICE_ORDER", "PCI_BUS_ID")];
    let is_set = |(name, value): &(&str, &str)| std::env::var(name).is_ok_and(|found| found == *value);
    if settings.iter().all(is_set) {
        return Ok(());
    }
    Err(anew()?.envs(settings).exec())
}

fn anew() -> std::io::Result<Command> {
    let mut arguments = std::env::args_os();
    let _program = arguments.next();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// How often a program is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a program's last words may take once it has ended: a child of its own may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Most that is kept of each stream, in bytes.
const MOST_OUTPUT: u64 = 64 << 20;

/// Runs a program to its end. After `limit` it is killed, and the error is [`io::ErrorKind::TimedOut`].
pub(crate) fn output_within(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // Read beside it: what is longer than a pipe holds would keep the program from its end.
    let stdout = read_beside(child.stdout.take());
    let stderr = read_beside(child.stderr.take());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() >= limit {
            // It may have ended meanwhile, which is as good.
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("it did not end within {} s and was killed", limit.as_secs()),
            ));
        }
        std::thread::sleep(PAUSE);
    };
    Ok(Output {
        status,
        stdout: stdout.recv_timeout(LAST_WORDS).unwrap_or_default(),
        stderr: stderr.recv_timeout(LAST_WORDS).unwrap_or_default(),
    })
}

fn read_beside(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is kept; the rest is thrown away, so that the program can end.
            let _ = stream.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = send.send(bytes);
    });
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> io::Result<Output> {
        output_within(Command::new("/bin/sh").args(["-c", script]), limit)
    }

    #[test]
    fn more_than_a_pipe_holds_is_read() {
        let output = shell(
            "head -c 300000 /dev/zero; echo no >&2; exit 3",
            Duration::from_mins(1),
        )
        .unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(
            (output.stdout.len(), output.stderr.as_slice()),
            (300_000, &b"no\n"[..])
        );
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let error = shell("exec sleep 600", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
