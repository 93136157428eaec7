//! The parent's side of one worker: start it, ask it under a deadline, end it. Nothing here waits without a limit.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::RecvFlags;
use rustix::process::Signal;

use crate::gpu::{Breadcrumb, HardwareError};

use super::lines::{Ends, LineBuffer};
use super::link;
use super::protocol::{Answer, Command, VERSION};

/// How long a worker's end is waited for: the driver gives back the memory and the contexts of eight GPUs meanwhile.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Pause between two looks at whether it has ended.
const END_PAUSE: Duration = Duration::from_millis(2);
const START_LIMIT: Duration = Duration::from_secs(10);
/// Chunks taken from a pipe at a time: a library that prints without end must not keep the parent from its deadlines.
const MOST_CHUNKS: usize = 16;
/// Variables with which NCCL loads code, or a file that may set them: as root an ordinary user's would run as root.
const DROPPED_AS_ROOT: [&str; 4] = [
    "NCCL_NET_PLUGIN",
    "NCCL_TUNER_PLUGIN",
    "NCCL_PROFILER_PLUGIN",
    "NCCL_CONF_FILE",
];

fn dropped(is_root: bool) -> impl Iterator<Item = &'static str> {
    let as_root = DROPPED_AS_ROOT.into_iter().filter(move |_| is_root);
    DROPPED_VARIABLES.into_iter().chain(as_root)
}

/// Variables that a worker does not get, though the host's facts name those of CUDA: some change what the driver does
/// with each call, and so what a check shows, others load tools into the process or have the driver write core files
/// of its own, one is a secret that is none of its business.
const DROPPED_VARIABLES: [&str; 15] = [
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_INJECTION32_PATH",
    "CUDA_INJECTION64_PATH",
    "NVTX_INJECTION32_PATH",
    "NVTX_INJECTION64_PATH",
    "COMPUTE_PROFILE",
    "CUDA_PROFILE",
    "CUDA_DEBUGGER_SOFTWARE_PREEMPTION",
    "CUDA_DEVICE_WAITS_ON_EXCEPTION",
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
    "CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION",
    "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP",
    "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
    "CUDA_COREDUMP_PIPE",
    "PEERLESS_TOKEN",
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the worker process cannot be started: {0}")]
    Start(String),
    #[error("{} did not return within {} s", named(.call.as_deref()), .limit.as_secs_f64())]
    Hang {
        /// The driver call that it was about to make.
        call: Option<String>,
        limit: Duration,
    },
    #[error("the worker process ended in {}: {how}{}", named(.call.as_deref()), said(.last_words))]
    Died {
        call: Option<String>,
        how: String,
        /// By SIGKILL or SIGTERM: a person's, a service manager's or, where memory ran out, the kernel's.
        killed: bool,
        last_words: String,
    },
    #[error("the worker process gave no sense: {0}")]
    Nonsense(String),
}

fn was_killed(status: ExitStatus) -> bool {
    [Signal::KILL, Signal::TERM]
        .map(|signal| Some(signal.as_raw()))
        .contains(&status.signal())
}

fn named(call: Option<&str>) -> &str {
    call.unwrap_or("no driver call")
}

fn said(last_words: &str) -> String {
    let last_words = last_words.trim();
    if last_words.is_empty() {
        return String::new();
    }
    format!("; it said: {last_words}")
}

/// A worker that did not end even when killed: it is stuck inside the driver, and left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) pid: u32,
    pub(crate) call: Option<String>,
}

/// What the driver returned to the workers of a run that means broken hardware, or a context that is gone.
pub(crate) type HardwareErrors = Rc<RefCell<BTreeSet<HardwareError>>>;

pub(crate) struct Worker {
    child: Child,
    /// Commands go this way, descriptors both ways.
    input: UnixStream,
    output: Channel,
    answers: LineBuffer,
    breadcrumbs: Channel,
    call: LineBuffer,
    last_call: Option<String>,
    broken: HardwareErrors,
    errors: Channel,
    said: Ends,
}

/// Reading end of a pipe, until its other end is closed.
struct Channel(Option<std::fs::File>);

impl Channel {
    fn new(end: impl Into<OwnedFd>) -> io::Result<Self> {
        let end: OwnedFd = end.into();
        rustix::io::ioctl_fionbio(&end, true)?;
        Ok(Self(Some(std::fs::File::from(end))))
    }

    fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        let Some(file) = &mut self.0 else { return };
        let mut chunk = [0_u8; 8192];
        for _ in 0..MOST_CHUNKS {
            match file.read(&mut chunk) {
                Ok(count @ 1..) => take(chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => {
                    self.0 = None;
                    return;
                }
            }
        }
    }
}

impl Worker {
    /// Starts `program worker …` with variables beside those of this process; its first word is [`Self::ready`]'s to wait for.
    pub(crate) fn start(
        program: &Path,
        environment: &[(&str, &str)],
        broken: &HardwareErrors,
    ) -> Result<Self, Fault> {
        Self::spawn(program, environment, broken).map_err(|error| Fault::Start(error.to_string()))
    }

    pub(crate) fn ready(&mut self) -> Result<(), Fault> {
        match self.answer(START_LIMIT)? {
            Answer::Ready { version: VERSION } => Ok(()),
            other => Err(Fault::Nonsense(format!("it started with {other:?}"))),
        }
    }

