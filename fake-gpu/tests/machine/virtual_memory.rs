//! Virtual memory management: who may reach what, lifetimes, and descriptors between processes.

use crate::{
    cuda::{Access, Cuda, Properties},
    kernels::{PTX, word, wrong_words},
    support::on_machine,
};
use fake_gpu::{
    Scenario,
    scenario::{Fate, MemoryFault, Route},
};
use std::{
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
    process::{Command, Stdio},
};

const GRANULE: usize = 2 << 20;
const READ_WRITE: i32 = 3;
/// Set in the process that imports; the descriptor is its standard input.
const IMPORTER: &str = "FAKE_GPU_TEST_IMPORTER";

fn create(cuda: &Cuda, device: i32, bytes: usize) -> u64 {
    let (properties, mut handle) = (Properties::exportable(device), 0);
    assert_eq!(
        cuda.cuMemCreate(&raw mut handle, bytes, &raw const properties, 0),
        0
    );
    handle
}

/// Maps a handle at new addresses, without any right.
fn map(cuda: &Cuda, handle: u64, bytes: usize) -> u64 {
    let mut address = 0;
    assert_eq!(cuda.cuMemAddressReserve(&raw mut address, bytes, 0, 0, 0), 0);
    assert_eq!(cuda.cuMemMap(address, bytes, 0, handle, 0), 0);
    address
}

fn grant(cuda: &Cuda, address: u64, bytes: usize, device: i32, flags: i32) -> i32 {
    let location = [1, device];
    let access = Access { location, flags };
    cuda.cuMemSetAccess(address, bytes, &raw const access, 1)
}

/// What a kernel of `context` that adds to the word at `address` ends with.
fn add(cuda: &Cuda, context: usize, address: u64) -> i32 {
    assert_eq!(cuda.cuCtxSetCurrent(context), 0);
    let add = cuda.function(PTX, c"add_to");
    assert_eq!(cuda.launch(add, 1, 1, 0, &[address, 1]), 0);
    cuda.cuCtxSynchronize()
}

#[test]
fn peer_access_does_not_cover_mapped_memory() {
    let test = "virtual_memory::peer_access_does_not_cover_mapped_memory";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let memory = map(cuda, create(cuda, 1, GRANULE), GRANULE);
        assert_eq!(grant(cuda, memory, GRANULE, 1, READ_WRITE), 0);
        assert_eq!(add(cuda, contexts[1], memory), 0);
        assert_eq!(add(cuda, contexts[0], memory), 700, "enabled, but not named");
    });
}

#[test]
fn set_access_alone_grants_and_takes_away() {
    let test = "virtual_memory::set_access_alone_grants_and_takes_away";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        let contexts = cuda.start();
        let memory = map(cuda, create(cuda, 1, GRANULE), GRANULE);
        assert_eq!(grant(cuda, memory, GRANULE, 0, READ_WRITE), 0);
        assert_eq!(grant(cuda, memory, GRANULE, 1, READ_WRITE), 0);
        assert_eq!(add(cuda, contexts[0], memory), 0);
        assert_eq!(word(cuda, contexts[1], memory), 1);
        assert_eq!(grant(cuda, memory, GRANULE, 0, 0), 0, "no right");
        assert_eq!(add(cuda, contexts[1], memory), 0);
        assert_eq!(add(cuda, contexts[0], memory), 700);
    });
}

#[test]
fn memory_to_read_only_takes_no_store() {
    let test = "virtual_memory::memory_to_read_only_takes_no_store";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        let contexts = cuda.start();
        let memory = map(cuda, create(cuda, 1, GRANULE), GRANULE);
        assert_eq!(grant(cuda, memory, GRANULE, 1, READ_WRITE), 0);
        cuda.write(contexts[1], memory, &[1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(grant(cuda, memory, GRANULE, 0, 1), 0, "reading alone");
        assert_eq!(wrong_words(cuda, contexts[0], memory, 1, 1), 0);
        assert_eq!(add(cuda, contexts[0], memory), 700);
    });
}

#[test]
fn a_refused_pair_is_granted_nothing() {
    let test = "virtual_memory::a_refused_pair_is_granted_nothing";
    on_machine(&Scenario::refused_gns(), test, |cuda| {
        cuda.start();
        let memory = map(cuda, create(cuda, 1, GRANULE), GRANULE);
        assert_eq!(grant(cuda, memory, GRANULE, 1, READ_WRITE), 0);
        assert_eq!(grant(cuda, memory, GRANULE, 0, READ_WRITE), 101);
    });
}

