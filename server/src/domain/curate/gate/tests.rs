//! Records beside others, and beside each other.

use kb_core::record::Record;
use serde_json::{Value, json};

use super::{loose, refused};
use crate::feed::samples::{document, generation_of};

/// Texts of a record: its pattern, its example, and what else its annex says.
fn texts(id: &str, regex: &str, example: &str, mut annex: Value) -> (String, String) {
    let mut record = document(id, &format!("trouble of {id}"));
    record["regex"] = regex.into();
    annex["schema_version"] = json!(1);
    annex["examples"] = json!([{ "text": example }]);
    (record.to_string(), annex.to_string())
}

fn record((document, annex): &(String, String)) -> Record {
    Record::parse(document, annex).unwrap()
}

/// Which records are refused beside those that are published, and by which rule first.
fn told(new: &[(String, String)], published: &[(String, String)]) -> Vec<(String, &'static str)> {
    let new: Vec<Record> = new.iter().map(record).collect();
    let found = refused(&new, &generation_of(published)).unwrap();
    let told = found.into_iter();
    told.map(|(id, findings)| (id.to_string(), findings[0].rule))
        .collect()
}

const MESSAGE: &str = "frobnicator: wheel 7 came off the zorgblat axle";

fn narrow() -> (String, String) {
    texts(
        "cuda/narrow",
        "wheel [0-9]+ came off the zorgblat axle",
        MESSAGE,
        json!({}),
    )
}

/// Longer, so that it comes first on the other's example.
fn wide() -> (String, String) {
    let example = "frobnicator: wheel 9 came off the zorgblat axle of the second cart";
    let regex = "frobnicator: wheel [0-9]+ came off the zorgblat axle";
    texts("cuda/wide", regex, example, json!({}))
}

#[test]
fn records_of_one_import_are_held_against_each_other() {
    assert_eq!(told(&[narrow()], &[]), []);
    assert_eq!(told(&[wide()], &[]), []);
    let rule = "gate/others-example";
    assert_eq!(told(&[wide()], &[narrow()]), [("cuda/wide".to_owned(), rule)]);
    assert_eq!(told(&[narrow(), wide()], &[]), [("cuda/wide".to_owned(), rule)]);
}

/// Whether another loose record stands elsewhere in the corpus says nothing about this line.
#[test]
fn a_loose_record_does_not_hide_behind_another() {
    let loose = |id: &str, word: &str, annex| texts(id, word, &format!("zorgblat {word}"), annex);
    let one = loose("cuda/one", "NCCL INFO", json!({}));
    let alone = loose("cuda/two", "nvidia", json!({}));
    let rules = told(&[one, alone], &[]);
    assert_eq!(
        rules,
        [
            ("cuda/one".to_owned(), "gate/healthy-line"),
            ("cuda/two".to_owned(), "gate/healthy-line")
        ]
    );
    let many: Vec<(String, String)> = (0..60)
        .map(|number| loose(&format!("cuda/many-{number}"), "NCCL INFO", json!({})))
        .collect();
    assert_eq!(told(&many, &[]).len(), 60, "however many take the same line");
}

/// What is published with a Chinese signature.
fn real() -> (String, String) {
    let (document, annex) = narrow();
    let mut document: Value = serde_json::from_str(&document).unwrap();
    document["signature"] = "the zorgblat axle is broken".into();
    document["signature_zh"] = "佐格布拉特车轴已损坏".into();
    (document.to_string(), annex)
}

/// A copy stands where the real one stands, and whose id comes first is answered first.
#[test]
fn what_is_known_of_another_record_is_not_taken() {
    let copy = |id: &str, regex: &str, signature: &str| {
        let (document, annex) = texts(id, regex, signature, json!({}));
        let mut document: Value = serde_json::from_str(&document).unwrap();
        document["signature"] = signature.into();
        (document.to_string(), annex)
    };
    let english = "the zorgblat axle is broken";
    let chinese = "佐格布拉特车轴已损坏";
    let rules = |new: (String, String)| -> Vec<&'static str> {
        let told = told(&[new], &[real()]);
        told.into_iter().map(|(_, rule)| rule).collect()
    };
    let rule = "gate/others-signature";
    for id in ["cuda/a-copy", "cuda/z-copy"] {
        assert_eq!(rules(copy(id, english, english)), [rule], "{id}");
        assert_eq!(rules(copy(id, chinese, chinese)), [rule], "{id}");
        // On the other's example it is as good, and no better.
        let tie = texts(id, "wheel [0-9]+ came off the zorgblat axle", MESSAGE, json!({}));
        assert_eq!(rules(tie), ["gate/others-example"], "{id}");
    }
    // The same error in another environment.
    assert_eq!(
        rules(copy("cuda/narrow/windows", english, english)),
        [] as [&str; 0]
    );
    // What was copied together was nobody's before.
    let together = [
        copy("cuda/one", english, english),
        copy("cuda/two", english, english),
    ];
    assert_eq!(told(&together, &[]).len(), 1, "on the examples one comes first");
}

