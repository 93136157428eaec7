//! Numbers of `ncclDataType_t` and what `ncclRedOp_t` does with them.

use std::ffi::c_int;

/// Bytes of a number by its `ncclDataType_t`; `None` for what the stand-in does not know.
pub(super) fn width(kind: c_int) -> Option<usize> {
    match kind {
        0 | 1 => Some(1),
        6 | 9 => Some(2),
        2 | 3 | 7 => Some(4),
        4 | 5 | 8 => Some(8),
        _ => None,
    }
}

/// Whether numbers of this kind can be reduced so; all of them can be moved.
pub(super) fn reduces(kind: c_int, reduction: c_int) -> bool {
    matches!(kind, 2..=5 | 7 | 8) && (0..=3).contains(&reduction)
}

pub(super) fn reduce(kind: c_int, reduction: c_int, into: &mut [u8], other: &[u8]) {
    macro_rules! with {
        ($number:ty, $sum:expr, $product:expr) => {{
            const WIDTH: usize = size_of::<$number>();
            let (into, _) = into.as_chunks_mut::<WIDTH>();
            let (other, _) = other.as_chunks::<WIDTH>();
            for (into, other) in into.iter_mut().zip(other) {
                let (a, b) = (<$number>::from_le_bytes(*into), <$number>::from_le_bytes(*other));
                let result: $number = match reduction {
                    0 => $sum(a, b),
                    1 => $product(a, b),
                    2 => a.max(b),
                    _ => a.min(b),
                };
                *into = result.to_le_bytes();
            }
        }};
    }
    match kind {
        2 => with!(i32, i32::wrapping_add, i32::wrapping_mul),
        3 => with!(u32, u32::wrapping_add, u32::wrapping_mul),
        4 => with!(i64, i64::wrapping_add, i64::wrapping_mul),
        5 => with!(u64, u64::wrapping_add, u64::wrapping_mul),
        7 => with!(f32, |a: f32, b: f32| a + b, |a: f32, b: f32| a * b),
        8 => with!(f64, |a: f64, b: f64| a + b, |a: f64, b: f64| a * b),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_reduced_by_their_kind() {
        let of = |kind, reduction, a: [u8; 4], b: [u8; 4]| {
            let mut into = a;
            reduce(kind, reduction, &mut into, &b);
            into
        };
        assert_eq!(
            of(7, 0, 1.5_f32.to_le_bytes(), 2.0_f32.to_le_bytes()),
            3.5_f32.to_le_bytes()
        );
        assert_eq!(
            of(3, 0, u32::MAX.to_le_bytes(), 2_u32.to_le_bytes()),
            1_u32.to_le_bytes()
        );
        assert_eq!(
            of(2, 2, (-3_i32).to_le_bytes(), 2_i32.to_le_bytes()),
            2_i32.to_le_bytes()
        );
        assert!(!reduces(6, 0), "no half floats");
    }
}
