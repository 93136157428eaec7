//! Moves, conversions and the flow of control.

use super::{Compiled, Compiler, What, operands::Fit};
use crate::ptx::{
    ast::Operand,
    code::{Operation, Sort, Special, Type},
};

const ANY: &[Sort] = &[Sort::Bits, Sort::Unsigned, Sort::Signed, Sort::Predicate];
const VALUES: &[Sort] = &[Sort::Bits, Sort::Unsigned, Sort::Signed];

impl Compiler<'_> {
    pub(super) fn mov(&self, what: &What<'_>) -> Compiled<Operation> {
        what.no_modifiers()?;
        let ty = what.type_of(ANY)?;
        let [to, from] = what.operands::<2>()?;
        let to = self.target(what, to, ty, Fit::Exact)?.0;
        if let Operand::Name(name) = from
            && let Some((special, bits)) = special(name)
        {
            if ty.bits != bits {
                return Err(what.error(format!("'{name}' has {bits} bits")));
            }
            return Ok(Operation::ReadSpecial { to, from: special });
        }
        Ok(Operation::Move {
            to,
            from: self.source(what, from, ty, Fit::Exact)?,
        })
    }

    pub(super) fn convert(&self, what: &What<'_>) -> Compiled<Operation> {
        let [to_word, _] = what.suffixes else {
            return Err(what.error("needs two types"));
        };
        let to_type =
            Type::read(to_word).ok_or_else(|| what.error(format!("'.{to_word}' is no integer type")))?;
        let from_type = what.last_type()?;
        if [to_type, from_type]
            .iter()
            .any(|ty| !matches!(ty.sort, Sort::Unsigned | Sort::Signed))
        {
            return Err(what.error("wrong type"));
        }
        let [to, from] = what.operands::<2>()?;
        let (to, to_bits) = self.target(what, to, to_type, Fit::Wider)?;
        let from = self.source(what, from, from_type, Fit::Wider)?;
        Ok(Operation::Convert {
            to,
            to_type,
            to_bits,
            from,
            from_type,
        })
    }

    /// Global addresses are generic ones, both ways.
    pub(super) fn convert_address(&self, what: &What<'_>) -> Compiled<Operation> {
        if !matches!(what.suffixes, ["to", "global", "u64"] | ["global", "u64"]) {
            return Err(what.error("only global addresses of 64 bits are known"));
        }
        let ty = what.last_type()?;
        let [to, from] = what.operands::<2>()?;
        let to = self.target(what, to, ty, Fit::Exact)?.0;
        Ok(Operation::Move {
            to,
            from: self.source(what, from, ty, Fit::Exact)?,
        })
    }

    pub(super) fn select(&self, what: &What<'_>) -> Compiled<Operation> {
        what.no_modifiers()?;
        let ty = what.type_of(VALUES)?;
        let [to, a, b, by] = what.operands::<4>()?;
        Ok(Operation::Select {
            to: self.target(what, to, ty, Fit::Exact)?.0,
            a: self.source(what, a, ty, Fit::Exact)?,
            b: self.source(what, b, ty, Fit::Exact)?,
            by: self.source(what, by, Type::PREDICATE, Fit::Exact)?,
        })
    }

    pub(super) fn branch(&self, what: &What<'_>) -> Compiled<Operation> {
        if !matches!(what.suffixes, [] | ["uni"]) {
            return Err(what.error("unknown kind of branch"));
        }
        let [Operand::Name(label)] = what.operands else {
            return Err(what.error("needs a label"));
        };
        let to = self.names.labels.get(label).copied();
        Ok(Operation::Branch {
            to: to.ok_or_else(|| what.error(format!("no label '{label}'")))?,
        })
    }

    pub(super) fn barrier(what: &What<'_>) -> Compiled<Operation> {
        let [Operand::Number(number)] = what.operands else {
            return Err(what.error("needs one number"));
        };
        if *number > 15 || !matches!(what.suffixes, ["sync"] | ["cta", "sync"] | ["sync", "aligned"]) {
            return Err(what.error("only bar.sync with a number up to 15 is known"));
        }
        Ok(Operation::Barrier { number: *number })
    }

    pub(super) fn sleep(&self, what: &What<'_>) -> Compiled<Operation> {
        self.need(what, "nanosleep", (6, 3), 70)?;
        let [time] = what.operands::<1>()?;
        self.source(what, time, what.type_of(&[Sort::Unsigned])?, Fit::Exact)?;
        Ok(Operation::Sleep)
    }

    /// An instruction with neither suffixes nor operands.
    pub(super) fn bare(what: &What<'_>, operation: Operation) -> Compiled<Operation> {
        what.operands::<0>()?;
        match what.suffixes {
            [] | ["uni"] => Ok(operation),
            _ => Err(what.error("unknown kind")),
        }
    }
}

/// A register of the machine, and its width.
fn special(name: &str) -> Option<(Special, u32)> {
    let (base, axis) = name.split_once('.').unwrap_or((name, ""));
    let axis = match axis {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        _ => 3,
    };
    Some(match (base, axis) {
        ("%tid", 0..3) => (Special::Thread(axis), 32),
        ("%ntid", 0..3) => (Special::Threads(axis), 32),
        ("%ctaid", 0..3) => (Special::Block(axis), 32),
        ("%nctaid", 0..3) => (Special::Blocks(axis), 32),
        ("%laneid", _) => (Special::Lane, 32),
        ("%warpid", _) => (Special::Warp, 32),
        ("%clock", _) => (Special::Clock, 32),
        ("%clock64", _) => (Special::Clock64, 64),
        ("%globaltimer", _) => (Special::GlobalTimer, 64),
        _ => return None,
    })
}
