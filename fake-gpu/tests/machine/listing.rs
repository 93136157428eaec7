//! What is there: libraries, devices, names, orders.

use crate::support::{on_machine, on_machine_with};
use fake_gpu::{Installed, Scenario, scenario::Library};
use std::ffi::{CStr, c_char, c_int};

fn name_of(cuda: &crate::cuda::Cuda, device: c_int) -> String {
    let mut buffer: [c_char; 64] = [1; 64];
    assert_eq!(cuda.cuDeviceGetName(buffer.as_mut_ptr(), 64, device), 0);
    // SAFETY: the driver has terminated the text.
    unsafe { CStr::from_ptr(buffer.as_ptr()) }
        .to_str()
        .unwrap()
        .to_owned()
}

fn bus_id(cuda: &crate::cuda::Cuda, device: c_int) -> String {
    let mut buffer: [c_char; 32] = [1; 32];
    assert_eq!(cuda.cuDeviceGetPCIBusId(buffer.as_mut_ptr(), 32, device), 0);
    // SAFETY: the driver has terminated the text.
    unsafe { CStr::from_ptr(buffer.as_ptr()) }
        .to_str()
        .unwrap()
        .to_owned()
}

#[test]
fn lists_what_the_scenario_has() {
    on_machine(
        &Scenario::healthy(2),
        "listing::lists_what_the_scenario_has",
        |cuda| {
            let mut number = 0;
            assert_eq!(cuda.cuDeviceGetCount(&raw mut number), 3, "before cuInit");
            assert_eq!(
                cuda.cuDriverGetVersion(&raw mut number),
                0,
                "allowed before cuInit"
            );
            assert_eq!(number, 13_000);
            assert_eq!(cuda.cuInit(1), 1);
            assert_eq!(cuda.cuInit(0), 0);
            assert_eq!(cuda.cuDeviceGetCount(&raw mut number), 0);
            assert_eq!(number, 2);
            assert_eq!(name_of(cuda, 1), "NVIDIA H200");
            assert_eq!(bus_id(cuda, 1), "0000:00:07.0");
            let mut bytes = 0;
            assert_eq!(cuda.cuDeviceTotalMem_v2(&raw mut bytes, 0), 0);
            assert_eq!(bytes, 143_771 << 20);
            assert_eq!(cuda.cuDeviceGetAttribute(&raw mut number, 75, 0), 0);
            assert_eq!(number, 9);
            assert_eq!(cuda.cuDeviceGetAttribute(&raw mut number, 9999, 0), 1);
            assert_eq!(cuda.cuDeviceTotalMem_v2(&raw mut bytes, 2), 101);
            assert_eq!(cuda.cuDeviceGetCount(std::ptr::null_mut()), 1);
            // SAFETY: only asks for the symbol.
            assert!(unsafe { cuda.0.get::<unsafe extern "C" fn()>("fake_gpu_marker") }.is_ok());
        },
    );
}

#[test]
fn error_texts_are_the_drivers() {
    on_machine(
        &Scenario::healthy(1),
        "listing::error_texts_are_the_drivers",
        |cuda| {
            let mut text = std::ptr::null();
            assert_eq!(cuda.cuGetErrorName(217, &raw mut text), 0);
            // SAFETY: the driver gives a static text.
            assert_eq!(
                unsafe { CStr::from_ptr(text) },
                c"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"
            );
            assert_eq!(cuda.cuGetErrorString(9999, &raw mut text), 1);
            assert!(text.is_null());
        },
    );
}

#[test]
fn cuda_has_its_own_order_and_obeys_the_variable() {
    let mut scenario = Scenario::healthy(3);
    scenario.cuda_order = vec![2, 0, 1];
    let test = "listing::cuda_has_its_own_order_and_obeys_the_variable";
    let choose = |command: &mut std::process::Command| {
        command.env(
            "CUDA_VISIBLE_DEVICES",
            "1,GPU-fa4e0000-0000-4000-8000-000000000002,7,0",
        );
    };
    on_machine_with(&scenario, test, choose, |cuda| {
        assert_eq!(cuda.cuInit(0), 0);
        let mut count = 0;
        assert_eq!(cuda.cuDeviceGetCount(&raw mut count), 0);
        assert_eq!(count, 2, "the list ends at the number that does not exist");
        assert_eq!(bus_id(cuda, 0), "0000:00:06.0");
        assert_eq!(bus_id(cuda, 1), "0000:00:08.0");
    });
}

fn installed(scenario: &Scenario) -> (tempfile::TempDir, Installed) {
    let dir = tempfile::tempdir().unwrap();
    let installed = fake_gpu::install(dir.path(), scenario).unwrap();
    (dir, installed)
}

#[test]
fn a_missing_library_is_not_there() {
    let (_dir, installed) = installed(&Scenario::library_missing());
    assert!(!installed.library(Library::Cuda).try_exists().unwrap());
    assert!(installed.library(Library::Nvml).try_exists().unwrap());
}

#[test]
fn a_missing_symbol_is_not_found_and_the_others_are() {
    let mut scenario = Scenario::healthy(1);
    scenario.absent.symbols.push("cuDeviceGetUuid_v2".into());
    let (_dir, installed) = installed(&scenario);
    // SAFETY: the library's initialisers are Rust's own; no function is called.
    unsafe {
        let library = libloading::Library::new(installed.library(Library::Cuda)).unwrap();
        assert!(library.get::<unsafe extern "C" fn()>("cuDeviceGetUuid").is_ok());
        assert!(
            library
                .get::<unsafe extern "C" fn()>("cuDeviceGetUuid_v2")
                .is_err()
        );
    }
}

#[test]
fn a_scenario_that_contradicts_itself_is_refused() {
    let mut scenario = Scenario::healthy(2);
    scenario.pairs.read.pop();
    let dir = tempfile::tempdir().unwrap();
    let why = fake_gpu::install(dir.path(), &scenario).unwrap_err().to_string();
    assert_eq!(why, "scenario 'healthy-2': pairs.read is not 2 x 2");
}
