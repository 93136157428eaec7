//! Faults of accesses: what the owner sees, what the initiator sees, and which naive check is fooled.

use crate::{
    cuda::Cuda,
    kernels::{PTX, word, wrong_words},
    support::on_machine,
};
use fake_gpu::{
    Scenario,
    scenario::{Access, Fate, MemoryFault, Route},
};

const WORDS: u64 = 64;

/// Two GPUs with access both ways and zeros in both memories.
struct Pair<'a> {
    cuda: &'a Cuda,
    contexts: Vec<usize>,
    memory: [u64; 2],
}

impl<'a> Pair<'a> {
    fn new(cuda: &'a Cuda) -> Self {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let memory = [0, 1].map(|gpu| {
            let address = cuda.allocate(contexts[gpu], (WORDS * 8) as usize);
            cuda.write(contexts[gpu], address, &[0; (WORDS * 8) as usize]);
            address
        });
        Self {
            cuda,
            contexts,
            memory,
        }
    }

    /// A kernel of GPU `writer` writes to the memory of `owner`; every call succeeds.
    fn fill(&self, writer: usize, owner: usize) {
        assert_eq!(self.cuda.cuCtxSetCurrent(self.contexts[writer]), 0);
        let fill = self.cuda.function(PTX, c"count_up");
        assert_eq!(
            self.cuda
                .launch(fill, 1, WORDS as u32, 0, &[self.memory[owner], WORDS, 1000]),
            0
        );
        assert_eq!(self.cuda.cuCtxSynchronize(), 0);
    }

    /// A copy by GPU 0 into the memory of GPU 1; every call succeeds.
    fn push(&self) {
        let ([own, other], stream) = (self.memory, self.cuda.stream(self.contexts[0]));
        let bytes = (WORDS * 8) as usize;
        let code = self
            .cuda
            .cuMemcpyPeerAsync(other, self.contexts[1], own, self.contexts[0], bytes, stream);
        assert_eq!(code, 0);
        assert_eq!(self.cuda.cuStreamSynchronize(stream), 0);
    }

    /// Wrong words in the memory of `owner` as a kernel of `reader` sees it.
    fn wrong(&self, reader: usize, owner: usize) -> u64 {
        wrong_words(self.cuda, self.contexts[reader], self.memory[owner], WORDS, 1000)
    }
}

#[test]
fn dropped_writes_are_seen_by_the_owner() {
    on_machine(
        &Scenario::writes_dropped(),
        "faults_of_memory::dropped_writes_are_seen_by_the_owner",
        |cuda| {
            let pair = Pair::new(cuda);
            pair.fill(0, 1);
            assert_eq!(pair.wrong(1, 1), WORDS);
            pair.fill(0, 0);
            assert_eq!(pair.wrong(0, 0), 0, "a GPU's own memory is in order");
            pair.push();
            assert_eq!(pair.wrong(1, 1), WORDS, "the copy engine's stores are lost too");
        },
    );
}

#[test]
fn a_private_mirror_fools_the_writer_who_reads_back() {
    on_machine(
        &Scenario::private_mirror(),
        "faults_of_memory::a_private_mirror_fools_the_writer_who_reads_back",
        |cuda| {
            let pair = Pair::new(cuda);
            pair.fill(0, 1);
            assert_eq!(pair.wrong(0, 1), 0, "the naive check passes");
            assert_eq!(pair.wrong(1, 1), WORDS, "the owner has zeros");
            assert_eq!(cuda.cuCtxSetCurrent(pair.contexts[0]), 0);
            let add_there = cuda.function(PTX, c"add_to");
            assert_eq!(cuda.launch(add_there, 1, 1, 0, &[pair.memory[1], 1]), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 0);
            assert_eq!(
                word(cuda, pair.contexts[1], pair.memory[1]),
                0,
                "atomics stay in the mirror too"
            );
        },
    );
}