    fn spawn(program: &Path, environment: &[(&str, &str)], broken: &HardwareErrors) -> io::Result<Self> {
        // The worker inherits the writing end; std closes every other descriptor of ours on exec.
        let (reader, writer) = rustix::pipe::pipe()?;
        fcntl_setfd(&reader, FdFlags::CLOEXEC)?;
        let (input, its_input) = UnixStream::pair()?;
        let parent = rustix::process::getpid();
        let mut process = Process::new(program);
        process
            .arg("worker")
            .arg(format!("--trace-fd={}", writer.as_raw_fd()))
            .arg(format!("--parent={}", parent.as_raw_nonzero()))
            .stdin(Stdio::from(OwnedFd::from(its_input)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for variable in dropped(rustix::process::geteuid().is_root()) {
            process.env_remove(variable);
        }
        process.envs(environment.iter().copied());
        let mut child = process.spawn()?;
        drop(writer);
        let missing = || io::Error::other("a pipe is missing");
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        Ok(Self {
            child,
            input,
            output: Channel::new(output)?,
            answers: LineBuffer::default(),
            breadcrumbs: Channel::new(reader)?,
            call: LineBuffer::default(),
            last_call: None,
            broken: Rc::clone(broken),
            errors: Channel::new(errors)?,
            said: Ends::default(),
        })
    }

    /// Gives a command, a descriptor with it; [`Self::answer`] waits for what it comes to.
    pub(crate) fn tell(
        &mut self,
        command: &Command,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(), Fault> {
        let sent = serde_json::to_vec(command)
            .map_err(io::Error::from)
            .and_then(|mut line| {
                line.push(b'\n');
                link::send(self.input.as_fd(), &line, descriptor)
            });
        // It is gone: what it left in the pipes says why.
        sent.map_err(|_| self.died())
    }

    pub(crate) fn descriptor(&mut self) -> Option<OwnedFd> {
        let (mut byte, mut descriptors) = ([0], VecDeque::new());
        let socket = self.input.as_fd();
        link::receive(socket, &mut byte, &mut descriptors, RecvFlags::DONTWAIT).ok()?;
        descriptors.pop_front()
    }

    pub(crate) fn answer(&mut self, limit: Duration) -> Result<Answer, Fault> {
        let start = Instant::now();
        loop {
            if let Some(line) = self.answers.next_line() {
                let answer = serde_json::from_slice(&line);
                return answer.map_err(|error| Fault::Nonsense(error.to_string()));
            }
            if self.output.0.is_none() {
                return Err(self.died());
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                let call = self.last_call.clone();
                return Err(Fault::Hang { call, limit });
            }
            self.listen(left);
        }
    }

    /// Waits until a pipe has something, at most `limit`, and takes what is there.
    fn listen(&mut self, limit: Duration) {
        let channels = [&self.output, &self.breadcrumbs, &self.errors];
        let open: Vec<BorrowedFd<'_>> = channels
            .into_iter()
            .filter_map(|channel| channel.0.as_ref().map(AsFd::as_fd))
            .collect();
        let mut polled: Vec<PollFd<'_>> = open
            .iter()
            .map(|end| PollFd::from_borrowed_fd(*end, PollFlags::IN))
            .collect();
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        // An interrupted poll is a short wait; the caller loops.
        let _ = poll(&mut polled, Some(&limit));
        self.collect();
    }

    fn collect(&mut self) {
        self.breadcrumbs.drain(|bytes| self.call.push(bytes));
        while let Some(line) = self.call.next_line() {
            match serde_json::from_slice(&line) {
                Ok(Breadcrumb::Call(name)) => self.last_call = Some(name),
                Ok(Breadcrumb::Hardware(error)) => {
                    self.broken.borrow_mut().insert(error);
                }
                // A process that died in the middle of a line.
                Err(_) => {}
            }
        }
        self.errors.drain(|bytes| self.said.push(bytes));
        self.output.drain(|bytes| self.answers.push(bytes));
    }

    fn died(&mut self) -> Fault {
        let status = self.wait(END_LIMIT);
        self.collect();
        let how = match status {
            Some(status) => status.to_string(),
            None => "it closed its output".to_owned(),
        };
        Fault::Died {
            call: self.last_call.clone(),
            how,
            killed: status.is_some_and(was_killed),
            last_words: self.said.last(),
        }
    }

    /// What it and its libraries wrote to standard error so far, of a long text both ends.
    pub(crate) fn said(&mut self) -> String {
        self.collect();
        self.said.text()
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if start.elapsed() < limit => std::thread::sleep(END_PAUSE),
                _ => return None,
            }
        }
    }

    /// Asks it to release everything and end; [`Self::finish`] waits for that.
    pub(crate) fn dismiss(&mut self) {
        // One that cannot be told is gone.
        let _ = self.tell(&Command::Close, None);
    }

    /// Waits for the end of a worker that was dismissed; kills it where that does not come.
    pub(crate) fn finish(mut self) -> Result<(), Stuck> {
        let start = Instant::now();
        while self.output.0.is_some() && start.elapsed() < END_LIMIT {
            self.listen(END_LIMIT.saturating_sub(start.elapsed()));
        }
        if self.output.0.is_none() && self.wait(END_LIMIT).is_some() {
            self.collect();
            return Ok(());
        }
        self.kill()
    }

    /// Kills it. `Err` when it does not end even then.
    pub(crate) fn kill(mut self) -> Result<(), Stuck> {
        // Fails only where it has ended already.
        let _ = self.child.kill();
        let has_ended = self.wait(END_LIMIT).is_some();
        self.collect();
        if has_ended {
            return Ok(());
        }
        Err(Stuck {
            pid: self.child.id(),
            call: self.last_call.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library that prints without end stands behind the pipe.
    #[test]
    fn a_flood_of_messages_does_not_keep_the_parent_from_its_deadlines() {
        let mut channel = Channel(Some(std::fs::File::open("/dev/zero").unwrap()));
        let mut chunks = 0;
        channel.drain(|_| {
            chunks += 1;
            assert!(chunks <= MOST_CHUNKS, "it reads until there is nothing more");
        });
        assert!(chunks > 0 && channel.0.is_some());
    }
}
