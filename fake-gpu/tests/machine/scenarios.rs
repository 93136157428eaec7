//! The built-in scenarios do what they say.

use crate::{
    cuda::Cuda,
    kernels::{PTX, word, wrong_words},
    support::on_machine,
    timing::{RIGHT, close, push},
};
use fake_gpu::Scenario;
use nvml_wrapper::{Nvml, enum_wrappers::nv_link::ErrorCounter, error::NvmlError};
use std::ffi::{c_int, c_uint};

/// A test whose body runs on the machine of a scenario.
macro_rules! on {
    ($name:ident, $scenario:expr, $body:expr) => {
        #[test]
        fn $name() {
            on_machine(&$scenario, concat!("scenarios::", stringify!($name)), $body);
        }
    };
}

/// The code of enabling access of GPU 0 to GPU 1.
fn enable(cuda: &Cuda) -> i32 {
    let contexts = cuda.start();
    cuda.cuCtxEnablePeerAccess(contexts[1], 0)
}

fn retain(cuda: &Cuda, device: i32) -> i32 {
    let mut context = 0;
    assert_eq!(cuda.cuInit(0), 0);
    cuda.cuDevicePrimaryCtxRetain(&raw mut context, device)
}

on!(a_stub_gives_34_to_everything, Scenario::toolkit_stub(), |cuda| {
    let mut version = 0;
    assert_eq!(cuda.cuDriverGetVersion(&raw mut version), 34);
    assert_eq!(cuda.cuInit(0), 34);
    // SAFETY: opened, not used.
    assert!(unsafe { libloading::Library::new("libnvidia-ml.so.1") }.is_err());
});

on!(
    an_old_driver_lacks_what_came_later,
    Scenario::old_driver(),
    |cuda| {
        cuda.start();
        let mut value = -1;
        assert_eq!(cuda.cuDeviceGetAttribute(&raw mut value, 102, 0), 0);
        assert_eq!(value, 0);
        for name in ["cuMemCreate", "cuEventElapsedTime_v2"] {
            // SAFETY: looked up, not called.
            assert!(unsafe { cuda.0.get::<*const ()>(name) }.is_err(), "{name}");
        }
        cuda.function(PTX, c"meet");
    }
);

on!(
    a_fabric_that_is_not_up_is_802,
    Scenario::not_yet_initialized(),
    |cuda| {
        assert_eq!(cuda.cuInit(0), 802);
    }
);

on!(without_the_jit_no_module_loads, Scenario::jit_missing(), |cuda| {
    cuda.start();
    let mut module = 0;
    assert_eq!(cuda.cuModuleLoadData(&raw mut module, PTX.as_ptr().cast()), 221);
});

on!(without_nvml_cuda_works, Scenario::nvml_missing(), |cuda| {
    // SAFETY: opened, not used.
    assert!(unsafe { libloading::Library::new("libnvidia-ml.so.1") }.is_err());
    assert_eq!(enable(cuda), 0);
});

on!(an_exclusive_gpu_is_taken, Scenario::exclusive_mode(), |cuda| {
    assert_eq!([0, 1].map(|device| retain(cuda, device)), [0, 46]);
});

on!(
    a_full_gpu_has_no_room_for_a_context,
    Scenario::memory_full(),
    |cuda| {
        assert_eq!([0, 1].map(|device| retain(cuda, device)), [0, 2]);
    }
);

on!(a_busy_gpu_lists_a_stranger, Scenario::busy_gpu(), |_| {
    let nvml = Nvml::builder()
        .lib_path("libnvidia-ml.so.1".as_ref())
        .init()
        .unwrap();
    let counts = [0, 1].map(|index| {
        let device = nvml.device_by_index(index).unwrap();
        device.running_compute_processes().unwrap().len()
    });
    assert_eq!(counts, [0, 1]);
});

on!(mig_is_on, Scenario::mig(), |cuda| {
    let nvml = Nvml::builder()
        .lib_path("libnvidia-ml.so.1".as_ref())
        .init()
        .unwrap();
    assert_eq!(nvml.device_by_index(0).unwrap().mig_mode().unwrap().current, 1);
    assert_eq!(enable(cuda), 217);
});

on!(cuda_counts_in_another_order, Scenario::other_order(), |cuda| {
    cuda.start();
    let slots = [0, 1, 2, 3].map(|device| {
        let mut slot = 0;
        assert_eq!(cuda.cuDeviceGetAttribute(&raw mut slot, 34, device), 0);
        slot
    });
    assert_eq!(slots, [8, 6, 9, 7]);
});