fn free_bytes(cuda: &Cuda) -> usize {
    let (mut free, mut total) = (0, 0);
    assert_eq!(cuda.cuMemGetInfo_v2(&raw mut free, &raw mut total), 0);
    free
}

#[test]
fn memory_lives_as_long_as_its_handle_or_its_mapping() {
    let test = "virtual_memory::memory_lives_as_long_as_its_handle_or_its_mapping";
    on_machine(&Scenario::healthy(1), test, |cuda| {
        let context = cuda.start()[0];
        let free = free_bytes(cuda);
        // As large as a probe takes of an idle GPU: it must cost no real memory.
        let bytes = 100 << 30;
        let handle = create(cuda, 0, bytes);
        let memory = map(cuda, handle, bytes);
        assert_eq!(grant(cuda, memory, bytes, 0, READ_WRITE), 0);
        assert_eq!(cuda.cuMemRelease(handle), 0);
        assert_eq!(cuda.cuMemRelease(handle), 1);
        assert_eq!(free_bytes(cuda), free - bytes);
        let last = memory + bytes as u64 - 8;
        cuda.write(context, last, &[7]);
        assert_eq!(word(cuda, context, last), 7);
        assert_eq!(cuda.cuMemFree_v2(memory), 1, "mapped memory is not freed so");
        assert_eq!(cuda.cuMemAddressFree(memory, bytes), 1, "still mapped");
        assert_eq!(cuda.cuMemUnmap(memory, GRANULE), 1, "only whole mappings");
        assert_eq!(cuda.cuMemUnmap(memory, bytes), 0);
        assert_eq!(cuda.cuMemAddressFree(memory, bytes), 0);
        assert_eq!(free_bytes(cuda), free);
    });
}

#[test]
fn wrong_arguments_are_refused() {
    let test = "virtual_memory::wrong_arguments_are_refused";
    on_machine(&Scenario::healthy(1), test, |cuda| {
        cuda.start();
        let (mut handle, mut granularity, mut address) = (0, 0, 0);
        let properties = Properties::exportable(0);
        let asked = &raw const properties;
        assert_eq!(
            cuda.cuMemGetAllocationGranularity(&raw mut granularity, asked, 0),
            0
        );
        assert_eq!(granularity, GRANULE);
        assert_eq!(cuda.cuMemCreate(&raw mut handle, GRANULE / 2, asked, 0), 1);
        let elsewhere = Properties::exportable(9);
        assert_eq!(
            cuda.cuMemCreate(&raw mut handle, GRANULE, &raw const elsewhere, 0),
            101
        );
        let handle = create(cuda, 0, GRANULE);
        assert_eq!(
            cuda.cuMemMap(GRANULE as u64, GRANULE, 0, handle, 0),
            1,
            "not reserved"
        );
        assert_eq!(
            cuda.cuMemAddressReserve(&raw mut address, 2 * GRANULE, 1 << 30, 0, 0),
            0
        );
        assert_eq!(address % (1 << 30), 0);
        assert_eq!(
            cuda.cuMemMap(address, 2 * GRANULE, 0, handle, 0),
            801,
            "longer than the memory"
        );
        assert_eq!(cuda.cuMemMap(address, GRANULE, 0, handle, 0), 0);
        assert_eq!(cuda.cuMemMap(address, GRANULE, 0, handle, 0), 1, "twice");
        assert_eq!(
            grant(cuda, address, 2 * GRANULE, 0, READ_WRITE),
            1,
            "half is not mapped"
        );
        let mut refused = 0;
        let file = std::fs::File::open("/dev/null").unwrap();
        let descriptor = file.as_raw_fd().cast_unsigned() as usize;
        assert_eq!(
            cuda.cuMemImportFromShareableHandle(&raw mut refused, descriptor, 1),
            999,
            "a file of another kind"
        );
        assert_eq!(cuda.cuMemImportFromShareableHandle(&raw mut refused, 12345, 1), 1);
    });
}

#[test]
fn an_old_driver_says_that_it_has_none() {
    let test = "virtual_memory::an_old_driver_says_that_it_has_none";
    let mut scenario = Scenario::healthy(1);
    scenario.absent.symbols.push("cuMemMap".into());
    on_machine(&scenario, test, |cuda| {
        cuda.start();
        let attributes = [102, 103].map(|attribute| {
            let mut value = -1;
            assert_eq!(cuda.cuDeviceGetAttribute(&raw mut value, attribute, 0), 0);
            value
        });
        assert_eq!(attributes, [0, 1]);
    });
}