const PLAIN: &str =
    "NVRM: Xid (PCI:0000:3b:00): 979, pid=12, name=wheel, GPU lost its zorgblat axle, harmless quorx";
const NARROW: &str =
    r"NVRM: Xid \(PCI:[0-9a-f:]+\): 979, pid=[0-9]+, name=[a-z0-9]+, GPU lost its zorgblat axle";

fn lost() -> (String, String) {
    let example =
        "NVRM: Xid (PCI:0000:91:00): 979, pid='<unknown>', name=<unknown>, GPU lost its zorgblat axle.";
    let regex = r"Xid \([^)]{3,40}\): 979(?:, (?:pid=[^,]{1,20}, name=[^,]{1,40}, )?|:? |$)";
    texts("xid/979-lost", regex, example, json!({"codes": ["Xid 979"]}))
}

fn plain(regex: &str, annex: Value) -> (String, String) {
    texts("cuda/plain", regex, PLAIN, annex)
}

/// The driver names another process than the example does.
#[test]
fn lines_with_the_number_of_another_record_are_not_taken() {
    let rules = |new: (String, String)| -> Vec<&'static str> {
        let told = told(&[new], &[lost()]);
        told.into_iter().map(|(_, rule)| rule).collect()
    };
    let narrow = NARROW;
    let rule = "gate/others-number";
    assert_eq!(rules(plain(narrow, json!({}))), [rule]);
    // Nor those that ask for what a log writes in front.
    for (asked, front) in [
        ("kernel: ", "Feb  2 01:02:03 node7 kernel: "),
        (r"\] ", "[    1.500000] "),
        (
            r"kernel: \[ *[0-9.]+\] ",
            "Feb  2 01:02:03 node7 kernel: [    1.500000] ",
        ),
    ] {
        let example = format!("{front}{PLAIN}");
        let behind = texts("cuda/plain", &format!("{asked}{narrow}"), &example, json!({}));
        assert_eq!(rules(behind), [rule], "{asked}");
    }
    // What needs words of its own takes none of them, nor does what another person has agreed to put first.
    let own = format!("{narrow}, harmless quorx");
    assert_eq!(rules(plain(&own, json!({}))), [] as [&str; 0]);
    let cancels = json!({"relations": {"cancels": ["xid/979-lost"]}});
    assert_eq!(rules(plain(narrow, cancels)), [] as [&str; 0]);
}

/// A record that readers see had its number before, also where an import brings another revision of it.
#[test]
fn a_published_record_that_comes_along_keeps_its_number() {
    let both = [lost(), plain(NARROW, json!({}))];
    let refused = [("cuda/plain".to_owned(), "gate/others-number")];
    assert_eq!(told(&both, &[lost()]), refused);
    assert_eq!(told(&both, &[]), [], "of new ones none was there first");
}

/// What one record takes with leave is not held against another that stands in the same line.
#[test]
fn only_the_record_that_takes_a_line_is_told_so() {
    let rest = "GPU lost its frobnitz wheel on the way";
    let owner = || {
        let example = format!("NVRM: Xid (PCI:0000:91:00): 978, pid='<unknown>', name=<unknown>, {rest}.");
        let regex = format!(r"Xid \([^)]{{3,40}}\): 978, (?:pid=[^,]{{1,20}}, name=[^,]{{1,40}}, )?{rest}");
        texts("xid/978-lost", &regex, &example, json!({"codes": ["Xid 978"]}))
    };
    let example = format!("NVRM: Xid (PCI:0000:3b:00): 978, pid=12, name=wheel, {rest}, harmless quorx");
    let regex = format!(r"NVRM: Xid \(PCI:[0-9a-f:]+\): 978, pid=[0-9]+, name=[a-z0-9]+, {rest}");
    let taker = |annex| texts("cuda/taker", &regex, &example, annex);
    let beside = || {
        texts(
            "cuda/beside",
            "frobnitz wheel",
            "the frobnitz wheel is bent",
            json!({}),
        )
    };
    let cancels = json!({"relations": {"cancels": ["xid/978-lost"]}});
    assert_eq!(told(&[beside()], &[owner()]), []);
    assert_eq!(told(&[beside(), taker(cancels)], &[owner()]), []);
    let refused = [("cuda/taker".to_owned(), "gate/others-number")];
    assert_eq!(told(&[beside(), taker(json!({}))], &[owner()]), refused);
}

