//! The functions of libnccl.so.2 that the agent uses, each one optional, with the signatures of nccl.h but for results
//! and enumerations, which are numbers.

use std::ffi::{c_char, c_int, c_void};

use cudarc::driver::sys::{CUdeviceptr, CUstream};
use libloading::Library;

use super::communicator::{Handle, UniqueId};
use crate::gpu::symbols::table;

table! {
    ncclGetVersion(*mut c_int);
    ncclGetUniqueId(*mut UniqueId);
    ncclCommInitRank(*mut Handle, c_int, UniqueId, c_int);
    ncclCommDestroy(Handle);
    ncclCommGetAsyncError(Handle, *mut c_int);
    ncclGroupStart();
    ncclGroupEnd();
    ncclAllReduce(CUdeviceptr, CUdeviceptr, usize, c_int, c_int, Handle, CUstream);
    ncclAllGather(CUdeviceptr, CUdeviceptr, usize, c_int, Handle, CUstream);
    ncclReduceScatter(CUdeviceptr, CUdeviceptr, usize, c_int, c_int, Handle, CUstream);
    ncclBroadcast(CUdeviceptr, CUdeviceptr, usize, c_int, c_int, Handle, CUstream);
    ncclReduce(CUdeviceptr, CUdeviceptr, usize, c_int, c_int, c_int, Handle, CUstream);
    ncclSend(CUdeviceptr, usize, c_int, c_int, Handle, CUstream);
    ncclRecv(CUdeviceptr, usize, c_int, c_int, Handle, CUstream);
}

pub(super) type LastError = unsafe extern "C" fn(*mut c_void) -> *const c_char;
