//! Virtual memory management, in one process and between two.

use crate::{
    DEADLINE, Section,
    api::{Access, Properties},
    finish,
    node::{Node, OWN, must, say, tell},
};
use std::{
    fs::File,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
    process::{Command, Stdio},
};

pub(crate) const SECTIONS: &[(&str, Section)] = &[
    ("mapping", mapping),
    ("wrong mappings", wrong),
    ("access to mapped memory", access),
    ("enabling does not cover mapped memory", not_covered),
    ("mapped memory without access", sealed),
    ("mapped memory to read only", read_only),
    ("memory by descriptor", owner),
];
/// What the partner is called by; the descriptor is its standard input.
pub(crate) const PARTNER: &str = "partner of memory by descriptor";

const WORDS: u64 = 64;
const READ: i32 = 1;
const READ_WRITE: i32 = 3;

fn properties(device: i32) -> Properties {
    Properties {
        kind: 1,
        handle_types: 1,
        location: [1, device],
        windows: 0,
        flags: 0,
    }
}

fn granularity(node: &Node) -> Result<usize, String> {
    let (asked, mut bytes) = (properties(0), 0);
    must(
        "cuMemGetAllocationGranularity",
        node.cuMemGetAllocationGranularity(&raw mut bytes, &raw const asked, 0),
    )?;
    Ok(bytes)
}

fn create(node: &Node, device: i32, bytes: usize) -> Result<u64, String> {
    let (asked, mut handle) = (properties(device), 0);
    must(
        "cuMemCreate",
        node.cuMemCreate(&raw mut handle, bytes, &raw const asked, 0),
    )?;
    Ok(handle)
}

fn map(node: &Node, handle: u64, bytes: usize) -> Result<u64, String> {
    let mut address = 0;
    must(
        "cuMemAddressReserve",
        node.cuMemAddressReserve(&raw mut address, bytes, 0, 0, 0),
    )?;
    must("cuMemMap", node.cuMemMap(address, bytes, 0, handle, 0))?;
    Ok(address)
}

fn grant(node: &Node, address: u64, bytes: usize, device: i32, flags: i32) -> i32 {
    let location = [1, device];
    let wanted = Access { location, flags };
    node.cuMemSetAccess(address, bytes, &raw const wanted, 1)
}

fn mapping(node: &Node) -> Result<(), String> {
    let [context, _] = node.start()?;
    let bytes = granularity(node)?;
    tell("granularity", bytes);
    let handle = create(node, 0, bytes)?;
    let memory = map(node, handle, bytes)?;
    say("cuMemSetAccess", grant(node, memory, bytes, 0, READ_WRITE));
    say("store", node.count_up(context, memory, WORDS, 9)?);
    tell("wrong", node.wrong_words(context, memory, WORDS, 9)?);
    say("cuMemRelease", node.cuMemRelease(handle));
    tell(
        "wrong after the release",
        node.wrong_words(context, memory, WORDS, 9)?,
    );
    say("cuMemFree", node.cuMemFree_v2(memory));
    say(
        "cuMemAddressFree while mapped",
        node.cuMemAddressFree(memory, bytes),
    );
    say("cuMemUnmap", node.cuMemUnmap(memory, bytes));
    let mut word = 0_u64;
    say("read", node.cuMemcpyDtoH_v2((&raw mut word).cast(), memory, 8));
    say("cuMemAddressFree", node.cuMemAddressFree(memory, bytes));
    Ok(())
}

fn wrong(node: &Node) -> Result<(), String> {
    node.start()?;
    let bytes = granularity(node)?;
    let (mut handle, mut address, mut size) = (0, 0, 0);
    let (asked, nobody) = (properties(0), properties(999));
    let other_kind = Properties { kind: 77, ..asked };
    let asked = &raw const asked;
    let create_with = |what: &str, bytes: usize, asked: *const Properties, handle: &mut u64| {
        say(what, node.cuMemCreate(handle, bytes, asked, 0));
    };
    say(
        "granularity, unknown option",
        node.cuMemGetAllocationGranularity(&raw mut size, asked, 7),
    );
    create_with("create of half a granule", bytes / 2, asked, &mut handle);
    create_with("create of nothing", 0, asked, &mut handle);
    create_with("create on device 999", bytes, &raw const nobody, &mut handle);
    create_with(
        "create of another kind",
        bytes,
        &raw const other_kind,
        &mut handle,
    );
    create_with("create of 2^50 bytes", 1 << 50, asked, &mut handle);
    create_with("create", bytes, asked, &mut handle);
    say(
        "reserve half a granule",
        node.cuMemAddressReserve(&raw mut address, bytes / 2, 0, 0, 0),
    );
    say(
        "reserve with flags",
        node.cuMemAddressReserve(&raw mut address, bytes, 0, 0, 5),
    );
    say(
        "reserve aligned to 3",
        node.cuMemAddressReserve(&raw mut address, bytes, 3, 0, 0),
    );
    say(
        "reserve",
        node.cuMemAddressReserve(&raw mut address, 2 * bytes, 0, 0, 0),
    );
    say(
        "map at an offset",
        node.cuMemMap(address, bytes, bytes, handle, 0),
    );
    say("map with flags", node.cuMemMap(address, bytes, 0, handle, 1));
    say(
        "map more than there is",
        node.cuMemMap(address, 2 * bytes, 0, handle, 0),
    );
    say("map", node.cuMemMap(address, bytes, 0, handle, 0));
    say("map again", node.cuMemMap(address, bytes, 0, handle, 0));
    say(
        "access to half a mapping",
        grant(node, address, bytes / 2, 0, READ_WRITE),
    );
    say(
        "access beyond the mapping",
        grant(node, address, 2 * bytes, 0, READ_WRITE),
    );
    say(
        "access for device 999",
        grant(node, address, bytes, 999, READ_WRITE),
    );
    say("access of an unknown kind", grant(node, address, bytes, 0, 9));
    say("unmap half of it", node.cuMemUnmap(address, bytes / 2));
    say("unmap", node.cuMemUnmap(address, bytes));
    say("unmap again", node.cuMemUnmap(address, bytes));
    say("free half the addresses", node.cuMemAddressFree(address, bytes));
    say("free the addresses", node.cuMemAddressFree(address, 2 * bytes));
    say("free them again", node.cuMemAddressFree(address, 2 * bytes));
    let null = File::open("/dev/null").map_err(|why| why.to_string())?;
    let descriptor = usize::try_from(null.as_raw_fd()).map_err(|why| why.to_string())?;
    say(
        "import of a file",
        node.cuMemImportFromShareableHandle(&raw mut handle, descriptor, 1),
    );
    Ok(())
}

