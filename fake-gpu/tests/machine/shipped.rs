//! The kernels that the agent ships, from its own file.

use crate::{cuda::Cuda, support::on_machine};
use fake_gpu::{
    Scenario,
    scenario::{Fate, MemoryFault},
};
use std::ffi::CStr;

const SHIPPED: &str = concat!(include_str!("../../../agent/src/gpu/kernels.ptx"), "\0");
/// More than one round of the loops, and not a multiple of the threads.
const WORDS: u64 = 5000;
const SEED: u64 = 0x0123_4567_89ab_cdef;

/// The pattern as the head of the file describes it.
fn pattern(index: u64) -> u32 {
    let mut z = SEED.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 32) as u32
}

/// Launches on the default stream of the current context: one window of `WORDS` words, 32-bit parameters in the lower
/// half.
fn launch(cuda: &Cuda, name: &CStr, arguments: &[u64]) {
    let text = CStr::from_bytes_with_nul(SHIPPED.as_bytes()).unwrap();
    let function = cuda.function(text, name);
    assert_eq!(cuda.launch(function, 3, 64, 0, arguments), 0);
    assert_eq!(cuda.cuCtxSynchronize(), 0);
}

fn fill(cuda: &Cuda, base: u64, invert: u64) {
    launch(cuda, c"fill_windows", &[base, 0, WORDS, 0, SEED, invert]);
}

/// First wrong word and number of wrong words, by the shipped check.
fn check(cuda: &Cuda, context: usize, base: u64) -> (u64, u64) {
    let out = cuda.allocate(context, 16);
    cuda.write(context, out, &[[0xff; 8], [0; 8]].concat());
    launch(cuda, c"check_windows", &[base, 0, WORDS, 0, SEED, 0, out]);
    let found = cuda.read(context, out, 16);
    let word = |at: usize| u64::from_le_bytes(found[at..at + 8].try_into().unwrap());
    (word(0), word(8))
}

#[test]
fn the_shipped_kernels_fill_and_check() {
    on_machine(
        &Scenario::healthy(1),
        "shipped::the_shipped_kernels_fill_and_check",
        |cuda| {
            let context = cuda.start()[0];
            let memory = cuda.allocate(context, (WORDS * 4) as usize);
            fill(cuda, memory, 0);
            let found = cuda.read(context, memory, (WORDS * 4) as usize);
            let expected: Vec<u8> = (0..WORDS)
                .flat_map(|index| pattern(index).to_le_bytes())
                .collect();
            assert!(found == expected, "the pattern of the kernel is not that of Rust");
            assert_eq!(check(cuda, context, memory), (u64::MAX, 0));
            cuda.write(context, memory + 4 * 4321, &[!found[4 * 4321]]);
            cuda.write(context, memory + 4 * 1234, &[!found[4 * 1234]]);
            assert_eq!(check(cuda, context, memory), (1234, 2));
            fill(cuda, memory, u64::from(u32::MAX));
            assert_eq!(check(cuda, context, memory), (0, WORDS));
        },
    );
}

#[test]
fn the_owners_check_finds_a_mirror() {
    let mut scenario = Scenario::healthy(2);
    scenario
        .memory_faults
        .push(MemoryFault::always(Fate::PrivateMirror));
    on_machine(&scenario, "shipped::the_owners_check_finds_a_mirror", |cuda| {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let memory = cuda.allocate(contexts[1], (WORDS * 4) as usize);
        assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
        fill(cuda, memory, 0);
        assert_eq!(
            check(cuda, contexts[0], memory),
            (u64::MAX, 0),
            "the writer is fooled"
        );
        assert_eq!(check(cuda, contexts[1], memory).1, WORDS, "the owner is not");
    });
}
