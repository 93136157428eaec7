//! Devices: numbers that are none, places that are nowhere, attributes.

use crate::{
    Section,
    node::{Node, must, say, tell},
};
use std::ffi::c_char;

pub(crate) const SECTIONS: &[(&str, Section)] =
    &[("devices", devices), ("attributes", attributes), ("pairs", pairs)];

fn devices(node: &Node) -> Result<(), String> {
    must("cuInit", node.cuInit(0))?;
    let (mut number, mut bytes) = (0, 0);
    say("cuDeviceGetCount", node.cuDeviceGetCount(&raw mut number));
    tell("two or more", number >= 2);
    say(
        "cuDeviceGetCount to nowhere",
        node.cuDeviceGetCount(std::ptr::null_mut()),
    );
    say("cuDeviceGet 1", node.cuDeviceGet(&raw mut number, 1));
    tell("its handle", number);
    say("cuDeviceGet -1", node.cuDeviceGet(&raw mut number, -1));
    say("cuDeviceGet 999", node.cuDeviceGet(&raw mut number, 999));
    say("cuDeviceTotalMem", node.cuDeviceTotalMem_v2(&raw mut bytes, 0));
    say(
        "cuDeviceTotalMem of 999",
        node.cuDeviceTotalMem_v2(&raw mut bytes, 999),
    );
    let mut name: [c_char; 64] = [1; 64];
    say("cuDeviceGetName", node.cuDeviceGetName(name.as_mut_ptr(), 64, 0));
    say(
        "cuDeviceGetName in 4 bytes",
        node.cuDeviceGetName(name.as_mut_ptr(), 4, 0),
    );
    tell("its fourth byte", name[3]);
    // Not in 0 bytes: that ends a process with a real driver.
    let mut address: [c_char; 32] = [1; 32];
    say(
        "cuDeviceGetPCIBusId",
        node.cuDeviceGetPCIBusId(address.as_mut_ptr(), 32, 1),
    );
    say(
        "cuDeviceGetByPCIBusId",
        node.cuDeviceGetByPCIBusId(&raw mut number, address.as_ptr()),
    );
    tell("its handle", number);
    say(
        "cuDeviceGetPCIBusId in 5 bytes",
        node.cuDeviceGetPCIBusId(address.as_mut_ptr(), 5, 1),
    );
    say(
        "cuDeviceGetByPCIBusId of words",
        node.cuDeviceGetByPCIBusId(&raw mut number, c"no address".as_ptr()),
    );
    say(
        "cuDeviceGetByPCIBusId of an empty slot",
        node.cuDeviceGetByPCIBusId(&raw mut number, c"0000:fe:1f.7".as_ptr()),
    );
    Ok(())
}

fn attributes(node: &Node) -> Result<(), String> {
    must("cuInit", node.cuInit(0))?;
    // Of every GPU that the ladder is for; those of one model are not told.
    for attribute in [
        1, 2, 3, 4, 5, 6, 7, 10, 15, 17, 18, 19, 20, 31, 35, 39, 40, 41, 75, 76, 78, 102, 103, 0, 9999,
    ] {
        let mut value = -1;
        let code = node.cuDeviceGetAttribute(&raw mut value, attribute, 0);
        println!("attribute {attribute}: {code} {value}");
    }
    say(
        "to nowhere",
        node.cuDeviceGetAttribute(std::ptr::null_mut(), 10, 0),
    );
    let mut value = 0;
    say(
        "of device 999",
        node.cuDeviceGetAttribute(&raw mut value, 10, 999),
    );
    Ok(())
}

fn pairs(node: &Node) -> Result<(), String> {
    must("cuInit", node.cuInit(0))?;
    for (from, to) in [(0, 1), (1, 0), (0, 0), (0, 999)] {
        let mut can = -1;
        let code = node.cuDeviceCanAccessPeer(&raw mut can, from, to);
        println!("can {from} reach {to}: {code} {can}");
    }
    say(
        "to nowhere",
        node.cuDeviceCanAccessPeer(std::ptr::null_mut(), 0, 1),
    );
    // The rank, number 1, differs between machines.
    for (attribute, from, to) in [
        (2, 0, 1),
        (3, 0, 1),
        (4, 0, 1),
        (2, 0, 0),
        (2, 0, 999),
        (99, 0, 1),
    ] {
        let mut value = -1;
        let code = node.cuDeviceGetP2PAttribute(&raw mut value, attribute, from, to);
        println!("attribute {attribute} of {from} to {to}: {code} {value}");
    }
    Ok(())
}
