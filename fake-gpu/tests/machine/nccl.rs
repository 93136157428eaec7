//! NCCL: communicators of one process and of several, and collectives that move data.
#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "ranks and sizes of a few digits"
)]

use crate::{
    cuda::Cuda,
    support::{command, is_child, on_machine},
};
use fake_gpu::Scenario;
use libloading::Library;
use std::{
    ffi::{CStr, c_char, c_int},
    process::Stdio,
};

/// `ncclUniqueId`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct UniqueId([u8; 128]);

/// `ncclFloat32`, `ncclSum`.
pub(crate) const FLOAT: c_int = 7;
pub(crate) const SUM: c_int = 0;

macro_rules! functions {
    ($($name:ident ( $($argument:ident : $kind:ty),* );)*) => {
        impl Nccl {
            $(pub(crate) fn $name(&self, $($argument: $kind),*) -> c_int {
                // SAFETY: the signature is that of nccl.h; the pointers are those of live values of the tests.
                unsafe {
                    let function: libloading::Symbol<'_, unsafe extern "C" fn($($kind),*) -> c_int> =
                        self.0.get(stringify!($name)).unwrap();
                    function($($argument),*)
                }
            })*
        }
    };
}

/// The library.
pub(crate) struct Nccl(Library);

functions! {
    ncclGetVersion(version: *mut c_int);
    ncclGetUniqueId(id: *mut UniqueId);
    ncclCommInitRank(communicator: *mut usize, ranks: c_int, id: UniqueId, rank: c_int);
    ncclCommInitAll(communicators: *mut usize, devices: c_int, list: *const c_int);
    ncclCommDestroy(communicator: usize);
    ncclCommAbort(communicator: usize);
    ncclCommCount(communicator: usize, count: *mut c_int);
    ncclCommUserRank(communicator: usize, rank: *mut c_int);
    ncclCommCuDevice(communicator: usize, device: *mut c_int);
    ncclCommGetAsyncError(communicator: usize, result: *mut c_int);
    ncclGroupStart();
    ncclGroupEnd();
    ncclAllReduce(from: u64, to: u64, count: usize, kind: c_int, reduction: c_int, communicator: usize, stream: usize);
    ncclAllGather(from: u64, to: u64, count: usize, kind: c_int, communicator: usize, stream: usize);
    ncclReduceScatter(from: u64, to: u64, count: usize, kind: c_int, reduction: c_int, communicator: usize, stream: usize);
    ncclBroadcast(from: u64, to: u64, count: usize, kind: c_int, root: c_int, communicator: usize, stream: usize);
    ncclReduce(from: u64, to: u64, count: usize, kind: c_int, reduction: c_int, root: c_int, communicator: usize, stream: usize);
    ncclSend(from: u64, count: usize, kind: c_int, peer: c_int, communicator: usize, stream: usize);
    ncclRecv(to: u64, count: usize, kind: c_int, peer: c_int, communicator: usize, stream: usize);
}

impl Nccl {
    pub(crate) fn open() -> Self {
        // SAFETY: the library's initialisers are Rust's own.
        Self(unsafe { Library::new("libnccl.so.2") }.unwrap())
    }

    /// The text of a function that gives one.
    pub(crate) fn text(&self, function: &str, argument: usize) -> String {
        // SAFETY: the functions named take a number or handle and give a text that stays.
        unsafe {
            let ask = self
                .0
                .get::<unsafe extern "C" fn(usize) -> *const c_char>(function)
                .unwrap();
            CStr::from_ptr(ask(argument)).to_string_lossy().into_owned()
        }
    }
}

/// Ranks of one process with a stream and two buffers of six numbers each.
pub(crate) struct Ranks<'a> {
    cuda: &'a Cuda,
    pub(crate) nccl: Nccl,
    pub(crate) contexts: Vec<usize>,
    pub(crate) communicators: Vec<usize>,
    pub(crate) streams: Vec<usize>,
    pub(crate) from: Vec<u64>,
    pub(crate) to: Vec<u64>,
}

