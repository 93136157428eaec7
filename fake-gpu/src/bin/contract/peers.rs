//! Peer access: codes, and what arrives at the owner.

use crate::{
    Section,
    node::{Node, PATIENCE, TESTS, must, say, tell},
};

pub(crate) const SECTIONS: &[(&str, Section)] = &[
    ("enabling", enabling),
    ("kernels and peers", kernels),
    ("a peer without access", without_access),
    ("copies between peers", copies),
    ("two resident kernels", resident),
];

const WORDS: u64 = 256;
const BYTES: usize = 2048;

fn enabling(node: &Node) -> Result<(), String> {
    let contexts = node.start()?;
    let [own, peer] = contexts;
    say("disable before", node.cuCtxDisablePeerAccess(peer));
    say("enable with flags", node.cuCtxEnablePeerAccess(peer, 1));
    say("enable itself", node.cuCtxEnablePeerAccess(own, 0));
    say("enable none", node.cuCtxEnablePeerAccess(0, 0));
    say("enable", node.cuCtxEnablePeerAccess(peer, 0));
    say("enable again", node.cuCtxEnablePeerAccess(peer, 0));
    node.enter(peer)?;
    say("the other way", node.cuCtxEnablePeerAccess(own, 0));
    node.enter(own)?;
    say("disable", node.cuCtxDisablePeerAccess(peer));
    say("disable again", node.cuCtxDisablePeerAccess(peer));
    say("enable anew", node.cuCtxEnablePeerAccess(peer, 0));
    Ok(())
}

fn kernels(node: &Node) -> Result<(), String> {
    let [own, peer] = node.start_peers()?;
    let memory = node.zeros(peer, BYTES)?;
    say("store", node.count_up(own, memory, WORDS, 77)?);
    tell("wrong for the owner", node.wrong_words(peer, memory, WORDS, 77)?);
    tell("wrong for the other", node.wrong_words(own, memory, WORDS, 77)?);
    node.enter(own)?;
    say("atomic", node.run(TESTS, c"add_to", 32, &[memory, 5])?);
    node.enter(peer)?;
    tell("the word", node.words(memory, 1)?.first().copied().unwrap_or(0));
    Ok(())
}

fn without_access(node: &Node) -> Result<(), String> {
    let [own, peer] = node.start()?;
    let memory = node.zeros(peer, BYTES)?;
    say("store", node.count_up(own, memory, WORDS, 77)?);
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    let mut address = 0;
    say("cuMemAlloc", node.cuMemAlloc_v2(&raw mut address, 8));
    node.enter(peer)?;
    say("the owner's cuCtxSynchronize", node.cuCtxSynchronize());
    tell(
        "words",
        node.words(memory, 2)
            .map_or_else(|why| why, |words| format!("{words:?}")),
    );
    Ok(())
}

/// Push and pull between two GPUs, one pattern each; gives what the owners find wrong.
fn push_and_pull(node: &Node, contexts: [usize; 2], start: u64) -> Result<[u64; 2], String> {
    let [own, peer] = contexts;
    let (mine, theirs) = (node.zeros(own, BYTES)?, node.zeros(peer, BYTES)?);
    let mut found = [0; 2];
    for (place, (to, from)) in [((theirs, peer), (mine, own)), ((mine, own), (theirs, peer))]
        .into_iter()
        .enumerate()
    {
        let start = start + place as u64;
        must("count_up", node.count_up(from.1, from.0, WORDS, start)?)?;
        node.enter(own)?;
        let stream = node.stream()?;
        let code = node.cuMemcpyPeerAsync(to.0, to.1, from.0, from.1, BYTES, stream);
        must("cuMemcpyPeerAsync", code)?;
        must("the copy", node.settle(stream)?)?;
        if let Some(wrong) = found.get_mut(place) {
            *wrong = node.wrong_words(to.1, to.0, WORDS, start)?;
        }
    }
    Ok(found)
}

fn copies(node: &Node) -> Result<(), String> {
    let contexts = node.start()?;
    let [own, peer] = contexts;
    println!(
        "wrong without access = {:?}",
        push_and_pull(node, contexts, 1000)?
    );
    node.enter(own)?;
    say("enable", node.cuCtxEnablePeerAccess(peer, 0));
    println!("wrong with access = {:?}", push_and_pull(node, contexts, 2000)?);
    let (mine, theirs) = (node.zeros(own, BYTES)?, node.zeros(peer, BYTES)?);
    node.enter(own)?;
    let stream = node.stream()?;
    say(
        "cuMemcpyAsync to the peer",
        node.cuMemcpyAsync(theirs, mine, BYTES, stream),
    );
    say("it", node.settle(stream)?);
    say(
        "cuMemsetD32Async there",
        node.cuMemsetD32Async(theirs, 9, 4, stream),
    );
    say("it", node.settle(stream)?);
    node.enter(peer)?;
    println!("words = {:x?}", node.words(theirs, 3)?);
    node.enter(own)?;
    say(
        "of no bytes",
        node.cuMemcpyPeerAsync(theirs, peer, mine, own, 0, stream),
    );
    let beyond = BYTES + (4 << 20);
    say(
        "beyond the end",
        node.cuMemcpyPeerAsync(theirs, peer, mine, own, beyond, stream),
    );
    say(
        "from nowhere",
        node.cuMemcpyPeerAsync(theirs, peer, 16, own, 8, stream),
    );
    Ok(())
}

fn resident(node: &Node) -> Result<(), String> {
    let contexts = node.start_peers()?;
    let flags = [node.zeros(contexts[0], 16)?, node.zeros(contexts[1], 16)?];
    let mut streams = [0; 2];
    // Loaded before anything runs: loading may wait for a kernel that runs.
    let mut kernels = [0; 2];
    for (place, context) in contexts.into_iter().enumerate() {
        node.enter(context)?;
        if let (Some(stream), Some(kernel)) = (streams.get_mut(place), kernels.get_mut(place)) {
            (*stream, *kernel) = (node.stream()?, node.kernel(TESTS, c"meet")?);
        }
    }
    for (own, other) in [(0_usize, 1_usize), (1, 0)] {
        let pick = |of: &[u64; 2], place: usize| of.get(place).copied().unwrap_or(0);
        let (mine, theirs) = (pick(&flags, own), pick(&flags, other));
        node.enter(contexts.get(own).copied().unwrap_or(0))?;
        let (kernel, stream) = (kernels.get(own).copied(), streams.get(own).copied());
        let arguments = [theirs, 5, mine, 5, PATIENCE, mine + 8];
        let code = node.launch(kernel.unwrap_or(0), 1, [1, 1], stream.unwrap_or(0), &arguments);
        must("cuLaunchKernel", code)?;
    }
    for ((context, stream), flag) in contexts.into_iter().zip(streams).zip(flags) {
        node.enter(context)?;
        say("its end", node.settle(stream)?);
        println!("flag and outcome = {:?}", node.words(flag, 2)?);
    }
    Ok(())
}
