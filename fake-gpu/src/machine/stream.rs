//! Streams: one thread each, work in order. What one piece of work waits for, in whatever stream, is a list of
//! tickets; that serves events and the legacy default stream alike.

use super::{Machine, context::Context};
use crate::driver::Code;
use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

/// What the caller names the legacy default stream by.
pub(crate) const LEGACY_HANDLES: [usize; 2] = [0, 1];

/// A stream of a context.
pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    /// Waits for the legacy default stream, and it for this one.
    blocking: bool,
    legacy: bool,
    progress: Arc<Progress>,
    queue: Mutex<Queue>,
}

/// How far a stream has come.
#[derive(Debug, Default)]
struct Progress {
    done: Mutex<u64>,
    changed: Condvar,
}

struct Queue {
    sender: Sender<Job>,
    submitted: u64,
}

struct Job {
    after: Vec<Ticket>,
    work: Work,
}

/// A piece of work of a stream; an error spoils its context.
pub(crate) type Work = Box<dyn FnOnce() -> Result<(), Code> + Send>;

/// A point in a stream that can be waited for.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    progress: Arc<Progress>,
    number: u64,
}

impl Ticket {
    pub(crate) fn is_done(&self) -> bool {
        *self.progress.done.lock().unwrap_or_else(PoisonError::into_inner) >= self.number
    }

    pub(crate) fn wait(&self) {
        let done = self.progress.done.lock().unwrap_or_else(PoisonError::into_inner);
        let reached = self.progress.changed.wait_while(done, |done| *done < self.number);
        drop(reached.unwrap_or_else(PoisonError::into_inner));
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

    /// Everything submitted so far.
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
    fn push(&self, after: Vec<Ticket>, work: Work) -> Ticket {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.submitted += 1;
        let ticket = Ticket {
            progress: Arc::clone(&self.progress),
            number: queue.submitted,
        };
        // The thread ends only when the sender is gone.
        let _ = queue.sender.send(Job { after, work });
        ticket
    }
}

fn run(jobs: &Receiver<Job>, context: &Context, progress: &Progress) {
    for job in jobs {
        job.after.iter().for_each(Ticket::wait);
        // A spoiled context does nothing more, but what was queued still ends.
        if context.check().is_ok()
            && let Err(code) = guarded(job.work)
        {
            context.spoil(code);
        }
        *progress.done.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        progress.changed.notify_all();
    }
}

/// A panic in a piece of work (a defect of the stand-in) must not leave everybody waiting.
fn guarded(work: Work) -> Result<(), Code> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(Err(Code::UNKNOWN))
}

impl Machine {
    /// The stream that a caller names, in the caller's context.
    pub(crate) fn stream(&self, context: &Arc<Context>, handle: usize) -> Result<Arc<Stream>, Code> {
        if LEGACY_HANDLES.contains(&handle) {
            return context.default_stream();
        }
        let stream = self.streams.get(handle).ok_or(Code::INVALID_HANDLE)?;
        if Arc::ptr_eq(&stream.context, context) {
            Ok(stream)
        } else {
            Err(Code::INVALID_HANDLE)
        }
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
        stream.push(after, work)
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

    /// Waits for everything that a context has queued.
    pub(crate) fn drain(&self, context: &Arc<Context>) {
        let streams = self.streams.all();
        let own = streams
            .iter()
            .filter(|stream| Arc::ptr_eq(&stream.context, context));
        let tickets = own
            .map(|stream| stream.last())
            .chain(context.used_default_stream().map(|s| s.last()));
        for ticket in tickets.collect::<Vec<_>>() {
            ticket.wait();
        }
    }

    fn blocking_streams(&self, context: &Arc<Context>) -> Vec<Arc<Stream>> {
        let mut streams = self.streams.all();
        streams.retain(|stream| stream.blocking && Arc::ptr_eq(&stream.context, context));
        streams
    }
}
