//! A machine with many copies of the same libraries.

use std::os::unix::fs::symlink;

use super::*;
use crate::host::tests::tree::{tree, write};

/// The header of a library for this machine, or for another one.
fn library(is_own: bool) -> Vec<u8> {
    let mut header = std::fs::read("/proc/self/exe").unwrap()[..64].to_vec();
    if !is_own {
        header[18] ^= 0xFF;
    }
    header
}

fn machine() -> tempfile::TempDir {
    let root = tree(&[]);
    let at = root.path();
    for path in [
        "usr/lib64/libcuda.so.580.159.04",
        "usr/lib64/libnvidia-ml.so.580.159.04",
        "usr/local/cuda-13.0/compat/libcuda.so.580.95.05",
        "usr/local/cuda-13.0/lib64/stubs/libcuda.so",
        "opt/conda/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
        "usr/lib64/libnccl.so.2.28.3",
    ] {
        write(at, path, library(true));
    }
    write(at, "usr/lib/libcuda.so.580.159.04", library(false));
    std::fs::create_dir_all(
        at.join("opt/conda/lib/python3.12/site-packages/nvidia_nccl_cu12-2.28.9.dist-info"),
    )
    .unwrap();
    for (link, target) in [
        ("usr/lib64/libcuda.so.1", "libcuda.so.580.159.04"),
        ("usr/lib64/libnvidia-ml.so.1", "libnvidia-ml.so.580.159.04"),
        ("usr/lib64/libnccl.so.2", "libnccl.so.2.28.3"),
        ("usr/lib/libcuda.so.1", "libcuda.so.580.159.04"),
        ("usr/local/cuda-13.0/compat/libcuda.so.1", "libcuda.so.580.95.05"),
        // Absolute, as toolkits make it: it leads below the root and nowhere else.
        ("usr/local/cuda", "/usr/local/cuda-13.0"),
        ("lib64", "usr/lib64"),
    ] {
        symlink(target, at.join(link)).unwrap();
    }
    let entries = [
        ("libcuda.so.1", "/usr/lib/libcuda.so.1"),
        ("libcuda.so.1", "/usr/lib64/libcuda.so.1"),
        ("libnccl.so.2", "/usr/lib64/libnccl.so.2"),
    ];
    write(at, "etc/ld.so.cache", cache::tests::cache(&entries));
    root
}

/// Path, version and whether it is taken.
fn copies(root: &std::path::Path, name: &str, library_path: Option<&str>) -> Vec<(String, Value, bool)> {
    let surroundings = Surroundings {
        library_path: library_path.map(str::to_owned),
        ..Surroundings::default()
    };
    let facts = facts(&HostRoot::new(root), &surroundings);
    let list = facts[name].value.clone().unwrap();
    let copy = |copy: &Value| {
        let path = copy["path"].as_str().unwrap().to_owned();
        (path, copy["version"].clone(), copy["taken"].as_bool().unwrap())
    };
    list.as_array().unwrap().iter().map(copy).collect()
}

#[test]
fn every_copy_is_listed_and_the_loaders_choice_is_marked() {
    let root = machine();
    let found = copies(root.path(), "libraries.cuda", None);
    let expected = [
        ("/usr/lib/libcuda.so.1", json!("580.159.04"), false),
        ("/usr/lib64/libcuda.so.1", json!("580.159.04"), true),
        ("/usr/local/cuda/compat/libcuda.so.1", json!("580.95.05"), false),
    ];
    let expected = expected.map(|(path, version, taken)| (path.to_owned(), version, taken));
    assert_eq!(found[..3], expected);
    assert_eq!(found.len(), 4);
    assert_eq!(found[3].0, "/usr/local/cuda/lib64/stubs/libcuda.so");
    assert_eq!(found[3].1["gap"]["kind"], "not_visible");
}

#[test]
fn the_search_path_comes_first() {
    let root = machine();
    let found = copies(
        root.path(),
        "libraries.cuda",
        Some("/nowhere:/usr/local/cuda/compat"),
    );
    let taken: Vec<_> = found.iter().filter(|(_, _, taken)| *taken).collect();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].0, "/usr/local/cuda/compat/libcuda.so.1");
}

#[test]
fn wheels_say_which_version_they_are() {
    let root = machine();
    let found = copies(root.path(), "libraries.nccl", None);
    let expected = [
        ("/usr/lib64/libnccl.so.2", json!("2.28.3"), true),
        (
            "/opt/conda/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
            json!("2.28.9"),
            false,
        ),
    ];
    assert_eq!(
        found,
        expected.map(|(path, version, taken)| (path.to_owned(), version, taken))
    );
}

#[test]
fn usual_folders_do_without_a_cache() {
    let root = machine();
    std::fs::remove_file(root.path().join("etc/ld.so.cache")).unwrap();
    let found = copies(root.path(), "libraries.nvml", None);
    assert_eq!(
        found,
        [("/lib64/libnvidia-ml.so.1".to_owned(), json!("580.159.04"), true)]
    );
    assert_eq!(copies(root.path(), "libraries.ptxjit", None), []);
}
