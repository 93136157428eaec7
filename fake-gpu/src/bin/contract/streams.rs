//! Streams and events: what waits for what.

use crate::{
    Section,
    node::{Node, OWN, PATIENCE, host_word, must, say, tell},
};
use std::sync::atomic::Ordering;

pub(crate) const SECTIONS: &[(&str, Section)] = &[
    ("streams and events", plain),
    ("no stream, no event", nothing),
    ("events mark work", marks),
    ("events across contexts", across),
    ("the default stream", default_stream),
];

fn plain(node: &Node) -> Result<(), String> {
    node.start()?;
    let (mut stream, mut event) = (0, 0);
    say(
        "cuStreamCreate with unknown flags",
        node.cuStreamCreate(&raw mut stream, 2),
    );
    say(
        "cuEventCreate with unknown flags",
        node.cuEventCreate(&raw mut event, 64),
    );
    say(
        "cuEventCreate between processes, with time",
        node.cuEventCreate(&raw mut event, 4),
    );
    let (stream, start, end, untimed) = (node.stream()?, node.event(0)?, node.event(0)?, node.event(2)?);
    say("cuStreamQuery", node.cuStreamQuery(stream));
    say("cuEventQuery of one never recorded", node.cuEventQuery(end));
    say("cuEventSynchronize", node.cuEventSynchronize(end));
    say("cuStreamWaitEvent", node.cuStreamWaitEvent(stream, end, 0));
    let mut milliseconds = 0.0;
    let mut elapsed = |what: &str, from: usize, to: usize| {
        say(what, node.cuEventElapsedTime(&raw mut milliseconds, from, to));
    };
    elapsed("elapsed between two never recorded", start, end);
    say("cuEventRecord", node.cuEventRecord(start, stream));
    elapsed("elapsed to one never recorded", start, end);
    say("cuEventRecord", node.cuEventRecord(end, stream));
    say("cuEventRecord without time", node.cuEventRecord(untimed, stream));
    say("cuStreamSynchronize", node.cuStreamSynchronize(stream));
    elapsed("elapsed", start, end);
    elapsed("elapsed to one without time", start, untimed);
    tell("not negative", milliseconds >= 0.0);
    say("cuEventDestroy", node.cuEventDestroy_v2(start));
    say("cuStreamDestroy", node.cuStreamDestroy_v2(stream));
    say("the default stream's cuStreamQuery", node.cuStreamQuery(0));
    Ok(())
}

fn nothing(node: &Node) -> Result<(), String> {
    node.start()?;
    say("cuEventQuery", node.cuEventQuery(0));
    say("cuEventRecord", node.cuEventRecord(0, 0));
    say("cuEventDestroy", node.cuEventDestroy_v2(0));
    say("cuStreamWaitEvent", node.cuStreamWaitEvent(0, 0, 0));
    say("cuStreamDestroy", node.cuStreamDestroy_v2(0));
    Ok(())
}

/// A kernel that holds a stream of the current context until the word at the address it gives is not 0.
fn hold(node: &Node, stream: usize) -> Result<u64, String> {
    let flag = node.pinned()?;
    let kernel = node.kernel(OWN, c"hold")?;
    must("hold", node.launch(kernel, 1, [1, 1], stream, &[flag, PATIENCE]))?;
    Ok(flag)
}

fn release(flag: u64) {
    host_word(flag).store(1, Ordering::Release);
}

fn marks(node: &Node) -> Result<(), String> {
    node.start()?;
    let (held, free, start, end) = (node.stream()?, node.stream()?, node.event(0)?, node.event(0)?);
    say("record", node.cuEventRecord(start, held));
    let flag = hold(node, held)?;
    say("record behind the kernel", node.cuEventRecord(end, held));
    say("the stream", node.cuStreamQuery(held));
    say("the event behind", node.cuEventQuery(end));
    let mut milliseconds = -1.0;
    say(
        "elapsed",
        node.cuEventElapsedTime(&raw mut milliseconds, start, end),
    );
    say("another stream", node.cuStreamQuery(free));
    say("it waits", node.cuStreamWaitEvent(free, end, 0));
    say("then", node.cuStreamQuery(free));
    release(flag);
    say("cuEventSynchronize", node.cuEventSynchronize(end));
    say("cuStreamSynchronize", node.cuStreamSynchronize(free));
    say("the stream", node.settle(held)?);
    say(
        "elapsed",
        node.cuEventElapsedTime(&raw mut milliseconds, start, end),
    );
    tell("positive", milliseconds > 0.0);
    say(
        "backwards",
        node.cuEventElapsedTime(&raw mut milliseconds, end, start),
    );
    tell("negative", milliseconds < 0.0);
    Ok(())
}

fn across(node: &Node) -> Result<(), String> {
    let [first, second] = node.start()?;
    let (held, event) = (node.stream()?, node.event(2)?);
    node.enter(second)?;
    let other = node.stream()?;
    say(
        "an event of one context in a stream of another",
        node.cuEventRecord(event, other),
    );
    node.enter(first)?;
    let flag = hold(node, held)?;
    say("record", node.cuEventRecord(event, held));
    node.enter(second)?;
    say("the other context's event", node.cuEventQuery(event));
    say("the other context's stream", node.cuStreamQuery(held));
    say("it waits", node.cuStreamWaitEvent(other, event, 0));
    say("then", node.cuStreamQuery(other));
    say(
        "cuEventRecord from another context",
        node.cuEventRecord(event, held),
    );
    release(flag);
    say("cuStreamSynchronize", node.cuStreamSynchronize(other));
    let kernel = node.kernel(OWN, c"hold")?;
    say(
        "launch in the other context's stream",
        node.launch(kernel, 1, [1, 1], held, &[flag, PATIENCE]),
    );
    let memory = node.allocate(second, 64)?;
    say(
        "fill in the other context's stream",
        node.cuMemsetD8Async(memory, 1, 1, held),
    );
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    Ok(())
}

fn default_stream(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let memory = node.zeros(context, 64)?;
    let (mut blocking, mut later) = (0, 0);
    must("cuStreamCreate", node.cuStreamCreate(&raw mut blocking, 0))?;
    must("cuStreamCreate", node.cuStreamCreate(&raw mut later, 0))?;
    let free = node.stream()?;
    let flag = hold(node, blocking)?;
    say(
        "fill in the default stream",
        node.cuMemsetD8Async(memory, 7, 1, 0),
    );
    say(
        "fill in a blocking stream",
        node.cuMemsetD8Async(memory + 1, 7, 1, later),
    );
    say(
        "fill in a non-blocking stream",
        node.cuMemsetD8Async(memory + 2, 7, 1, free),
    );
    say("the non-blocking stream", node.settle(free)?);
    say("the blocking stream", node.cuStreamQuery(later));
    say("the default stream", node.cuStreamQuery(0));
    release(flag);
    say("cuStreamSynchronize", node.cuStreamSynchronize(later));
    println!("bytes = {:?}", node.read(memory, 4)?);
    Ok(())
}
