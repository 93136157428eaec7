//! The names of a kernel: registers, parameters, labels.

use super::Compiled;
use crate::ptx::{
    Parameter,
    ast::{Declared, Entry, Statement},
    code::{Register, Sort, Type},
    lex::error,
};
use std::collections::HashMap;

/// Registers that a kernel can declare: no written one has more, and each thread has all of them.
const MAX_REGISTERS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) registers: HashMap<String, (Register, Type)>,
    pub(super) register_count: usize,
    pub(super) parameters: HashMap<String, (Parameter, Type)>,
    /// Label -> number of the instruction it stands before.
    pub(super) labels: HashMap<String, usize>,
}

impl Names {
    /// Collects them. Fails on a type that is not known and on names that are there twice.
    pub(super) fn of(entry: &Entry) -> Compiled<Self> {
        let mut names = Self::default();
        let mut end = 0_usize;
        for declared in &entry.parameters {
            // ptxas 12.9 and the driver's compiler (580.159.04) do not say so: they end with a corrupted heap.
            if declared.name == entry.name {
                let message = format!("parameter '{}' has the name of its kernel", declared.name);
                return Err(error(declared.line, message));
            }
            let ty = known_type(declared)?;
            let offset = end.next_multiple_of(ty.bytes());
            end = offset + ty.bytes();
            let parameter = Parameter {
                offset,
                bytes: ty.bytes(),
            };
            if names
                .parameters
                .insert(declared.name.clone(), (parameter, ty))
                .is_some()
            {
                return Err(twice(declared));
            }
        }
        for declared in &entry.registers {
            names.add_registers(declared)?;
        }
        let mut instructions = 0;
        for statement in &entry.statements {
            match statement {
                Statement::Instruction(_) => instructions += 1,
                Statement::Label { line, name } => {
                    if names.labels.insert(name.clone(), instructions).is_some() {
                        return Err(error(*line, format!("label '{name}' is there twice")));
                    }
                }
            }
        }
        Ok(names)
    }

    fn add_registers(&mut self, declared: &Declared) -> Compiled<()> {
        let ty = known_type(declared)?;
        let count = declared.count.unwrap_or(1);
        if count.saturating_add(self.register_count) > MAX_REGISTERS {
            return Err(error(
                declared.line,
                format!("more than {MAX_REGISTERS} registers"),
            ));
        }
        for number in 0..count {
            let name = match declared.count {
                Some(_) => format!("{}{number}", declared.name),
                None => declared.name.clone(),
            };
            // MAX_REGISTERS is less than 2^16.
            let register = Register(self.register_count as u16);
            if self.registers.insert(name, (register, ty)).is_some() {
                return Err(twice(declared));
            }
            self.register_count += 1;
        }
        Ok(())
    }
}

fn known_type(declared: &Declared) -> Compiled<Type> {
    let ty = declared.kind.strip_prefix('.').and_then(Type::read);
    // A predicate has no size in a parameter; registers may be one.
    let ty = ty.filter(|ty| ty.sort != Sort::Predicate || declared.name.starts_with('%'));
    ty.ok_or_else(|| {
        error(
            declared.line,
            format!("'{}': type '{}' is not known", declared.name, declared.kind),
        )
    })
}

fn twice(declared: &Declared) -> crate::ptx::LoadError {
    error(declared.line, format!("'{}' is there twice", declared.name))
}
