//! The kernels that the agent ships, from its own files: what they leave in memory.

use crate::{
    Section,
    node::{Node, PATIENCE, must, say},
};
use std::ffi::CStr;

pub(crate) const SECTIONS: &[(&str, Section)] = &[
    ("shipped: windows", windows),
    ("shipped: atomics", atomics),
    ("shipped: exchange", exchange),
];

const KERNELS: &str = concat!(include_str!("../../../../agent/src/gpu/kernels.ptx"), "\0");
const ATOMICS: &str = concat!(include_str!("../../../../agent/src/gpu/atomics.ptx"), "\0");

/// Bytes from window to window.
const SPAN: usize = 1 << 16;
const STRIDE: u64 = SPAN as u64;
const WORDS: u64 = 1000;
const FIRST: u64 = 7;
const SEED: u64 = 0x0123_4567_89ab_cdef;

/// Runs a kernel in rows of blocks, a row a window; gives its end's code. Parameters of 32 bits take the lower half.
fn rows(node: &Node, source: &str, kernel: &CStr, grid: [u32; 2], arguments: &[u64]) -> Result<i32, String> {
    let function = node.kernel(source, kernel)?;
    let mut pointers: Vec<*const u64> = arguments.iter().map(std::ptr::from_ref).collect();
    let (list, extra) = (pointers.as_mut_ptr().cast(), std::ptr::null_mut());
    let [x, y] = grid;
    let code = node.cuLaunchKernel(function, x, y, 1, 64, 1, 1, 0, 0, list, extra);
    must("cuLaunchKernel", code)?;
    node.settle(0)
}

fn windows(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let memory = node.zeros(context, 3 * SPAN)?;
    let out = node.zeros(context, 16)?;
    let check = |what: &str, invert: u64| -> Result<(), String> {
        node.write(out, &[[0xff; 8], [0; 8]].concat())?;
        let arguments = [memory, STRIDE, WORDS, FIRST, SEED, invert, out];
        let code = rows(node, KERNELS, c"check_windows", [2, 3], &arguments)?;
        println!("{what}: {code} {:?}", node.words(out, 2)?);
        Ok(())
    };
    let arguments = [memory, STRIDE, WORDS, FIRST, SEED, 0];
    say(
        "fill_windows",
        rows(node, KERNELS, c"fill_windows", [2, 3], &arguments)?,
    );
    for window in 0..3 {
        let start = memory + window * STRIDE;
        let (words, end) = (node.words(start, 2)?, node.words(start + WORDS * 4 - 8, 2)?);
        println!("window {window} = {words:x?} to {end:x?}");
    }
    check("check_windows", 0)?;
    node.write(memory + STRIDE + 5 * 4, &[0x55; 4])?;
    check("with a wrong word", 0)?;
    check("of the complement", u64::from(u32::MAX))
}

fn atomics(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let memory = node.zeros(context, 2 * SPAN)?;
    let arguments = [memory, STRIDE, 100, 3];
    say(
        "add_windows",
        rows(node, ATOMICS, c"add_windows", [1, 2], &arguments)?,
    );
    for window in 0..2 {
        let bytes = node.read(memory + window * STRIDE, 101 * 4)?;
        let words = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_ne_bytes(*word));
        let mut found: Vec<u32> = words.collect();
        // The first is the counter; which addition found what differs from run to run.
        if let Some((_, each)) = found.split_first_mut() {
            each.sort_unstable();
        }
        println!("window {window} = {:?} to {:?}", found.get(..4), found.last());
    }
    Ok(())
}

fn exchange(node: &Node) -> Result<(), String> {
    const NEVER: u64 = u64::MAX / 2;
    let contexts = node.start_peers()?;
    let mut sides = Vec::new();
    for context in contexts {
        let (window, out) = (node.zeros(context, 2 * SPAN)?, node.zeros(context, 16)?);
        sides.push((
            context,
            window,
            out,
            node.stream()?,
            node.kernel(KERNELS, c"exchange")?,
        ));
    }
    let [first, second] = sides.as_slice() else {
        return Err("not two sides".into());
    };
    for (own, other, seeds) in [(first, second, [11, 22]), (second, first, [22, 11])] {
        let (context, window, out, stream, kernel) = *own;
        node.enter(context)?;
        let [seed_out, seed_in] = seeds;
        let arguments = [
            window, STRIDE, other.1, STRIDE, 2, 20, seed_out, seed_in, PATIENCE, NEVER, out,
        ];
        must("exchange", node.launch(kernel, 1, [1, 1], stream, &arguments))?;
    }
    for (context, _, out, stream, _) in &sides {
        node.enter(*context)?;
        say("its end", node.settle(*stream)?);
        println!("rounds, wrong, first, last = {:x?}", node.words(*out, 2)?);
    }
    Ok(())
}
