use regex_automata::meta::Regex;

use super::contexts::{CONTEXTS, NUMBER, Said, Way};
use super::*;
use crate::signature::check::Texts;
use crate::signature::parse::parse;

/// A phrase of a set of contexts.
fn spec(context: &str, text: Option<&str>, numbers: &[u32]) -> PhraseSpec {
    PhraseSpec {
        id: "said".to_owned(),
        context: context.to_owned(),
        text: text.map(ToOwned::to_owned),
        numbers: numbers.to_vec(),
    }
}

/// Where a phrase stands on a line, by the compiled form for texts like the line, which must be that for any text.
fn found(spec: &PhraseSpec, line: &str) -> Option<PhraseHit> {
    let phrase = Phrase::new(spec).unwrap();
    let lower = line.to_ascii_lowercase();
    let find = |texts| {
        let (text, lower) = (line.as_bytes(), lower.as_bytes());
        phrase
            .find(text, lower, 0..line.len(), texts, &mut Vec::new())
            .unwrap()
    };
    let hit = find(Texts::of(line.as_bytes()));
    assert_eq!(hit, find(Texts::Any), "{line}");
    assert_eq!(hit.is_some(), phrase.stands_on(line), "{line}");
    hit
}

/// The part of a line that counts.
fn shown<'l>(spec: &PhraseSpec, line: &'l str) -> Option<&'l str> {
    found(spec, line).map(|hit| &line[hit.span])
}

/// The shortest phrase of a set.
fn shortest(context: &contexts::Context) -> PhraseSpec {
    let text = context.prints_text().then_some("abc");
    let numbers: &[u32] = if context.prints_numbers() { &[7] } else { &[] };
    spec(context.name, text, numbers)
}

#[test]
fn every_way_can_be_read_compiled_and_looked_for() {
    for context in CONTEXTS {
        let facts = shortest(context).check().unwrap();
        assert!(
            facts.has_entry() || context.name == "cuda-number",
            "{}",
            context.name
        );
        found(&shortest(context), "x abc 7 x");
        for way in context.ways() {
            // Each side stands by itself: what is cut at an alternative would not.
            for side in way.before.iter().chain([&way.after]) {
                parse(&way.part((*side).to_owned())).unwrap();
            }
        }
    }
}

#[test]
fn a_phrase_counts_in_its_contexts_only() {
    let words = "an illegal memory access was encountered";
    let strict = spec("cuda-error", Some(words), &[]);
    let loose = spec("cuda-error-loose", Some(words), &[77, 700]);
    let alone = spec("alone", Some(words), &[]);
    for (line, in_strict, in_loose) in [
        (
            "RuntimeError: CUDA error: An illegal memory access was encountered",
            Some("CUDA error: An illegal memory access was encountered"),
            true,
        ),
        (
            "what():  transform: failed to synchronize: cudaErrorIllegalAddress: an illegal memory access was encountered",
            None,
            true,
        ),
        ("an illegal memory access was encountered", None, false),
        (
            "an illegal memory access was encountered in a.cu:7",
            Some("an illegal memory access was encountered in a.cu"),
            true,
        ),
        ("xan illegal memory access was encountered a.cu", None, false),
        ("status=700, an illegal memory access was encountered", None, true),
        (
            "status=701, an illegal memory access was encountered",
            None,
            false,
        ),
        (
            "CUDA error: an illegal memory access was encounteredly",
            None,
            false,
        ),
        (
            "line 12: an illegal memory access was encountered !!!",
            Some("line 12: an illegal memory access was encountered !!!"),
            false,
        ),
        (
            "… CUDA error: an illegal memory access was encountered …",
            None,
            false,
        ),
        (
            "…CUDA error: an illegal memory access was encountered. …",
            Some("CUDA error: an illegal memory access was encountered."),
            true,
        ),
    ] {
        assert_eq!(shown(&strict, line), in_strict, "{line}");
        assert_eq!(
            found(&loose, line).is_some(),
            in_loose || in_strict.is_some(),
            "{line}"
        );
    }
    assert!(found(&alone, "x an illegal memory access was encountered, y").is_some());
    assert!(found(&alone, "x an illegal memory access was encountered by y").is_none());
}

#[test]
fn numbers_are_printed_in_the_way_of_each_context() {
    let number = spec("cuda-number", None, &[77, 700]);
    for line in [
        "ERROR: CUDACore.CuError(code=700)",
        "Cuda Error in myelin::run: 77 x",
        "Failed to encode tensor map: 700",
        "warning: Cuda API error detected: cudaFree returned (0x4d)",
        "warning: Cuda API error detected: cudaFree returned (0x2bc)",
    ] {
        assert!(found(&number, line).is_some(), "{line}");
    }
    for line in [
        "CuError(code=7)",
        "CuError(code=7000)",
        "returned (0x700)",
        "Failed to encode tensor map: 7001",
    ] {
        assert!(found(&number, line).is_none(), "{line}");
    }
    let result = spec("cuda-result", None, &[700]);
    assert_eq!(
        shown(&result, "CUDA.cudaError_enum(0x000002bc), nothing"),
        Some("cudaError_enum(0x000002bc)")
    );
    assert_eq!(shown(&result, "CUDA.cudaError_enum(0x00000700), nothing"), None);
}

