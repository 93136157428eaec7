//! What one file of production code imports, names and declares.

use std::collections::HashSet;

use crate::tokens::{Token, is, production, starts};

/// A path as it is written, and the module that it is written in (a file may hold modules of its own).
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) module: Vec<String>,
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

/// One name of a `use`; a glob has the name `*`.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: Written,
    pub(crate) name: String,
    pub(crate) public: bool,
}

#[derive(Debug)]
pub(crate) struct Source {
    /// Below the root of the repository.
    pub(crate) file: String,
    pub(crate) module: Vec<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths in the code itself, outside of imports.
    pub(crate) paths: Vec<Written>,
    /// `mod name;`: modules with a file of their own.
    pub(crate) children: Vec<String>,
    /// Modules between braces.
    pub(crate) inline: Vec<Vec<String>>,
    /// Words of the code outside of imports.
    pub(crate) words: HashSet<String>,
    tokens: Vec<Token>,
}

impl Source {
    pub(crate) fn read(file: String, module: Vec<String>, text: &str) -> Source {
        let mut source = Source {
            file,
            module,
            imports: Vec::new(),
            paths: Vec::new(),
            children: Vec::new(),
            inline: Vec::new(),
            words: HashSet::new(),
            tokens: production(text),
        };
        let tokens = std::mem::take(&mut source.tokens);
        source.walk(&tokens);
        source.tokens = tokens;
        source
    }

    /// The first line with this word in the code.
    pub(crate) fn line_of(&self, word: &str) -> Option<usize> {
        self.tokens
            .iter()
            .find(|token| token.text == word)
            .map(|token| token.line)
    }

    /// Methods that are called on a value of this name, with their lines.
    pub(crate) fn calls_on<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, usize)> {
        let called = |at: usize| {
            let method = self
                .tokens
                .get(at + 2)
                .filter(|_| is(self.tokens.get(at + 3), "("));
            let is_call = starts(&self.tokens, at, &[name, "."]);
            method
                .filter(|_| is_call)
                .map(|method| (method.text.as_str(), method.line))
        };
        (0..self.tokens.len()).filter_map(called)
    }

    fn walk(&mut self, tokens: &[Token]) {
        let mut module = self.module.clone();
        // How deep the braces were when a module between braces began.
        let mut opened: Vec<usize> = Vec::new();
        let mut depth = 0;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token.text.as_str() {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if opened.last() == Some(&depth) {
                        opened.pop();
                        module.pop();
                    }
                }
                "mod" if is(tokens.get(at + 2), ";") => self.children.push(tokens[at + 1].text.clone()),
                "mod" if is(tokens.get(at + 2), "{") => {
                    module.push(tokens[at + 1].text.clone());
                    self.inline.push(module.clone());
                    opened.push(depth);
                    depth += 1;
                    at += 2;
                }
                // Not the `use<'a>` of a captured lifetime.
                "use" if !is(tokens.get(at + 1), "<") => {
                    let public = at > 0 && (is(tokens.get(at - 1), "pub") || is(tokens.get(at - 1), ")"));
                    at = self.import(tokens, at + 1, &module, &[], public);
                    continue;
                }
                _ if begins_path(tokens, at) => {
                    let (segments, end) = path(tokens, at);
                    self.words.extend(segments.iter().cloned());
                    self.paths.push(Written {
                        module: module.clone(),
                        segments,
                        line: token.line,
                    });
                    at = end;
                    continue;
                }
                word => {
                    self.words.insert(word.to_owned());
                }
            }
            at += 1;
        }
    }

    /// Reads one branch of a `use` and returns where it ends.
    fn import(
        &mut self,
        tokens: &[Token],
        mut at: usize,
        module: &[String],
        above: &[String],
        public: bool,
    ) -> usize {
        let mut segments = above.to_vec();
        let line = tokens[at].line;
        if is(tokens.get(at), "::") {
            at += 1;
        }
        loop {
            let text = tokens[at].text.as_str();
            if text == "{" {
                at += 1;
                while !is(tokens.get(at), "}") {
                    at = self.import(tokens, at, module, &segments, public);
                    at += usize::from(is(tokens.get(at), ","));
                }
                return at + 1;
            }
            let last = !is(tokens.get(at + 1), "::");
            if !(last && text == "self" && !segments.is_empty()) && text != "*" {
                segments.push(text.to_owned());
            }
            at += 1;
            if last {
                let mut name = if text == "*" {
                    "*".to_owned()
                } else {
                    segments.last().cloned().unwrap_or_default()
                };
                if is(tokens.get(at), "as") {
                    name.clone_from(&tokens[at + 1].text);
                    at += 2;
                }
                let path = Written {
                    module: module.to_vec(),
                    segments,
                    line,
                };
                self.imports.push(Import { path, name, public });
                return at;
            }
            at += 1;
        }
    }
}

fn begins_path(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    is_word(&tokens[at]) && is(tokens.get(at + 1), "::") && !is(before, "::") && !is(before, ".")
}

fn path(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut segments = vec![tokens[at].text.clone()];
    at += 1;
    while starts(tokens, at, &["::"]) && tokens.get(at + 1).is_some_and(is_word) {
        segments.push(tokens[at + 1].text.clone());
        at += 2;
    }
    (segments, at)
}

fn is_word(token: &Token) -> bool {
    token
        .text
        .starts_with(|first: char| first.is_alphabetic() || first == '_')
}

#[test]
fn imports_and_paths_are_read_with_their_modules() {
    let text = "pub use a::{self, b::{c, d as e}, *};\nmod inner {\n    fn f() { super::g::h(); x.store.put(1) }\n}\nmod other;";
    let source = Source::read("f.rs".to_owned(), vec!["m".to_owned()], text);
    let imports = source.imports.iter();
    let imports: Vec<String> = imports
        .map(|import| format!("{} = {}", import.name, import.path.segments.join("::")))
        .collect();
    assert_eq!(imports, ["a = a", "c = a::b::c", "e = a::b::d", "* = a"]);
    let [path] = source.paths.as_slice() else {
        panic!("{:?}", source.paths)
    };
    assert_eq!(
        (path.module.join("::"), path.segments.join("::"), path.line),
        ("m::inner".into(), "super::g::h".into(), 3)
    );
    assert_eq!(source.children, ["other"]);
    assert_eq!(source.calls_on("store").collect::<Vec<_>>(), [("put", 3)]);
}
