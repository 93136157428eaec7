//! Loads, stores, vectors, atomics, alignment.

use super::{BASE, Bytes, run, text};
use crate::ptx::Trap;

/// Memory after one thread has run a body, beginning with these words.
fn after(body: &str, arguments: [u64; 3], words: &[u64]) -> Vec<u64> {
    let mut memory = Bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    run(&text(body), 1, 1, arguments, &mut memory).unwrap();
    (0..words.len()).map(|index| memory.word(index)).collect()
}

#[test]
fn loads_widen_and_stores_cut() {
    let narrow = 0xffff_ffff_8765_83f1;
    for (opcode, register, expected) in [
        ("ld.global.u8", "%r32", 0xf1),
        ("ld.global.s8", "%r32", 0xffff_fff1),
        ("ld.global.u16", "%r32", 0x83f1),
        ("ld.global.s16", "%r32", 0xffff_83f1),
        ("ld.global.s16", "%r64", 0xffff_ffff_ffff_83f1),
        ("ld.volatile.global.u32", "%r64", 0x8765_83f1),
        ("ld.global.s32", "%r64", 0xffff_ffff_8765_83f1),
        ("ld.relaxed.sys.global.u64", "%r64", narrow),
        ("ld.acquire.sys.global.b64", "%r64", narrow),
        ("ld.u64", "%r64", narrow),
    ] {
        let width = &register[2..];
        let body = format!("{opcode} {register}, [%out];\nst.global.b{width} [%out+8], {register};");
        assert_eq!(after(&body, [0; 3], &[narrow, 0])[1], expected, "{opcode}");
    }
    assert_eq!(
        after("st.global.u8 [%out+1], %a32;", [0x1234, 0, 0], &[0])[0],
        0x3400
    );
    assert_eq!(
        after("st.release.sys.global.u32 [%out], %a64;", [u64::MAX, 0, 0], &[0])[0],
        0xffff_ffff
    );
    assert_eq!(
        after("add.u64 %out, %out, 8;\nst.u64 [%out-8], 7;", [0; 3], &[0])[0],
        7
    );
}

#[test]
fn vectors_are_elements_in_a_row() {
    let body = "ld.global.v2.u64 {%a64, %b64}, [%out];\nst.volatile.global.v2.u64 [%out+16], {%b64, %a64};";
    assert_eq!(after(body, [0; 3], &[1, 2, 0, 0]), [1, 2, 2, 1]);
    let body = "st.global.v4.u32 [%out], {%a32, %b32, %c32, 9};";
    assert_eq!(after(body, [5, 6, 7], &[0, 0]), [5 | 6 << 32, 7 | 9 << 32]);
}

#[test]
fn atomics_give_what_was_there() {
    let rows = [
        ("atom.global.add.u64 %r64, [%out], %a64;", 5, [3, 0, 0], 8),
        ("atom.global.sys.add.u64 %r64, [%out], 1;", u64::MAX, [0, 0, 0], 0),
        ("atom.sys.global.exch.b64 %r64, [%out], %a64;", 5, [3, 0, 0], 3),
        ("atom.global.cas.b64 %r64, [%out], %a64, %b64;", 5, [5, 9, 0], 9),
        ("atom.global.cas.b64 %r64, [%out], %a64, %b64;", 6, [5, 9, 0], 6),
        ("atom.global.min.u64 %r64, [%out], %a64;", u64::MAX, [3, 0, 0], 3),
        ("atom.global.max.s64 %r64, [%out], %a64;", u64::MAX, [3, 0, 0], 3),
        ("atom.global.and.b64 %r64, [%out], %a64;", 6, [3, 0, 0], 2),
        (
            "atom.acq_rel.gpu.global.or.b64 %r64, [%out], %a64;",
            6,
            [3, 0, 0],
            7,
        ),
        ("atom.global.xor.b64 %r64, [%out], %a64;", 6, [3, 0, 0], 5),
    ];
    for (body, before, arguments, expected) in rows {
        let body = format!("{body}\nst.global.u64 [%out+8], %r64;");
        assert_eq!(
            after(&body, arguments, &[before, 0]),
            [expected, before],
            "{body}"
        );
    }
    assert_eq!(
        after("red.global.add.u32 [%out], 1;", [0; 3], &[0x1_ffff_ffff]),
        [0x1_0000_0000]
    );
    assert_eq!(
        after("atom.global.add.u32 %r32, [%out+4], %a32;", [2, 0, 0], &[1 << 32]),
        [3 << 32]
    );
}

#[test]
fn many_threads_lose_no_atomic() {
    let mut memory = Bytes(vec![0; 8]);
    run(
        &text("red.global.add.u64 [%out], 1;"),
        70,
        64,
        [0; 3],
        &mut memory,
    )
    .unwrap();
    assert_eq!(memory.word(0), 70 * 64);
}

#[test]
fn a_wrong_address_stops_the_kernel() {
    let run = |body: &str| run(&text(body), 1, 1, [0; 3], &mut Bytes(vec![0; 16]));
    assert_eq!(
        run("ld.global.u64 %r64, [%out+16];"),
        Err(Trap::IllegalAddress(BASE + 16))
    );
    assert_eq!(run("st.global.u32 [%out+2], 1;"), Err(Trap::Misaligned(BASE + 2)));
    assert_eq!(
        run("ld.global.v2.u64 {%a64, %b64}, [%out+8];"),
        Err(Trap::Misaligned(BASE + 8))
    );
    assert_eq!(run("trap;"), Err(Trap::Instruction));
}
