//! Finds a library as the dynamic loader would: search path, cache, usual folders (ld.so(8)).

use super::super::HostRoot;
use super::cache;

const CACHE: &str = "etc/ld.so.cache";
/// Larger than any: some hundred thousand libraries.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Folders that the loader looks into last. Debian's has the name of the machine in it.
const USUAL: [&str; 4] = ["lib64", "usr/lib64", "lib", "usr/lib"];
/// Bytes of an ELF header that say for which machine it is.
const HEADER_BYTES: u64 = 20;

pub(super) struct Search<'a> {
    root: &'a HostRoot,
    /// Folders of `LD_LIBRARY_PATH`, as paths below the root.
    pub(super) named: Vec<String>,
    /// What the cache has of the libraries asked for, by `wanted`.
    pub(super) cached: Vec<cache::Entry>,
    pub(super) usual: Vec<String>,
    /// First bytes of a file for this machine.
    own: Vec<u8>,
}

impl<'a> Search<'a> {
    /// `library_path` is the value of `LD_LIBRARY_PATH`; `wanted` says which names will be asked for.
    pub(super) fn new(root: &'a HostRoot, library_path: Option<&str>, wanted: impl Fn(&str) -> bool) -> Self {
        let file = root.bytes(CACHE, CACHE_BYTES).value.unwrap_or_default();
        let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
        let own = [format!("lib/{machine}"), format!("usr/lib/{machine}")];
        // An empty part stands for the working folder, which is nobody's installation.
        let named = library_path.unwrap_or_default().split([':', ';']);
        let named = named.map(|folder| folder.trim_matches('/').to_owned());
        Self {
            root,
            named: named.filter(|folder| !folder.is_empty()).collect(),
            cached: cache::parse(&file, wanted),
            usual: own.into_iter().chain(USUAL.map(str::to_owned)).collect(),
            own: HostRoot::new("/")
                .bytes("proc/self/exe", HEADER_BYTES)
                .value
                .unwrap_or_default(),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<String> {
        let beside = |folder: &String| format!("{folder}/{name}");
        let cached = self.cached.iter().filter(|entry| entry.name == name);
        let candidates = self
            .named
            .iter()
            .map(beside)
            .chain(cached.map(|entry| entry.path.trim_start_matches('/').to_owned()))
            .chain(self.usual.iter().map(beside));
        let mut fitting = candidates.filter(|path| self.is_for_this_machine(path));
        fitting.next()
    }

    /// The loader passes over files of another word size or machine.
    fn is_for_this_machine(&self, path: &str) -> bool {
        let Some(real) = self.root.real(path) else {
            return false;
        };
        let header = self.root.bytes(&real, HEADER_BYTES).value.unwrap_or_default();
        // Magic and word size, then the machine.
        let marks = |header: &[u8]| Some((header.get(..5)?.to_vec(), header.get(18..20)?.to_vec()));
        marks(&header).is_some_and(|found| Some(found) == marks(&self.own))
    }
}
