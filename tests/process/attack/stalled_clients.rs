//! Clients that ask and do not read the answer.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::harness::Server;

/// How little a stuck client lets the system take in for it.
const RECEIVE_BUFFER: u32 = 4096;

/// Opens a connection from an address of the loopback network, which takes in next to nothing.
pub fn connect(to: SocketAddr, from: Ipv4Addr) -> std::io::Result<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
        socket.bind((from, 0).into())?;
        socket.connect(to).await?.into_std()
    })?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// How often each asks: the system takes some megabytes of answers before the server has to wait.
const REPEATED: usize = 40;

/// So many connections that ask for a path again and again, and read nothing.
pub fn readers(server: &Server, count: usize, head: &str, from: Ipv4Addr) -> Vec<TcpStream> {
    let ask = |_| {
        let mut stream = connect(server.address, from).ok()?;
        stream.write_all(head.repeat(REPEATED).as_bytes()).ok()?;
        Some(stream)
    };
    (0..count).filter_map(ask).collect()
}

/// A body for a VPC with as many subnets as it may have.
pub fn large_vpc(label: &str, subnets: usize) -> Value {
    let subnet = |at: usize| {
        let range = format!("10.{}.{}.0/24", at / 250, at % 250);
        json!({"label": format!("subnet-with-a-rather-long-label-{at}"), "ipv4": range})
    };
    let subnets: Vec<_> = (0..subnets).map(subnet).collect();
    json!({"label": label, "region": "us-east", "subnets": subnets})
}
