//! Tokens to a [`Text`].

use super::{
    LoadError,
    ast::{Declared, Entry, Guard, Instruction, Operand, Statement, Text},
    lex::{Kind, Token, error, tokens},
};

/// Reads a text. Fails at the first thing that is wrong or not part of the subset.
pub(super) fn parse(text: &str) -> Result<Text, LoadError> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        rest: &tokens,
        line: 1,
    };
    parser.text()
}

struct Parser<'a> {
    rest: &'a [Token],
    /// Of the last token taken.
    line: usize,
}

type Parsed<T> = Result<T, LoadError>;

impl<'a> Parser<'a> {
    fn text(&mut self) -> Parsed<Text> {
        if !matches!(self.peek(), Some(Kind::Word(word)) if word == ".version") {
            return Err(LoadError::NoPtx);
        }
        self.directive(".version")?;
        let version = self.version()?;
        let (mut target, mut entries) = (None, Vec::new());
        while !self.rest.is_empty() {
            let word = self.word("a directive")?;
            match word {
                ".target" => target = Some(self.target()?),
                ".address_size" => {
                    if self.number()? != 64 {
                        return self.wrong("only 64-bit addresses are known");
                    }
                }
                ".visible" | ".weak" => {}
                ".entry" => entries.push(self.entry()?),
                other => return self.wrong(format!("unknown directive '{other}'")),
            }
        }
        let target = target.ok_or_else(|| error(1, "no .target"))?;
        Ok(Text {
            version,
            target,
            entries,
        })
    }

    fn version(&mut self) -> Parsed<(u32, u32)> {
        let digits = self.raw_number()?;
        let parts = digits
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        parts.ok_or_else(|| self.error(format!("'{digits}' is no version")))
    }

