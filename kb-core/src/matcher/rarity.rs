//! How much a word says. Used to choose which literal wakes a pattern, to tell generic messages from specific ones,
//! and to weigh how much of a line a match explains. The weights are ordinal: only their order matters.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// A signal whose literals weigh less than this is generic: `out of memory`, `invalid argument`.
pub(crate) const SPECIFIC: f32 = 2.0;

const COMMON_WEIGHT: f32 = 0.25;
const SHORT_WEIGHT: f32 = 0.1;
const PLAIN_WEIGHT: f32 = 1.0;
const IDENTIFIER_WEIGHT: f32 = 2.0;
/// A word this long is an identifier or a term, hardly ever everyday language.
const LONG_WORD: usize = 13;
const LONG_IDENTIFIER: usize = 8;

/// Words that stand in logs of any kind, in ASCII lower case.
pub(super) const COMMON: &str = "
    a about abort aborted aborting access accessing after again all allocate allocated allocation already also an and
    any api app application are argument arguments array as assert assertion at attempt attempted available back bad
    be because been before being between block buffer bug build but by bytes cache call called calling can cannot
    case cause caused change check checking class client close closed code command compile config configuration
    connect connected connection container context control core could count cpu create created creating current data
    date dead debug default delete denied detected device devices did different directory disabled disk do docker
    does done down driver due during each enabled encountered end engine entry environment error errors event ever
    exception exceptions execute executing execution exist exists exit exited expected fail failed failing failure
    fatal file files find finished first flag following for found free from function general get given global go got
    gpu gpus group had handle handler has have help host how http id if ignored illegal import in index info
    information init initialization initialize initialized input install installed instance int internal
    internalerror into invalid io is it its job just kernel key kill killed kind known last launch launching leave
    length level library like limit limited line lines linux list load loaded loading local lock log logs long lost
    machine made main make manager many max may mean memory message method min mode model module more most must name
    need network new next no node none nor normal not note nothing now null number object of off ok on one only open
    operation operations option options or order os other our out output over own package packet page parameter
    parameters parse parser part pass passed path peer pending perhaps permission pid please point pool port possible
    present prior process processes program property protocol python query queue range rank ranks re reached read
    reading ready reason received recent recently refused reload remote remove request requested required reset
    resource resources response restart result results retry return returned returning root run running runtime
    runtimeerror same save see segmentation send sent server service set setting shape shared should show shutdown
    signal since size so socket some space stack start started starting state status step still stop stopped stream
    string such support supported sure syntax system table tag target task temporary terminated test than that the
    their them then there these they this thread threads three through time timed timeout times to token too total
    traceback trace true try trying two type typeerror unable undefined unexpected unit unknown unless unspecified
    unsupported until up update us usage use used user using valid value valueerror values version very via
    virtual wait waiting warn warning was we were what when where which while will with within without wo work
    worker workers working world would write wrong you your zero";

static COMMON_WORDS: LazyLock<FxHashSet<&'static [u8]>> =
    LazyLock::new(|| COMMON.split_whitespace().map(str::as_bytes).collect());

pub(crate) fn word_weight(word: &[u8]) -> f32 {
    if word.len() <= 2 || !word.iter().any(|b| b.is_ascii_alphabetic() || !b.is_ascii()) {
        return SHORT_WEIGHT;
    }
    if COMMON_WORDS.contains(word) {
        return COMMON_WEIGHT;
    }
    if word.len() >= LONG_WORD || (word.len() >= LONG_IDENTIFIER && word.contains(&b'_')) {
        return IDENTIFIER_WEIGHT;
    }
    PLAIN_WEIGHT
}

/// The words of a text with their start. A word is a run of letters, digits, `_` and bytes of other scripts.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.iter().position(|&b| is_word_byte(b))?;
        let tail = text.get(start..)?;
        let len = tail.iter().position(|&b| !is_word_byte(b)).unwrap_or(tail.len());
        at = start + len;
        Some((start, tail.get(..len)?))
    })
}

pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Weight of a text in ASCII lower case: the sum over its words.
pub(crate) fn text_weight(text: &[u8]) -> f32 {
    words(text).map(|(_, word)| word_weight(word)).sum()
}
