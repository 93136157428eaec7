//! What goes wrong with NCCL on demand.

use crate::{
    nccl::{FLOAT, Nccl, Ranks, SUM},
    support::{on_machine, on_machine_with},
};
use fake_gpu::{
    Scenario,
    scenario::{Fate, MemoryFault, NcclEffect, NcclFault, Transport},
};

fn with_fault(transport: Option<Transport>, effect: NcclEffect) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    scenario.nccl.faults.push(NcclFault {
        transport,
        effect,
        warning: Some("Cuda failure 217 'peer access is not supported between these two devices'".into()),
    });
    scenario
}

#[test]
fn a_communicator_can_fail_with_peer_access_alone() {
    let test = "faults_of_nccl::a_communicator_can_fail_with_peer_access_alone";
    let scenario = with_fault(Some(Transport::P2p), NcclEffect::InitFails(1));
    on_machine(&scenario, test, |cuda| {
        let (nccl, mut communicators) = (Nccl::open(), [0; 2]);
        cuda.start();
        assert_eq!(
            nccl.ncclCommInitAll(communicators.as_mut_ptr(), 2, std::ptr::null()),
            1
        );
        assert!(nccl.text("ncclGetLastError", 0).contains("Cuda failure 217"));
    });
}

#[test]
fn without_peer_access_it_is_no_fault() {
    let test = "faults_of_nccl::without_peer_access_it_is_no_fault";
    let scenario = with_fault(Some(Transport::P2p), NcclEffect::InitFails(1));
    let disable = |command: &mut std::process::Command| {
        command.env("NCCL_P2P_DISABLE", "1");
    };
    on_machine_with(&scenario, test, disable, |cuda| {
        assert_eq!(Ranks::start(cuda).all_reduce(), vec![vec![12.0, 14.0]; 2]);
    });
}

#[test]
fn data_can_be_wrong() {
    let scenario = with_fault(None, NcclEffect::WrongData);
    on_machine(&scenario, "faults_of_nccl::data_can_be_wrong", |cuda| {
        let found = Ranks::start(cuda).all_reduce();
        assert!(found.iter().all(|of| of[..] != [12.0, 14.0]), "{found:?}");
    });
}

#[test]
fn faults_of_stores_between_gpus_are_faults_of_its_data() {
    let test = "faults_of_nccl::faults_of_stores_between_gpus_are_faults_of_its_data";
    let mut scenario = Scenario::healthy(2);
    let fate = Fate::Corrupted {
        xor: 0x10,
        every: 4096,
        at: 0,
    };
    scenario.memory_faults.push(MemoryFault {
        initiator: Some(0),
        owner: Some(1),
        ..MemoryFault::always(fate)
    });
    on_machine(&scenario, test, |cuda| {
        let found = Ranks::start(cuda).all_reduce();
        assert_eq!(found[0], [12.0, 14.0]);
        assert_ne!(found[1], [12.0, 14.0]);
    });
}

#[test]
fn an_operation_can_have_no_end() {
    let scenario = with_fault(None, NcclEffect::Hang);
    on_machine(
        &scenario,
        "faults_of_nccl::an_operation_can_have_no_end",
        |cuda| {
            let of = Ranks::start(cuda);
            for rank in 0..2 {
                // A group each would wait for the other in one thread, but for the fault nothing waits in a call.
                let (from, to) = (of.from[rank], of.to[rank]);
                let queued =
                    of.nccl
                        .ncclAllReduce(from, to, 1, FLOAT, SUM, of.communicators[rank], of.streams[rank]);
                assert_eq!(queued, 0);
            }
            let other = cuda.stream(of.contexts[0]);
            assert_eq!(cuda.cuMemsetD32Async(of.to[0], 1, 1, other), 0);
            assert_eq!(cuda.cuStreamSynchronize(other), 0);
            assert_eq!(cuda.cuStreamQuery(of.streams[0]), 600);
        },
    );
}
