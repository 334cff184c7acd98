//! Clients that send requests and do not read the responses.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::harness::Server;

/// The size of the receive buffer of a stalled client, in bytes.
const RECEIVE_BUFFER_BYTES: u32 = 4096;

/// Opens a connection from a loopback address, with a small receive buffer.
pub fn connect(to: SocketAddr, from: Ipv4Addr) -> std::io::Result<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
        socket.bind((from, 0).into())?;
        socket.connect(to).await?.into_std()
    })?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Requests per client. The kernel buffers some megabytes of responses before the server blocks.
const REQUESTS_PER_CLIENT: usize = 40;

/// Connections that send a request many times and do not read.
pub fn stalled_clients(server: &Server, count: usize, head: &str, from: Ipv4Addr) -> Vec<TcpStream> {
    let stall = |_| {
        let mut stream = connect(server.address, from).ok()?;
        stream
            .write_all(head.repeat(REQUESTS_PER_CLIENT).as_bytes())
            .ok()?;
        Some(stream)
    };
    (0..count).filter_map(stall).collect()
}

/// The body of a VPC with many subnets.
pub fn large_vpc(label: &str, subnets: usize) -> Value {
    let subnet = |at: usize| {
        let range = format!("10.{}.{}.0/24", at / 250, at % 250);
        json!({"label": format!("subnet-with-a-rather-long-label-{at}"), "ipv4": range})
    };
    let subnets: Vec<_> = (0..subnets).map(subnet).collect();
    json!({"label": label, "region": "us-east", "subnets": subnets})
}
