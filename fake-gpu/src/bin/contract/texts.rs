//! What works before `cuInit`, and the names and messages of codes.

use crate::{
    Section,
    node::{Node, must, say},
};
use std::ffi::{CStr, c_char, c_int};

pub(crate) const SECTIONS: &[(&str, Section)] = &[("before cuInit", before_init), ("texts of codes", texts)];

fn before_init(node: &Node) -> Result<(), String> {
    let (mut number, mut address) = (0, 0);
    say("cuDriverGetVersion", node.cuDriverGetVersion(&raw mut number));
    say(
        "cuDriverGetVersion to nowhere",
        node.cuDriverGetVersion(std::ptr::null_mut()),
    );
    say("cuDeviceGetCount", node.cuDeviceGetCount(&raw mut number));
    say("cuDeviceGet", node.cuDeviceGet(&raw mut number, 0));
    say("cuMemAlloc", node.cuMemAlloc_v2(&raw mut address, 8));
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    say("cuInit with flags", node.cuInit(1));
    must("cuInit", node.cuInit(0))?;
    say("cuInit again", node.cuInit(0));
    say("cuDeviceGetCount", node.cuDeviceGetCount(&raw mut number));
    Ok(())
}

/// Those that the agent and its records speak of, and two that do not exist.
const CODES: [c_int; 40] = [
    0, 1, 2, 3, 4, 34, 36, 46, 100, 101, 200, 201, 205, 209, 214, 217, 218, 219, 220, 221, 222, 226, 400,
    401, 500, 600, 700, 701, 702, 704, 705, 709, 711, 716, 719, 801, 802, 803, 804, 999,
];

fn texts(node: &Node) -> Result<(), String> {
    must("cuInit", node.cuInit(0))?;
    for code in CODES.into_iter().chain([-5, 9999]) {
        let (mut name, mut message) = (std::ptr::null(), std::ptr::null());
        let codes = [
            node.cuGetErrorName(code, &raw mut name),
            node.cuGetErrorString(code, &raw mut message),
        ];
        println!("{code}: {codes:?} {} \"{}\"", shown(name), shown(message));
    }
    Ok(())
}

fn shown(text: *const c_char) -> String {
    if text.is_null() {
        return "-".into();
    }
    // SAFETY: the driver gives a constant text or null.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
