//! What one generation of a matcher hands on to the next: patterns and phrases that were read, patterns cut at line breaks, how rare bytes
//! are, and compiled patterns, made when a line first needs them and kept within a bound.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::key_offsets::{KeyOffsets, Keys};
use super::keys::Rarity;
use super::slot::{Compilable, Slot, Test, clause_weight};
use crate::signature::{
    CompiledPattern, LineSpec, Outline, PatternError, PatternSpec, Phrase, PhraseSpec, Texts, analyse,
    compile, compile_often, may_have_parts, outline, parts,
};

/// Compiled patterns take at most about this much, in bytes; the least recently used go first.
pub const CACHE_LIMIT_BYTES: usize = 64 << 20;

/// A pattern that has run so often gets an automaton, from a text on which so many patterns have run: who asks about one
/// line does not wait for it.
const OFTEN: u32 = 128;
/// Largest automaton of a pattern that runs often, in bytes; there are two, one for each direction.
const AUTOMATON_BYTES: usize = 64 << 10;

/// Rarity is learnt anew when the number of literals has changed by more than one part in so many.
const SHARE_TO_LEARN_ANEW: usize = 8;

#[derive(Debug)]
pub(super) struct PatternCache {
    limit_bytes: usize,
    clock: AtomicU64,
    slots: Mutex<HashMap<PatternSpec, Weak<Slot>>>,
    phrases: Mutex<HashMap<PhraseSpec, Weak<Slot>>>,
    /// Patterns with a line break, cut there, each with the build that used it last.
    cut: Mutex<HashMap<PatternSpec, (Cut, u64)>>,
    builds: AtomicU64,
    rarity: Mutex<Option<Arc<Rarity>>>,
    key_offsets: KeyOffsets,
    resident: Mutex<Resident>,
}

/// The parts of a pattern of several lines; `None` for one that is of one line all the same.
type Cut = Option<Arc<[LineSpec]>>;

#[derive(Debug, Default)]
struct Resident {
    patterns: Vec<(Arc<Compilable>, Texts, usize)>,
    bytes: usize,
}

impl Default for PatternCache {
    fn default() -> Self {
        Self::with_limit(CACHE_LIMIT_BYTES)
    }
}

impl PatternCache {
    pub(super) fn with_limit(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            clock: AtomicU64::new(0),
            slots: Mutex::default(),
            phrases: Mutex::default(),
            cut: Mutex::default(),
            builds: AtomicU64::new(0),
            rarity: Mutex::default(),
            key_offsets: KeyOffsets::default(),
            resident: Mutex::default(),
        }
    }

    /// Whether a build has ended with it.
    pub(super) fn is_used(&self) -> bool {
        self.builds.load(Ordering::Relaxed) > 0
    }

    /// The slot of a pattern: the one already known, else a new one, its literals read but nothing compiled.
    pub(super) fn slot(&self, spec: &PatternSpec) -> Result<Arc<Slot>, PatternError> {
        // The same text under another name is the same pattern.
        let key = PatternSpec {
            id: String::new(),
            ..spec.clone()
        };
        if let Some(slot) = lock(&self.slots).get(&key).and_then(Weak::upgrade) {
            return Ok(slot);
        }
        let compilable = Compilable::new(key.clone());
        let slot = Arc::new(Slot::new(analyse(&key)?, Test::Pattern(Arc::new(compilable))));
        lock(&self.slots).insert(key, Arc::downgrade(&slot));
        Ok(slot)
    }

    pub(super) fn phrase(&self, spec: &PhraseSpec) -> Result<Arc<Slot>, PatternError> {
        let key = PhraseSpec {
            id: String::new(),
            ..spec.clone()
        };
        if let Some(slot) = lock(&self.phrases).get(&key).and_then(Weak::upgrade) {
            return Ok(slot);
        }
        let Outline { analysis, ways } = outline(spec)?;
        let weights = ways.iter().map(|clauses| clauses.iter().map(clause_weight).sum());
        let test = Test::Phrase(Phrase::new(spec)?, weights.collect());
        let slot = Arc::new(Slot::new(analysis, test));
        lock(&self.phrases).insert(key, Arc::downgrade(&slot));
        Ok(slot)
    }

    pub(super) fn parts(&self, spec: &PatternSpec) -> Result<Cut, PatternError> {
        if !may_have_parts(spec) {
            return Ok(None);
        }
        let build = self.builds.load(Ordering::Relaxed);
        if let Some((cut, used_in)) = lock(&self.cut).get_mut(spec) {
            *used_in = build;
            return Ok(cut.clone());
        }
        let cut = parts(spec)?.map(Arc::from);
        lock(&self.cut).insert(spec.clone(), (cut.clone(), build));
        Ok(cut)
    }

    /// How rare bytes are in these literals. What was learnt before is kept while there are about as many: it only decides which of
    /// a pattern's literals are looked for, and not what is found.
    pub(super) fn rarity<'a, Literals>(&self, literals: impl Fn() -> Literals) -> Arc<Rarity>
    where
        Literals: Iterator<Item = &'a [u8]>,
    {
        let now = literals().count();
        let mut known = lock(&self.rarity);
        match &*known {
            Some(rarity) if rarity.literals.abs_diff(now) <= rarity.literals / SHARE_TO_LEARN_ANEW => {
                Arc::clone(rarity)
            }
            _ => Arc::clone(known.insert(Arc::new(Rarity::learn(literals())))),
        }
    }

    /// Where the keys of signatures and codes begin.
    pub(super) fn keys(&self, rarity: Arc<Rarity>) -> Keys<'_> {
        self.key_offsets.of(rarity, self.builds.load(Ordering::Relaxed))
    }

    /// Ends a build: drops slots that no matcher holds, and cut patterns and key offsets that neither this build nor the one before used.
    pub(super) fn forget_unused(&self) {
        let build = self.builds.fetch_add(1, Ordering::Relaxed);
        self.key_offsets.forget_before(build.saturating_sub(1));
        lock(&self.slots).retain(|_, slot| slot.strong_count() > 0);
        lock(&self.phrases).retain(|_, slot| slot.strong_count() > 0);
        lock(&self.cut).retain(|_, (_, used_in)| *used_in + 1 >= build);
    }

    /// The pattern compiled for these texts, made now if need be. `runs_of_text`: how many patterns have run on the text.
    pub(super) fn get(
        &self,
        pattern: &Arc<Compilable>,
        texts: Texts,
        runs_of_text: u32,
    ) -> Result<Arc<CompiledPattern>, PatternError> {
        pattern
            .used_at
            .store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let form = pattern.form(texts);
        let runs = form.runs.fetch_add(1, Ordering::Relaxed);
        let often = runs.min(runs_of_text) >= OFTEN;
        let compiled = form.compiled();
        if let Some(compiled) = &compiled
            && (!often || form.has_automata.swap(true, Ordering::Relaxed))
        {
            return Ok(Arc::clone(compiled));
        }
        form.has_automata.store(often, Ordering::Relaxed);
        self.compile(pattern, texts, compiled.as_ref(), often)
    }

    /// Compiles a pattern, again where `before` ran too often for its form.
    fn compile(
        &self,
        pattern: &Arc<Compilable>,
        texts: Texts,
        before: Option<&Arc<CompiledPattern>>,
        often: bool,
    ) -> Result<Arc<CompiledPattern>, PatternError> {
        let compiled = if often {
            compile_often(&pattern.spec, texts, AUTOMATON_BYTES)?
        } else {
            compile(&pattern.spec, texts)?
        };
        let compiled = Arc::new(compiled);
        let bytes = compiled.regex.memory_usage();
        let mut resident = lock(&self.resident);
        {
            let mut place = pattern.form(texts).write();
            if let Some(theirs) = &*place
                && !before.is_some_and(|before| Arc::ptr_eq(before, theirs))
            {
                return Ok(Arc::clone(theirs));
            }
            *place = Some(Arc::clone(&compiled));
        }
        if before.is_some() {
            resident.forget(pattern, texts);
        }
        resident.patterns.push((Arc::clone(pattern), texts, bytes));
        resident.bytes += bytes;
        if resident.bytes > self.limit_bytes {
            resident.evict(self.limit_bytes / 4 * 3);
        }
        Ok(compiled)
    }

    pub(super) fn used_bytes(&self) -> usize {
        lock(&self.resident).bytes
    }
}

