//! A machine with two GPUs, and what the sections do again and again.

use crate::api::Api;
use std::{
    ffi::{CStr, c_int},
    ops::Deref,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// The kernels of the tests and those of the contract.
pub(crate) const TESTS: &str = concat!(include_str!("../../../tests/machine/kernels.ptx"), "\0");
pub(crate) const OWN: &str = concat!(include_str!("kernels.ptx"), "\0");

/// Nanoseconds after which a kernel that waits gives up.
pub(crate) const PATIENCE: u64 = 10_000_000_000;

pub(crate) struct Node(Api);

impl Deref for Node {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.0
    }
}

/// A line of the transcript: what was done, and the code.
pub(crate) fn say(what: &str, code: c_int) {
    println!("{what}: {code}");
}

/// A line of the transcript that holds a value.
pub(crate) fn tell(what: &str, value: impl std::fmt::Display) {
    println!("{what} = {value}");
}

/// A step that has to succeed for the section to mean anything.
pub(crate) fn must(what: &str, code: c_int) -> Result<(), String> {
    if code == 0 {
        Ok(())
    } else {
        Err(format!("{what} gives {code}"))
    }
}

/// A null-terminated text of this program.
pub(crate) fn text(with_zero: &str) -> Result<&CStr, String> {
    CStr::from_bytes_with_nul(with_zero.as_bytes()).map_err(|why| why.to_string())
}

impl Node {
    pub(crate) fn open() -> Result<Self, String> {
        Api::open().map(Self)
    }

    /// Initialises the driver and retains the contexts of both GPUs; the first one is current.
    pub(crate) fn start(&self) -> Result<[usize; 2], String> {
        must("cuInit", self.cuInit(0))?;
        let mut contexts = [0; 2];
        for (device, context) in (0..).zip(&mut contexts) {
            must(
                "cuDevicePrimaryCtxRetain",
                self.cuDevicePrimaryCtxRetain(context, device),
            )?;
        }
        self.enter(contexts[0])?;
        Ok(contexts)
    }

    /// The same with access both ways.
    pub(crate) fn start_peers(&self) -> Result<[usize; 2], String> {
        let [first, second] = self.start()?;
        for (own, peer) in [(second, first), (first, second)] {
            self.enter(own)?;
            must("cuCtxEnablePeerAccess", self.cuCtxEnablePeerAccess(peer, 0))?;
        }
        Ok([first, second])
    }

    pub(crate) fn enter(&self, context: usize) -> Result<(), String> {
        must("cuCtxSetCurrent", self.cuCtxSetCurrent(context))
    }

    /// Device memory of a context, which is current then.
    pub(crate) fn allocate(&self, context: usize, bytes: usize) -> Result<u64, String> {
        let mut address = 0;
        self.enter(context)?;
        must("cuMemAlloc", self.cuMemAlloc_v2(&raw mut address, bytes))?;
        Ok(address)
    }

    pub(crate) fn zeros(&self, context: usize, bytes: usize) -> Result<u64, String> {
        let address = self.allocate(context, bytes)?;
        self.write(address, &vec![0; bytes])?;
        Ok(address)
    }

    /// Pinned memory of 4 KiB with zeros in it.
    pub(crate) fn pinned(&self) -> Result<u64, String> {
        let mut address = 0;
        must("cuMemHostAlloc", self.cuMemHostAlloc(&raw mut address, 4096, 3))?;
        for word in 0..512 {
            host_word(address + word * 8).store(0, Ordering::Release);
        }
        Ok(address)
    }

    /// Copies to the current context's view of an address.
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> Result<(), String> {
        must(
            "cuMemcpyHtoD",
            self.cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()),
        )
    }

    pub(crate) fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, String> {
        let mut into = vec![0xee; bytes];
        must(
            "cuMemcpyDtoH",
            self.cuMemcpyDtoH_v2(into.as_mut_ptr().cast(), address, bytes),
        )?;
        Ok(into)
    }

    pub(crate) fn words(&self, address: u64, count: usize) -> Result<Vec<u64>, String> {
        let bytes = self.read(address, count * 8)?;
        Ok(bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|word| u64::from_ne_bytes(*word))
            .collect())
    }

    pub(crate) fn stream(&self) -> Result<usize, String> {
        let mut stream = 0;
        must("cuStreamCreate", self.cuStreamCreate(&raw mut stream, 1))?;
        Ok(stream)
    }

    pub(crate) fn event(&self, flags: u32) -> Result<usize, String> {
        let mut event = 0;
        must("cuEventCreate", self.cuEventCreate(&raw mut event, flags))?;
        Ok(event)
    }

    pub(crate) fn kernel(&self, source: &str, name: &CStr) -> Result<usize, String> {
        let (mut module, mut function) = (0, 0);
        let image = text(source)?;
        must(
            "cuModuleLoadData",
            self.cuModuleLoadData(&raw mut module, image.as_ptr().cast()),
        )?;
        must(
            "cuModuleGetFunction",
            self.cuModuleGetFunction(&raw mut function, module, name.as_ptr()),
        )?;
        Ok(function)
    }

    /// Launches a kernel whose parameters are all 64 bits wide.
    pub(crate) fn launch(
        &self,
        function: usize,
        blocks: u32,
        threads: [u32; 2],
        stream: usize,
        arguments: &[u64],
    ) -> c_int {
        let mut pointers: Vec<*const u64> = arguments.iter().map(std::ptr::from_ref).collect();
        let list = pointers.as_mut_ptr().cast();
        let [x, y] = threads;
        let none = std::ptr::null_mut();
        self.cuLaunchKernel(function, blocks, 1, 1, x, y, 1, 0, stream, list, none)
    }

    /// Loads, launches on the default stream and waits; gives the code of the wait.
    pub(crate) fn run(
        &self,
        source: &str,
        name: &CStr,
        threads: u32,
        arguments: &[u64],
    ) -> Result<c_int, String> {
        let function = self.kernel(source, name)?;
        must(
            "cuLaunchKernel",
            self.launch(function, 1, [threads, 1], 0, arguments),
        )?;
        self.settle(0)
    }

    /// Waits for a stream by asking, within a deadline; gives the code that is not "not ready".
    pub(crate) fn settle(&self, stream: usize) -> Result<c_int, String> {
        const NOT_READY: c_int = 600;
        let end = Instant::now() + Duration::from_secs(30);
        while Instant::now() < end {
            match self.cuStreamQuery(stream) {
                NOT_READY => std::thread::yield_now(),
                code => return Ok(code),
            }
        }
        Err("a stream does not end".into())
    }

    /// How many of `words` words are not `start` and up, counted by a kernel of `context`.
    pub(crate) fn wrong_words(
        &self,
        context: usize,
        address: u64,
        words: u64,
        start: u64,
    ) -> Result<u64, String> {
        let out = self.zeros(context, 8)?;
        must(
            "count_wrong",
            self.run(TESTS, c"count_wrong", 1, &[address, words, start, out])?,
        )?;
        let found = self.words(out, 1)?;
        must("cuMemFree", self.cuMemFree_v2(out))?;
        found.first().copied().ok_or_else(|| "nothing read".into())
    }

    pub(crate) fn count_up(
        &self,
        context: usize,
        address: u64,
        words: u64,
        start: u64,
    ) -> Result<c_int, String> {
        self.enter(context)?;
        let threads = u32::try_from(words).map_err(|why| why.to_string())?;
        self.run(TESTS, c"count_up", threads, &[address, words, start])
    }
}

pub(crate) fn host_word(address: u64) -> &'static AtomicU64 {
    // SAFETY: pinned memory that is never freed here, and touched by others in whole words.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}
