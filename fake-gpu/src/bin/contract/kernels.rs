//! Kernels: launches that are refused, what the instructions compute, and errors that stay.

use crate::{
    Section,
    node::{Node, OWN, TESTS, must, say},
};
use std::ffi::CStr;

pub(crate) const SECTIONS: &[(&str, Section)] = &[
    ("launches", launches),
    ("64-bit arithmetic", wide),
    ("32-bit arithmetic", narrow),
    ("atomics", atomics),
    ("places and barriers", places),
    ("an illegal address", illegal),
    ("a misaligned address", misaligned),
    ("a trap", trap),
];

fn launches(node: &Node) -> Result<(), String> {
    let [context, other] = node.start()?;
    let memory = node.zeros(context, 4096)?;
    let count = node.kernel(TESTS, c"count_up")?;
    let arguments = [memory, 512, 1];
    let launch = |what: &str, blocks: u32, threads: [u32; 2]| {
        say(what, node.launch(count, blocks, threads, 0, &arguments));
    };
    launch("no blocks", 0, [32, 1]);
    launch("no threads", 1, [0, 1]);
    launch("1025 threads", 1, [1025, 1]);
    launch("32 x 64 threads", 1, [32, 64]);
    launch("1024 threads", 1, [1024, 1]);
    let mut pointers: Vec<*const u64> = arguments.iter().map(std::ptr::from_ref).collect();
    let (list, extra) = (pointers.as_mut_ptr().cast(), std::ptr::null_mut());
    say(
        "1 MiB of shared memory",
        node.cuLaunchKernel(count, 1, 1, 1, 32, 1, 1, 1 << 20, 0, list, extra),
    );
    say("no function", node.launch(0, 1, [1, 1], 0, &arguments));
    say(
        "a grid too high",
        node.cuLaunchKernel(count, 1, 70_000, 1, 1, 1, 1, 0, 0, list, extra),
    );
    node.enter(other)?;
    say(
        "from another context",
        node.launch(count, 1, [1, 1], 0, &arguments),
    );
    node.enter(context)?;
    say("the stream", node.settle(0)?);
    println!("wrong = {}", node.wrong_words(context, memory, 512, 1)?);
    Ok(())
}

/// Runs a kernel on operands, and prints the words that it leaves.
fn compute(node: &Node, kernel: &CStr, words: usize, operands: &[(u64, u64)]) -> Result<(), String> {
    let [context, _] = node.start()?;
    for (a, b) in operands {
        let out = node.zeros(context, words * 8)?;
        must("the kernel", node.run(OWN, kernel, 1, &[*a, *b, out])?)?;
        println!("{a:x} {b:x} = {:x?}", node.words(out, words)?);
    }
    Ok(())
}

fn wide(node: &Node) -> Result<(), String> {
    let most = u64::MAX;
    let least = 1 << 63;
    let operands = [
        (7, 3),
        (most, 2),
        (least, most),
        (most, 64),
        (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210),
        (1, 1 << 32),
    ];
    compute(node, c"wide", 13, &operands)
}

fn narrow(node: &Node) -> Result<(), String> {
    // The least number by minus one is left out: what that gives is not specified.
    let operands = [
        (7, 3),
        (0xffff_fff9, 3),
        (7, 0xffff_fffd),
        (0x8000_0000, 7),
        (0xffff_ffff, 0xffff_ffff),
        (0x0001_8000, 1),
    ];
    compute(node, c"narrow", 12, &operands)
}

fn atomics(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let out = node.zeros(context, 64)?;
    node.write(out + 8, &[0xff; 8])?;
    say("64 threads", node.run(OWN, c"atomics", 64, &[out])?);
    println!("words = {:x?}", node.words(out, 6)?);
    Ok(())
}

fn places(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let out = node.zeros(context, 4096)?;
    let kernel = node.kernel(OWN, c"places")?;
    say("2 blocks of 20 x 2", node.launch(kernel, 2, [20, 2], 0, &[out]));
    say("the stream", node.settle(0)?);
    let words = node.words(out, 161)?;
    for thread in [0, 19, 20, 39, 40, 79] {
        println!(
            "thread {thread} = {:x?}",
            words.get(thread * 2..thread * 2 + 2).unwrap_or_default()
        );
    }
    println!("after the barrier = {:x?}", words.last());
    Ok(())
}

/// What follows an error of a kernel: in its context, in the other one, and in a new one.
fn spoiled(node: &Node, kernel: &CStr, arguments: &[u64]) -> Result<(), String> {
    let [context, other] = node.start()?;
    node.enter(context)?;
    say("the kernel", node.run(OWN, kernel, 1, arguments)?);
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    say("cuCtxSynchronize again", node.cuCtxSynchronize());
    let (mut address, mut stream, mut module) = (0, 0, 0);
    say("cuMemAlloc", node.cuMemAlloc_v2(&raw mut address, 8));
    say("cuStreamCreate", node.cuStreamCreate(&raw mut stream, 1));
    say(
        "cuModuleLoadData",
        node.cuModuleLoadData(&raw mut module, OWN.as_ptr().cast()),
    );
    say("cuStreamQuery", node.cuStreamQuery(0));
    node.enter(other)?;
    say("the other context", node.cuCtxSynchronize());
    say("cuMemAlloc there", node.cuMemAlloc_v2(&raw mut address, 8));
    Ok(())
}

fn illegal(node: &Node) -> Result<(), String> {
    spoiled(node, c"poke", &[0x1000])
}

fn misaligned(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let memory = node.allocate(context, 64)?;
    spoiled(node, c"poke", &[memory + 2])
}

fn trap(node: &Node) -> Result<(), String> {
    spoiled(node, c"stop", &[])
}