#[test]
fn a_pattern_that_stands_in_the_texts_of_many_is_refused() {
    let published = |count: usize| -> Vec<(String, String)> {
        let one = |number: usize| {
            let example =
                format!("zorgblat{number}: the quorx of wheel{number} went missing, axle{number} is bent");
            let regex =
                format!("zorgblat{number}: the quorx of wheel{number} went missing, axle{number} is bent");
            texts(&format!("cuda/published-{number}"), &regex, &example, json!({}))
        };
        (0..count).map(one).collect()
    };
    let common = || texts("cuda/common", "went missing", "my quorx went missing", json!({}));
    assert_eq!(told(&[common()], &published(16)), []);
    let refused = [("cuda/common".to_owned(), "gate/common")];
    assert_eq!(told(&[common()], &published(17)), refused);
    // Beside a rare word it is as common.
    let beside = texts(
        "cuda/common",
        "frobnitz of the second cart|went missing",
        "frobnitz of the second cart",
        json!({}),
    );
    assert_eq!(told(&[beside], &published(17)), refused);
}

#[test]
fn a_pattern_of_next_to_nothing_is_refused() {
    for (regex, is_short) in [
        ("qzx", true),
        ("qzxw", true),
        ("qzxwk", false),
        ("qzx.{0,9}[0-9]w", true),
        ("qzx.{0,9}[0-9]wk", false),
        ("qzxwkv|zqv", true),
        ("坏了", true),
        ("损坏了", false),
    ] {
        let record = record(&texts("cuda/short", regex, regex, json!({})));
        let rules: Vec<&str> = super::loose(&record).iter().map(|found| found.rule).collect();
        assert_eq!(rules, ["gate/short"][..usize::from(is_short)], "{regex}");
    }
}

/// Healthy lines that differ in their digits alone are all there.
#[test]
fn a_pattern_that_asks_for_digits_is_held_against_each_line() {
    for device in 6..10 {
        let line = format!("==> /proc/driver/nvidia/gpus/0000:00:0{device}.0/information <==");
        let regex = format!(r"nvidia/gpus/0000:00:0{device}\.0/information");
        let told = told(&[texts("cuda/digits", &regex, &line, json!({}))], &[]);
        assert_eq!(told, [("cuda/digits".to_owned(), "gate/healthy-line")]);
    }
}

/// A good alternative does not vouch for one that belongs to another record.
#[test]
fn each_alternative_is_judged_by_itself() {
    let regex = "the frobnicator lost its zorgblat|wheel [0-9]+ came off the zorgblat axle";
    let both = texts("cuda/both", regex, "the frobnicator lost its zorgblat", json!({}));
    assert_eq!(told(std::slice::from_ref(&both), &[]), []);
    let refused = [("cuda/both".to_owned(), "gate/others-example")];
    assert_eq!(told(&[both], &[narrow()]), refused);
}

/// Words by which healthy training tells how far it is.
#[test]
fn progress_of_training_is_no_error() {
    for (regex, example) in [
        (r"Epoch \d+", "Epoch 3 went wrong"),
        (r"Epoch \[\d+", "Epoch [3 went wrong"),
        (r"[Ss]tep[: ]+\d+", "step 3 went wrong"),
        (r"loss: \d", "loss: 3 went wrong"),
        (r"\d+\.\d+it/s", "3.5it/s went wrong"),
        (r"(?i)epoch|zorgblat wheel", "the zorgblat wheel went wrong"),
    ] {
        let loose = texts("cuda/loose", regex, example, json!({}));
        let loose = [record(&loose)];
        let found = refused(&loose, &generation_of(&[])).unwrap();
        let rules: Vec<&str> = found.values().flatten().map(|finding| finding.rule).collect();
        assert!(
            rules.contains(&"gate/healthy-line") || rules.contains(&"gate/short"),
            "{regex}: {rules:?}"
        );
    }
}

#[test]
fn no_record_that_ships_is_loose() {
    for seed in crate::bundle::embedded().unwrap() {
        let found = loose(&Record::parse(&seed.document, &seed.annex).unwrap());
        assert!(found.is_empty(), "{}: {found:?}", seed.id);
    }
}