const NUMBERS: usize = 6;

impl<'a> Ranks<'a> {
    /// One on each GPU; rank r gives 10 r + 1, 10 r + 2, …
    pub(crate) fn start(cuda: &'a Cuda) -> Self {
        let (nccl, contexts) = (Nccl::open(), cuda.start());
        let mut communicators = vec![0; contexts.len()];
        let made = nccl.ncclCommInitAll(
            communicators.as_mut_ptr(),
            contexts.len() as c_int,
            std::ptr::null(),
        );
        assert_eq!(made, 0);
        let each =
            |body: &dyn Fn(usize) -> u64| contexts.iter().map(|context| body(*context)).collect::<Vec<_>>();
        let (from, to) = (
            each(&|of| cuda.allocate(of, 64)),
            each(&|of| cuda.allocate(of, 64)),
        );
        for (rank, address) in from.iter().enumerate() {
            let numbers = (1..=NUMBERS).flat_map(|i| ((10 * rank + i) as f32).to_le_bytes());
            cuda.write(contexts[rank], *address, &numbers.collect::<Vec<u8>>());
        }
        let streams = contexts.iter().map(|of| cuda.stream(*of)).collect();
        Self {
            cuda,
            nccl,
            contexts,
            communicators,
            streams,
            from,
            to,
        }
    }

    /// Has every rank call something within one group.
    fn group(&self, call: impl Fn(&Nccl, usize) -> c_int) {
        assert_eq!(self.nccl.ncclGroupStart(), 0);
        for rank in 0..self.contexts.len() {
            assert_eq!(call(&self.nccl, rank), 0);
        }
        assert_eq!(self.nccl.ncclGroupEnd(), 0);
    }

    /// The same, and the first numbers that each rank then has.
    fn all(&self, call: impl Fn(&Nccl, usize) -> c_int, numbers: usize) -> Vec<Vec<f32>> {
        self.group(call);
        let read = |rank: usize| {
            assert_eq!(self.cuda.cuCtxSetCurrent(self.contexts[rank]), 0);
            assert_eq!(self.cuda.cuStreamSynchronize(self.streams[rank]), 0);
            let bytes = self.cuda.read(self.contexts[rank], self.to[rank], numbers * 4);
            let (words, _) = bytes.as_chunks::<4>();
            words.iter().map(|word| f32::from_le_bytes(*word)).collect()
        };
        (0..self.contexts.len()).map(read).collect()
    }

    pub(crate) fn all_reduce(&self) -> Vec<Vec<f32>> {
        let call = |nccl: &Nccl, r: usize| {
            nccl.ncclAllReduce(
                self.from[r],
                self.to[r],
                2,
                FLOAT,
                SUM,
                self.communicators[r],
                self.streams[r],
            )
        };
        self.all(call, 2)
    }
}

#[test]
fn it_tells_its_version_and_its_texts() {
    on_machine(
        &Scenario::healthy(0),
        "nccl::it_tells_its_version_and_its_texts",
        |_| {
            let (nccl, mut version) = (Nccl::open(), 0);
            let asked = [&raw mut version, std::ptr::null_mut()].map(|place| nccl.ncclGetVersion(place));
            assert_eq!((asked, version), ([0, 4], 22_809));
            assert_eq!(nccl.text("ncclGetErrorString", 7), "NCCL operation in progress");
            assert_eq!(nccl.text("ncclGetLastError", 0), "");
        },
    );
}

