//! The contract on the stand-in, held to what real GPUs gave.

use fake_gpu::Scenario;
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
    let Ok(expected) = std::fs::read_to_string(&file) else {
        eprintln!("{} is not there yet: nothing to compare with", file.display());
        return;
    };
    let lines = expected.lines().zip(found.lines());
    let differing: Vec<_> = lines.filter(|(real, simulated)| real != simulated).collect();
    assert!(differing.is_empty(), "(real, simulated): {differing:#?}");
    assert_eq!(found.lines().count(), expected.lines().count());
}
