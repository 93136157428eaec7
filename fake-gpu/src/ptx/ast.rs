//! What a text says, before anything is checked against anything else.

#[derive(Debug)]
pub(super) struct Text {
    pub(super) version: (u32, u32),
    /// `sm_70` is 70.
    pub(super) target: u32,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) parameters: Vec<Declared>,
    pub(super) registers: Vec<Declared>,
    pub(super) statements: Vec<Statement>,
}

/// A parameter, or one or more registers.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) line: usize,
    pub(super) name: String,
    /// `%r<8>` declares `%r0` to `%r7`.
    pub(super) count: Option<usize>,
    /// With its dot.
    pub(super) kind: String,
}

#[derive(Debug)]
pub(super) enum Statement {
    Label { line: usize, name: String },
    Instruction(Instruction),
}

#[derive(Debug)]
pub(super) struct Instruction {
    pub(super) line: usize,
    pub(super) guard: Option<Guard>,
    /// With all its parts, such as `ld.global.u32`.
    pub(super) opcode: String,
    pub(super) operands: Vec<Operand>,
}

/// `@%p` or `@!%p`.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) predicate: String,
    pub(super) negated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Name(String),
    /// `!%p`.
    Not(String),
    /// In two's complement.
    Number(u64),
    /// `[base+offset]`.
    Address {
        base: String,
        offset: i64,
    },
    /// `{%r1, %r2}`.
    Vector(Vec<Operand>),
}
