//! Contexts and peer access: per context and direction, with the driver's codes.

use crate::{
    kernels::{PTX, word, wrong_words},
    support::on_machine,
};
use fake_gpu::Scenario;

#[test]
fn enabling_is_per_direction_and_said_once() {
    on_machine(
        &Scenario::healthy(2),
        "peers::enabling_is_per_direction_and_said_once",
        |cuda| {
            let contexts = cuda.start();
            assert_eq!(cuda.cuCtxDisablePeerAccess(contexts[1]), 705);
            assert_eq!(cuda.cuCtxEnablePeerAccess(contexts[1], 1), 1);
            assert_eq!(cuda.cuCtxEnablePeerAccess(contexts[0], 0), 217, "itself");
            assert_eq!(cuda.cuCtxEnablePeerAccess(12345, 0), 201);
            assert_eq!(cuda.cuCtxEnablePeerAccess(contexts[1], 0), 0);
            assert_eq!(cuda.cuCtxEnablePeerAccess(contexts[1], 0), 704);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[1]), 0);
            assert_eq!(
                cuda.cuCtxDisablePeerAccess(contexts[0]),
                705,
                "the other way is not enabled"
            );
            assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
            assert_eq!(cuda.cuCtxDisablePeerAccess(contexts[1]), 0);
            assert_eq!(cuda.cuCtxDisablePeerAccess(contexts[1]), 705);
        },
    );
}

#[test]
fn a_refusal_is_217() {
    on_machine(&Scenario::refused_gns(), "peers::a_refusal_is_217", |cuda| {
        let contexts = cuda.start();
        let mut can = 7;
        assert_eq!(cuda.cuDeviceCanAccessPeer(&raw mut can, 0, 1), 0);
        assert_eq!(can, 0);
        assert_eq!(cuda.cuCtxEnablePeerAccess(contexts[1], 0), 217);
    });
}

#[test]
fn one_direction_can_be_refused() {
    on_machine(
        &Scenario::one_direction_only(),
        "peers::one_direction_can_be_refused",
        |cuda| {
            let contexts = cuda.start();
            assert_eq!(cuda.cuCtxEnablePeerAccess(contexts[1], 0), 0);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[1]), 0);
            assert_eq!(cuda.cuCtxEnablePeerAccess(contexts[0], 0), 217);
        },
    );
}

#[test]
fn too_many_peers_are_711() {
    let mut scenario = Scenario::healthy(4);
    scenario.peer_limit = 2;
    on_machine(&scenario, "peers::too_many_peers_are_711", |cuda| {
        let contexts = cuda.start();
        let codes = [1, 2, 3].map(|peer| cuda.cuCtxEnablePeerAccess(contexts[peer], 0));
        assert_eq!(codes, [0, 0, 711]);
    });
}

#[test]
fn kernels_reach_peers_and_copies_go_both_ways() {
    on_machine(
        &Scenario::healthy(2),
        "peers::kernels_reach_peers_and_copies_go_both_ways",
        |cuda| {
            let contexts = cuda.start();
            let memory = [0, 1].map(|gpu| cuda.allocate(contexts[gpu], 512 * 8));
            cuda.enable_both(&contexts);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
            let fill = cuda.function(PTX, c"count_up");
            assert_eq!(cuda.launch(fill, 4, 128, 0, &[memory[1], 512, 9]), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 0);
            assert_eq!(
                wrong_words(cuda, contexts[1], memory[1], 512, 9),
                0,
                "the owner checks"
            );
            // Pull by GPU 0, change, push back to the upper half.
            let stream = cuda.stream(contexts[0]);
            let copy = |to: usize, at: u64, from: usize, bytes| {
                cuda.cuMemcpyPeerAsync(
                    memory[to] + at,
                    contexts[to],
                    memory[from],
                    contexts[from],
                    bytes,
                    stream,
                )
            };
            assert_eq!(copy(0, 0, 1, 512 * 8), 0);
            assert_eq!(copy(1, 256 * 8, 0, 256 * 8), 0);
            assert_eq!(cuda.cuStreamSynchronize(stream), 0);
            assert_eq!(wrong_words(cuda, contexts[0], memory[0], 512, 9), 0);
            assert_eq!(wrong_words(cuda, contexts[1], memory[1] + 256 * 8, 256, 9), 0);
            assert_eq!(copy(1, 8, 0, 8), 0, "a stream of another context");
            assert_eq!(cuda.cuStreamSynchronize(stream), 0);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
            assert_eq!(copy(1, 8, 0, 512 * 8), 1, "beyond the end");
            let add = cuda.function(PTX, c"add_to");
            assert_eq!(cuda.launch(add, 1, 32, 0, &[memory[0], 2]), 0);
            assert_eq!(word(cuda, contexts[0], memory[0]), 9 + 64);
        },
    );
}

#[test]
fn a_context_is_made_by_the_first_and_ends_with_the_last_user() {
    on_machine(
        &Scenario::healthy(1),
        "peers::a_context_is_made_by_the_first_and_ends_with_the_last_user",
        |cuda| {
            let context = cuda.start()[0];
            let active = || {
                let (mut flags, mut active) = (9, 9);
                assert_eq!(
                    cuda.cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active),
                    0
                );
                active
            };
            assert_eq!(active(), 1);
            let memory = cuda.allocate(context, 1 << 20);
            let (mut free, mut total) = (0, 0);
            assert_eq!(cuda.cuMemGetInfo_v2(&raw mut free, &raw mut total), 0);
            assert_eq!(total - free, 1 << 20);
            let mut more = 0;
            assert_eq!(cuda.cuMemAlloc_v2(&raw mut more, free + 1), 2);
            assert_eq!(cuda.cuDevicePrimaryCtxRelease_v2(0), 0);
            assert_eq!(active(), 0);
            assert_eq!(cuda.cuMemFree_v2(memory), 709);
            assert_eq!(cuda.cuDevicePrimaryCtxRelease_v2(0), 201);
        },
    );
}
