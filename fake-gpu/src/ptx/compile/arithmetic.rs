//! Arithmetic, logic and comparisons.

use super::{Compiled, Compiler, What, operands::Fit};
use crate::ptx::code::{Binary, Comparison, Operation, Sort, Type, Unary};

const NUMBERS: &[Sort] = &[Sort::Unsigned, Sort::Signed];
const BITS: &[Sort] = &[Sort::Bits, Sort::Predicate];
/// The type of a shift's amount, whatever is shifted.
const AMOUNT: Type = Type {
    sort: Sort::Unsigned,
    bits: 32,
};

impl Compiler<'_> {
    pub(super) fn binary(&self, what: &What<'_>, base: &str) -> Compiled<Operation> {
        what.no_modifiers()?;
        let (kind, sorts): (_, &[Sort]) = match base {
            "add" => (Binary::Add, NUMBERS),
            "sub" => (Binary::Subtract, NUMBERS),
            "div" => (Binary::Divide, NUMBERS),
            "rem" => (Binary::Remainder, NUMBERS),
            "min" => (Binary::Minimum, NUMBERS),
            "max" => (Binary::Maximum, NUMBERS),
            "and" => (Binary::And, BITS),
            "or" => (Binary::Or, BITS),
            "xor" => (Binary::Xor, BITS),
            "shl" => (Binary::ShiftLeft, &[Sort::Bits]),
            "shr" => (Binary::ShiftRight, &[Sort::Bits, Sort::Unsigned, Sort::Signed]),
            _ => return Err(what.error("unknown instruction")),
        };
        let ty = what.type_of(sorts)?;
        let [to, a, b] = what.operands::<3>()?;
        let b_type = if matches!(kind, Binary::ShiftLeft | Binary::ShiftRight) {
            AMOUNT
        } else {
            ty
        };
        Ok(Operation::Binary {
            kind,
            ty,
            to: self.target(what, to, ty, Fit::Exact)?.0,
            a: self.source(what, a, ty, Fit::Exact)?,
            b: self.source(what, b, b_type, Fit::Exact)?,
        })
    }

    pub(super) fn unary(&self, what: &What<'_>, base: &str) -> Compiled<Operation> {
        what.no_modifiers()?;
        let (kind, sorts): (_, &[Sort]) = match base {
            "not" => (Unary::Not, BITS),
            "neg" => (Unary::Negate, &[Sort::Signed]),
            _ => (Unary::Absolute, &[Sort::Signed]),
        };
        let ty = what.type_of(sorts)?;
        let [to, a] = what.operands::<2>()?;
        let to = self.target(what, to, ty, Fit::Exact)?.0;
        Ok(Operation::Unary {
            kind,
            ty,
            to,
            a: self.source(what, a, ty, Fit::Exact)?,
        })
    }

    pub(super) fn multiply(&self, what: &What<'_>) -> Compiled<Operation> {
        let ty = what.type_of(NUMBERS)?;
        let [to, a, b] = what.operands::<3>()?;
        let (a, b) = (
            self.source(what, a, ty, Fit::Exact)?,
            self.source(what, b, ty, Fit::Exact)?,
        );
        let kind = match what.modifiers() {
            ["lo"] => Binary::MultiplyLow,
            ["hi"] => Binary::MultiplyHigh,
            ["wide"] => {
                let to = self.target(what, to, wide(what, ty)?, Fit::Exact)?.0;
                return Ok(Operation::MultiplyWide {
                    ty,
                    to,
                    a,
                    b,
                    c: self.constant(what, 0)?,
                });
            }
            _ => return Err(what.error("needs .lo, .hi or .wide")),
        };
        Ok(Operation::Binary {
            kind,
            ty,
            to: self.target(what, to, ty, Fit::Exact)?.0,
            a,
            b,
        })
    }

    pub(super) fn multiply_add(&self, what: &What<'_>) -> Compiled<Operation> {
        let ty = what.type_of(NUMBERS)?;
        let [to, a, b, c] = what.operands::<4>()?;
        let (a, b) = (
            self.source(what, a, ty, Fit::Exact)?,
            self.source(what, b, ty, Fit::Exact)?,
        );
        match what.modifiers() {
            ["lo"] => {
                let to = self.target(what, to, ty, Fit::Exact)?.0;
                Ok(Operation::MultiplyAdd {
                    ty,
                    to,
                    a,
                    b,
                    c: self.source(what, c, ty, Fit::Exact)?,
                })
            }
            ["wide"] => {
                let wide = wide(what, ty)?;
                let to = self.target(what, to, wide, Fit::Exact)?.0;
                Ok(Operation::MultiplyWide {
                    ty,
                    to,
                    a,
                    b,
                    c: self.source(what, c, wide, Fit::Exact)?,
                })
            }
            _ => Err(what.error("needs .lo or .wide")),
        }
    }

    /// The only instruction on floats: their bits stand in registers of 32 bits without a sort.
    pub(super) fn fused_multiply_add(&self, what: &What<'_>) -> Compiled<Operation> {
        const FLOAT: Type = Type {
            sort: Sort::Bits,
            bits: 32,
        };
        if what.suffixes != ["rn", "f32"] {
            return Err(what.error("only fma.rn.f32 is known"));
        }
        let [to, a, b, c] = what.operands::<4>()?;
        Ok(Operation::FusedMultiplyAdd {
            to: self.target(what, to, FLOAT, Fit::Exact)?.0,
            a: self.source(what, a, FLOAT, Fit::Exact)?,
            b: self.source(what, b, FLOAT, Fit::Exact)?,
            c: self.source(what, c, FLOAT, Fit::Exact)?,
        })
    }

    pub(super) fn compare(&self, what: &What<'_>) -> Compiled<Operation> {
        let ty = what.type_of(&[Sort::Bits, Sort::Unsigned, Sort::Signed])?;
        let [word] = what.modifiers() else {
            return Err(what.error("needs one comparison"));
        };
        let kind = match *word {
            "eq" => Comparison::Equal,
            "ne" => Comparison::NotEqual,
            "lt" | "lo" => Comparison::Less,
            "le" | "ls" => Comparison::LessOrEqual,
            "gt" | "hi" => Comparison::Greater,
            "ge" | "hs" => Comparison::GreaterOrEqual,
            _ => return Err(what.error(format!("'.{word}' is not known"))),
        };
        let unsigned_only = matches!(*word, "lo" | "ls" | "hi" | "hs");
        let equality = matches!(kind, Comparison::Equal | Comparison::NotEqual);
        if unsigned_only && ty.sort != Sort::Unsigned || ty.sort == Sort::Bits && !equality {
            return Err(what.error("the comparison does not go with this type"));
        }
        let [to, a, b] = what.operands::<3>()?;
        Ok(Operation::Compare {
            kind,
            ty,
            to: self.target(what, to, Type::PREDICATE, Fit::Exact)?.0,
            a: self.source(what, a, ty, Fit::Exact)?,
            b: self.source(what, b, ty, Fit::Exact)?,
        })
    }
}

/// The type of a product that keeps all its bits.
fn wide(what: &What<'_>, ty: Type) -> Compiled<Type> {
    if ty.bits > 32 {
        return Err(what.error("there is nothing wider than 64 bits"));
    }
    Ok(Type {
        bits: ty.bits * 2,
        ..ty
    })
}
