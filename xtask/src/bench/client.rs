//! The least HTTP/1.1 client that a measurement needs: loopback only, bodies with a length.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// A connection that is used for one request after the other.
pub(crate) struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    buffer: Vec<u8>,
    filled: usize,
    /// Where its head ends, and where it ends, as soon as that is known.
    bounds: Option<(usize, usize)>,
}

/// Status, head and body of an answer.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) head: &'a str,
    pub(crate) body: &'a [u8],
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self {
            stream,
            address,
            buffer: vec![0; 64 * 1024],
            filled: 0,
            bounds: None,
        })
    }

    /// Sends a request as it stands and reads its answer.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.send(request)?;
        while !self.receive()? {}
        self.answer()
    }

    pub(crate) fn send(&mut self, request: &[u8]) -> Result<()> {
        if self.is_closed_by_server() {
            *self = Self::open(self.address)?;
        }
        self.filled = 0;
        self.bounds = None;
        Ok(self.stream.write_all(request)?)
    }

    /// A server that has too much to do says so with its answer.
    fn is_closed_by_server(&self) -> bool {
        self.answer().is_ok_and(|answer| {
            header(answer.head, "connection").is_some_and(|told| told.eq_ignore_ascii_case("close"))
        })
    }

    /// Reads once; true when the answer is whole. Does not wait where the system has said that there is something.
    pub(crate) fn receive(&mut self) -> Result<bool> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(2 * self.filled, 0);
        }
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        let read = self.stream.read(room)?;
        ensure!(read > 0, "the server hung up");
        self.filled += read;
        if self.bounds.is_none() {
            self.bounds = self.find_bounds()?;
        }
        let Some((_, end)) = self.bounds else {
            return Ok(false);
        };
        let more = self.filled.saturating_sub(end);
        ensure!(more == 0, "{more} bytes after the answer's end");
        Ok(self.filled == end)
    }

    /// The answer that [`Self::receive`] has called whole.
    pub(crate) fn answer(&self) -> Result<Answer<'_>> {
        let (head_end, end) = self.bounds.context("there is no answer yet")?;
        let head = std::str::from_utf8(self.buffer.get(..head_end).unwrap_or_default())?;
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        Ok(Answer {
            status: status.context("no status line")?,
            head,
            body: self.buffer.get(head_end + 4..end).unwrap_or_default(),
        })
    }

    fn find_bounds(&self) -> Result<Option<(usize, usize)>> {
        let read = self.buffer.get(..self.filled).unwrap_or_default();
        let Some(head_end) = find(read, b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = std::str::from_utf8(read.get(..head_end).unwrap_or_default())?;
        let length: usize = match header(head, "content-length") {
            Some(length) => length.parse()?,
            None => 0,
        };
        Ok(Some((head_end, head_end + 4 + length)))
    }

    pub(crate) fn post_text(&mut self, path: &str, text: &str) -> Result<Answer<'_>> {
        let request = request(
            "POST",
            path,
            self.address,
            &[("content-type", "text/plain")],
            text,
        );
        self.exchange(&request)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The bytes of a request.
pub(crate) fn request(
    method: &str,
    path: &str,
    address: SocketAddr,
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\n");
    for (name, value) in headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A header's value, by its name in lower case.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    Some(value.trim())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
