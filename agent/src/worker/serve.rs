//! The worker's side: reads commands, does them, answers. Runs in its own process, on one thread.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::stdio::{dup2_stdout, stderr, stdin, stdout};

use crate::gpu::Trace;
use crate::process::forbid_core_files;

use super::lines::LineBuffer;
use super::link;
use super::obey::{Worker, refuse};
use super::protocol::{Answer, Command, VERSION};

/// How the parent starts it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WorkerArgs {
    /// Inherited descriptor for breadcrumbs.
    #[arg(long)]
    pub(crate) trace_fd: i32,
    /// Process that must still be there.
    #[arg(long)]
    pub(crate) parent: i32,
}

/// Serves until the parent says so, closes the pipe or is gone.
pub(crate) fn run(args: &WorkerArgs) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died between starting this process and the line above.
    if getppid() != Pid::from_raw(args.parent) {
        return Ok(());
    }
    forbid_core_files();
    let pipe = PathBuf::from(format!("/proc/self/fd/{}", args.trace_fd));
    let trace = File::options().write(true).open(pipe).map(Trace::into_pipe)?;
    let mut output = take_standard_output()?;
    let mut worker = Worker::new(trace);
    send(&mut output, &Answer::Ready { version: VERSION })?;
    let mut input = Input::default();
    while let Some(line) = input.next_line()? {
        let reply = match serde_json::from_slice(&line) {
            Ok(Command::Close) => break,
            Ok(command) => worker.obey(&command, input.descriptors.pop_front()),
            Err(error) => refuse(
                "read a command",
                format!("not a command of version {VERSION}: {error}"),
            )
            .into(),
        };
        // Ahead of the answer, so that it is there when the parent has read that.
        if let Some(descriptor) = &reply.descriptor {
            link::send(stdin(), b"\n", Some(descriptor.as_fd()))?;
        }
        send(&mut output, &reply.answer)?;
    }
    Ok(())
}

#[derive(Default)]
struct Input {
    lines: LineBuffer,
    descriptors: VecDeque<OwnedFd>,
}

impl Input {
    /// The next command, `None` at the end.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut chunk = [0; 4096];
        loop {
            if let Some(line) = self.lines.next_line() {
                return Ok(Some(line));
            }
            match link::receive(stdin(), &mut chunk, &mut self.descriptors, RecvFlags::empty())? {
                0 => return Ok(None),
                count => self.lines.push(chunk.get(..count).unwrap_or_default()),
            }
        }
    }
}

/// Keeps standard output for the answers alone: what a library prints there goes to standard error from now on.
fn take_standard_output() -> io::Result<File> {
    let answers = fcntl_dupfd_cloexec(stdout(), 3)?;
    dup2_stdout(stderr())?;
    Ok(File::from(answers))
}

fn send(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}
