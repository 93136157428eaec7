//! Operands, looked up and checked against the type of their instruction.

use super::{Compiled, Compiler, What};
use crate::ptx::{
    ast::Operand,
    code::{Address, Register, Sort, Type},
    lex::error,
};

/// How the width of a register has to fit the type of the instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Arithmetic: the same.
    Exact,
    /// Loads, stores and conversions: it may be wider.
    Wider,
}

impl What<'_> {
    /// The operands, as many as there have to be.
    pub(super) fn operands<const N: usize>(&self) -> Compiled<&[Operand; N]> {
        self.operands
            .try_into()
            .map_err(|_| self.error(format!("takes {N} operands, not {}", self.operands.len())))
    }

    pub(super) fn last_type(&self) -> Compiled<Type> {
        let word = self.suffixes.last().copied().unwrap_or_default();
        Type::read(word).ok_or_else(|| self.error(format!("'.{word}' is no integer type")))
    }

    pub(super) fn modifiers(&self) -> &[&str] {
        self.suffixes.split_last().map_or(&[], |(_, before)| before)
    }

    pub(super) fn no_modifiers(&self) -> Compiled<()> {
        self.modifiers()
            .first()
            .map_or(Ok(()), |word| Err(self.error(format!("'.{word}' is not known"))))
    }

    /// The type, which has to be one of these sorts and at least 16 bits wide.
    pub(super) fn type_of(&self, sorts: &[Sort]) -> Compiled<Type> {
        let ty = self.last_type()?;
        let wide_enough = ty.bits >= 16 || ty.sort == Sort::Predicate;
        if sorts.contains(&ty.sort) && wide_enough {
            Ok(ty)
        } else {
            Err(self.error("wrong type"))
        }
    }
}

impl Compiler<'_> {
    pub(super) fn register(&self, line: usize, name: &str) -> Compiled<(Register, Type)> {
        let found = self.names.registers.get(name).copied();
        found.ok_or_else(|| error(line, format!("'{name}' is no register")))
    }

    /// A register that fits the type, and its width.
    pub(super) fn target(
        &self,
        what: &What<'_>,
        operand: &Operand,
        ty: Type,
        fit: Fit,
    ) -> Compiled<(Register, u32)> {
        let Operand::Name(name) = operand else {
            return Err(what.error("the result needs a register"));
        };
        let (register, found) = self.register(what.line, name)?;
        if fits(ty, found, fit) {
            return Ok((register, found.bits));
        }
        Err(what.error(format!(
            "'{name}' has {} bits where the type has {}",
            found.bits, ty.bits
        )))
    }

    pub(super) fn source(
        &self,
        what: &What<'_>,
        operand: &Operand,
        ty: Type,
        fit: Fit,
    ) -> Compiled<Register> {
        match operand {
            Operand::Number(value) if ty.sort != Sort::Predicate => self.constant(what, ty.cut(*value)),
            Operand::Name(name) if name == "WARP_SZ" && ty.bits == 32 => self.constant(what, 32),
            Operand::Name(_) => Ok(self.target(what, operand, ty, fit)?.0),
            _ => Err(what.error("an operand is neither register nor number")),
        }
    }

    /// The register of a constant.
    pub(super) fn constant(&self, what: &What<'_>, value: u64) -> Compiled<Register> {
        let mut constants = self.constants.borrow_mut();
        let known = constants.iter().position(|constant| *constant == value);
        let place = known.unwrap_or(constants.len());
        if known.is_none() {
            constants.push(value);
        }
        u16::try_from(self.names.register_count + place)
            .map(Register)
            .map_err(|_| what.error("too many constants"))
    }

    /// `[register+offset]`
    pub(super) fn address(&self, what: &What<'_>, operand: &Operand) -> Compiled<Address> {
        let Operand::Address { base, offset } = operand else {
            return Err(what.error("needs an [address]"));
        };
        let (register, ty) = self.register(what.line, base)?;
        if ty.bits != 64 {
            return Err(what.error(format!("address '{base}' has {} bits", ty.bits)));
        }
        Ok(Address {
            base: register,
            offset: *offset,
        })
    }
}

fn fits(wanted: Type, found: Type, fit: Fit) -> bool {
    if (wanted.sort == Sort::Predicate) != (found.sort == Sort::Predicate) {
        return false;
    }
    match fit {
        Fit::Exact => found.bits == wanted.bits,
        Fit::Wider => found.bits >= wanted.bits,
    }
}
