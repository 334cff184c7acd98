//! The hosts of a lab as network namespaces, joined by a bridge.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, anyhow, ensure};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

const NAMESPACES: &str = "/run/netns";
/// The maximum number of hosts of a lab.
pub const MAX_HOSTS: u8 = 20;

/// The address of a host in the network between hosts.
pub fn underlay(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(198, 51, 100, host)
}

/// The name of a host, and of its network namespace.
pub fn host_name(host: u8) -> String {
    format!("host-{host}")
}

/// Creates the namespaces of the hosts. `/run` is replaced, so that the names are not visible outside of the lab.
pub fn create(hosts: u8) -> anyhow::Result<()> {
    run("mount", "-t tmpfs -o mode=755 run /run")?;
    fs::create_dir(NAMESPACES).context(NAMESPACES)?;
    run("ip", "link set lo up")?;
    run("ip", "netns add fabric")?;
    run("ip", "-n fabric link add fabric type bridge")?;
    run("ip", "-n fabric link set fabric up")?;
    for host in 1..=hosts {
        let (name, address) = (host_name(host), underlay(host));
        run("ip", &format!("netns add {name}"))?;
        run("ip", &format!("-n {name} link set lo up"))?;
        let peer = format!("link add port{host} netns fabric type veth peer name eth0 netns {name}");
        run("ip", &peer)?;
        run("ip", &format!("-n fabric link set port{host} master fabric up"))?;
        run("ip", &format!("-n {name} addr add {address}/24 dev eth0"))?;
        run("ip", &format!("-n {name} link set eth0 up"))?;
        inside(&name, || {
            // As instances with public addresses need it.
            fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
            fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1")
        })?;
    }
    Ok(())
}

/// Runs a program, which must succeed.
pub fn run(program: &str, arguments: &str) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    // Ctrl-C does not end it.
    command.process_group(0).args(arguments.split(' '));
    let done = command.output();
    let done = done.with_context(|| program.to_owned())?;
    let stderr = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{program} {arguments}: {}", stderr.trim());
    Ok(())
}

/// Runs a closure in a network namespace.
pub fn inside<T: Send>(namespace: &str, work: impl FnOnce() -> io::Result<T> + Send) -> anyhow::Result<T> {
    let enter = || {
        let file = File::open(Path::new(NAMESPACES).join(namespace))?;
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
        work()
    };
    let result = thread::scope(|scope| scope.spawn(enter).join());
    let result = result.map_err(|_| anyhow!("the work in the namespace {namespace} panicked"))?;
    result.with_context(|| format!("namespace {namespace}"))
}

/// Accepts connections to a port of the loopback address of a host, and passes them to the same port of the server,
/// which is in another namespace. Agents use a server without TLS only on a loopback address.
pub fn relay(host: &str, port: u16) -> anyhow::Result<()> {
    let listener = inside(host, || TcpListener::bind((Ipv4Addr::LOCALHOST, port)))?;
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || {
                if let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                    copy_both(&client, &server);
                }
            });
        }
    });
    Ok(())
}

fn copy_both(client: &TcpStream, server: &TcpStream) {
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        // An error ends the connection, as the end of the stream does.
        let _ = io::copy(&mut from, &mut to);
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    };
    thread::scope(|scope| {
        scope.spawn(|| copy(client, server));
        copy(server, client);
    });
}
