//! Each operation against Rust's, on arbitrary numbers and on the ones at the edges.

use super::result;
use proptest::prelude::*;

/// An opcode and what it makes of two numbers.
type Row<T> = (&'static str, fn(T, T) -> T);
/// The same for a shift, whose amount always has 32 bits.
type Shift = (&'static str, fn(u64, u32) -> u64);
/// A comparison, of unsigned and of signed numbers.
type Comparison = (&'static str, fn(&u64, &u64) -> bool, fn(&i64, &i64) -> bool);
/// An instruction, the register of its result, and what it makes of a number.
type OneOperand = (&'static str, &'static str, fn(u64) -> u64);

fn numbers() -> impl Strategy<Value = u64> {
    let edges = prop::sample::select(vec![
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        65,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        i64::MAX as u64,
        1 << 63,
        u64::MAX,
    ]);
    prop_oneof![edges, any::<u64>()]
}

const UNSIGNED_64: &[Row<u64>] = &[
    ("add.u64", u64::wrapping_add),
    ("sub.u64", u64::wrapping_sub),
    ("mul.lo.u64", u64::wrapping_mul),
    ("mul.hi.u64", |a, b| {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }),
    ("div.u64", |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
    ("rem.u64", |a, b| a.checked_rem(b).unwrap_or(a)),
    ("min.u64", u64::min),
    ("max.u64", u64::max),
    ("and.b64", |a, b| a & b),
    ("or.b64", |a, b| a | b),
    ("xor.b64", |a, b| a ^ b),
    ("add.s64", u64::wrapping_add),
    ("mul.lo.s64", u64::wrapping_mul),
    ("mul.hi.s64", |a, b| {
        ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
    }),
    ("div.s64", |a, b| {
        if b == 0 {
            u64::MAX
        } else {
            (a as i64).wrapping_div(b as i64) as u64
        }
    }),
    ("rem.s64", |a, b| {
        if b == 0 {
            a
        } else {
            (a as i64).wrapping_rem(b as i64) as u64
        }
    }),
    ("min.s64", |a, b| (a as i64).min(b as i64) as u64),
    ("max.s64", |a, b| (a as i64).max(b as i64) as u64),
];

const UNSIGNED_32: &[Row<u32>] = &[
    ("add.u32", u32::wrapping_add),
    ("sub.s32", u32::wrapping_sub),
    ("mul.lo.u32", u32::wrapping_mul),
    ("mul.hi.u32", |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    ("mul.hi.s32", |a, b| {
        ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
    }),
    ("div.u32", |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
    ("rem.u32", |a, b| a.checked_rem(b).unwrap_or(a)),
    ("div.s32", |a, b| {
        if b == 0 {
            u32::MAX
        } else {
            (a as i32).wrapping_div(b as i32) as u32
        }
    }),
    ("rem.s32", |a, b| {
        if b == 0 {
            a
        } else {
            (a as i32).wrapping_rem(b as i32) as u32
        }
    }),
    ("min.u32", u32::min),
    ("max.u32", u32::max),
    ("min.s32", |a, b| (a as i32).min(b as i32) as u32),
    ("max.s32", |a, b| (a as i32).max(b as i32) as u32),
    ("and.b32", |a, b| a & b),
    ("or.b32", |a, b| a | b),
    ("xor.b32", |a, b| a ^ b),
    ("shl.b32", |a, b| a.checked_shl(b).unwrap_or(0)),
    ("shr.u32", |a, b| a.checked_shr(b).unwrap_or(0)),
    ("shr.b32", |a, b| a.checked_shr(b).unwrap_or(0)),
    ("shr.s32", |a, b| ((a as i32) >> b.min(31)) as u32),
];

const SHIFTS_64: &[Shift] = &[
    ("shl.b64", |a, b| a.checked_shl(b).unwrap_or(0)),
    ("shr.u64", |a, b| a.checked_shr(b).unwrap_or(0)),
    ("shr.b64", |a, b| a.checked_shr(b).unwrap_or(0)),
    ("shr.s64", |a, b| ((a as i64) >> b.min(63)) as u64),
];

const COMPARISONS: &[Comparison] = &[
    ("eq", u64::eq, i64::eq),
    ("ne", u64::ne, i64::ne),
    ("lt", u64::lt, i64::lt),
    ("le", u64::le, i64::le),
    ("gt", u64::gt, i64::gt),
    ("ge", u64::ge, i64::ge),
];

const ONE_OPERAND: &[OneOperand] = &[
    ("not.b64 %r64, %a64;", "%r64", |a| !a),
    ("not.b32 %r32, %a32;", "%r32", |a| u64::from(!(a as u32))),
    ("not.b16 %r16, %a16;", "%r16", |a| u64::from(!(a as u16))),
    ("neg.s64 %r64, %a64;", "%r64", u64::wrapping_neg),
    ("neg.s32 %r32, %a32;", "%r32", |a| {
        u64::from((a as u32).wrapping_neg())
    }),
    ("abs.s64 %r64, %a64;", "%r64", |a| (a as i64).unsigned_abs()),
    ("abs.s32 %r32, %a32;", "%r32", |a| {
        u64::from((a as i32).unsigned_abs())
    }),
    ("cvt.u64.u32 %r64, %a32;", "%r64", |a| u64::from(a as u32)),
    ("cvt.s64.s32 %r64, %a32;", "%r64", |a| i64::from(a as i32) as u64),
    ("cvt.u64.s32 %r64, %a32;", "%r64", |a| i64::from(a as i32) as u64),
    ("cvt.s64.s16 %r64, %a16;", "%r64", |a| i64::from(a as i16) as u64),
    ("cvt.u32.u8 %r32, %a32;", "%r32", |a| u64::from(a as u8)),
    ("cvt.s32.s8 %r32, %a32;", "%r32", |a| {
        u64::from(i32::from(a as i8) as u32)
    }),
    ("cvt.u8.u64 %r32, %a64;", "%r32", |a| u64::from(a as u8)),
    ("cvt.s8.u64 %r32, %a64;", "%r32", |a| {
        u64::from(i32::from(a as i8) as u32)
    }),
    ("cvt.u16.u64 %r16, %a64;", "%r16", |a| u64::from(a as u16)),
    ("mov.u64 %r64, %a64;", "%r64", |a| a),
    ("mov.u32 %r32, -1;", "%r32", |_| 0xffff_ffff),
    ("mov.u64 %r64, 0xFFFFFFFFFFFFFFFF;", "%r64", |_| u64::MAX),
    ("mov.u64 %r64, 017U;", "%r64", |_| 15),
    ("mov.u32 %r32, WARP_SZ;", "%r32", |_| 32),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn operations_of_64_bits(a in numbers(), b in numbers()) {
        for (opcode, expected) in UNSIGNED_64 {
            let found = result(&format!("{opcode} %r64, %a64, %b64;"), "%r64", [a, b, 0]);
            prop_assert_eq!(found, expected(a, b), "{} {:#x} {:#x}", opcode, a, b);
        }
        for (opcode, expected) in SHIFTS_64 {
            let found = result(&format!("{opcode} %r64, %a64, %b32;"), "%r64", [a, b, 0]);
            prop_assert_eq!(found, expected(a, b as u32), "{} {:#x} {:#x}", opcode, a, b);
        }
    }

    #[test]
    fn operations_of_32_bits(a in numbers(), b in numbers()) {
        let (a, b) = (a as u32, b as u32);
        for (opcode, expected) in UNSIGNED_32 {
            let found = result(&format!("{opcode} %r32, %a32, %b32;"), "%r32", [a.into(), b.into(), 0]);
            prop_assert_eq!(found, u64::from(expected(a, b)), "{} {:#x} {:#x}", opcode, a, b);
        }
    }

    #[test]
    fn operations_of_one_operand(a in numbers()) {
        for (body, register, expected) in ONE_OPERAND {
            prop_assert_eq!(result(body, register, [a, 0, 0]), expected(a), "{} {:#x}", body, a);
        }
    }

    #[test]
    fn products_with_sums(a in numbers(), b in numbers(), c in numbers()) {
        let run = |body, register| result(body, register, [a, b, c]);
        let (a32, b32, c32) = (a as u32, b as u32, c as u32);
        prop_assert_eq!(run("mad.lo.u64 %r64, %a64, %b64, %c64;", "%r64"), a.wrapping_mul(b).wrapping_add(c));
        prop_assert_eq!(
            run("mad.lo.s32 %r32, %a32, %b32, %c32;", "%r32"),
            u64::from(a32.wrapping_mul(b32).wrapping_add(c32))
        );
        let unsigned = u64::from(a32) * u64::from(b32);
        let signed = (i64::from(a32 as i32) * i64::from(b32 as i32)) as u64;
        prop_assert_eq!(run("mul.wide.u32 %r64, %a32, %b32;", "%r64"), unsigned);
        prop_assert_eq!(run("mul.wide.s32 %r64, %a32, %b32;", "%r64"), signed);
        prop_assert_eq!(run("mad.wide.u32 %r64, %a32, %b32, %c64;", "%r64"), unsigned.wrapping_add(c));
        prop_assert_eq!(run("mad.wide.s32 %r64, %a32, %b32, %c64;", "%r64"), signed.wrapping_add(c));
        prop_assert_eq!(run("mul.wide.u16 %r32, %a16, %b16;", "%r32"), u64::from(a as u16) * u64::from(b as u16));
    }

    #[test]
    fn comparisons(a in numbers(), b in numbers()) {
        for (name, unsigned, signed) in COMPARISONS {
            let run = |ty: &str, width: &str| {
                result(&format!("setp.{name}.{ty} %p, %a{width}, %b{width};"), "%p", [a, b, 0]) == 1
            };
            prop_assert_eq!(run("u64", "64"), unsigned(&a, &b), "{} {:#x} {:#x}", name, a, b);
            prop_assert_eq!(run("s64", "64"), signed(&(a as i64), &(b as i64)), "{} {:#x} {:#x}", name, a, b);
            prop_assert_eq!(run("s32", "32"), signed(&(a as i32).into(), &(b as i32).into()), "{} {:#x} {:#x}", name, a, b);
            prop_assert_eq!(run("u16", "16"), unsigned(&(a as u16).into(), &(b as u16).into()), "{} {:#x} {:#x}", name, a, b);
        }
    }
}

#[test]
fn predicates_combine_and_select() {
    let body = "setp.eq.u64 %p, %a64, 1;\nsetp.eq.u64 %q, %b64, 1;\n";
    for (operation, expected) in [
        ("and.pred", [0, 0, 0, 1]),
        ("or.pred", [0, 1, 1, 1]),
        ("xor.pred", [0, 1, 1, 0]),
    ] {
        let found = [[0, 0], [0, 1], [1, 0], [1, 1]]
            .map(|[a, b]| result(&format!("{body}{operation} %p, %p, %q;"), "%p", [a, b, 0]));
        assert_eq!(found, expected, "{operation}");
    }
    assert_eq!(result(&format!("{body}not.pred %p, %p;"), "%p", [1, 0, 0]), 0);
    let body = "setp.lo.u64 %p, %a64, %b64;\nselp.b64 %r64, %a64, %b64, %p;";
    assert_eq!(result(body, "%r64", [3, 7, 0]), 3);
    assert_eq!(result(body, "%r64", [7, 3, 0]), 3);
}

#[test]
fn a_fused_multiply_add_is_rounded_once() {
    let body = "fma.rn.f32 %r32, %a32, %b32, %c32;";
    for (a, b, c) in [(1.5_f32, -2.0, 0.25), (0.1, 0.1, -0.01), (1e-30, 1e-15, 0.0)] {
        let arguments = [a, b, c].map(|number| u64::from(number.to_bits()));
        assert_eq!(
            result(body, "%r32", arguments),
            u64::from(a.mul_add(b, c).to_bits()),
            "{a} {b} {c}"
        );
    }
    // The product alone would be rounded to the number that is taken away.
    let arguments = [0.1_f32, 0.1, -0.01].map(|number| u64::from(number.to_bits()));
    assert_ne!(
        result(body, "%r32", arguments),
        u64::from((0.1_f32 * 0.1 - 0.01).to_bits())
    );
}
