//! NVML: what is refused, and what it says of a pair that works.

use crate::{
    Section,
    node::{Node, must, say, tell},
};
use std::{ffi::c_char, ptr::null_mut};

pub(crate) const SECTIONS: &[(&str, Section)] = &[("nvml", plain), ("nvml on pairs", pairs)];

fn plain(node: &Node) -> Result<(), String> {
    let (mut number, mut device) = (0, 0);
    say("before nvmlInit", node.nvmlDeviceGetCount_v2(&raw mut number));
    say("nvmlShutdown", node.nvmlShutdown());
    must("nvmlInit", node.nvmlInit_v2())?;
    say("nvmlInit again", node.nvmlInit_v2());
    say("nvmlShutdown", node.nvmlShutdown());
    say("nvmlDeviceGetCount", node.nvmlDeviceGetCount_v2(&raw mut number));
    tell("two or more", number >= 2);
    say("to nowhere", node.nvmlDeviceGetCount_v2(null_mut()));
    say(
        "GPU 999",
        node.nvmlDeviceGetHandleByIndex_v2(999, &raw mut device),
    );
    say(
        "a UUID that is none",
        node.nvmlDeviceGetHandleByUUID(c"GPU-0".as_ptr(), &raw mut device),
    );
    say(
        "an address that is none",
        node.nvmlDeviceGetHandleByPciBusId_v2(c"words".as_ptr(), &raw mut device),
    );
    say(
        "an empty slot",
        node.nvmlDeviceGetHandleByPciBusId_v2(c"00000000:FE:1F.7".as_ptr(), &raw mut device),
    );
    say("GPU 1", node.nvmlDeviceGetHandleByIndex_v2(1, &raw mut device));
    say("its index", node.nvmlDeviceGetIndex(device, &raw mut number));
    tell("it", number);
    let mut name: [c_char; 96] = [1; 96];
    say("its name", node.nvmlDeviceGetName(device, name.as_mut_ptr(), 96));
    say(
        "its name in 4 bytes",
        node.nvmlDeviceGetName(device, name.as_mut_ptr(), 4),
    );
    say(
        "its name to nowhere",
        node.nvmlDeviceGetName(device, null_mut(), 96),
    );
    say("no GPU's name", node.nvmlDeviceGetName(0, name.as_mut_ptr(), 96));
    say(
        "its compute mode",
        node.nvmlDeviceGetComputeMode(device, &raw mut number),
    );
    tell("it", number);
    for link in [0, 17, 18, 36, 999] {
        let (mut active, mut version) = (9, 0);
        let codes = [
            node.nvmlDeviceGetNvLinkState(device, link, &raw mut active),
            node.nvmlDeviceGetNvLinkVersion(device, link, &raw mut version),
        ];
        println!("link {link}: {codes:?}, active {active}");
    }
    Ok(())
}

fn pairs(node: &Node) -> Result<(), String> {
    must("nvmlInit", node.nvmlInit_v2())?;
    let mut devices = [0; 2];
    for (index, device) in (0..).zip(&mut devices) {
        must(
            "nvmlDeviceGetHandleByIndex",
            node.nvmlDeviceGetHandleByIndex_v2(index, device),
        )?;
    }
    let [first, second] = devices;
    for capability in [0, 1, 2, 3, 4, 5, 99] {
        let mut status = 99;
        let code = node.nvmlDeviceGetP2PStatus(first, second, capability, &raw mut status);
        println!("capability {capability}: {code} {status}");
    }
    let mut number = 99;
    say(
        "of one with itself",
        node.nvmlDeviceGetP2PStatus(first, first, 0, &raw mut number),
    );
    say(
        "to nowhere",
        node.nvmlDeviceGetP2PStatus(first, second, 0, null_mut()),
    );
    say(
        "common ancestor",
        node.nvmlDeviceGetTopologyCommonAncestor(first, second, &raw mut number),
    );
    say(
        "of one with itself",
        node.nvmlDeviceGetTopologyCommonAncestor(first, first, &raw mut number),
    );
    Ok(())
}
