//! `--follow`: files are read as they grow, from their beginning so that line numbers are true, until the program is
//! interrupted or nothing more can come. A file that was replaced (a rotated log) is a new text.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::explain::Found;
use super::input::{Input, open_file};
use super::local::{Local, PIECE};
use super::output::Output;
use super::unpack::{Packing, sniff};
use crate::domain::lookup::Matching;

/// How often a file is asked whether it has grown.
const PAUSE: Duration = Duration::from_millis(200);
const AHEAD: usize = 4;

/// What a reader tells; the number is the input's place.
enum Told {
    Bytes(usize, Vec<u8>),
    Replaced(usize),
    Ended(usize, io::Result<()>),
}

type Teller = mpsc::Sender<Told>;

struct Deaf;

pub(super) async fn run(local: &Local, inputs: &[Input], mut output: Output) -> anyhow::Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (teller, mut told) = mpsc::channel(AHEAD);
    for (place, input) in inputs.iter().cloned().enumerate() {
        let teller = teller.clone();
        // Not joined: one that waits for standard input ends with the program.
        std::thread::spawn(move || {
            let ended = read(place, &input, &teller);
            // Nobody has to listen.
            let _ = teller.blocking_send(Told::Ended(place, ended));
        });
    }
    drop(teller);

    let mut texts: Vec<Option<Matching>> = inputs.iter().map(|_| Some(local.start())).collect();
    loop {
        let told = tokio::select! {
            told = told.recv() => told,
            _ = interrupt.recv() => None,
            _ = terminate.recv() => None,
        };
        let (place, next) = match told {
            None => break,
            Some(Told::Bytes(place, piece)) => {
                if let (Some(Some(matching)), Some(input)) = (texts.get_mut(place), inputs.get(place)) {
                    let events = matching.push(&piece);
                    events.iter().try_for_each(|event| output.hit(input, event))?;
                }
                continue;
            }
            Some(Told::Replaced(place)) => (place, Some(local.start())),
            Some(Told::Ended(place, Ok(()))) => (place, None),
            Some(Told::Ended(place, Err(error))) => {
                if let Some(input) = inputs.get(place) {
                    output.fail(input, &anyhow::Error::from(error).context(input.shown()));
                }
                (place, None)
            }
        };
        if let (Some(text), Some(input)) = (texts.get_mut(place), inputs.get(place))
            && let Some(matching) = std::mem::replace(text, next)
        {
            sum_up(local, input, matching, &mut output)?;
        }
    }
    for (input, matching) in inputs.iter().zip(texts) {
        if let Some(matching) = matching {
            sum_up(local, input, matching, &mut output)?;
        }
    }
    output.finish()
}

fn sum_up(local: &Local, input: &Input, matching: Matching, output: &mut Output) -> anyhow::Result<()> {
    let (events, answer) = match matching.finish_with_events() {
        Ok(ended) => ended,
        Err(error) => {
            output.fail(input, &anyhow::Error::from(error).context(input.shown()));
            return Ok(());
        }
    };
    events.iter().try_for_each(|event| output.hit(input, event))?;
    if output.is_lines() {
        return output.summary(input, &local.explain(answer));
    }
    output.text(input, &local.render(&answer), Found::from(&answer))
}

/// Reads an input until it can give no more.
fn read(place: usize, input: &Input, teller: &Teller) -> io::Result<()> {
    let Some(path) = input.path() else {
        return to_end(place, input, teller);
    };
    // What is compressed was written at once, and pipes end.
    if !fs::metadata(path)?.is_file() || sniff(&mut open_file(path)?)?.0 != Packing::Plain {
        return to_end(place, input, teller);
    }
    match tail(place, path, open_file(path)?, teller)? {
        Ok(never) => match never {},
        Err(Deaf) => Ok(()),
    }
}

fn to_end(place: usize, input: &Input, teller: &Teller) -> io::Result<()> {
    let mut text = input.open()?;
    // Nobody listens: there is nothing left to do.
    let _ = drain(place, &mut text, teller)?;
    Ok(())
}

/// Hands on what can be read now; the number of bytes.
fn drain(place: usize, text: &mut impl Read, teller: &Teller) -> io::Result<Result<u64, Deaf>> {
    let mut length = 0;
    loop {
        let mut piece = vec![0; PIECE];
        let read = text.read(&mut piece)?;
        if read == 0 {
            return Ok(Ok(length));
        }
        piece.truncate(read);
        length += read as u64;
        if teller.blocking_send(Told::Bytes(place, piece)).is_err() {
            return Ok(Err(Deaf));
        }
    }
}

/// Reads a file for ever, and whatever takes its place.
fn tail(
    place: usize,
    path: &Path,
    mut file: File,
    teller: &Teller,
) -> io::Result<Result<std::convert::Infallible, Deaf>> {
    let mut length = 0;
    loop {
        match drain(place, &mut file, teller)? {
            Ok(more) => length += more,
            Err(deaf) => return Ok(Err(deaf)),
        }
        if teller.is_closed() {
            return Ok(Err(Deaf));
        }
        if !was_replaced(path, &file, length)? {
            std::thread::sleep(PAUSE);
            continue;
        }
        // What was written between the last look and the replacement.
        if let Err(deaf) = drain(place, &mut file, teller)? {
            return Ok(Err(deaf));
        }
        file = open_file(path)?;
        length = 0;
        if teller.blocking_send(Told::Replaced(place)).is_err() {
            return Ok(Err(Deaf));
        }
    }
}

/// True when another file has the name now, or this one was cut. While the name is free, what takes it is awaited.
fn was_replaced(path: &Path, file: &File, length: u64) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok(named.ino() != own.ino() || named.dev() != own.dev() || own.len() < length),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
