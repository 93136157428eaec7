//! Guards, loops, threads, barriers, clocks.

use super::{Bytes, load, result, run, text};
use crate::ptx::{Parameter, Target};

#[test]
fn guards_and_loops() {
    let body = "mov.u64 %r64, 0;\nLOOP:\nadd.u64 %r64, %r64, %a64;\nsub.u64 %a64, %a64, 1;\n\
                setp.ne.u64 %p, %a64, 0;\n@%p bra LOOP;\n@!%p bra.uni DONE;\nmov.u64 %r64, 1;\nDONE:";
    assert_eq!(result(body, "%r64", [10, 0, 0]), 55);
}

#[test]
fn threads_know_their_place() {
    let body = "mov.u32 %a32, %ctaid.x;\nmov.u32 %b32, %ntid.x;\nmov.u32 %c32, %tid.x;\n\
                mad.lo.u32 %r32, %a32, %b32, %c32;\nmul.wide.u32 %a64, %r32, 8;\nadd.u64 %a64, %out, %a64;\n\
                mov.u32 %b32, %nctaid.x;\nmov.u32 %c32, %laneid;\nshl.b32 %b32, %b32, 8;\nor.b32 %b32, %b32, %c32;\n\
                st.global.u32 [%a64], %r32;\nst.global.u32 [%a64+4], %b32;";
    let mut memory = Bytes(vec![0; 3 * 40 * 8]);
    run(&text(body), 3, 40, [0; 3], &mut memory).unwrap();
    for index in 0..3 * 40 {
        let lane = (index % 40) % 32;
        assert_eq!(memory.word(index), (3 << 8 | lane as u64) << 32 | index as u64);
    }
}

#[test]
fn a_thread_that_waits_for_a_later_one_gets_its_turn() {
    // Thread 0 spins until the last thread has written; on one after the other it would spin for ever.
    let body = "mov.u32 %a32, %tid.x;\nsetp.eq.u32 %p, %a32, 63;\n@%p st.volatile.global.u32 [%out], 7;\n\
                WAIT:\nld.volatile.global.u32 %r32, [%out];\nsetp.eq.u32 %q, %r32, 0;\n@%q bra WAIT;";
    let mut memory = Bytes(vec![0; 8]);
    run(&text(body), 1, 64, [0; 3], &mut memory).unwrap();
    assert_eq!(memory.word(0), 7);
}

#[test]
fn a_barrier_holds_the_block_together() {
    // Everybody adds before the barrier and reads after it.
    let body = "red.global.add.u64 [%out], 1;\nbar.sync 0;\nld.global.u64 %r64, [%out];\n\
                mov.u32 %a32, %tid.x;\nmul.wide.u32 %a64, %a32, 8;\nadd.u64 %a64, %out, %a64;\nst.global.u64 [%a64+8], %r64;";
    let mut memory = Bytes(vec![0; 33 * 8]);
    run(&text(body), 1, 32, [0; 3], &mut memory).unwrap();
    assert!((0..33).all(|index| memory.word(index) == 32));
}

#[test]
fn clocks_go_forward() {
    for clock in ["%clock64", "%globaltimer"] {
        // Ends only if the clock moves.
        let body = format!(
            "mov.u64 %a64, {clock};\nWAIT:\nmov.u64 %r64, {clock};\nsub.u64 %r64, %r64, %a64;\n\
             setp.lt.u64 %p, %r64, 1000;\n@%p bra WAIT;"
        );
        let passed = result(&body, "%r64", [0; 3]);
        assert!((1000..10_000_000_000).contains(&passed), "{clock}: {passed}");
    }
}

#[test]
fn parameters_lie_at_multiples_of_their_sizes() {
    let text =
        ".version 6.0 .target sm_50 .entry k(.param .u8 a, .param .u32 b, .param .u16 c, .param .u64 d) { }";
    let module = load(text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let expected = [(0, 1), (4, 4), (8, 2), (16, 8)].map(|(offset, bytes)| Parameter { offset, bytes });
    assert_eq!(kernel.parameters(), expected);
    assert_eq!(kernel.parameter_bytes(), 24);
    assert!(module.kernel("other").is_none());
}

#[test]
fn a_newer_text_is_told_from_a_wrong_one() {
    let load = |version, target| {
        let text = format!(".version {version} .target {target} .entry k() {{ ret; }}");
        let old = Target {
            compute_capability: (7, 0),
            max_version: (7, 4),
            clock_khz: 1,
        };
        crate::ptx::Module::load(text.as_bytes(), old)
            .map(|_| ())
            .map_err(|why| why.to_string())
    };
    assert_eq!(load("7.4", "sm_70"), Ok(()));
    assert_eq!(
        load("8.0", "sm_70"),
        Err("ptx version 8.0 is newer than 7.4".into())
    );
    assert_eq!(
        load("7.4", "sm_80"),
        Err("ptx is for sm_80, the device is sm_70".into())
    );
}