#[test]
fn memory_lives_as_long_as_its_descriptor() {
    let test = "virtual_memory::memory_lives_as_long_as_its_descriptor";
    on_machine(&Scenario::healthy(1), test, |cuda| {
        let context = cuda.start()[0];
        let free = free_bytes(cuda);
        let handle = create(cuda, 0, GRANULE);
        let memory = map(cuda, handle, GRANULE);
        assert_eq!(grant(cuda, memory, GRANULE, 0, READ_WRITE), 0);
        cuda.write(context, memory, &[7]);
        let descriptor = export(cuda, handle);
        assert_eq!(cuda.cuMemUnmap(memory, GRANULE), 0);
        assert_eq!(cuda.cuMemRelease(handle), 0);
        assert_eq!(free_bytes(cuda), free - GRANULE);
        let imported = import(cuda, &descriptor);
        let memory = map(cuda, imported, GRANULE);
        assert_eq!(grant(cuda, memory, GRANULE, 0, READ_WRITE), 0);
        assert_eq!(word(cuda, context, memory), 7);
        assert_eq!(cuda.cuMemUnmap(memory, GRANULE), 0);
        assert_eq!(cuda.cuMemRelease(imported), 0);
        assert_eq!(free_bytes(cuda), free - GRANULE, "held by the descriptor alone");
        drop(descriptor);
        assert_eq!(free_bytes(cuda), free);
    });
}

fn export(cuda: &Cuda, handle: u64) -> OwnedFd {
    let mut descriptor = -1;
    assert_eq!(
        cuda.cuMemExportToShareableHandle(&raw mut descriptor, handle, 1, 0),
        0
    );
    // SAFETY: the library has just made it for us.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn import(cuda: &Cuda, descriptor: &OwnedFd) -> u64 {
    let (mut handle, number) = (0, descriptor.as_raw_fd().cast_unsigned() as usize);
    assert_eq!(cuda.cuMemImportFromShareableHandle(&raw mut handle, number, 1), 0);
    handle
}

/// A child imports the memory on GPU 0 and writes; gives the words that the owner, on GPU 1, finds wrong.
fn written_by_another_process(cuda: &Cuda, test: &str) -> u64 {
    let contexts = cuda.start();
    let handle = create(cuda, 1, GRANULE);
    let memory = map(cuda, handle, GRANULE);
    assert_eq!(grant(cuda, memory, GRANULE, 1, READ_WRITE), 0);
    cuda.write(contexts[1], memory, &[0; 64 * 8]);
    let descriptor = export(cuda, handle);
    let mut importer = Command::new(std::env::current_exe().unwrap());
    importer
        .args([test, "--exact", "--nocapture", "--include-ignored"])
        .env(IMPORTER, "1");
    assert!(
        importer
            .stdin(Stdio::from(descriptor))
            .status()
            .unwrap()
            .success()
    );
    wrong_words(cuda, contexts[1], memory, 64, 5)
}

fn import_and_write(cuda: &Cuda) {
    let contexts = cuda.start();
    let mut handle = 0;
    let code = cuda.cuMemImportFromShareableHandle(&raw mut handle, 0, 1);
    assert_eq!(code, 1, "descriptor 0 is a null pointer");
    let descriptor = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let memory = map(cuda, import(cuda, &descriptor), GRANULE);
    assert_eq!(grant(cuda, memory, GRANULE, 0, READ_WRITE), 0);
    assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
    let fill = cuda.function(PTX, c"count_up");
    assert_eq!(cuda.launch(fill, 1, 64, 0, &[memory, 64, 5]), 0);
    assert_eq!(cuda.cuCtxSynchronize(), 0);
    assert_eq!(
        wrong_words(cuda, contexts[0], memory, 64, 5),
        0,
        "the writer sees its own words"
    );
}

#[test]
fn a_descriptor_carries_memory_to_another_process() {
    let test = "virtual_memory::a_descriptor_carries_memory_to_another_process";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        if std::env::var_os(IMPORTER).is_some() {
            return import_and_write(cuda);
        }
        assert_eq!(written_by_another_process(cuda, test), 0);
    });
}

#[test]
fn a_fault_of_the_ipc_route_hits_imported_descriptors_too() {
    let test = "virtual_memory::a_fault_of_the_ipc_route_hits_imported_descriptors_too";
    let mut scenario = Scenario::healthy(2);
    scenario.memory_faults.push(MemoryFault {
        routes: vec![Route::Ipc],
        ..MemoryFault::always(Fate::PrivateMirror)
    });
    on_machine(&scenario, test, |cuda| {
        if std::env::var_os(IMPORTER).is_some() {
            return import_and_write(cuda);
        }
        assert_eq!(written_by_another_process(cuda, test), 64);
    });
}
