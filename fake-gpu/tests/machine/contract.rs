//! The contract on the stand-in, held to what real GPUs gave.

use fake_gpu::Scenario;
use similar::TextDiff;
use std::{path::Path, process::Command};

/// What the contract printed on two H200 with driver 580.159.04.
const TRANSCRIPT: &str = "tests/contract/h200-x2.txt";

/// What the contract prints on two healthy GPUs of the stand-in.
fn transcript() -> String {
    let dir = tempfile::tempdir().unwrap();
    let installed = fake_gpu::install(dir.path(), &Scenario::healthy(2)).unwrap();
    let mut contract = Command::new(env!("CARGO_BIN_EXE_contract"));
    contract
        .envs(installed.environment())
        .env_remove("CUDA_VISIBLE_DEVICES");
    let output = contract.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_stand_in_answers_as_real_gpus_do() {
    let found = transcript();
    assert!(!found.contains("cannot go on"), "{found}");
    assert!(!found.contains("ended: "), "{found}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(TRANSCRIPT);
    let expected = std::fs::read_to_string(&file)
        .unwrap_or_else(|why| panic!("{}: {why}: a run on real GPUs makes it", file.display()));
    let difference = TextDiff::from_lines(&expected, &found);
    assert!(
        expected == found,
        "the stand-in (+) does not answer as real GPUs (-) do:\n{}",
        difference.unified_diff().context_radius(3)
    );
}
