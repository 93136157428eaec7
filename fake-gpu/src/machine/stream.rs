//! Streams: one thread each, work in order. What one piece of work waits for, in whatever stream, is a list of
//! tickets; that serves events and the legacy default stream alike.

use super::{Machine, context::Context};
use crate::driver::Code;
use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

/// What the caller names the legacy default stream by.
pub(crate) const LEGACY_HANDLES: [usize; 2] = [0, 1];

pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    /// Waits for the legacy default stream, and it for this one.
    blocking: bool,
    legacy: bool,
    progress: Arc<Progress>,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Progress {
    /// When each piece of work ended, in the model of time.
    ends: Mutex<Vec<u64>>,
    changed: Condvar,
}

struct Queue {
    sender: Sender<Job>,
    submitted: usize,
}

struct Job {
    after: Vec<Ticket>,
    /// When the host queued it.
    queued: u64,
    work: Work,
}

/// A piece of a stream's work: from its earliest begin to its end in model time. An error spoils all contexts of the process.
pub(crate) type Work = Box<dyn FnOnce(u64) -> Result<u64, Code> + Send>;

/// A point in a stream that can be waited for.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    progress: Arc<Progress>,
    number: usize,
}

impl Ticket {
    pub(crate) fn is_done(&self) -> bool {
        self.progress.ends().len() >= self.number
    }

    /// Waits until the point is reached; gives when that was, in the model of time.
    fn wait(&self) -> u64 {
        let ends = self.progress.ends();
        let reached = self
            .progress
            .changed
            .wait_while(ends, |ends| ends.len() < self.number);
        let ends = reached.unwrap_or_else(PoisonError::into_inner);
        let last = self.number.checked_sub(1).and_then(|last| ends.get(last));
        last.copied().unwrap_or(0)
    }
}

impl Progress {
    fn ends(&self) -> MutexGuard<'_, Vec<u64>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    pub(crate) fn new(context: &Arc<Context>, blocking: bool, legacy: bool) -> Result<Self, Code> {
        let (sender, receiver) = channel();
        let progress = Arc::<Progress>::default();
        let (of_context, of_progress) = (Arc::clone(context), Arc::clone(&progress));
        // Not joined: a kernel that never ends must not keep the process from ending.
        let started = thread::Builder::new()
            .name("fake-gpu-stream".into())
            .spawn(move || run(&receiver, &of_context, &of_progress));
        started.map_err(|_| Code::OUT_OF_MEMORY)?;
        let queue = Mutex::new(Queue { sender, submitted: 0 });
        Ok(Self {
            context: Arc::clone(context),
            blocking,
            legacy,
            progress,
            queue,
        })
    }

    pub(crate) fn last(&self) -> Ticket {
        let number = self
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .submitted;
        Ticket {
            progress: Arc::clone(&self.progress),
            number,
        }
    }

    /// Queues work behind all earlier work of this stream and behind `after`.
    fn push(&self, after: Vec<Ticket>, queued: u64, work: Work) -> Ticket {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.submitted += 1;
        let ticket = Ticket {
            progress: Arc::clone(&self.progress),
            number: queue.submitted,
        };
        // The thread ends only when the sender is gone.
        let _ = queue.sender.send(Job { after, queued, work });
        ticket
    }
}

fn run(jobs: &Receiver<Job>, context: &Context, progress: &Progress) {
    let mut now = 0;
    for job in jobs {
        now = job
            .after
            .iter()
            .map(Ticket::wait)
            .fold(now.max(job.queued), u64::max);
        // A spoiled context does nothing more, but what was queued still ends.
        if context.check().is_ok() {
            match guarded(job.work, now) {
                Ok(end) => now = end,
                Err(code) => context.spoil_process(code),
            }
        }
        progress.ends().push(now);
        progress.changed.notify_all();
    }
}

/// A panic in a piece of work (a defect of the stand-in) must not leave everybody waiting.
fn guarded(work: Work, start: u64) -> Result<u64, Code> {
    let body = std::panic::AssertUnwindSafe(|| work(start));
    std::panic::catch_unwind(body).unwrap_or(Err(Code::UNKNOWN))
}

impl Machine {
    /// The stream that a caller names: one of any context, or the caller's default stream.
    pub(crate) fn stream(&self, context: &Arc<Context>, handle: usize) -> Result<Arc<Stream>, Code> {
        if LEGACY_HANDLES.contains(&handle) {
            return context.default_stream();
        }
        self.streams.get(handle).ok_or(Code::INVALID_HANDLE)
    }

    /// Queues work on a stream, behind `after` and whatever the legacy default stream asks for: it waits for every
    /// blocking stream of its context, and they for it.
    pub(crate) fn submit(&self, stream: &Stream, mut after: Vec<Ticket>, work: Work) -> Ticket {
        if stream.legacy {
            after.extend(
                self.blocking_streams(&stream.context)
                    .iter()
                    .map(|other| other.last()),
            );
        } else if stream.blocking {
            after.extend(stream.context.used_default_stream().map(|default| default.last()));
        }
        stream.push(after, self.time.now(), work)
    }

    /// What has to end before a stream counts as idle.
    pub(crate) fn pending(&self, stream: &Stream) -> Vec<Ticket> {
        let mut tickets = vec![stream.last()];
        if stream.legacy {
            tickets.extend(
                self.blocking_streams(&stream.context)
                    .iter()
                    .map(|other| other.last()),
            );
        }
        tickets
    }

    pub(crate) fn drain(&self, context: &Arc<Context>) {
        let streams = self.streams.all();
        let own = streams
            .iter()
            .filter(|stream| Arc::ptr_eq(&stream.context, context));
        let tickets = own
            .map(|stream| stream.last())
            .chain(context.used_default_stream().map(|s| s.last()));
        for ticket in tickets.collect::<Vec<_>>() {
            self.wait(&ticket);
        }
    }

    pub(crate) fn wait(&self, ticket: &Ticket) {
        self.time.wait_until(ticket.wait());
    }

    /// Whether a point of a stream has been reached; the host's clock is past it then.
    pub(crate) fn has_reached(&self, ticket: &Ticket) -> bool {
        let reached = ticket.is_done();
        if reached {
            self.wait(ticket);
        }
        reached
    }

    fn blocking_streams(&self, context: &Arc<Context>) -> Vec<Arc<Stream>> {
        let mut streams = self.streams.all();
        streams.retain(|stream| stream.blocking && Arc::ptr_eq(&stream.context, context));
        streams
    }
}
