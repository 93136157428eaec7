//! Statements to instructions: names are looked up, types checked as by `ptxas`, everything outside the subset refused.

mod arithmetic;
mod memory;
mod names;
mod operands;
mod other;

use super::{
    Kernel, LoadError, Target,
    ast::{Entry, Instruction as Written, Statement, Text},
    code::{Instruction, Operation, Type},
    lex::error,
};
use names::Names;
use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

pub(super) fn compile(text: &Text, target: Target) -> Result<BTreeMap<String, Arc<Kernel>>, LoadError> {
    if text.version > target.max_version {
        return Err(LoadError::Version {
            found: text.version,
            newest: target.max_version,
        });
    }
    let gpu = target.compute_capability.0 * 10 + target.compute_capability.1;
    if text.target > gpu {
        return Err(LoadError::Target {
            found: text.target,
            gpu,
        });
    }
    let mut kernels = BTreeMap::new();
    for entry in &text.entries {
        let kernel = kernel(text, entry, target.clock_khz)?;
        if kernels.insert(entry.name.clone(), Arc::new(kernel)).is_some() {
            return Err(error(
                entry.line,
                format!("kernel '{}' is there twice", entry.name),
            ));
        }
    }
    Ok(kernels)
}

fn kernel(text: &Text, entry: &Entry, clock_khz: u32) -> Result<Kernel, LoadError> {
    let names = Names::of(entry)?;
    let compiler = Compiler {
        names: &names,
        version: text.version,
        target: text.target,
        constants: RefCell::default(),
    };
    let mut code = Vec::new();
    for statement in &entry.statements {
        if let Statement::Instruction(written) = statement {
            code.push(compiler.instruction(written)?);
        }
    }
    // Falling off the end is leaving.
    code.push(Instruction {
        unless: None,
        operation: Operation::Return,
    });
    let mut registers = vec![0; names.register_count];
    registers.append(&mut compiler.constants.take());
    let mut parameters: Vec<_> = names
        .parameters
        .values()
        .map(|(parameter, _)| *parameter)
        .collect();
    parameters.sort_by_key(|parameter| parameter.offset);
    Ok(Kernel {
        name: entry.name.clone(),
        parameters,
        code,
        registers,
        clock_khz,
    })
}

/// What the compilation of one kernel looks things up in.
struct Compiler<'a> {
    names: &'a Names,
    version: (u32, u32),
    target: u32,
    /// The constants of the instructions compiled so far, without repeats.
    constants: RefCell<Vec<u64>>,
}

type Compiled<T> = Result<T, LoadError>;

impl Compiler<'_> {
    fn instruction(&self, written: &Written) -> Compiled<Instruction> {
        let line = written.line;
        let unless = match &written.guard {
            None => None,
            Some(guard) => {
                let (register, ty) = self.register(line, &guard.predicate)?;
                if ty != Type::PREDICATE {
                    return Err(error(line, format!("'{}' is no predicate", guard.predicate)));
                }
                Some((register, guard.negated))
            }
        };
        let operation = self
            .operation(written)
            .map_err(|why| with_opcode(why, &written.opcode))?;
        Ok(Instruction { unless, operation })
    }

    fn operation(&self, written: &Written) -> Compiled<Operation> {
        let mut parts = written.opcode.split('.');
        let base = parts.next().unwrap_or_default();
        let suffixes: Vec<&str> = parts.collect();
        let what = What {
            line: written.line,
            suffixes: &suffixes,
            operands: &written.operands,
        };
        match base {
            "ld" => self.load(&what),
            "st" => self.store(&what),
            "atom" => self.atomic(&what, true),
            "red" => self.atomic(&what, false),
            "membar" | "fence" => self.fence(&what, base),
            "mov" => self.mov(&what),
            "cvt" => self.convert(&what),
            "cvta" => self.convert_address(&what),
            "not" | "neg" | "abs" => self.unary(&what, base),
            "mul" => self.multiply(&what),
            "mad" => self.multiply_add(&what),
            "fma" => self.fused_multiply_add(&what),
            "add" | "sub" | "div" | "rem" | "min" | "max" | "and" | "or" | "xor" | "shl" | "shr" => {
                self.binary(&what, base)
            }
            "setp" => self.compare(&what),
            "selp" => self.select(&what),
            "bra" => self.branch(&what),
            "bar" | "barrier" => Self::barrier(&what),
            "nanosleep" => self.sleep(&what),
            "trap" => Self::bare(&what, Operation::Trap),
            "ret" | "exit" => Self::bare(&what, Operation::Return),
            _ => Err(what.error("unknown instruction")),
        }
    }

    /// Refuses what the text's own `.version` and `.target` do not have.
    fn need(&self, what: &What<'_>, feature: &str, version: (u32, u32), target: u32) -> Compiled<()> {
        if self.version < version || self.target < target {
            let (major, minor) = version;
            return Err(what.error(format!(
                "{feature} needs .version {major}.{minor} and sm_{target}"
            )));
        }
        Ok(())
    }
}

struct What<'a> {
    line: usize,
    /// What follows the dots of the opcode.
    suffixes: &'a [&'a str],
    operands: &'a [super::ast::Operand],
}

impl What<'_> {
    fn error(&self, message: impl Into<String>) -> LoadError {
        error(self.line, message)
    }
}

/// Puts the instruction before what is wrong with it.
fn with_opcode(why: LoadError, opcode: &str) -> LoadError {
    match why {
        LoadError::Text { line, message } => LoadError::Text {
            line,
            message: format!("{opcode}: {message}"),
        },
        other => other,
    }
}
