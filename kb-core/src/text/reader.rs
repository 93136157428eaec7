//! The strict reader of structure: objects, arrays and white space. Strings and numbers are in [`super::scalar`].

use std::collections::BTreeSet;

use super::error::{Position, TextError};
use super::node::{Kind, Member, Node};
use super::pointer::{Step, push_step};
use super::scalar::Fault;
use super::{MAX_BYTES, MAX_DEPTH};

/// Reads one JSON text.
pub fn parse(text: &str) -> Result<Node, TextError> {
    parse_within(text, MAX_BYTES)
}

/// Reads one JSON text of at most `max_bytes`, for texts that are no records.
pub(super) fn parse_within(text: &str, max_bytes: usize) -> Result<Node, TextError> {
    check_size(text.len(), max_bytes)?;
    let mut reader = Reader {
        text,
        at: 0,
        path: Vec::new(),
    };
    reader
        .document()
        .map_err(|fault| reader.error_at(fault.at, fault.rule, fault.reason))
}

pub(super) fn check_size(bytes: usize, max_bytes: usize) -> Result<(), TextError> {
    if bytes <= max_bytes {
        return Ok(());
    }
    Err(TextError {
        pointer: String::new(),
        position: Position { line: 1, column: 1 },
        rule: "size",
        reason: format!("the text has {bytes} bytes, the limit is {max_bytes}"),
    })
}

/// One step of the path to the value being read; keys are owned because the tree is still being built.
enum Place {
    Key(String),
    Index(usize),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    path: Vec<Place>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Node, Fault> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.fault("bom", "the text starts with a byte order mark"));
        }
        self.skip_white_space();
        let node = self.value()?;
        self.skip_white_space();
        match self.peek() {
            None => Ok(node),
            Some(0) => Err(self.fault("nul", "a NUL byte stands after the value")),
            Some(_) => Err(self.fault("trailing", "text stands after the value")),
        }
    }

    fn value(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Kind::Bool(true))?,
            Some(b'f') => self.word("false", Kind::Bool(false))?,
            Some(b'n') => self.word("null", Kind::Null)?,
            Some(0) => return Err(self.fault("nul", "a NUL byte stands where a value should")),
            Some(_) => return Err(self.fault("syntax", "a value is expected here")),
            None => return Err(self.fault("syntax", "the text ends where a value should stand")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self) -> Result<Kind, Fault> {
        self.enter()?;
        let mut members: Vec<Member> = Vec::new();
        let mut seen = BTreeSet::new();
        self.skip_white_space();
        if self.take(b'}') {
            return Ok(Kind::Object(members));
        }
        loop {
            self.skip_white_space();
            let key_start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault("syntax", "a key in double quotes is expected here"));
            }
            let key = self.string()?;
            let key_span = key_start..self.at;
            self.path.push(Place::Key(key.clone()));
            if !seen.insert(key.clone()) {
                return Err(Fault::new(
                    key_start,
                    "duplicate-key",
                    format!("the key {key:?} stands twice"),
                ));
            }
            self.skip_white_space();
            if !self.take(b':') {
                return Err(self.fault("syntax", "':' is expected after a key"));
            }
            self.skip_white_space();
            let value = self.value()?;
            self.path.pop();
            members.push(Member { key, key_span, value });
            self.skip_white_space();
            if self.take(b'}') {
                return Ok(Kind::Object(members));
            }
            if !self.take(b',') {
                return Err(self.fault("syntax", "',' or '}' is expected here"));
            }
        }
    }

    fn array(&mut self) -> Result<Kind, Fault> {
        self.enter()?;
        let mut items = Vec::new();
        self.skip_white_space();
        if self.take(b']') {
            return Ok(Kind::Array(items));
        }
        loop {
            self.path.push(Place::Index(items.len()));
            self.skip_white_space();
            let item = self.value()?;
            items.push(item);
            self.path.pop();
            self.skip_white_space();
            if self.take(b']') {
                return Ok(Kind::Array(items));
            }
            if !self.take(b',') {
                return Err(self.fault("syntax", "',' or ']' is expected here"));
            }
        }
    }

    /// Steps over the opening bracket. The path holds one step for each level that is open.
    fn enter(&mut self) -> Result<(), Fault> {
        if self.path.len() >= MAX_DEPTH {
            let reason = format!("objects and arrays are nested deeper than {MAX_DEPTH} levels");
            return Err(Fault::new(self.at, "depth", reason));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<String, Fault> {
        let (text, end) = super::scalar::string(self.text, self.at)?;
        self.at = end;
        Ok(text)
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let (value, end) = super::scalar::number(self.text, self.at)?;
        let literal = self.text.get(self.at..end).unwrap_or_default();
        let whole = !literal.contains(['.', 'e', 'E']);
        self.at = end;
        Ok(Kind::Number { value, whole })
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, Fault> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.fault("syntax", "a value is expected here"));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    fn fault(&self, rule: &'static str, reason: &str) -> Fault {
        Fault::new(self.at, rule, reason)
    }

    fn error_at(&self, at: usize, rule: &'static str, reason: String) -> TextError {
        let mut pointer = String::new();
        for place in &self.path {
            match place {
                Place::Key(key) => push_step(&mut pointer, &Step::Key(key)),
                Place::Index(index) => push_step(&mut pointer, &Step::Index(*index)),
            }
        }
        TextError {
            pointer,
            position: Position::of(self.text, at),
            rule,
            reason,
        }
    }
}
