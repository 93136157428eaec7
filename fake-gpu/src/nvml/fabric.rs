//! The fabric that `NVSwitch` boards join, in the three shapes that drivers have told it in.

use super::{Code, about::about};
use crate::{ffi::Out, scenario::Fabric};
use std::ffi::{c_int, c_uint};

/// `nvmlGpuFabricInfo_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Info1 {
    cluster: [u8; 16],
    status: c_uint,
    clique: c_uint,
    state: u8,
}

/// `nvmlGpuFabricInfo_v2_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Info2 {
    version: c_uint,
    cluster: [u8; 16],
    status: c_uint,
    clique: c_uint,
    state: u8,
    health: c_uint,
}

/// `nvmlGpuFabricInfo_v3_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Info3 {
    version: c_uint,
    cluster: [u8; 16],
    status: c_uint,
    clique: c_uint,
    state: u8,
    health: c_uint,
    summary: u8,
}

/// `NVML_STRUCT_VERSION`.
fn stamp<T>(version: u32) -> c_uint {
    size_of::<T>() as c_uint | version << 24
}

fn second(version: c_uint, fabric: Fabric) -> Info2 {
    Info2 {
        version,
        cluster: fabric.cluster_uuid,
        status: fabric.status,
        clique: fabric.clique_id,
        state: fabric.state.code(),
        health: fabric.health_mask,
    }
}

fn third(version: c_uint, fabric: Fabric) -> Info3 {
    Info3 {
        version,
        cluster: fabric.cluster_uuid,
        status: fabric.status,
        clique: fabric.clique_id,
        state: fabric.state.code(),
        health: fabric.health_mask,
        summary: fabric.health_summary,
    }
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetGpuFabricInfo(handle: usize, info: Out<Info1>) -> c_int {
    about("nvmlDeviceGetGpuFabricInfo", handle, |about| {
        let fabric = about.now.fabric;
        Ok(info.put(Info1 {
            cluster: fabric.cluster_uuid,
            status: fabric.status,
            clique: fabric.clique_id,
            state: fabric.state.code(),
        })?)
    })
}

/// The caller's version says how much room there is.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetGpuFabricInfoV(handle: usize, info: Out<Info3>) -> c_int {
    about("nvmlDeviceGetGpuFabricInfoV", handle, |about| {
        let fabric = about.now.fabric;
        let smaller: Out<Info2> = info.cast();
        let version = smaller.get()?.version;
        if version == stamp::<Info3>(3) && fabric.newest_version >= 3 {
            return Ok(info.put(third(version, fabric))?);
        }
        if version == stamp::<Info2>(2) && fabric.newest_version >= 2 {
            return Ok(smaller.put(second(version, fabric))?);
        }
        Err(Code::VERSION_MISMATCH)
    })
}