    fn target(&mut self) -> Parsed<u32> {
        let word = self.word("a target")?;
        let number = word.strip_prefix("sm_").and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| self.error(format!("unknown target '{word}'")))
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let name = self.word("the name of a kernel")?.to_owned();
        let line = self.line;
        let mut parameters = Vec::new();
        if self.take('(') && !self.take(')') {
            loop {
                self.directive(".param")?;
                let kind = self.word("a type")?.to_owned();
                let name = self.word("the name of a parameter")?.to_owned();
                parameters.push(Declared {
                    line: self.line,
                    name,
                    count: None,
                    kind,
                });
                if !self.take(',') {
                    break;
                }
            }
            self.mark(')')?;
        }
        self.mark('{')?;
        let (mut registers, mut statements) = (Vec::new(), Vec::new());
        while !self.take('}') {
            match self.peek() {
                Some(Kind::Word(word)) if word == ".reg" => self.registers(&mut registers)?,
                Some(Kind::Word(word)) if word.starts_with('.') => {
                    let message = format!("unknown directive '{word}'");
                    self.next("a directive")?;
                    return self.wrong(message);
                }
                Some(_) => statements.push(self.statement()?),
                None => return self.wrong(format!("kernel '{name}' does not end")),
            }
        }
        Ok(Entry {
            line,
            name,
            parameters,
            registers,
            statements,
        })
    }

    /// `.reg .b32 %r<8>, %x;`
    fn registers(&mut self, into: &mut Vec<Declared>) -> Parsed<()> {
        self.directive(".reg")?;
        let kind = self.word("a type")?.to_owned();
        loop {
            let name = self.word("a register")?.to_owned();
            let mut count = None;
            if self.take('<') {
                count = Some(self.number()? as usize);
                self.mark('>')?;
            }
            into.push(Declared {
                line: self.line,
                name,
                count,
                kind: kind.clone(),
            });
            if !self.take(',') {
                break;
            }
        }
        self.mark(';')
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let mut guard = None;
        if self.take('@') {
            let negated = self.take('!');
            guard = Some(Guard {
                predicate: self.word("a predicate")?.to_owned(),
                negated,
            });
        }
        let opcode = self.word("an instruction")?.to_owned();
        let line = self.line;
        if guard.is_none() && self.take(':') {
            return Ok(Statement::Label { line, name: opcode });
        }
        let mut operands = Vec::new();
        if !self.take(';') {
            loop {
                operands.push(self.operand()?);
                if !self.take(',') {
                    break;
                }
            }
            self.mark(';')?;
        }
        Ok(Statement::Instruction(Instruction {
            line,
            guard,
            opcode,
            operands,
        }))
    }

    fn operand(&mut self) -> Parsed<Operand> {
        if self.take('{') {
            let mut parts = Vec::new();
            loop {
                parts.push(self.plain_operand()?);
                if !self.take(',') {
                    break;
                }
            }
            self.mark('}')?;
            return Ok(Operand::Vector(parts));
        }
        if self.take('[') {
            let base = self.word("a register or parameter")?.to_owned();
            let offset = if self.take('+') || matches!(self.peek(), Some(Kind::Mark('-'))) {
                self.signed()? as i64
            } else {
                0
            };
            self.mark(']')?;
            return Ok(Operand::Address { base, offset });
        }
        self.plain_operand()
    }

    fn plain_operand(&mut self) -> Parsed<Operand> {
        match self.peek() {
            Some(Kind::Mark('!')) => {
                self.next("")?;
                Ok(Operand::Not(self.word("a predicate")?.to_owned()))
            }
            Some(Kind::Word(_)) => Ok(Operand::Name(self.word("an operand")?.to_owned())),
            _ => Ok(Operand::Number(self.signed()?)),
        }
    }

    /// A number with any sign, in two's complement.
    fn signed(&mut self) -> Parsed<u64> {
        if self.take('-') {
            Ok(self.number()?.wrapping_neg())
        } else {
            self.number()
        }
    }

    fn number(&mut self) -> Parsed<u64> {
        let digits = self.raw_number()?;
        read_number(digits).ok_or_else(|| self.error(format!("'{digits}' is no integer of 64 bits")))
    }

    fn raw_number(&mut self) -> Parsed<&'a str> {
        match self.next("a number")? {
            Kind::Number(digits) => Ok(digits),
            other => self.wrong(format!("expected a number, found {}", shown(other))),
        }
    }

    fn word(&mut self, wanted: &str) -> Parsed<&'a str> {
        match self.next(wanted)? {
            Kind::Word(word) => Ok(word),
            other => self.wrong(format!("expected {wanted}, found {}", shown(other))),
        }
    }

    fn directive(&mut self, wanted: &str) -> Parsed<()> {
        let found = self.word(wanted)?;
        if found == wanted {
            Ok(())
        } else {
            self.wrong(format!("expected {wanted}, found '{found}'"))
        }
    }

    fn mark(&mut self, wanted: char) -> Parsed<()> {
        match self.next(&format!("'{wanted}'"))? {
            Kind::Mark(found) if *found == wanted => Ok(()),
            other => self.wrong(format!("expected '{wanted}', found {}", shown(other))),
        }
    }

    /// Takes the mark if it comes next.
    fn take(&mut self, wanted: char) -> bool {
        let found = matches!(self.peek(), Some(Kind::Mark(mark)) if *mark == wanted);
        if let (true, Some((first, rest))) = (found, self.rest.split_first()) {
            self.line = first.line;
            self.rest = rest;
        }
        found
    }

    fn peek(&self) -> Option<&'a Kind> {
        self.rest.first().map(|token| &token.kind)
    }

    fn next(&mut self, wanted: &str) -> Parsed<&'a Kind> {
        let Some((first, rest)) = self.rest.split_first() else {
            return self.wrong(format!("expected {wanted}, found the end"));
        };
        self.line = first.line;
        self.rest = rest;
        Ok(&first.kind)
    }

    fn error(&self, message: impl Into<String>) -> LoadError {
        error(self.line, message)
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(self.error(message))
    }
}

fn shown(kind: &Kind) -> String {
    match kind {
        Kind::Word(text) | Kind::Number(text) => format!("'{text}'"),
        Kind::Mark(mark) => format!("'{mark}'"),
    }
}

/// Decimal, `0x…`, `0b…` or octal with a leading zero, with `U` at the end or not.
fn read_number(digits: &str) -> Option<u64> {
    let digits = digits.strip_suffix('U').unwrap_or(digits);
    let prefixes = [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)];
    for (prefix, base) in prefixes {
        if let Some(rest) = digits.strip_prefix(prefix) {
            return u64::from_str_radix(rest, base).ok();
        }
    }
    let base = if digits.len() > 1 && digits.starts_with('0') {
        8
    } else {
        10
    };
    u64::from_str_radix(digits, base).ok()
}