fn access(node: &Node) -> Result<(), String> {
    let [own, peer] = node.start()?;
    let bytes = granularity(node)?;
    let memory = map(node, create(node, 1, bytes)?, bytes)?;
    say("for the owner", grant(node, memory, bytes, 1, READ_WRITE));
    say("for the other", grant(node, memory, bytes, 0, READ_WRITE));
    say("store by the other", node.count_up(own, memory, WORDS, 4)?);
    tell("wrong for the owner", node.wrong_words(peer, memory, WORDS, 4)?);
    Ok(())
}

fn not_covered(node: &Node) -> Result<(), String> {
    let [own, _] = node.start_peers()?;
    let bytes = granularity(node)?;
    let memory = map(node, create(node, 1, bytes)?, bytes)?;
    say("for the owner", grant(node, memory, bytes, 1, READ_WRITE));
    say("store by the other", node.count_up(own, memory, WORDS, 4)?);
    Ok(())
}

fn sealed(node: &Node) -> Result<(), String> {
    node.start()?;
    let bytes = granularity(node)?;
    let memory = map(node, create(node, 0, bytes)?, bytes)?;
    say("store", node.run(OWN, c"poke", 1, &[memory])?);
    Ok(())
}

fn read_only(node: &Node) -> Result<(), String> {
    let [own, peer] = node.start()?;
    let bytes = granularity(node)?;
    let memory = map(node, create(node, 1, bytes)?, bytes)?;
    say("for the owner", grant(node, memory, bytes, 1, READ_WRITE));
    say("store by the owner", node.count_up(peer, memory, WORDS, 4)?);
    node.enter(own)?;
    say("for the other", grant(node, memory, bytes, 0, READ));
    tell("wrong for the other", node.wrong_words(own, memory, WORDS, 4)?);
    say("store by the other", node.count_up(own, memory, WORDS, 4)?);
    Ok(())
}

fn owner(node: &Node) -> Result<(), String> {
    let [_, peer] = node.start()?;
    let bytes = granularity(node)?;
    let handle = create(node, 1, bytes)?;
    let memory = map(node, handle, bytes)?;
    must("cuMemSetAccess", grant(node, memory, bytes, 1, READ_WRITE))?;
    must("count_up", node.count_up(peer, memory, WORDS, 30)?)?;
    let (private, mut alone, mut descriptor) = (properties(1), 0, -1);
    let private = Properties {
        handle_types: 0,
        ..private
    };
    must(
        "cuMemCreate",
        node.cuMemCreate(&raw mut alone, bytes, &raw const private, 0),
    )?;
    say(
        "export of what is not for export",
        node.cuMemExportToShareableHandle(&raw mut descriptor, alone, 1, 0),
    );
    say(
        "export with flags",
        node.cuMemExportToShareableHandle(&raw mut descriptor, handle, 1, 1),
    );
    say(
        "export",
        node.cuMemExportToShareableHandle(&raw mut descriptor, handle, 1, 0),
    );
    // SAFETY: the driver has just made it for this program.
    let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let mut own = 0;
    let number = usize::try_from(descriptor.as_raw_fd()).map_err(|why| why.to_string())?;
    say(
        "import one's own",
        node.cuMemImportFromShareableHandle(&raw mut own, number, 1),
    );
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let child = Command::new(program)
        .arg(PARTNER)
        .stdin(Stdio::from(descriptor))
        .spawn();
    let ended = child
        .and_then(finish)
        .map_err(|why| format!("{why} within {DEADLINE:?}"))?;
    tell("the partner", ended.unwrap_or_else(|| "well".into()));
    tell("wrong for the owner", node.wrong_words(peer, memory, WORDS, 50)?);
    Ok(())
}

pub(crate) fn partner(node: &Node) -> Result<(), String> {
    let [own, _] = node.start()?;
    let bytes = granularity(node)?;
    let mut handle = 0;
    say(
        "import as descriptor 0",
        node.cuMemImportFromShareableHandle(&raw mut handle, 0, 1),
    );
    // The driver takes a pointer whose value is the descriptor, so that 0 is no pointer: it needs another number.
    let descriptor = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|why| why.to_string())?;
    let number = usize::try_from(descriptor.as_raw_fd()).map_err(|why| why.to_string())?;
    say(
        "import",
        node.cuMemImportFromShareableHandle(&raw mut handle, number, 1),
    );
    drop(descriptor);
    let memory = map(node, handle, bytes)?;
    say("for the partner's GPU", grant(node, memory, bytes, 0, READ_WRITE));
    tell("wrong for the partner", node.wrong_words(own, memory, WORDS, 30)?);
    say("store", node.count_up(own, memory, WORDS, 50)?);
    say("release", node.cuMemRelease(handle));
    say("unmap", node.cuMemUnmap(memory, bytes));
    Ok(())
}
