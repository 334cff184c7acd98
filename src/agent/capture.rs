//! Captures the frames of a port, in the format of pcap.
//!
//! A packet socket sees the frames of the instance before the filters do, and all frames to the instance.

use std::io::{self, IoSliceMut, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::cmsg_space;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, bind, recvmsg,
    setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::kernel::{inside, namespace_names};
use super::names::{self, Namespace, Prefix};

/// Longer frames are truncated. A frame that the kernel has not split into segments yet can have 64 KiB.
const MAX_FRAME_BYTES: usize = 256 * 1024;
/// How long the capture may take to notice that it must stop.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};
/// Marks a file of version 2.4 with nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;

/// A socket that receives the frames of a port.
pub struct Capture {
    socket: OwnedFd,
    index: usize,
    buffer: Vec<u8>,
}

/// A frame, possibly truncated.
struct Frame<'a> {
    time: TimeSpec,
    length: usize,
    data: &'a [u8],
}

impl Capture {
    /// Opens the port of an interface on this host.
    pub fn open(prefix: &Prefix, interface: i64) -> Result<Self, String> {
        let link = names::port(interface);
        let named = namespace_names();
        let vpcs = named
            .iter()
            .filter_map(|name| Namespace::of_name(name, prefix))
            .filter(|namespace| matches!(namespace, Namespace::Vpc(_)));
        for namespace in vpcs {
            let opened = inside(prefix, namespace, || open(&link))?;
            if let Some((socket, index)) = opened.map_err(|error| format!("{link}: {error}"))? {
                return Ok(Self {
                    socket,
                    index,
                    buffer: vec![0; MAX_FRAME_BYTES],
                });
            }
        }
        Err(format!(
            "this host has no port of interface {interface} (prefix {prefix}); garth agent status lists the ports"
        ))
    }

    /// Writes frames until `count` are written, `is_stopped` returns true, or the reader closes the output. Returns the
    /// number of frames.
    pub fn write<W: Write + AsFd>(
        &mut self,
        output: &mut W,
        count: Option<u64>,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<u64> {
        let mut written = 0;
        match self.write_all(output, count, is_stopped, &mut written) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(written),
            result => result.map(|()| written),
        }
    }

    fn write_all<W: Write + AsFd>(
        &mut self,
        output: &mut W,
        count: Option<u64>,
        is_stopped: impl Fn() -> bool,
        written: &mut u64,
    ) -> io::Result<()> {
        output.write_all(&file_header())?;
        output.flush()?;
        while count != Some(*written) && !is_stopped() {
            let mut watched = [
                PollFd::new(&self.socket, PollFlags::IN),
                // A closed pipe is reported without being requested.
                PollFd::new(&*output, PollFlags::empty()),
            ];
            match poll(&mut watched, Some(&POLL_INTERVAL)) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            let (ready, closed) = (!watched[0].revents().is_empty(), !watched[1].revents().is_empty());
            if closed {
                return Ok(());
            }
            if ready && let Some(frame) = self.receive()? {
                output.write_all(&frame.header())?;
                output.write_all(frame.data)?;
                output.flush()?;
                *written += 1;
            }
        }
        Ok(())
    }

    /// The next frame; `None` if it is one of another link, from the time before the socket was bound.
    fn receive(&mut self) -> io::Result<Option<Frame<'_>>> {
        let mut control = cmsg_space!(TimeSpec);
        let mut slices = [IoSliceMut::new(&mut self.buffer)];
        let received = recvmsg::<LinkAddr>(
            self.socket.as_raw_fd(),
            &mut slices,
            Some(&mut control),
            // The result is the length of the frame, even if the buffer is shorter.
            MsgFlags::MSG_TRUNC,
        )?;
        if received.address.map(|address| address.ifindex()) != Some(self.index) {
            return Ok(None);
        }
        let mut times = received.cmsgs()?.filter_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(time) => Some(time),
            _ => None,
        });
        let (time, length) = (times.next().unwrap_or(TimeSpec::new(0, 0)), received.bytes);
        let data = &self.buffer[..length.min(MAX_FRAME_BYTES)];
        Ok(Some(Frame { time, length, data }))
    }
}

/// A socket that is bound to the link; `None` if the namespace has no such link. `getifaddrs` returns the address of a
/// link in the form that `bind` accepts.
fn open(link: &str) -> io::Result<Option<(OwnedFd, usize)>> {
    let address = getifaddrs()?
        .filter(|found| found.interface_name == link)
        .find_map(|found| found.address?.as_link_addr().copied());
    let Some(address) = address else {
        return Ok(None);
    };
    let socket = socket(
        AddressFamily::Packet,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::EthAll,
    )?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    bind(socket.as_raw_fd(), &address)?;
    Ok(Some((socket, address.ifindex())))
}

fn file_header() -> Vec<u8> {
    let mut header = MAGIC.to_le_bytes().to_vec();
    header.extend([2, 0, 4, 0]);
    // The time zone and the accuracy are always zero.
    header.extend([0; 8]);
    header.extend(bounded(MAX_FRAME_BYTES).to_le_bytes());
    header.extend(ETHERNET.to_le_bytes());
    header
}

impl Frame<'_> {
    fn header(&self) -> [u8; 16] {
        let seconds = u32::try_from(self.time.tv_sec()).unwrap_or_default();
        let nanoseconds = u32::try_from(self.time.tv_nsec()).unwrap_or_default();
        let fields = [
            seconds,
            nanoseconds,
            bounded(self.data.len()),
            bounded(self.length),
        ];
        let mut header = [0; 16];
        for (bytes, field) in header.chunks_exact_mut(4).zip(fields) {
            bytes.copy_from_slice(&field.to_le_bytes());
        }
        header
    }
}

fn bounded(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_header_of_pcap_with_nanoseconds() {
        let expected = "4d3cb2a1020004000000000000000000 0000040001000000".replace(' ', "");
        let header: String = file_header().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(header, expected);
    }

    #[test]
    fn a_truncated_frame_has_both_lengths() {
        let frame = Frame {
            time: TimeSpec::new(1, 2),
            length: 300,
            data: &[0; 4],
        };
        assert_eq!(frame.header(), [1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 44, 1, 0, 0]);
    }
}
