//! The least HTTP/1.1 client that a measurement needs: loopback only, bodies with a length.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// A connection that is used for one request after the other.
pub(crate) struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    buffer: Vec<u8>,
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
        })
    }

    /// Sends a request as it stands and reads its answer.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request)?;
        let mut filled = 0;
        let head_end = loop {
            filled += self.read_at(filled)?;
            let read = self.buffer.get(..filled).unwrap_or_default();
            if let Some(end) = find(read, b"\r\n\r\n") {
                break end;
            }
        };
        let head = std::str::from_utf8(self.buffer.get(..head_end).unwrap_or_default())?;
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|word| word.parse().ok())
            .context("no status line")?;
        let length: usize = match header(head, "content-length") {
            Some(length) => length.parse()?,
            None => 0,
        };
        let end = head_end + 4 + length;
        while filled < end {
            filled += self.read_at(filled)?;
        }
        ensure!(filled == end, "{} bytes after the answer's end", filled - end);
        let head = std::str::from_utf8(self.buffer.get(..head_end).unwrap_or_default())?;
        let body = self.buffer.get(head_end + 4..end).unwrap_or_default();
        Ok(Answer { status, head, body })
    }

    /// Posts a text.
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

    fn read_at(&mut self, filled: usize) -> Result<usize> {
        if filled == self.buffer.len() {
            self.buffer.resize(2 * filled, 0);
        }
        let read = self
            .stream
            .read(self.buffer.get_mut(filled..).unwrap_or_default())?;
        ensure!(read > 0, "the server hung up");
        Ok(read)
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
