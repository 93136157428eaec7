//! A crate as a tree of modules: which file a path leads to, through imports and re-exports.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use crate::source::{Import, Source, Written};

pub(crate) struct Tree {
    pub(crate) sources: Vec<Source>,
    /// The file that holds a module.
    modules: HashMap<Vec<String>, usize>,
    /// How the crate's own programs and tests name its library.
    library: String,
}

impl Tree {
    /// Reads the files that the compiler reads, from `src/lib.rs` and `src/main.rs` on.
    pub(crate) fn read(root: &Path, package: &str, library: &str) -> Tree {
        let mut tree = Tree {
            sources: Vec::new(),
            modules: HashMap::new(),
            library: library.to_owned(),
        };
        for file in ["main.rs", "lib.rs"] {
            let path = format!("{package}/src/{file}");
            if root.join(&path).is_file() {
                tree.add(root, &path, &[]);
            }
        }
        assert!(!tree.sources.is_empty(), "no code below {package}/src");
        tree
    }

    fn add(&mut self, root: &Path, file: &str, module: &[String]) {
        let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let source = Source::read(file.to_owned(), module.to_vec(), &text);
        let children = source.children.clone();
        let index = self.sources.len();
        for inline in &source.inline {
            self.modules.insert(inline.clone(), index);
        }
        self.modules.insert(module.to_vec(), index);
        self.sources.push(source);
        let (folder, name) = file.rsplit_once('/').unwrap();
        let folder = match name {
            "main.rs" | "lib.rs" | "mod.rs" => folder.to_owned(),
            _ => file.trim_end_matches(".rs").to_owned(),
        };
        for child in children {
            let module = [module, std::slice::from_ref(&child)].concat();
            let flat = format!("{folder}/{child}.rs");
            let nested = format!("{folder}/{child}/mod.rs");
            let is_flat = root.join(&flat).is_file();
            self.add(root, if is_flat { &flat } else { &nested }, &module);
        }
    }

    /// The path from the root of the crate, without `crate`; nothing where it leads to another crate.
    pub(crate) fn absolute(&self, source: &Source, path: &Written) -> Option<Vec<String>> {
        self.follow(source, path, 0)
    }

    fn follow(&self, source: &Source, path: &Written, depth: usize) -> Option<Vec<String>> {
        let (first, rest) = path.segments.split_first()?;
        let mut module = path.module.clone();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            name if name == self.library => Some(rest.to_vec()),
            "self" => Some([module, rest.to_vec()].concat()),
            "super" => {
                module.pop();
                let mut rest = rest;
                while rest.first().is_some_and(|segment| segment == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
                Some([module, rest.to_vec()].concat())
            }
            name => {
                module.push(name.to_owned());
                if self.modules.contains_key(&module) {
                    return Some([module, rest.to_vec()].concat());
                }
                let named = |import: &&Import| import.name == *name && import.path.segments[0] != *name;
                let import = source.imports.iter().find(named)?;
                if depth > 8 {
                    return None;
                }
                let above = self.follow(source, &import.path, depth + 1)?;
                Some([above, rest.to_vec()].concat())
            }
        }
    }

    /// The file that defines what an absolute path names.
    pub(crate) fn file_of(&self, path: &[String]) -> Option<usize> {
        self.locate(path, 0)
    }

    fn locate(&self, path: &[String], depth: usize) -> Option<usize> {
        let length = (0..=path.len())
            .rev()
            .find(|&length| self.modules.contains_key(&path[..length]))?;
        let (module, rest) = path.split_at(length);
        let file = self.modules[module];
        let Some((name, below)) = rest.split_first() else {
            return Some(file);
        };
        if depth > 8 {
            return None;
        }
        let source = &self.sources[file];
        let here = |import: &&Import| import.path.module == module;
        if let Some(import) = source
            .imports
            .iter()
            .filter(here)
            .find(|import| import.name == *name)
        {
            let target = self.absolute(source, &import.path)?;
            return self.locate(&[target, below.to_vec()].concat(), depth + 1);
        }
        Some(file)
    }

    /// The files whose items a file uses. What it only passes on it does not use. That a module calls the files of its own folder is no
    /// use: it is made of them.
    pub(crate) fn used_by(&self, index: usize) -> BTreeSet<usize> {
        let source = &self.sources[index];
        let imports = source
            .imports
            .iter()
            .filter(|import| !import.public || source.words.contains(&import.name));
        let paths = imports.map(|import| &import.path).chain(&source.paths);
        let targets = paths.filter_map(|path| self.file_of(&self.absolute(source, path)?));
        targets
            .filter(|&target| !self.sources[target].module.starts_with(&source.module))
            .collect()
    }
}