#[test]
fn the_first_place_counts_whichever_number_stands_there() {
    let number = spec("cuda-number", None, &[77, 700]);
    let line = "700 CuError(code=700), CuError(code=77)";
    let span = found(&number, line).map(|hit| hit.span);
    assert_eq!(span, Some(4..21));
}

/// The whole way as one pattern matches where the phrase is found, and what is needed of a line stands there.
#[test]
fn ways_match_what_they_would_as_patterns() {
    let lines = include_str!("../../matcher/typical.txt").lines();
    let wrapped = [
        "CUDA error: {}",
        "x CUDA runtime error (700): {} in a.cu",
        "cudaMalloc(&p, 7) failed with error code (2): {}, b",
        "a\tcuda error 7 failed: cuMemAlloc failed: {} -",
        "terminate: parallel_for failed: {}",
        "GPUassert: {} kernel.cu 7",
        "Gpu API call ({} )",
        "error: (-217:Gpu API call) {}  in function 'x'",
        "CUDA_SAFE_CALL failed due to {} (err 700)",
        "ü code: 700, reason: {}",
        "CudaException: Error{}: The",
        "nvml error: {}.",
        "NVMLError_Unknown: {} CUDA error: {}",
        "create CUDA context ({}) {} in CUDA queue ",
        "CUDA error at cuInit: {}x {}",
    ];
    let words = "unspecified launch failure";
    let texts: Vec<String> = wrapped
        .iter()
        .map(|line| line.replace("{}", words))
        .chain(lines.map(ToOwned::to_owned))
        .collect();
    let mut seen = 0;
    for context in CONTEXTS.iter().filter(|context| context.prints_text()) {
        let spec = spec(context.name, Some(words), &[]);
        let required = spec.check().unwrap().required;
        let ways: Vec<Regex> = context
            .ways()
            .filter(|way| !way.has_number())
            .map(as_pattern(words))
            .collect();
        for text in &texts {
            let first = ways
                .iter()
                .filter_map(|way| way.find(text))
                .min_by_key(regex_automata::Match::start);
            let hit = found(&spec, text);
            let (is, should) = (hit.map(|hit| hit.span), first.map(|hit| hit.range()));
            assert_eq!(
                is.as_ref().map(|span| span.start),
                should.map(|span| span.start),
                "{text}"
            );
            if is.is_some() {
                seen += 1;
                let lower = text.to_lowercase();
                let holds = |part: &Vec<u8>| lower.contains(std::str::from_utf8(part).unwrap());
                assert!(required.iter().all(|clause| clause.iter().any(holds)), "{text}");
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

fn as_pattern(words: &str) -> impl Fn(&Way) -> Regex {
    move |way| {
        Regex::builder()
            .build_from_hir(&parse(&way.around(words)).unwrap())
            .unwrap()
    }
}

#[test]
fn what_cannot_be_a_phrase_is_refused_with_what_can() {
    let reason = |spec: PhraseSpec| {
        let error = spec.check().unwrap_err();
        (error.rule, error.reason)
    };
    let (rule, text) = reason(spec("cuda-eror", Some("abc"), &[]));
    assert_eq!(rule, "phrase/context");
    assert!(
        text.contains("cuda-eror") && text.contains("cuda-error-loose"),
        "{text}"
    );
    for (spec, rule) in [
        (spec("cuda-error", None, &[]), "phrase/text"),
        (spec("cuda-number", Some("abc"), &[7]), "phrase/text"),
        (spec("cuda-error", Some("ab"), &[]), "phrase/text"),
        (spec("cuda-error", Some(&"a".repeat(201)), &[]), "phrase/text"),
        (spec("cuda-error", Some("two\nlines"), &[]), "phrase/text"),
        (spec("cuda-error", Some("显存不足"), &[]), "phrase/text"),
        (spec("cuda-error", Some("padded "), &[]), "phrase/text"),
        (spec("cuda-error", Some(",,,"), &[]), "phrase/text"),
        (spec("cuda-number", None, &[]), "phrase/numbers"),
        (spec("cuda-error", Some("abc"), &[7]), "phrase/numbers"),
    ] {
        assert_eq!(reason(spec.clone()).0, rule, "{spec:?}");
        assert!(Phrase::new(&spec).is_err());
    }
    assert!(
        spec("cuda-error-loose", Some("abc"), &[]).check().is_ok(),
        "numbers may be unknown"
    );
}

#[test]
fn a_long_line_full_of_the_phrase_is_read_in_its_length() {
    let line = "cuda error invalid argument ".repeat(20_000);
    let spec = spec("cuda-error", Some("invalid argument"), &[]);
    assert!(found(&spec, &line[..2_000]).is_none());
    let began = std::time::Instant::now();
    let phrase = Phrase::new(&spec).unwrap();
    assert!(!phrase.stands_on(&line));
    // Quadratic it would be minutes.
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn sets_are_named_once_and_their_numbers_too() {
    let mut names: Vec<&str> = CONTEXTS.iter().map(|context| context.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CONTEXTS.len());
    let numbered = CONTEXTS
        .iter()
        .flat_map(super::contexts::Context::ways)
        .filter(|way| way.has_number());
    for way in numbered {
        assert_eq!(way.said, Said::Text);
        assert_eq!(way.before.len(), 1, "another branch would hide the {NUMBER}");
    }
}