#[test]
fn without_peer_access_a_copy_takes_the_way_round_the_fault() {
    let test = "faults_of_memory::without_peer_access_a_copy_takes_the_way_round_the_fault";
    on_machine(&Scenario::writes_dropped(), test, |cuda| {
        let pair = Pair::new(cuda);
        pair.fill(0, 0);
        assert_eq!(cuda.cuCtxDisablePeerAccess(pair.contexts[1]), 0);
        pair.push();
        assert_eq!(pair.wrong(1, 1), 0);
    });
}

#[test]
fn a_fault_of_one_route_leaves_the_other_alone() {
    let mut scenario = Scenario::healthy(2);
    scenario.memory_faults.push(MemoryFault {
        initiator: Some(0),
        owner: Some(1),
        routes: vec![Route::Sm],
        accesses: vec![Access::Store],
        ..MemoryFault::always(Fate::Dropped)
    });
    on_machine(
        &scenario,
        "faults_of_memory::a_fault_of_one_route_leaves_the_other_alone",
        |cuda| {
            let pair = Pair::new(cuda);
            pair.fill(0, 1);
            assert_eq!(pair.wrong(1, 1), WORDS);
            pair.fill(0, 0);
            pair.push();
            assert_eq!(
                pair.wrong(1, 1),
                0,
                "a verified copy proves nothing about kernels"
            );
            pair.fill(1, 0);
            assert_eq!(pair.wrong(0, 0), 0, "nor one direction about the other");
        },
    );
}

#[test]
fn corruption_hits_the_bytes_it_names() {
    let mut scenario = Scenario::healthy(2);
    scenario.memory_faults.push(MemoryFault {
        owner: Some(1),
        accesses: vec![Access::Store],
        // The second half of the first allocation, every fourth word of it.
        range: Some((WORDS * 4, WORDS * 8)),
        ..MemoryFault::always(Fate::Corrupted {
            xor: 0x80,
            every: 32,
            at: 3,
        })
    });
    on_machine(
        &scenario,
        "faults_of_memory::corruption_hits_the_bytes_it_names",
        |cuda| {
            let pair = Pair::new(cuda);
            pair.fill(0, 1);
            assert_eq!(pair.wrong(1, 1), WORDS / 8);
            let first_wrong = pair.memory[1] + WORDS * 4;
            assert_eq!(
                word(cuda, pair.contexts[1], first_wrong),
                0x8000_0000 | (1000 + WORDS / 2)
            );
            pair.fill(0, 0);
            pair.push();
            assert_eq!(pair.wrong(1, 1), WORDS / 8, "a copy meets the same bytes");
        },
    );
}

/// What the owner sees of a store by a kernel of the other GPU: while that runs, and after its end.
fn seen_by_owner(cuda: &Cuda) -> [u64; 2] {
    let pair = Pair::new(cuda);
    let ([own, theirs], stream) = (pair.memory, cuda.stream(pair.contexts[0]));
    let (started, go) = (own, own + 8);
    let announce = cuda.function(PTX, c"announce");
    assert_eq!(cuda.launch(announce, 1, 1, stream, &[theirs, 5, started, go]), 0);
    while word(cuda, pair.contexts[0], started) == 0 {
        std::thread::yield_now();
    }
    let running = word(cuda, pair.contexts[1], theirs);
    cuda.write(pair.contexts[0], go, &[1]);
    assert_eq!(cuda.cuStreamSynchronize(stream), 0);
    [running, word(cuda, pair.contexts[1], theirs)]
}

#[test]
fn a_store_is_seen_while_its_kernel_runs() {
    on_machine(
        &Scenario::healthy(2),
        "faults_of_memory::a_store_is_seen_while_its_kernel_runs",
        |cuda| {
            assert_eq!(seen_by_owner(cuda), [5, 5]);
        },
    );
}

/// Synchronise, then compare: fooled. Two resident kernels that wait for each other would wait for ever.
#[test]
fn a_store_held_back_is_seen_when_its_kernel_has_ended() {
    let mut scenario = Scenario::healthy(2);
    scenario
        .memory_faults
        .push(MemoryFault::always(Fate::AtKernelEnd));
    let test = "faults_of_memory::a_store_held_back_is_seen_when_its_kernel_has_ended";
    on_machine(&scenario, test, |cuda| assert_eq!(seen_by_owner(cuda), [0, 5]));
}