/// `nvmlDeviceGetP2PStatus` from GPU 0 to GPU 1 for reading, and what enabling gives.
fn refusal(cuda: &Cuda) -> (u32, i32) {
    type Find = unsafe extern "C" fn(c_uint, *mut usize) -> c_int;
    type Status = unsafe extern "C" fn(usize, usize, c_int, *mut c_uint) -> c_int;
    // SAFETY: the signatures are those of nvml.h, the pointers those of live values.
    let status = unsafe {
        let nvml = libloading::Library::new("libnvidia-ml.so.1").unwrap();
        assert_eq!(
            nvml.get::<unsafe extern "C" fn() -> c_int>("nvmlInit_v2")
                .unwrap()(),
            0
        );
        let find = nvml.get::<Find>("nvmlDeviceGetHandleByIndex_v2").unwrap();
        let handles = [0, 1].map(|index| {
            let mut handle = 0;
            assert_eq!(find(index, &raw mut handle), 0);
            handle
        });
        let mut status = 99;
        let ask = nvml.get::<Status>("nvmlDeviceGetP2PStatus").unwrap();
        assert_eq!(ask(handles[0], handles[1], 0, &raw mut status), 0);
        status
    };
    (status, enable(cuda))
}

on!(
    access_is_granted_over_pcie,
    Scenario::healthy_pcie(2),
    |cuda| assert_eq!(refusal(cuda), (0, 0))
);
on!(
    refused_by_the_chipset,
    Scenario::refused_cns(),
    |cuda| assert_eq!(refusal(cuda), (1, 217))
);
on!(refused_by_the_model, Scenario::refused_gns(), |cuda| assert_eq!(
    refusal(cuda),
    (2, 217)
));
on!(
    refused_by_the_topology,
    Scenario::refused_tns(),
    |cuda| assert_eq!(refusal(cuda), (3, 217))
);
on!(
    refused_by_the_registry,
    Scenario::refused_dr(),
    |cuda| assert_eq!(refusal(cuda), (4, 217))
);
on!(refused_without_a_path, Scenario::refused_ns(), |cuda| assert_eq!(
    refusal(cuda),
    (5, 217)
));
on!(
    refused_for_unknown_reasons,
    Scenario::refused_u(),
    |cuda| assert_eq!(refusal(cuda), (6, 217))
);
on!(
    refused_between_models,
    Scenario::mixed_chips(),
    |cuda| assert_eq!(refusal(cuda), (5, 217))
);

on!(too_many_peers, Scenario::too_many_peers(), |cuda| assert_eq!(
    enable(cuda),
    711
));
on!(
    refused_after_grant,
    Scenario::refused_after_grant(),
    |cuda| assert_eq!(enable(cuda), 217)
);
on!(map_failed, Scenario::map_failed(), |cuda| assert_eq!(
    enable(cuda),
    205
));
on!(unknown_code, Scenario::unknown_code(), |cuda| assert_eq!(
    enable(cuda),
    9999
));

on!(
    resident_kernels_wait_in_vain,
    Scenario::handshake_hang(),
    |cuda| {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let flags = [0, 1].map(|gpu| cuda.allocate(contexts[gpu], 16));
        for gpu in 0..2 {
            cuda.write(contexts[gpu], flags[gpu], &[0; 16]);
        }
        for (own, other) in [(0, 1), (1, 0)] {
            let stream = cuda.stream(contexts[own]);
            let meet = cuda.function(PTX, c"meet");
            let arguments = [flags[other], 5, flags[own], 5, 50_000_000, flags[own] + 8];
            assert_eq!(cuda.launch(meet, 1, 1, stream, &arguments), 0);
        }
        // Both first: what a kernel stores into the other's memory arrives when that kernel ends.
        for context in &contexts {
            assert_eq!(cuda.cuCtxSetCurrent(*context), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 0);
        }
        let found =
            [0, 1].map(|gpu| [flags[gpu] + 8, flags[gpu]].map(|address| word(cuda, contexts[gpu], address)));
        // The first kernel to give up ends, and its word arrives: the other may still be there to see it.
        assert!(found.iter().any(|[outcome, _]| *outcome == 2), "{found:?}");
        assert_eq!(found.map(|[_, flag]| flag), [5, 5], "synchronise, then compare");
    }
);

on!(
    small_buffers_miss_a_fault_above,
    Scenario::corrupted_above(),
    |cuda| {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let wrong = || {
            let memory = cuda.allocate(contexts[1], 1 << 16);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
            let fill = cuda.function(PTX, c"count_up");
            assert_eq!(cuda.launch(fill, 8, 1024, 0, &[memory, 8192, 0]), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 0);
            wrong_words(cuda, contexts[1], memory, 8192, 0)
        };
        assert_eq!(wrong(), 0);
        cuda.allocate(contexts[1], 80 << 30);
        assert_eq!(wrong(), (1 << 16) / 4096);
    }
);

/// The code of a query of a stream of each GPU, then of an allocation there.
fn after_some_work(cuda: &Cuda) -> [[i32; 2]; 2] {
    let contexts = cuda.start();
    [0, 1].map(|gpu| {
        let stream = cuda.stream(contexts[gpu]);
        assert_eq!(cuda.cuStreamSynchronize(stream), 0);
        let mut address = 0;
        [
            cuda.cuStreamQuery(stream),
            cuda.cuMemAlloc_v2(&raw mut address, 8),
        ]
    })
}

