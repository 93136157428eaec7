//! Memory of another process by legacy handle. The section owns memory of GPU 1; its partner opens it on GPU 0.

use crate::{
    Section,
    api::IpcHandle,
    node::{Node, TESTS, must, say, tell},
    run,
};
use std::fmt::Write as _;

pub(crate) const SECTIONS: &[(&str, Section)] = &[("memory of another process", owner)];
/// What the partner is called by.
pub(crate) const PARTNER: &str = "partner of memory of another process";

const WORDS: u64 = 64;

fn owner(node: &Node) -> Result<(), String> {
    let contexts = node.start()?;
    let memory = node.zeros(contexts[1], 4096)?;
    must("count_up", node.count_up(contexts[1], memory, WORDS, 30)?)?;
    let mut handle = IpcHandle([0; 64]);
    say(
        "cuIpcGetMemHandle",
        node.cuIpcGetMemHandle(&raw mut handle, memory),
    );
    let mut same = 0;
    say(
        "its own handle",
        node.cuIpcOpenMemHandle_v2(&raw mut same, handle, 1),
    );
    let mut other = IpcHandle([0; 64]);
    let host = node.pinned()?;
    say(
        "a handle of host memory",
        node.cuIpcGetMemHandle(&raw mut other, host),
    );
    say("a handle of nothing", node.cuIpcGetMemHandle(&raw mut other, 16));
    let digits = handle.0.iter().fold(String::new(), |mut text, byte| {
        // Writing into a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    let ended = run(&[PARTNER, &digits]).map_err(|why| why.to_string())?;
    tell("the partner", ended.unwrap_or_else(|| "well".into()));
    tell(
        "wrong for the owner",
        node.wrong_words(contexts[1], memory, WORDS, 50)?,
    );
    say("free", node.cuMemFree_v2(memory));
    Ok(())
}

pub(crate) fn partner(node: &Node, arguments: &[String]) -> Result<(), String> {
    let digits = arguments.first().ok_or("no handle")?;
    let mut handle = IpcHandle([0; 64]);
    for (place, byte) in handle.0.iter_mut().enumerate() {
        let pair = digits.get(place * 2..place * 2 + 2).ok_or("a short handle")?;
        *byte = u8::from_str_radix(pair, 16).map_err(|why| why.to_string())?;
    }
    let [own, peer] = node.start()?;
    let (mut memory, mut again) = (0, 0);
    say(
        "open with unknown flags",
        node.cuIpcOpenMemHandle_v2(&raw mut memory, handle, 2),
    );
    say("open", node.cuIpcOpenMemHandle_v2(&raw mut memory, handle, 1));
    say(
        "open again",
        node.cuIpcOpenMemHandle_v2(&raw mut again, handle, 1),
    );
    tell("the same", memory == again);
    tell("wrong for the partner", node.wrong_words(own, memory, WORDS, 30)?);
    say("store", node.count_up(own, memory, WORDS, 40)?);
    say("atomic", node.run(TESTS, c"add_to", 1, &[memory, 10])?);
    println!("words = {:?}", node.words(memory, 2)?);
    say("store", node.count_up(own, memory, WORDS, 50)?);
    say("cuMemFree", node.cuMemFree_v2(memory));
    let mut passed_on = IpcHandle([0; 64]);
    say(
        "a handle of it",
        node.cuIpcGetMemHandle(&raw mut passed_on, memory),
    );
    node.enter(peer)?;
    let mut there = 0;
    say(
        "open in the owner's GPU",
        node.cuIpcOpenMemHandle_v2(&raw mut there, handle, 1),
    );
    tell("wrong there", node.wrong_words(peer, there, WORDS, 50)?);
    node.enter(own)?;
    for what in ["close", "close again", "close once more"] {
        say(what, node.cuIpcCloseMemHandle(memory));
    }
    let mine = node.allocate(own, 64)?;
    say("close what was not opened", node.cuIpcCloseMemHandle(mine));
    Ok(())
}