impl Resident {
    fn forget(&mut self, pattern: &Arc<Compilable>, texts: Texts) {
        let mut known = self.patterns.iter();
        if let Some(at) = known.position(|(known, of, _)| *of == texts && Arc::ptr_eq(known, pattern)) {
            self.bytes -= self.patterns.swap_remove(at).2;
        }
    }

    /// Drops the least recently used until at most `target` bytes are left. A running scanner keeps its own reference.
    fn evict(&mut self, target: usize) {
        // Each key is read once: scanners go on writing them, and a sort whose keys change under it may panic.
        self.patterns
            .sort_by_cached_key(|(pattern, ..)| std::cmp::Reverse(pattern.used_at.load(Ordering::Relaxed)));
        while self.bytes > target {
            let Some((pattern, texts, bytes)) = self.patterns.pop() else {
                break;
            };
            *pattern.form(texts).write() = None;
            self.bytes -= bytes;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn eviction_bears_scanners_that_use_patterns_meanwhile() {
        let cache = PatternCache::default();
        let patterns: Vec<Arc<Compilable>> = (0..30)
            .map(|number| {
                let spec = PatternSpec {
                    id: String::new(),
                    regex: format!("frobnicator {number}"),
                    flags: String::new(),
                    captures: Vec::new(),
                };
                match &cache.slot(&spec).unwrap().test {
                    Test::Pattern(pattern) => Arc::clone(pattern),
                    Test::Phrase(..) => unreachable!(),
                }
            })
            .collect();
        let mut resident = Resident {
            patterns: patterns
                .iter()
                .map(|pattern| (Arc::clone(pattern), Texts::Any, 1))
                .collect(),
            bytes: patterns.len(),
        };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = 1_u64;
                while !done.load(Ordering::Relaxed) {
                    for pattern in &patterns {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        pattern.used_at.store(random >> 32, Ordering::Relaxed);
                    }
                }
            });
            let evicting = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                // Nothing is over the target, so this only sorts.
                (0..50_000).for_each(|_| resident.evict(patterns.len()));
            }));
            done.store(true, Ordering::Relaxed);
            evicting.unwrap();
        });
        resident.evict(10);
        assert_eq!((resident.patterns.len(), resident.bytes), (10, 10));
    }
}
