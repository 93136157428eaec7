//! Loads, stores, atomics and fences.

use super::{Compiled, Compiler, What, operands::Fit};
use crate::ptx::{
    ast::Operand,
    code::{Atomic, Binary, Operation, Sort, Type},
};

/// Where a load or store goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Also generic addresses: with neither shared nor local memory they are the same.
    Global,
    Parameter,
}

/// What the modifiers of a load or store say.
struct Modifiers {
    space: Space,
    elements: usize,
}

const SCOPES: [&str; 3] = ["cta", "gpu", "sys"];
/// Cache hints change nothing that a program can see here.
const HINTS: [&str; 8] = ["ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc"];

impl Compiler<'_> {
    pub(super) fn load(&self, what: &What<'_>) -> Compiled<Operation> {
        let ty = what.last_type()?;
        let modifiers = self.modifiers(what, "acquire")?;
        let [to, from] = what.operands::<2>()?;
        if modifiers.space == Space::Parameter {
            let (to, to_bits) = self.target(what, to, ty, Fit::Wider)?;
            return Ok(Operation::LoadParameter {
                to,
                ty,
                to_bits,
                offset: self.parameter(what, from, ty)?,
            });
        }
        let mut registers = Vec::new();
        let mut to_bits = ty.bits;
        for element in elements(what, to, modifiers.elements)? {
            let (register, bits) = self.target(what, element, ty, Fit::Wider)?;
            if !registers.is_empty() && bits != to_bits {
                return Err(what.error("the registers of a vector differ in width"));
            }
            registers.push(register);
            to_bits = bits;
        }
        Ok(Operation::Load {
            to: registers,
            ty,
            to_bits,
            address: self.address(what, from)?,
        })
    }

    pub(super) fn store(&self, what: &What<'_>) -> Compiled<Operation> {
        let ty = what.last_type()?;
        let modifiers = self.modifiers(what, "release")?;
        let [to, from] = what.operands::<2>()?;
        if modifiers.space == Space::Parameter {
            return Err(what.error("parameters of a kernel are not written"));
        }
        let from = elements(what, from, modifiers.elements)?;
        let from = from
            .iter()
            .map(|element| self.source(what, element, ty, Fit::Wider))
            .collect::<Compiled<_>>()?;
        Ok(Operation::Store {
            from,
            ty,
            address: self.address(what, to)?,
        })
    }

    /// `ordering` is `acquire` for loads, `release` for stores.
    fn modifiers(&self, what: &What<'_>, ordering: &str) -> Compiled<Modifiers> {
        let mut found = Modifiers {
            space: Space::Global,
            elements: 1,
        };
        let (mut ordered, mut scoped) = (false, false);
        for word in what.modifiers() {
            match *word {
                "volatile" | "weak" => {}
                "relaxed" => ordered = true,
                word if word == ordering => ordered = true,
                "global" => found.space = Space::Global,
                "param" => found.space = Space::Parameter,
                "v2" => found.elements = 2,
                "v4" => found.elements = 4,
                word if SCOPES.contains(&word) => scoped = true,
                word if HINTS.contains(&word) => {}
                word => return Err(what.error(format!("'.{word}' is not known"))),
            }
        }
        if ordered != scoped {
            return Err(what.error("an ordering and a scope go together"));
        }
        if ordered {
            self.need(what, "an ordering", (6, 0), 70)?;
        }
        if what.last_type()?.sort == Sort::Predicate {
            return Err(what.error("a predicate has no place in memory"));
        }
        Ok(found)
    }

    /// The place of a parameter that is read whole or in part.
    fn parameter(&self, what: &What<'_>, operand: &Operand, ty: Type) -> Compiled<usize> {
        let Operand::Address { base, offset } = operand else {
            return Err(what.error("needs a [parameter]"));
        };
        let (parameter, _) = self
            .names
            .parameters
            .get(base)
            .ok_or_else(|| what.error(format!("no parameter '{base}'")))?;
        let place = usize::try_from(*offset)
            .ok()
            .filter(|place| place.is_multiple_of(ty.bytes()));
        let inside = place.filter(|place| place.saturating_add(ty.bytes()) <= parameter.bytes);
        inside
            .map(|place| parameter.offset + place)
            .ok_or_else(|| what.error(format!("reads beside '{base}'")))
    }

    /// `atom` (with a result) and `red` (without).
    pub(super) fn atomic(&self, what: &What<'_>, with_result: bool) -> Compiled<Operation> {
        let ty = what.last_type()?;
        let mut kind = None;
        for word in what.modifiers() {
            match *word {
                "global" => {}
                "relaxed" | "acquire" | "release" | "acq_rel" => {
                    self.need(what, "an ordering", (6, 0), 70)?;
                }
                word if SCOPES.contains(&word) => self.need(what, "a scope", (5, 0), 60)?,
                word => {
                    kind =
                        Some(operation(word).ok_or_else(|| what.error(format!("'.{word}' is not known")))?);
                }
            }
        }
        let kind = kind.ok_or_else(|| what.error("no operation"))?;
        if !takes(kind, ty) || kind_needs_result(kind) && !with_result {
            return Err(what.error("the operation does not go with this type"));
        }
        let mut operands = what.operands.iter();
        let mut next = || operands.next().ok_or_else(|| what.error("too few operands"));
        let to = if with_result {
            Some(self.target(what, next()?, ty, Fit::Exact)?.0)
        } else {
            None
        };
        let address = self.address(what, next()?)?;
        let b = self.source(what, next()?, ty, Fit::Exact)?;
        let c = match kind {
            Atomic::CompareAndSwap => self.source(what, next()?, ty, Fit::Exact)?,
            _ => self.constant(what, 0)?,
        };
        if operands.next().is_some() {
            return Err(what.error("too many operands"));
        }
        Ok(Operation::Atomic {
            to,
            kind,
            ty,
            address,
            b,
            c,
        })
    }

    pub(super) fn fence(&self, what: &What<'_>, base: &str) -> Compiled<Operation> {
        what.operands::<0>()?;
        match (base, what.suffixes) {
            ("membar", ["cta" | "gl" | "sys"]) => {}
            ("fence", [scope] | ["sc" | "acq_rel", scope]) if SCOPES.contains(scope) => {
                self.need(what, "fence", (6, 0), 70)?;
            }
            _ => return Err(what.error("unknown kind of fence")),
        }
        Ok(Operation::Fence)
    }
}

