//! Memory: sizes and addresses that are wrong, freeing, host memory.

use crate::{
    Section,
    node::{Node, must, say, tell},
};
use std::ptr::null_mut;

pub(crate) const SECTIONS: &[(&str, Section)] = &[
    ("allocation", allocation),
    ("allocation to nowhere", to_nowhere),
    ("host memory", host),
    ("fills", fills),
    ("copies to and from the host", copies),
];

const MIB: usize = 1 << 20;

fn allocation(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let mut address = 0;
    say("of 0 bytes", node.cuMemAlloc_v2(&raw mut address, 0));
    say("of 2^60 bytes", node.cuMemAlloc_v2(&raw mut address, 1 << 60));
    let free = || {
        let (mut free, mut total) = (0, 0);
        let code = node.cuMemGetInfo_v2(&raw mut free, &raw mut total);
        must("cuMemGetInfo", code).map(|()| free)
    };
    let before = free()?;
    let memory = node.allocate(context, 64 * MIB)?;
    tell("at a multiple of 256", memory.is_multiple_of(256));
    tell(
        "free memory shrinks by so much or more",
        before - free()? >= 64 * MIB,
    );
    say("free inside", node.cuMemFree_v2(memory + 4096));
    say("free", node.cuMemFree_v2(memory));
    tell("free memory is back", free()? >= before);
    say("free again", node.cuMemFree_v2(memory));
    say("free of 0", node.cuMemFree_v2(0));
    say("free of 16", node.cuMemFree_v2(16));
    Ok(())
}

fn to_nowhere(node: &Node) -> Result<(), String> {
    node.start()?;
    say("cuMemAlloc", node.cuMemAlloc_v2(null_mut(), 8));
    say("cuMemGetInfo", node.cuMemGetInfo_v2(null_mut(), null_mut()));
    Ok(())
}

fn host(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let (mut host, mut device) = (0, 0);
    say("of 0 bytes", node.cuMemHostAlloc(&raw mut host, 0, 0));
    say(
        "with unknown flags",
        node.cuMemHostAlloc(&raw mut host, 4096, 0x100),
    );
    say("portable and mapped", node.cuMemHostAlloc(&raw mut host, 4096, 3));
    say(
        "its device address",
        node.cuMemHostGetDevicePointer_v2(&raw mut device, host, 0),
    );
    tell("the same", host == device);
    let memory = node.allocate(context, 4096)?;
    say(
        "that of device memory",
        node.cuMemHostGetDevicePointer_v2(&raw mut device, memory, 0),
    );
    say("cuMemFree", node.cuMemFree_v2(host));
    say("cuMemFreeHost", node.cuMemFreeHost(host));
    say("cuMemFreeHost again", node.cuMemFreeHost(host));
    say("cuMemFreeHost of device memory", node.cuMemFreeHost(memory));
    Ok(())
}

fn fills(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let memory = node.zeros(context, 64)?;
    let stream = node.stream()?;
    say("bytes", node.cuMemsetD8Async(memory + 1, 0xa5, 3, stream));
    say("words", node.cuMemsetD32Async(memory + 8, 0x0102_0304, 2, stream));
    say(
        "words off their place",
        node.cuMemsetD32Async(memory + 18, 1, 1, stream),
    );
    say("none", node.cuMemsetD32Async(memory, 1, 0, stream));
    say("nowhere", node.cuMemsetD8Async(16, 1, 1, stream));
    say(
        "beyond the end",
        node.cuMemsetD8Async(memory, 1, 64 * MIB, stream),
    );
    say("the stream", node.settle(stream)?);
    println!("words = {:016x?}", node.words(memory, 4)?);
    Ok(())
}

fn copies(node: &Node) -> Result<(), String> {
    let [context, peer] = node.start()?;
    let memory = node.zeros(context, 64)?;
    let mut bytes = vec![7_u8; 16 * MIB];
    say(
        "to the device",
        node.cuMemcpyHtoD_v2(memory + 3, bytes.as_ptr().cast(), 9),
    );
    say("to nowhere", node.cuMemcpyHtoD_v2(16, bytes.as_ptr().cast(), 8));
    say(
        "beyond the end",
        node.cuMemcpyHtoD_v2(memory, bytes.as_ptr().cast(), bytes.len()),
    );
    say(
        "of no bytes",
        node.cuMemcpyHtoD_v2(memory, bytes.as_ptr().cast(), 0),
    );
    say(
        "from the device",
        node.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), memory, 16),
    );
    println!("bytes = {:?}", bytes.get(..17).unwrap_or_default());
    say(
        "from nowhere",
        node.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), 16, 8),
    );
    node.enter(peer)?;
    say(
        "from the other context's memory",
        node.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), memory, 16),
    );
    Ok(())
}
