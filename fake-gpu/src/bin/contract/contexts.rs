//! Primary contexts: counted, current or not, gone.

use crate::{
    Section,
    node::{Node, must, say, tell},
};

pub(crate) const SECTIONS: &[(&str, Section)] = &[
    ("no context", none),
    ("contexts are counted", counted),
    ("a context that is gone", gone),
];

fn none(node: &Node) -> Result<(), String> {
    must("cuInit", node.cuInit(0))?;
    let (mut address, mut context, mut device, mut stream) = (0, 1, -1, 0);
    say("cuCtxGetCurrent", node.cuCtxGetCurrent(&raw mut context));
    tell("it", context);
    say("cuMemAlloc", node.cuMemAlloc_v2(&raw mut address, 8));
    say("cuMemFree of 0", node.cuMemFree_v2(0));
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    say("cuCtxGetDevice", node.cuCtxGetDevice(&raw mut device));
    say("cuStreamCreate", node.cuStreamCreate(&raw mut stream, 0));
    say("cuCtxSetCurrent of none", node.cuCtxSetCurrent(0));
    say(
        "cuDevicePrimaryCtxRetain of 999",
        node.cuDevicePrimaryCtxRetain(&raw mut context, 999),
    );
    say(
        "cuDevicePrimaryCtxRelease never retained",
        node.cuDevicePrimaryCtxRelease_v2(0),
    );
    Ok(())
}

fn counted(node: &Node) -> Result<(), String> {
    must("cuInit", node.cuInit(0))?;
    let (mut first, mut second, mut device) = (0, 0, -1);
    let state = |what: &str| {
        let (mut flags, mut active) = (9, 9);
        let code = node.cuDevicePrimaryCtxGetState(1, &raw mut flags, &raw mut active);
        println!("{what}: {code}, flags {flags}, active {active}");
    };
    state("at first");
    say(
        "cuDevicePrimaryCtxRetain",
        node.cuDevicePrimaryCtxRetain(&raw mut first, 1),
    );
    say(
        "cuDevicePrimaryCtxRetain again",
        node.cuDevicePrimaryCtxRetain(&raw mut second, 1),
    );
    tell("the same", first == second);
    say("cuCtxSetCurrent", node.cuCtxSetCurrent(first));
    say("cuCtxGetDevice", node.cuCtxGetDevice(&raw mut device));
    tell("it", device);
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    say("cuDevicePrimaryCtxRelease", node.cuDevicePrimaryCtxRelease_v2(1));
    state("one user left");
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    say("cuDevicePrimaryCtxRelease", node.cuDevicePrimaryCtxRelease_v2(1));
    state("nobody left");
    say(
        "cuDevicePrimaryCtxRelease once more",
        node.cuDevicePrimaryCtxRelease_v2(1),
    );
    Ok(())
}

fn gone(node: &Node) -> Result<(), String> {
    let contexts = node.start()?;
    let address = node.allocate(contexts[0], 8)?;
    say("cuDevicePrimaryCtxRelease", node.cuDevicePrimaryCtxRelease_v2(0));
    let (mut other, mut again) = (0, 0);
    say("cuMemAlloc", node.cuMemAlloc_v2(&raw mut other, 8));
    say("cuCtxSynchronize", node.cuCtxSynchronize());
    say(
        "cuDevicePrimaryCtxRetain",
        node.cuDevicePrimaryCtxRetain(&raw mut again, 0),
    );
    tell("the same", again == contexts[0]);
    say("cuCtxSetCurrent", node.cuCtxSetCurrent(again));
    say("cuMemFree of what went with it", node.cuMemFree_v2(address));
    say("cuMemAlloc", node.cuMemAlloc_v2(&raw mut other, 8));
    Ok(())
}
