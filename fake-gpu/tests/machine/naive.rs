//! The checks that other tools make, on each fault: which are fooled, as field reports tell, and which is not.

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
const BYTES: usize = 512;

/// Whether each check of GPU 0 writing to GPU 1 finds nothing wrong. All of them also find every code to be 0.
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one for each check")]
struct Passes {
    /// The writer's kernel stores, and a kernel of the writer compares.
    read_back: bool,
    /// The same, but synchronised and fetched by a copy in the writer's context.
    settled: bool,
    /// A copy there and a copy back, both by the writer, compared on the host.
    copies: bool,
    /// The writer's kernel stores and ends; a kernel of the owner compares.
    owner: bool,
    /// Two resident kernels wait for each other's stores.
    resident: bool,
}

const ALL: Passes = Passes {
    read_back: true,
    settled: true,
    copies: true,
    owner: true,
    resident: true,
};

fn checks(cuda: &Cuda) -> Passes {
    let contexts = cuda.start();
    cuda.enable_both(&contexts);
    let [writer, owner] = [contexts[0], contexts[1]];
    let memory = cuda.allocate(owner, BYTES);
    let own = cuda.allocate(writer, BYTES);
    let store = |to: u64, start: u64| {
        assert_eq!(cuda.cuCtxSetCurrent(writer), 0);
        let fill = cuda.function(PTX, c"count_up");
        assert_eq!(cuda.launch(fill, 1, WORDS as u32, 0, &[to, WORDS, start]), 0);
        assert_eq!(cuda.cuCtxSynchronize(), 0);
    };
    cuda.write(owner, memory, &[0; BYTES]);
    store(memory, 1000);
    let expected: Vec<u8> = (1000..1000 + WORDS).flat_map(u64::to_le_bytes).collect();
    let settled = cuda.read(writer, memory, BYTES) == expected;
    let read_back = wrong_words(cuda, writer, memory, WORDS, 1000) == 0;
    let owner_finds = wrong_words(cuda, owner, memory, WORDS, 1000);

    cuda.write(owner, memory, &[0; BYTES]);
    store(own, 1000);
    let stream = cuda.stream(writer);
    let copy = |to: (u64, usize), from: (u64, usize)| {
        assert_eq!(
            cuda.cuMemcpyPeerAsync(to.0, to.1, from.0, from.1, BYTES, stream),
            0
        );
        assert_eq!(cuda.cuStreamSynchronize(stream), 0);
    };
    copy((memory, owner), (own, writer));
    cuda.write(writer, own, &[0; BYTES]);
    copy((own, writer), (memory, owner));
    let copies = cuda.read(writer, own, BYTES) == expected;
    Passes {
        read_back,
        settled,
        copies,
        owner: owner_finds == 0,
        resident: meet(cuda, &contexts),
    }
}

/// Whether both of two resident kernels see the other's store before they give up.
fn meet(cuda: &Cuda, contexts: &[usize]) -> bool {
    let flags = [0, 1].map(|gpu| cuda.allocate(contexts[gpu], 16));
    for gpu in 0..2 {
        cuda.write(contexts[gpu], flags[gpu], &[0; 16]);
    }
    let patience = 300_000_000;
    for (own, other) in [(0, 1), (1, 0)] {
        let stream = cuda.stream(contexts[own]);
        let meet = cuda.function(PTX, c"meet");
        let arguments = [flags[other], 5, flags[own], 5, patience, flags[own] + 8];
        assert_eq!(cuda.launch(meet, 1, 1, stream, &arguments), 0);
    }
    let outcomes = [0, 1].map(|gpu| {
        assert_eq!(cuda.cuCtxSetCurrent(contexts[gpu]), 0);
        assert_eq!(cuda.cuCtxSynchronize(), 0);
        word(cuda, contexts[gpu], flags[gpu] + 8)
    });
    outcomes == [1, 1]
}

/// A machine whose stores by kernels meet this fate, and nothing else.
fn stores_by_kernels(fate: Fate) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    scenario.memory_faults.push(MemoryFault {
        routes: vec![Route::Sm],
        accesses: vec![Access::Store],
        ..MemoryFault::always(fate)
    });
    scenario
}

macro_rules! on {
    ($name:ident, $scenario:expr, $expected:expr) => {
        #[test]
        fn $name() {
            on_machine(&$scenario, concat!("naive::", stringify!($name)), |cuda| {
                assert_eq!(checks(cuda), $expected);
            });
        }
    };
}

on!(all_pass_where_nothing_is_wrong, Scenario::healthy(2), ALL);

// Only codes are fooled: every call succeeds (vLLM RFC 51513, OGKM 1257).
on!(
    dropped_writes_fool_who_looks_at_codes_alone,
    Scenario::writes_dropped(),
    Passes {
        read_back: false,
        settled: false,
        copies: false,
        owner: false,
        resident: false,
    }
);

// NCCL 2335: the writer reads its own data back, the owner sees zeros.
on!(
    a_private_mirror_fools_every_check_by_the_writer,
    Scenario::private_mirror(),
    Passes {
        owner: false,
        resident: false,
        ..ALL
    }
);

// club-3090 PRs 874, 902, 926: whoever synchronises and then compares passes; NCCL's resident kernels hang.
on!(
    late_stores_fool_whoever_synchronises_first,
    Scenario::handshake_hang(),
    Passes {
        resident: false,
        ..ALL
    }
);

// A verified copy is no proof about kernels.
on!(
    dropped_stores_of_kernels_fool_copies,
    stores_by_kernels(Fate::Dropped),
    Passes {
        copies: true,
        read_back: false,
        settled: false,
        owner: false,
        resident: false,
    }
);

on!(
    corrupted_stores_of_kernels_fool_copies,
    stores_by_kernels(Fate::Corrupted {
        xor: 1,
        every: 8,
        at: 0
    }),
    Passes {
        copies: true,
        read_back: false,
        settled: false,
        owner: false,
        resident: false,
    }
);

// Only two processes can see this one (processes, virtual_memory).
on!(
    a_fault_between_processes_fools_every_check_in_one,
    Scenario::ipc_broken(),
    ALL
);

// Only a buffer that reaches up there can (scenarios).
on!(
    a_fault_far_up_fools_every_small_buffer,
    Scenario::corrupted_above(),
    ALL
);
