//! The result of the last admission where it is damaged or gone.

use std::fs;

use fake_gpu::Scenario;

use crate::admit::{admit, boot, healthy, node};
use crate::node::Node;

/// As [`healthy`], with a third GPU.
fn three() -> Scenario {
    let two = healthy(std::path::Path::new(""));
    let mut scenario = Scenario::healthy(3);
    scenario.speed = two.speed;
    for gpu in &mut scenario.gpus {
        gpu.multiprocessors = 1;
    }
    scenario
}

fn admitted() -> Node {
    let node = node(|_| three());
    let (_, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    boot(&node, "2");
    node
}

fn two() -> Scenario {
    healthy(std::path::Path::new(""))
}

#[test]
fn a_result_that_cannot_be_read_admits_nobody_until_it_is_removed() {
    let node = admitted();
    let file = node.path("state/last-admit.json");
    let whole = fs::read(&file).unwrap();
    for content in [&whole[..whole.len() - 20], b"", b"{}"] {
        fs::write(&file, content).unwrap();
        let (_, run) = admit(&node);
        assert_eq!(run.code, 3, "{}", run.stderr);
        for told in [
            "last-admit.json",
            "not admitted: load_incomplete",
            "--expect gpus=N",
        ] {
            assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
        }
        assert_eq!(fs::read(&file).unwrap(), content);
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(admit(&node).1.code, 3);
    // The ledger tells of the GPUs that the node had.
    node.becomes(&two());
    let (_, run) = admit(&node);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("device_missing"), "{}", run.stderr);
}

#[test]
fn a_result_that_is_gone_is_told_and_the_gpus_are_compared_all_the_same() {
    let node = admitted();
    fs::remove_file(node.path("state/last-admit.json")).unwrap();
    node.becomes(&two());
    let (_, run) = admit(&node);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("device_missing"), "{}", run.stderr);
    node.becomes(&three());
    let (_, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("is gone"), "{}", run.stderr);
    assert!(node.path("state/last-admit.json").is_file());
    let (_, run) = admit(&node);
    assert!(!run.stderr.contains("is gone"), "{}", run.stderr);
}