on!(an_ecc_error_spoils_one_gpu, Scenario::ecc_error(), |cuda| {
    assert_eq!(after_some_work(cuda), [[0, 0], [214, 214]]);
});

on!(a_lost_gpu_leaves_the_other_alone, Scenario::gpu_lost(), |cuda| {
    let contexts = cuda.start();
    let memory = cuda.allocate(contexts[0], 8);
    let add = cuda.function(PTX, c"add_to");
    for _ in 0..5 {
        assert_eq!(cuda.cuCtxSetCurrent(contexts[1]), 0);
        assert_eq!(cuda.cuCtxSynchronize(), 0);
        assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
        assert_eq!(cuda.launch(add, 1, 1, 0, &[memory, 1]), 0);
    }
    assert_eq!(cuda.cuCtxSynchronize(), 0);
    assert_eq!(cuda.cuCtxSetCurrent(contexts[1]), 0);
    assert_eq!([0; 2].map(|_| cuda.cuCtxSynchronize()), [719; 2]);
    assert_eq!(cuda.cuDevicePrimaryCtxRelease_v2(1), 0);
    assert_eq!(retain(cuda, 1), 999, "nor is there a new context");
    let nvml = Nvml::builder()
        .lib_path("libnvidia-ml.so.1".as_ref())
        .init()
        .unwrap();
    assert!(matches!(nvml.device_by_index(1), Err(NvmlError::GpuLost)));
});

on!(link_errors_rise_with_use, Scenario::link_errors_rise(), |cuda| {
    let nvml = Nvml::builder()
        .lib_path("libnvidia-ml.so.1".as_ref())
        .init()
        .unwrap();
    let device = nvml.device_by_index(1).unwrap();
    let replays = || {
        device
            .link_wrapper_for(3)
            .error_counter(ErrorCounter::DlReplay)
            .unwrap()
    };
    assert_eq!(replays(), 0);
    assert_eq!(enable(cuda), 0);
    assert_eq!(replays(), 4);
});

on!(
    another_processes_memory_is_a_mirror,
    Scenario::ipc_broken(),
    |cuda| {
        assert_eq!(enable(cuda), 0);
    }
);

#[test]
fn an_xid_appears_in_the_log_once() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("kmsg");
    let scenario = Scenario::xid_in_window(&log, 79, "GPU has fallen off the bus.");
    on_machine(&scenario, "scenarios::an_xid_appears_in_the_log_once", |cuda| {
        assert_eq!(enable(cuda), 0);
        assert_eq!(enable(cuda), 704);
    });
    if crate::support::in_child() {
        return;
    }
    let text = std::fs::read_to_string(log).unwrap();
    let (head, message) = text.split_once(';').unwrap();
    assert_eq!(
        message,
        "NVRM: Xid (PCI:0000:00:07): 79, GPU has fallen off the bus.\n"
    );
    let fields: Vec<&str> = head.split(',').collect();
    assert_eq!((fields[0], fields[3]), ("3", "-"));
    assert!(fields[2].parse::<u64>().unwrap() > 0);
}

on!(
    access_makes_it_slower,
    Scenario::slower_with_peer_access(),
    |cuda| {
        let contexts = cuda.start();
        let off = push(cuda, &contexts, RIGHT);
        cuda.enable_both(&contexts);
        let on = push(cuda, &contexts, RIGHT);
        assert!(close(off, 22.0) && close(on, 9.9), "{off} {on}");
    }
);

/// What flows from one GPU to another with access.
fn flow(cuda: &Cuda, contexts: &[usize], from: usize, to: usize) -> f64 {
    let pair = [contexts[from], contexts[to]];
    assert_eq!(cuda.cuCtxSetCurrent(pair[0]), 0);
    assert_eq!(cuda.cuCtxEnablePeerAccess(pair[1], 0), 0);
    push(cuda, &pair, RIGHT)
}

on!(
    half_the_links_give_half_the_bandwidth,
    Scenario::half_the_links_down(),
    |cuda| {
        let contexts = cuda.start();
        let found = [(0, 1), (1, 3), (2, 3)].map(|(from, to)| flow(cuda, &contexts, from, to));
        assert!(
            close(found[0], 195.9) && close(found[1], 195.9) && close(found[2], 391.8),
            "{found:?}"
        );
    }
);

on!(one_lane_is_slow_one_way, Scenario::one_lane_slow(), |cuda| {
    let contexts = cuda.start();
    let found = [(2, 3), (3, 2)].map(|(from, to)| flow(cuda, &contexts, from, to));
    assert!(
        close(found[0], 0.625 * 391.8) && close(found[1], 391.8),
        "{found:?}"
    );
});
