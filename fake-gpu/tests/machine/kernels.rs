//! Kernels: executed from their text, side by side on streams, with sticky errors.

use crate::{cuda::Cuda, support::on_machine};
use fake_gpu::Scenario;
use std::ffi::{CStr, c_int};

/// The tests' own kernels.
pub(crate) const PTX: &CStr = {
    let text = concat!(include_str!("kernels.ptx"), "\0");
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a zero inside"),
    }
};

/// The first 64-bit word at an address.
pub(crate) fn word(cuda: &Cuda, context: usize, address: u64) -> u64 {
    u64::from_le_bytes(cuda.read(context, address, 8).try_into().unwrap())
}

/// How many of `words` words are not `start` and up, counted by a kernel of `context`.
pub(crate) fn wrong_words(cuda: &Cuda, context: usize, address: u64, words: u64, start: u64) -> u64 {
    let out = cuda.allocate(context, 8);
    cuda.write(context, out, &[0; 8]);
    let count = cuda.function(PTX, c"count_wrong");
    assert_eq!(cuda.launch(count, 1, 1, 0, &[address, words, start, out]), 0);
    assert_eq!(cuda.cuCtxSynchronize(), 0);
    let found = word(cuda, context, out);
    assert_eq!(cuda.cuMemFree_v2(out), 0);
    found
}

#[test]
fn a_kernel_writes_and_another_checks() {
    on_machine(
        &Scenario::healthy(1),
        "kernels::a_kernel_writes_and_another_checks",
        |cuda| {
            let context = cuda.start()[0];
            let memory = cuda.allocate(context, 1000 * 8);
            let fill = cuda.function(PTX, c"count_up");
            assert_eq!(cuda.launch(fill, 8, 128, 0, &[memory, 1000, 77]), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 0);
            assert_eq!(wrong_words(cuda, context, memory, 1000, 77), 0);
            cuda.write(context, memory + 8 * 999, &[1]);
            assert_eq!(wrong_words(cuda, context, memory, 1000, 77), 1);
            assert_eq!(word(cuda, context, memory + 8 * 998), 77 + 998);
        },
    );
}

#[test]
fn kernels_on_two_streams_run_side_by_side() {
    on_machine(
        &Scenario::healthy(2),
        "kernels::kernels_on_two_streams_run_side_by_side",
        |cuda| {
            let contexts = cuda.start();
            cuda.enable_both(&contexts);
            let flags = [0, 1].map(|gpu| cuda.allocate(contexts[gpu], 16));
            for gpu in 0..2 {
                cuda.write(contexts[gpu], flags[gpu], &[0; 16]);
            }
            // Each writes to the other's memory and waits on its own: only if both are resident does either see it.
            for (own, other) in [(0, 1), (1, 0)] {
                let stream = cuda.stream(contexts[own]);
                let meet = cuda.function(PTX, c"meet");
                let arguments = [flags[other], 5, flags[own], 5, 20_000_000_000, flags[own] + 8];
                assert_eq!(cuda.launch(meet, 1, 1, stream, &arguments), 0);
            }
            for gpu in 0..2 {
                assert_eq!(cuda.cuCtxSetCurrent(contexts[gpu]), 0);
                assert_eq!(cuda.cuCtxSynchronize(), 0);
                assert_eq!(word(cuda, contexts[gpu], flags[gpu] + 8), 1);
            }
        },
    );
}

#[test]
fn a_wrong_address_spoils_its_context_and_no_other() {
    on_machine(
        &Scenario::healthy(2),
        "kernels::a_wrong_address_spoils_its_context_and_no_other",
        |cuda| {
            let contexts = cuda.start();
            let theirs = cuda.allocate(contexts[1], 64);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
            let fill = cuda.function(PTX, c"count_up");
            // Without peer access the other's memory is as wrong as no memory.
            assert_eq!(cuda.launch(fill, 1, 8, 0, &[theirs, 8, 0]), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 700);
            let mut address = 0;
            assert_eq!(cuda.cuMemAlloc_v2(&raw mut address, 8), 700, "sticky");
            assert_eq!(cuda.launch(fill, 1, 8, 0, &[theirs, 8, 0]), 700);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[1]), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 700, "in the whole process");
        },
    );
}

#[test]
fn a_text_outside_the_subset_is_explained_in_the_log() {
    on_machine(
        &Scenario::healthy(1),
        "kernels::a_text_outside_the_subset_is_explained_in_the_log",
        |cuda| {
            cuda.start();
            let text = c".version 6.0\n.target sm_50\n.entry k() {\n.reg .f32 %f;\n}";
            let mut log = [1_u8; 256];
            let mut options: [c_int; 2] = [5, 6];
            let mut values = [log.as_mut_ptr() as usize, log.len()];
            let mut module = 0;
            let load =
                |module: &mut usize, text: &CStr, options: &mut [c_int; 2], values: &mut [usize; 2]| {
                    cuda.cuModuleLoadDataEx(
                        module,
                        text.as_ptr().cast(),
                        2,
                        options.as_mut_ptr(),
                        values.as_mut_ptr(),
                    )
                };
            assert_eq!(load(&mut module, text, &mut options, &mut values), 218);
            let said = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
            assert_eq!(said, "ptx line 4: '%f': type '.f32' is not known");
            assert_eq!(values[1], said.len());
            assert_eq!(
                cuda.cuModuleLoadData(&raw mut module, c".version 9.9 .target sm_50".as_ptr().cast()),
                222
            );
            assert_eq!(
                cuda.cuModuleLoadData(&raw mut module, c".version 6.0 .target sm_100".as_ptr().cast()),
                218
            );
            let mut function = 0;
            assert_eq!(
                load(
                    &mut module,
                    PTX,
                    &mut options,
                    &mut [log.as_mut_ptr() as usize, 256]
                ),
                0
            );
            assert_eq!(
                cuda.cuModuleGetFunction(&raw mut function, module, c"nothing".as_ptr()),
                500
            );
        },
    );
}
