//! Primary contexts, one for each CUDA ordinal, and which one each thread works with.

use super::{Machine, stream::Stream};
use crate::{driver::Code, scenario::ComputeMode};
use std::{
    cell::RefCell,
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicI32, Ordering},
    },
};

/// Memory that has to be free for a context; it is not taken, which a real one does (a fixture).
const CONTEXT_BYTES: u64 = 256 << 20;

/// Handle of the context of ordinal 0. A primary context keeps its handle when it is made anew.
const FIRST_HANDLE: usize = 0x1_0000;
const HANDLE_STEP: usize = 0x100;

pub(crate) struct Context {
    pub(crate) ordinal: usize,
    /// Place of its GPU in the scenario.
    pub(crate) gpu: usize,
    /// The error that spoiled it alone, 0 while there is none.
    spoiled: AtomicI32,
    /// The error of a kernel or copy that spoiled every context of the process, 0 while there is none.
    process: Arc<AtomicI32>,
    /// GPUs, by place, whose memory its kernels may reach.
    peers: RwLock<HashSet<usize>>,
    default_stream: Mutex<Option<Arc<Stream>>>,
}

pub(crate) struct Contexts {
    slots: Vec<Mutex<Slot>>,
    /// What kernels and copies have done to all of them.
    spoiled: Arc<AtomicI32>,
}

#[derive(Default)]
struct Slot {
    users: usize,
    context: Option<Arc<Context>>,
}

thread_local! {
    /// Ordinals; the last one is current, `None` is the null context.
    static CURRENT: RefCell<Vec<Option<usize>>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn handle_of(ordinal: usize) -> usize {
    FIRST_HANDLE + ordinal * HANDLE_STEP
}

pub(crate) fn ordinal_of(handle: usize) -> Option<usize> {
    let distance = handle.checked_sub(FIRST_HANDLE)?;
    distance
        .is_multiple_of(HANDLE_STEP)
        .then_some(distance / HANDLE_STEP)
}

pub(crate) fn current_ordinal() -> Option<usize> {
    CURRENT.with_borrow(|stack| stack.last().copied().flatten())
}

pub(crate) fn set_current(ordinal: Option<usize>) {
    CURRENT.with_borrow_mut(|stack| {
        stack.pop();
        stack.extend(ordinal.map(Some));
    });
}

impl Context {
    pub(crate) fn check(&self) -> Result<(), Code> {
        let errors = [&self.spoiled, &self.process].map(|error| error.load(Ordering::Acquire));
        match errors.into_iter().find(|code| *code != 0) {
            None => Ok(()),
            Some(code) => Err(Code(code)),
        }
    }

    /// Spoils it; the first error stays.
    pub(crate) fn spoil(&self, code: Code) {
        set_first(&self.spoiled, code);
    }

    /// Spoils the process's contexts, future ones too: `cuda.h` asks for a new process after 700. The first error stays.
    pub(crate) fn spoil_process(&self, code: Code) {
        set_first(&self.process, code);
    }

    pub(crate) fn has_peer(&self, gpu: usize) -> bool {
        self.peers
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&gpu)
    }

    /// Lets its kernels reach the memory of a GPU. 704 when they may already, 711 when `limit` is reached.
    pub(crate) fn add_peer(&self, gpu: usize, limit: usize) -> Result<(), Code> {
        let mut peers = self.peers.write().unwrap_or_else(PoisonError::into_inner);
        if peers.contains(&gpu) {
            return Err(Code::PEER_ACCESS_ALREADY_ENABLED);
        }
        if peers.len() >= limit {
            return Err(Code::TOO_MANY_PEERS);
        }
        peers.insert(gpu);
        Ok(())
    }

    /// Takes that right away. 705 when there was none.
    pub(crate) fn remove_peer(&self, gpu: usize) -> Result<(), Code> {
        let removed = self
            .peers
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&gpu);
        if removed {
            Ok(())
        } else {
            Err(Code::PEER_ACCESS_NOT_ENABLED)
        }
    }

    /// The legacy default stream, made at its first use.
    pub(crate) fn default_stream(self: &Arc<Self>) -> Result<Arc<Stream>, Code> {
        let mut stream = self.default_stream.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = &*stream {
            return Ok(Arc::clone(stream));
        }
        let made = Arc::new(Stream::new(self, true, true)?);
        *stream = Some(Arc::clone(&made));
        Ok(made)
    }

    /// The legacy default stream, if it has been used.
    pub(crate) fn used_default_stream(&self) -> Option<Arc<Stream>> {
        self.default_stream
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn set_first(error: &AtomicI32, code: Code) {
    let _ = error.compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
}

impl Contexts {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            slots: (0..count).map(|_| Mutex::default()).collect(),
            spoiled: Arc::default(),
        }
    }

    fn slot(&self, ordinal: usize) -> Option<MutexGuard<'_, Slot>> {
        Some(
            self.slots
                .get(ordinal)?
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    pub(crate) fn active(&self, ordinal: usize) -> Option<Arc<Context>> {
        self.slot(ordinal)?.context.clone()
    }
}

