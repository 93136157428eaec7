//! Bytes and open descriptors over the socket that is a worker's standard input: shared memory travels as a descriptor.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

/// Sends all bytes, a descriptor with the first of them.
pub(super) fn send(
    socket: BorrowedFd<'_>,
    mut bytes: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let descriptors: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut first = true;
    while !bytes.is_empty() {
        let mut control = SendAncillaryBuffer::new(&mut space);
        if first && !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        match sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = bytes.get(sent..).unwrap_or_default(),
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        first = false;
    }
    Ok(())
}

/// Receives some bytes, 0 at the end, and puts descriptors that came with them behind the others.
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    into: &mut [u8],
    descriptors: &mut VecDeque<OwnedFd>,
    flags: RecvFlags,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = loop {
        match recvmsg(socket, &mut [IoSliceMut::new(into)], &mut control, flags) {
            Err(Errno::INTR) => {}
            result => break result?,
        }
    };
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    Ok(received.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_comes_with_its_bytes() {
        let (here, there) = UnixStream::pair().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "shared").unwrap();
        let file = std::fs::File::open(&path).unwrap();
        send(here.as_fd(), b"no\n", None).unwrap();
        send(here.as_fd(), b"yes\n", Some(file.as_fd())).unwrap();

        let (mut chunk, mut descriptors) = ([0; 3], VecDeque::new());
        let mut next = |descriptors: &mut VecDeque<OwnedFd>| {
            let count = receive(there.as_fd(), &mut chunk, descriptors, RecvFlags::empty()).unwrap();
            chunk.get(..count).unwrap().to_vec()
        };
        assert_eq!((next(&mut descriptors), descriptors.len()), (b"no\n".to_vec(), 0));
        assert_eq!((next(&mut descriptors), descriptors.len()), (b"yes".to_vec(), 1));
        let mut text = String::new();
        let mut came = std::fs::File::from(descriptors.pop_front().unwrap());
        came.read_to_string(&mut text).unwrap();
        assert_eq!(text, "shared");
        drop(here);
        assert_eq!(next(&mut descriptors), b"\n");
        assert_eq!(next(&mut descriptors), b"");
    }
}