/// The elements of an operand that is a vector of so many, or a single one.
fn elements<'a>(what: &What<'_>, operand: &'a Operand, count: usize) -> Compiled<&'a [Operand]> {
    let found = match operand {
        Operand::Vector(elements) if count > 1 => elements.as_slice(),
        single if count == 1 => std::slice::from_ref(single),
        _ => &[],
    };
    if found.len() == count {
        Ok(found)
    } else {
        Err(what.error(format!("needs a vector of {count}")))
    }
}

fn operation(word: &str) -> Option<Atomic> {
    Some(match word {
        "exch" => Atomic::Exchange,
        "cas" => Atomic::CompareAndSwap,
        "add" => Atomic::Combine(Binary::Add),
        "min" => Atomic::Combine(Binary::Minimum),
        "max" => Atomic::Combine(Binary::Maximum),
        "and" => Atomic::Combine(Binary::And),
        "or" => Atomic::Combine(Binary::Or),
        "xor" => Atomic::Combine(Binary::Xor),
        _ => return None,
    })
}

/// The types that the ISA lists for `atom`.
fn takes(kind: Atomic, ty: Type) -> bool {
    let wide = ty.bits == 32 || ty.bits == 64;
    wide && match kind {
        Atomic::Combine(Binary::Add) => ty.sort == Sort::Unsigned || ty.sort == Sort::Signed && ty.bits == 32,
        Atomic::Combine(Binary::Minimum | Binary::Maximum) => {
            matches!(ty.sort, Sort::Unsigned | Sort::Signed)
        }
        _ => ty.sort == Sort::Bits,
    }
}

fn kind_needs_result(kind: Atomic) -> bool {
    matches!(kind, Atomic::Exchange | Atomic::CompareAndSwap)
}
