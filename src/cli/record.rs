//! `garth record`

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::arguments::listen_address;
use super::certificate_file;
use super::output::Output;
use super::stop_signals::Interruption;
use crate::exchange::{self, Proxy, Recorder, Upstream};

const DEFAULT_LISTEN: ([u8; 4], u16) = ([127, 0, 0, 1], 8090);
/// At the end, the time for exchanges that are not written yet.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Args)]
pub struct Options {
    /// URL of the service, with or without the version of its API
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// Address of the proxy, on a loopback interface [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    listen: Option<SocketAddr>,
    /// File for the recording
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// PEM file with the certificate of the service or of its authority, if the system does not trust it
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
}

#[derive(Serialize)]
struct RecordedView<'a> {
    exchanges: u64,
    file: &'a str,
}

pub async fn run(output: Output, options: Options) -> anyhow::Result<()> {
    let listen = options.listen.unwrap_or(DEFAULT_LISTEN.into());
    ensure!(
        listen.ip().is_loopback(),
        "--listen: must be a loopback address such as 127.0.0.1:8090, because requests to the proxy are not encrypted"
    );
    let certificate = certificate_file::read(options.certificate.as_deref())?;
    let upstream = Upstream::new(&options.upstream, certificate.as_deref());
    let upstream = upstream.map_err(|reason| anyhow!("--upstream: {reason}"))?;
    if upstream.is_exposed() {
        output.hint("warning: requests to the upstream service are not encrypted: use https")?;
    }
    let listener = TcpListener::bind(listen).await;
    let listener = listener.with_context(|| format!("cannot listen on {listen} (--listen)"))?;
    let mut interruption = Interruption::listen()?;
    let file = exchange::create_file(&options.output, options.force)?;
    let recorder = Recorder::start(file, &options.upstream)?;
    let count = recorder.count();
    let (proxy, completed) = Proxy::new(upstream);
    let (stop, stopping) = watch::channel(false);
    let proxy_url = format!("http://{}", listener.local_addr()?);
    let file = options.output.display().to_string();
    output.hint(&format!(
        "Recording {} on {proxy_url} into {file}\nEnd with Ctrl-C.",
        options.upstream
    ))?;

    let mut recording = tokio::spawn(recorder.run(completed));
    let serving = tokio::spawn(exchange::serve(listener, proxy, stopping));
    tokio::select! {
        _ = interruption.wait() => {}
        ended = &mut recording => {
            ended??;
            return Err(anyhow!("the recording ended unexpectedly"));
        }
    }
    stop.send_replace(true);
    serving.await?.context("the proxy failed")?;
    // A stream that is still open has no end to record.
    if let Ok(recorded) = tokio::time::timeout(WRITE_TIMEOUT, recording).await {
        recorded??;
    }
    let exchanges = count.load(Ordering::SeqCst);
    let message = match exchanges {
        1 => format!("recorded 1 exchange in {file}"),
        _ => format!("recorded {exchanges} exchanges in {file}"),
    };
    let view = RecordedView {
        exchanges,
        file: &file,
    };
    output.one(&view, &message)
}
