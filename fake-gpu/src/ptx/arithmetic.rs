//! What the operations compute, by the PTX ISA's chapter on integer arithmetic. Bits above a value's type are zero.

use super::code::{Atomic, Binary, Comparison, Sort, Type, Unary};

#[inline]
pub(super) fn binary(kind: Binary, ty: Type, a: u64, b: u64) -> u64 {
    let result = match kind {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::MultiplyLow => a.wrapping_mul(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => shift_left(ty, a, b),
        Binary::ShiftRight => shift_right(ty, a, b),
        Binary::MultiplyHigh | Binary::Divide | Binary::Remainder | Binary::Minimum | Binary::Maximum => {
            of_numbers(kind, ty, ty.number(a), ty.number(b))
        }
    };
    ty.cut(result)
}

/// The operations whose result depends on the sign; kept apart, since numbers of 128 bits are slow.
#[inline(never)]
fn of_numbers(kind: Binary, ty: Type, x: i128, y: i128) -> u64 {
    match kind {
        Binary::MultiplyHigh => high_product(ty, x, y),
        // Unspecified by the ISA; all ones and the dividend are what division by shifts and subtractions gives.
        Binary::Divide => x.checked_div(y).map_or(u64::MAX, |quotient| quotient as u64),
        Binary::Remainder => x.checked_rem(y).unwrap_or(x) as u64,
        Binary::Minimum => x.min(y) as u64,
        _ => x.max(y) as u64,
    }
}

/// The upper half of the product.
fn high_product(ty: Type, x: i128, y: i128) -> u64 {
    if ty.sort == Sort::Signed {
        return ((x * y) >> ty.bits) as u64;
    }
    // Two unsigned 64-bit numbers overflow i128.
    ((x as u128).wrapping_mul(y as u128) >> ty.bits) as u64
}

/// Amounts above the width count as the width; the amount is 32 bits wide whatever the type.
fn shift_left(ty: Type, a: u64, amount: u64) -> u64 {
    let amount = amount & u64::from(u32::MAX);
    if amount >= u64::from(ty.bits) {
        0
    } else {
        a << amount
    }
}

fn shift_right(ty: Type, a: u64, amount: u64) -> u64 {
    let amount = amount & u64::from(u32::MAX);
    let value = ty.extended(a);
    if ty.sort == Sort::Signed {
        (value as i64 >> amount.min(63)) as u64
    } else if amount >= u64::from(ty.bits) {
        0
    } else {
        value >> amount
    }
}

pub(super) fn unary(kind: Unary, ty: Type, a: u64) -> u64 {
    let result = match kind {
        Unary::Not => !a,
        Unary::Negate => a.wrapping_neg(),
        Unary::Absolute => ty.number(a).unsigned_abs() as u64,
    };
    ty.cut(result)
}

/// `a * b + c` of 32-bit floats, rounded once to the nearest.
pub(super) fn fused(a: u64, b: u64, c: u64) -> u64 {
    let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
    u64::from(a.mul_add(b, c).to_bits())
}

/// `a * b + c`, where `c` and the result are twice as wide as `a` and `b`.
pub(super) fn wide(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    let wide = Type {
        bits: ty.bits * 2,
        ..ty
    };
    let product = ty.extended(a).wrapping_mul(ty.extended(b));
    wide.cut(product.wrapping_add(c))
}

#[inline]
pub(super) fn compare(kind: Comparison, ty: Type, a: u64, b: u64) -> bool {
    let (x, y) = (ty.extended(a), ty.extended(b));
    let order = if ty.sort == Sort::Signed {
        (x as i64).cmp(&(y as i64))
    } else {
        x.cmp(&y)
    };
    match kind {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// What an atomic operation leaves in memory.
pub(super) fn atomic(kind: Atomic, ty: Type, before: u64, b: u64, c: u64) -> u64 {
    match kind {
        Atomic::Exchange => ty.cut(b),
        Atomic::CompareAndSwap if before == ty.cut(b) => ty.cut(c),
        Atomic::CompareAndSwap => before,
        Atomic::Combine(operation) => binary(operation, ty, before, b),
    }
}