impl Machine {
    /// `cuDevicePrimaryCtxRetain`. Error 46: the compute mode forbids it; 2: memory is short; 999: the GPU is lost.
    pub(crate) fn retain(&self, ordinal: usize) -> Result<(), Code> {
        let place = self.devices.get(ordinal).copied().ok_or(Code::INVALID_DEVICE)?;
        let gpu = self.gpu(place).ok_or(Code::INVALID_DEVICE)?;
        let mode = gpu.compute_mode;
        if self.condition(place).is_some_and(|now| now.lost) {
            return Err(Code::UNKNOWN);
        }
        let mut slot = self.contexts.slot(ordinal).ok_or(Code::INVALID_DEVICE)?;
        if slot.context.is_none() {
            let alone = matches!(mode, ComputeMode::ExclusiveProcess | ComputeMode::ExclusiveThread);
            let taken = alone && !gpu.processes.is_empty();
            if mode == ComputeMode::Prohibited || taken || !self.ledger.enter(place, alone)? {
                return Err(Code::DEVICE_UNAVAILABLE);
            }
            let used = self.ledger.used(place)? + gpu.listed_bytes();
            if gpu.memory_bytes.saturating_sub(used) < CONTEXT_BYTES {
                self.ledger.leave(place);
                return Err(Code::OUT_OF_MEMORY);
            }
            slot.context = Some(Arc::new(Context {
                ordinal,
                gpu: place,
                spoiled: AtomicI32::new(0),
                process: Arc::clone(&self.contexts.spoiled),
                peers: RwLock::default(),
                default_stream: Mutex::default(),
            }));
        }
        slot.users += 1;
        Ok(())
    }

    /// `cuDevicePrimaryCtxRelease`: the last release destroys the context and all that goes with it.
    pub(crate) fn release_context(&self, ordinal: usize) -> Result<(), Code> {
        let mut slot = self.contexts.slot(ordinal).ok_or(Code::INVALID_DEVICE)?;
        slot.users = slot.users.checked_sub(1).ok_or(Code::INVALID_CONTEXT)?;
        if slot.users > 0 {
            return Ok(());
        }
        let Some(context) = slot.context.take() else {
            return Ok(());
        };
        drop(slot);
        self.streams
            .remove_all(|stream| Arc::ptr_eq(&stream.context, &context));
        self.events
            .remove_all(|event| Arc::ptr_eq(&event.context, &context));
        self.modules.remove_all(&context);
        context
            .default_stream
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.release_all(ordinal);
        self.ledger.leave(context.gpu);
        Ok(())
    }

    /// The current context of this thread, unspoiled. The loss of its GPU spoils it.
    pub(crate) fn current(&self) -> Result<Arc<Context>, Code> {
        let ordinal = current_ordinal().ok_or(Code::INVALID_CONTEXT)?;
        let context = self.contexts.active(ordinal).ok_or(Code::CONTEXT_IS_DESTROYED)?;
        if self.condition(context.gpu).is_some_and(|now| now.lost) {
            context.spoil(Code::LAUNCH_FAILED);
        }
        context.check()?;
        Ok(context)
    }

    /// The GPU, by place, of the current context of this thread, spoiled or not.
    pub(crate) fn current_gpu(&self) -> Option<usize> {
        let context = self.contexts.active(current_ordinal()?)?;
        Some(context.gpu)
    }

    pub(crate) fn spoil_current(&self, code: Code) {
        if let Some(context) = current_ordinal().and_then(|ordinal| self.contexts.active(ordinal)) {
            context.spoil(code);
        }
    }

    pub(crate) fn context(&self, handle: usize) -> Result<Arc<Context>, Code> {
        let ordinal = ordinal_of(handle).ok_or(Code::INVALID_CONTEXT)?;
        self.contexts.active(ordinal).ok_or(Code::INVALID_CONTEXT)
    }
}
