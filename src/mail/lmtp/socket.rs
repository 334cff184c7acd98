//! The socket of the LMTP listener: a TCP address or a Unix socket.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};

/// Every user of the machine can connect, as to a loopback address. Postfix does not use additional groups, so the
/// permissions of the folder limit access.
const SOCKET_MODE: u32 = 0o666;
const UNIX_PREFIX: &str = "unix:";

/// Where the server listens, as in the settings: `127.0.0.1:2424` or `unix:/run/garth/lmtp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LmtpAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl LmtpAddress {
    pub fn parse(raw: &str) -> Option<Self> {
        match raw.strip_prefix(UNIX_PREFIX) {
            Some(path) => {
                let path = Path::new(path);
                path.is_absolute().then(|| Self::Unix(path.to_owned()))
            }
            None => raw.parse().ok().map(Self::Tcp),
        }
    }

    /// Whether only processes of this machine can connect.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl std::fmt::Display for LmtpAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{UNIX_PREFIX}{}", path.display()),
        }
    }
}

/// A bound socket.
pub enum LmtpSocket {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

/// The file of a Unix socket. It is deleted with the listener.
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A connection to either kind of socket.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl LmtpSocket {
    pub async fn bind(address: &LmtpAddress) -> io::Result<Self> {
        match address {
            LmtpAddress::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            LmtpAddress::Unix(path) => {
                remove_unused(path).await?;
                let listener = UnixListener::bind(path)?;
                let file = SocketFile(path.clone());
                fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE))?;
                Ok(Self::Unix(listener, file))
            }
        }
    }

    pub async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok(Box::new(stream))
            }
            Self::Unix(listener, _) => Ok(Box::new(listener.accept().await?.0)),
        }
    }

    /// The address, with the chosen port if that of the settings is 0.
    pub fn address(&self) -> io::Result<LmtpAddress> {
        match self {
            Self::Tcp(listener) => Ok(LmtpAddress::Tcp(listener.local_addr()?)),
            Self::Unix(_, file) => Ok(LmtpAddress::Unix(file.0.clone())),
        }
    }
}

/// Deletes the socket of a server that has ended without deleting it.
async fn remove_unused(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(file) if file.file_type().is_socket() && UnixStream::connect(path).await.is_err() => {
            fs::remove_file(path)
        }
        // Otherwise, binding the address fails.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_socket_address_or_an_absolute_path() {
        for (raw, is_local) in [
            ("127.0.0.1:24", true),
            ("[::1]:24", true),
            ("[::ffff:127.0.0.1]:24", true),
            ("unix:/run/garth/lmtp", true),
            ("0.0.0.0:24", false),
            ("[::]:24", false),
            ("192.0.2.1:24", false),
        ] {
            let address = LmtpAddress::parse(raw).expect(raw);
            assert_eq!(
                (address.is_local(), address.to_string()),
                (is_local, raw.to_owned())
            );
        }
        for bad in ["", "24", "localhost:24", "unix:", "unix:run/lmtp", "127.0.0.1"] {
            assert_eq!(LmtpAddress::parse(bad), None, "{bad}");
        }
    }
}