#[test]
fn communicators_know_who_they_are() {
    on_machine(
        &Scenario::healthy(3),
        "nccl::communicators_know_who_they_are",
        |cuda| {
            let ranks = Ranks::start(cuda);
            let (nccl, last) = (&ranks.nccl, ranks.communicators[2]);
            let ask = |function: &dyn Fn(*mut c_int) -> c_int| {
                let mut value = -1;
                assert_eq!(function(&raw mut value), 0);
                value
            };
            let told = [
                ask(&|value| nccl.ncclCommCount(last, value)),
                ask(&|value| nccl.ncclCommUserRank(last, value)),
                ask(&|value| nccl.ncclCommCuDevice(last, value)),
                ask(&|value| nccl.ncclCommGetAsyncError(last, value)),
            ];
            assert_eq!(told, [3, 2, 2, 0]);
            assert_eq!([nccl.ncclCommDestroy(last), nccl.ncclCommDestroy(last)], [0, 4]);
            assert_eq!(nccl.ncclCommAbort(ranks.communicators[0]), 0);
            assert_eq!(nccl.ncclGroupEnd(), 5, "no group was begun");
        },
    );
}

#[test]
fn collectives_move_data() {
    on_machine(&Scenario::healthy(3), "nccl::collectives_move_data", |cuda| {
        let of = Ranks::start(cuda);
        let (from, to, comm, streams) = (&of.from, &of.to, &of.communicators, &of.streams);
        assert_eq!(of.all_reduce(), vec![vec![33.0, 36.0]; 3]);
        let gathered = of.all(
            |nccl, r| nccl.ncclAllGather(from[r], to[r], 2, FLOAT, comm[r], streams[r]),
            6,
        );
        assert_eq!(gathered, vec![vec![1.0, 2.0, 11.0, 12.0, 21.0, 22.0]; 3]);
        let scattered = of.all(
            |nccl, r| nccl.ncclReduceScatter(from[r], to[r], 2, FLOAT, SUM, comm[r], streams[r]),
            2,
        );
        assert_eq!(scattered, [[33.0, 36.0], [39.0, 42.0], [45.0, 48.0]]);
        let sent = of.all(
            |nccl, r| nccl.ncclBroadcast(from[r], to[r], 2, FLOAT, 1, comm[r], streams[r]),
            2,
        );
        assert_eq!(sent, vec![vec![11.0, 12.0]; 3]);
        let reduced = of.all(
            |nccl, r| nccl.ncclReduce(from[r], to[r], 2, FLOAT, SUM, 2, comm[r], streams[r]),
            2,
        );
        assert_eq!(reduced, [[11.0, 12.0], [11.0, 12.0], [33.0, 36.0]]);
        let around = of.all(
            |nccl, r| {
                let sent = nccl.ncclSend(from[r], 2, FLOAT, (r as c_int + 1) % 3, comm[r], streams[r]);
                sent + nccl.ncclRecv(to[r], 2, FLOAT, (r as c_int + 2) % 3, comm[r], streams[r])
            },
            2,
        );
        assert_eq!(around, [[21.0, 22.0], [1.0, 2.0], [11.0, 12.0]]);
    });
}

#[test]
fn what_cannot_be_is_refused() {
    on_machine(&Scenario::healthy(2), "nccl::what_cannot_be_is_refused", |cuda| {
        let of = Ranks::start(cuda);
        let (nccl, from, to, stream) = (&of.nccl, of.from[0], of.to[0], of.streams[0]);
        let reduce =
            |count, kind| nccl.ncclAllReduce(from, to, count, kind, SUM, of.communicators[0], stream);
        assert_eq!([reduce(1000, FLOAT), reduce(1, 6), reduce(1, 99)], [4, 4, 4]);
        assert_eq!(
            nccl.ncclAllReduce(from, to, 1, FLOAT, SUM, 77, stream),
            4,
            "no communicator"
        );
        let mut communicator = 0;
        let nothing = UniqueId([0; 128]);
        assert_eq!(nccl.ncclCommInitRank(&raw mut communicator, 1, nothing, 0), 4);
        let mut twice = [0; 2];
        assert_eq!(nccl.ncclCommInitAll(twice.as_mut_ptr(), 2, [1, 1].as_ptr()), 5);
        assert!(
            nccl.text("ncclGetLastError", 0)
                .contains("Duplicate GPU detected")
        );
    });
}

