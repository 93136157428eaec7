//! What was called between `ncclGroupStart` and `ncclGroupEnd`; a call outside of them is a group of its own.

use super::{
    Result,
    communicator::Communicator,
    operation::{Numbered, Operation, submit},
};
use crate::machine::Machine;
use std::{cell::RefCell, mem, sync::Arc};

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

#[derive(Default)]
struct Group {
    depth: usize,
    joining: Vec<Arc<Communicator>>,
    /// By rank and stream, in the order of their first calls.
    queued: Vec<Queued>,
    /// The first error within the group.
    error: Option<Result>,
}

struct Queued {
    communicator: Arc<Communicator>,
    stream: usize,
    operations: Vec<Numbered>,
}

pub(super) fn start() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

/// Does what was called, at the end of the outermost group.
pub(super) fn end(machine: &'static Machine) -> std::result::Result<(), Result> {
    let group = GROUP.with_borrow_mut(|group| {
        group.depth = group.depth.checked_sub(1).ok_or(Result::INVALID_USAGE)?;
        let left = if group.depth == 0 {
            mem::take(group)
        } else {
            Group::default()
        };
        Ok::<_, Result>(left)
    })?;
    if let Some(error) = group.error {
        return Err(error);
    }
    for communicator in &group.joining {
        communicator.announce()?;
    }
    for communicator in &group.joining {
        communicator.join(machine)?;
    }
    for Queued {
        communicator,
        stream,
        operations,
    } in group.queued
    {
        submit(machine, &communicator, stream, operations)?;
    }
    Ok(())
}

/// Within a group, a group of its own where there is none.
fn within(
    machine: &'static Machine,
    body: impl FnOnce(&mut Group) -> std::result::Result<(), Result>,
) -> std::result::Result<(), Result> {
    start();
    let done = GROUP.with_borrow_mut(|group| {
        let done = body(group);
        if let (Err(error), None) = (done, group.error) {
            group.error = Some(error);
        }
        done
    });
    let ended = end(machine);
    done.and(ended)
}

pub(super) fn join(
    machine: &'static Machine,
    communicator: Arc<Communicator>,
) -> std::result::Result<(), Result> {
    within(machine, |group| {
        group.joining.push(communicator);
        Ok(())
    })
}

pub(super) fn add(
    machine: &'static Machine,
    communicator: Arc<Communicator>,
    stream: usize,
    operation: Operation,
) -> std::result::Result<(), Result> {
    within(machine, |group| {
        let numbered = communicator.number(machine, operation)?;
        let same = |queued: &&mut Queued| {
            queued.stream == stream && Arc::ptr_eq(&queued.communicator, &communicator)
        };
        match group.queued.iter_mut().find(same) {
            Some(queued) => queued.operations.push(numbered),
            None => group.queued.push(Queued {
                communicator,
                stream,
                operations: vec![numbered],
            }),
        }
        Ok(())
    })
}
