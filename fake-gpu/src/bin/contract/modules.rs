//! Modules: texts that are wrong, too new, for another GPU.

use crate::{
    Section,
    node::{Node, OWN, TESTS, must, say, tell, text},
};
use std::ffi::{CStr, c_void};

pub(crate) const SECTIONS: &[(&str, Section)] = &[("modules", modules), ("texts that do not load", wrong)];

fn modules(node: &Node) -> Result<(), String> {
    node.start()?;
    let (mut module, mut function) = (0, 0);
    for (name, source) in [("the tests'", TESTS), ("the contract's", OWN)] {
        say(
            name,
            node.cuModuleLoadData(&raw mut module, text(source)?.as_ptr().cast()),
        );
    }
    say(
        "a kernel",
        node.cuModuleGetFunction(&raw mut function, module, c"hold".as_ptr()),
    );
    say(
        "no kernel",
        node.cuModuleGetFunction(&raw mut function, module, c"nothing".as_ptr()),
    );
    say(
        "a kernel without a name",
        node.cuModuleGetFunction(&raw mut function, module, c"".as_ptr()),
    );
    say("cuModuleUnload", node.cuModuleUnload(module));
    Ok(())
}

const WRONG: [(&str, &CStr); 6] = [
    ("no text at all", c"hello"),
    (
        "no version",
        c".target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
    (
        "an unknown instruction",
        c".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { frobnicate; }\n",
    ),
    (
        "an unknown register",
        c".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { mov.u32 %r1, 1; ret; }\n",
    ),
    (
        "a version to come",
        c".version 19.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
    (
        "a GPU to come",
        c".version 8.0\n.target sm_990\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
];

fn wrong(node: &Node) -> Result<(), String> {
    /// `CU_JIT_ERROR_LOG_BUFFER` and its size.
    const OPTIONS: [i32; 2] = [5, 6];
    node.start()?;
    for (what, source) in WRONG {
        let mut module = 0;
        let mut log = [0_u8; 4096];
        let mut options = OPTIONS;
        let mut values = [log.as_mut_ptr() as usize, log.len()];
        let image: *const c_void = source.as_ptr().cast();
        let code = node.cuModuleLoadDataEx(
            &raw mut module,
            image,
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        );
        let explained = log.first().is_some_and(|byte| *byte != 0);
        println!("{what}: {code}, explained {explained}");
    }
    let mut module = 0;
    say(
        "none of this spoils the context",
        node.cuModuleLoadData(&raw mut module, text(OWN)?.as_ptr().cast()),
    );
    must("cuModuleUnload", node.cuModuleUnload(module))?;
    tell("a handle", module != 0);
    Ok(())
}