/// All-reduce of 8 MiB, timed by events.
#[test]
fn collectives_take_the_time_of_their_bus() {
    on_machine(
        &Scenario::healthy(2),
        "nccl::collectives_take_the_time_of_their_bus",
        |cuda| {
            const BYTES: usize = 8 << 20;
            let of = Ranks::start(cuda);
            let large = [0, 1].map(|gpu| [(); 2].map(|()| cuda.allocate(of.contexts[gpu], BYTES)));
            let (mut start, mut end, mut milliseconds) = (0, 0, 0.0);
            assert_eq!(cuda.cuCtxSetCurrent(of.contexts[0]), 0);
            assert_eq!(cuda.cuEventCreate(&raw mut start, 0), 0);
            assert_eq!(cuda.cuEventCreate(&raw mut end, 0), 0);
            // The first one waits for the slower of the two to begin.
            of.all_reduce();
            assert_eq!(cuda.cuCtxSetCurrent(of.contexts[0]), 0);
            assert_eq!(cuda.cuEventRecord(start, of.streams[0]), 0);
            of.group(|nccl, r| {
                let ([from, to], comm) = (large[r], of.communicators[r]);
                nccl.ncclAllReduce(from, to, BYTES / 4, FLOAT, SUM, comm, of.streams[r])
            });
            assert_eq!(cuda.cuCtxSetCurrent(of.contexts[0]), 0);
            assert_eq!(cuda.cuEventRecord(end, of.streams[0]), 0);
            assert_eq!(cuda.cuStreamSynchronize(of.streams[0]), 0);
            assert_eq!(cuda.cuEventElapsedTime(&raw mut milliseconds, start, end), 0);
            let bus = BYTES as f64 / f64::from(milliseconds) / 1e6;
            assert!((bus / 312.64 - 1.0).abs() < 0.05, "{bus}");
        },
    );
}

/// Begins the line that names the communicator: the test harness prints some of its own.
const MARK: &str = "id: ";

#[test]
fn ranks_of_several_processes_meet() {
    let test = "nccl::ranks_of_several_processes_meet";
    if is_child() {
        let cuda = Cuda::open().unwrap();
        let (nccl, contexts) = (Nccl::open(), cuda.start());
        let mut id = UniqueId([0; 128]);
        let rank = if let Ok(hex) = std::env::var("ID") {
            id.0 = std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..][..2], 16).unwrap());
            1
        } else {
            assert_eq!(nccl.ncclGetUniqueId(&raw mut id), 0);
            println!("{MARK}{}", id.0.map(|byte| format!("{byte:02x}")).concat());
            0
        };
        let (context, mut communicator) = (contexts[rank], 0);
        assert_eq!(cuda.cuCtxSetCurrent(context), 0);
        assert_eq!(
            nccl.ncclCommInitRank(&raw mut communicator, 2, id, rank as c_int),
            0
        );
        let memory = cuda.allocate(context, 4);
        cuda.write(context, memory, &(rank as f32 + 1.5).to_le_bytes());
        assert_eq!(
            nccl.ncclAllReduce(memory, memory, 1, FLOAT, SUM, communicator, 0),
            0
        );
        assert_eq!(cuda.cuCtxSynchronize(), 0);
        assert_eq!(cuda.read(context, memory, 4), 4.0_f32.to_le_bytes());
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let installed = fake_gpu::install(dir.path(), &Scenario::healthy(2)).unwrap();
    let mut first = command(&installed, test).stdout(Stdio::piped()).spawn().unwrap();
    let said = std::io::BufRead::lines(std::io::BufReader::new(first.stdout.take().unwrap()));
    let mut ids = said.filter_map(|line| Some(line.unwrap().split_once(MARK)?.1.to_owned()));
    let id = ids.next().unwrap();
    let second = command(&installed, test).env("ID", id).output().unwrap();
    assert!(second.status.success(), "{second:?}");
    assert_eq!(ids.count(), 0);
    assert!(first.wait().unwrap().success());
}
