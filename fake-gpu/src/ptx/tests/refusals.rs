//! What is not taken is said with its line; nothing makes the parser panic.

use super::{refusal, text};
use crate::ptx::Module;
use proptest::prelude::*;

/// The message without the line, for a body of one instruction.
fn why(body: &str) -> String {
    let message = refusal(&text(body));
    let (line, message) = message.split_once(": ").unwrap();
    assert_eq!(line, "ptx line 21", "{message}");
    message.to_owned()
}

#[test]
fn messages_name_line_and_instruction() {
    let rows = [
        ("add.f32 %r32, %a32, %b32;", "add.f32: '.f32' is no integer type"),
        (
            "fma.rn.f64 %r64, %a64, %b64, %c64;",
            "fma.rn.f64: only fma.rn.f32 is known",
        ),
        (
            "add.u64 %r64, %a32, %b64;",
            "add.u64: '%a32' has 32 bits where the type has 64",
        ),
        ("add.u64 %r64, %a64;", "add.u64: takes 3 operands, not 2"),
        ("add.u64 %r64, %nowhere, 1;", "'%nowhere' is no register"),
        ("add.cc.u32 %r32, %a32, %b32;", "add.cc.u32: '.cc' is not known"),
        ("and.u32 %r32, %a32, %b32;", "and.u32: wrong type"),
        (
            "ld.shared.u32 %r32, [%out];",
            "ld.shared.u32: '.shared' is not known",
        ),
        (
            "ld.global.u32 %r32, [%a32];",
            "ld.global.u32: address '%a32' has 32 bits",
        ),
        (
            "ld.acquire.global.u32 %r32, [%out];",
            "ld.acquire.global.u32: an ordering and a scope go together",
        ),
        (
            "ld.param.u64 %r64, [nothing];",
            "ld.param.u64: no parameter 'nothing'",
        ),
        ("ld.param.u64 %r64, [a+8];", "ld.param.u64: reads beside 'a'"),
        (
            "ld.global.v2.u64 %r64, [%out];",
            "ld.global.v2.u64: needs a vector of 2",
        ),
        (
            "atom.global.add.b64 %r64, [%out], 1;",
            "atom.global.add.b64: the operation does not go with this type",
        ),
        (
            "red.global.exch.b64 [%out], 1;",
            "red.global.exch.b64: the operation does not go with this type",
        ),
        (
            "setp.lo.s32 %p, %a32, %b32;",
            "setp.lo.s32: the comparison does not go with this type",
        ),
        ("bra NOWHERE;", "bra: no label 'NOWHERE'"),
        ("@%a32 bra NOWHERE;", "'%a32' is no predicate"),
        ("mov.u32 %r32, %clock64;", "mov.u32: '%clock64' has 64 bits"),
        (
            "shl.b64 %r64, %a64, %b64;",
            "shl.b64: '%b64' has 64 bits where the type has 32",
        ),
        ("bar.sync %a32;", "bar.sync: needs one number"),
        (".shared .u32 x;", "unknown directive '.shared'"),
        (
            "mov.u64 %r64, 99999999999999999999;",
            "'99999999999999999999' is no integer of 64 bits",
        ),
        ("mov.u32 %r32, #;", "unexpected '#'"),
    ];
    for (body, expected) in rows {
        let message = why(body);
        assert!(
            message.ends_with(expected),
            "{body}\n  found    {message}\n  expected {expected}"
        );
    }
}

#[test]
fn newer_instructions_need_their_version_and_target() {
    let old = text("fence.acq_rel.sys;").replace("sm_70", "sm_60");
    assert!(
        refusal(&old).ends_with("fence.acq_rel.sys: fence needs .version 6.0 and sm_70"),
        "{}",
        refusal(&old)
    );
    let old = text("red.global.sys.add.u32 [%out], 1;").replace("sm_70", "sm_50");
    assert!(
        refusal(&old).ends_with("a scope needs .version 5.0 and sm_60"),
        "{}",
        refusal(&old)
    );
    let old = text("nanosleep.u32 100;").replace("6.5", "6.2");
    assert!(
        refusal(&old).ends_with("nanosleep needs .version 6.3 and sm_70"),
        "{}",
        refusal(&old)
    );
}

/// ptxas 12.9 and the compiler of driver 580.159.04 end with a corrupted heap.
#[test]
fn a_parameter_has_another_name_than_its_kernel() {
    let text = ".version 6.0 .target sm_50 .entry k(.param .u64 k) { ret; }";
    assert_eq!(
        refusal(text),
        "ptx line 1: parameter 'k' has the name of its kernel"
    );
}

#[test]
fn a_text_that_wants_the_earth_is_refused() {
    let text = ".version 6.0 .target sm_50 .entry k() { .reg .b64 %r<18446744073709551615>; }";
    assert_eq!(refusal(text), "ptx line 1: more than 4096 registers");
    assert_eq!(refusal(""), "no PTX: it does not begin with .version");
    assert_eq!(refusal("/* open"), "ptx line 1: a comment does not end");
    assert!(Module::load(b"\xff\xfe", super::TARGET).is_err());
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*") {
        let _ = Module::load(text.as_bytes(), super::TARGET);
    }

    /// Nearly right texts come further than noise does.
    #[test]
    fn pieces_of_texts_never_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        ".version", "6.0", ".target", "sm_50", ".entry", "k", "(", ")", "{", "}", ".param", ".u64", "a", ",", ";", ":",
        ".reg", ".pred", ".b32", "%r", "<", "4", ">", "%r1", "@", "!", "[", "]", "+", "-", "0x7fffffffffffffff", "ld.param.u64",
        "st.global.v4.u32", "bra", "setp.eq.u32", "mov.b16", "cvt.s8.u64", "atom.global.cas.b32", "mul.wide.u16", "ret", "//", "\n", "é",
    ]), 0..60)) {
        let text = format!(".version 6.0 .target sm_50 .entry k(.param .u64 a) {{ .reg .b32 %r<4>; {}", pieces.join(" "));
        let _ = Module::load(text.as_bytes(), super::TARGET);
    }
}
