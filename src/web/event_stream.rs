//! Server-sent events: a stream that looks for news after each commit, and otherwise with every heartbeat.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;

use crate::rules::Result;
use crate::store::notifier::Topic;
use crate::web::App;

/// Where a stream gets its events, and how far its client has got.
pub trait Source: Send + 'static {
    /// The next events, and whether there may be more at once. An error ends the stream: the client may no longer read.
    fn next(&mut self, app: &App) -> impl Future<Output = Result<(Vec<Event>, bool)>> + Send;

    /// Runs with every heartbeat.
    fn heartbeat(&self, _: &App) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }
}

/// What wakes a stream: a commit, or a heartbeat without one.
pub struct Waking {
    app: App,
    commits: watch::Receiver<()>,
    stopping: watch::Receiver<bool>,
    /// Whether there may be events that were not looked for yet.
    look: bool,
}

impl Waking {
    /// Subscribes to the commits of an account. Do that before the first read, so that no commit falls between the two.
    pub fn new(app: &App, topic: Topic) -> Self {
        Self {
            commits: app.store().notifier().subscribe(topic),
            stopping: app.stopping(),
            app: app.clone(),
            look: true,
        }
    }

    /// Waits until there may be something; true if that took a whole heartbeat, and `None` when the server is about to stop.
    async fn wait(&mut self) -> Option<bool> {
        let rest = tokio::time::sleep(self.app.options().heartbeat);
        let rested = tokio::select! {
            rung = self.commits.changed() => rung.ok().map(|()| false),
            _ = self.stopping.wait_for(|stopping| *stopping) => None,
            () = rest => Some(true),
        };
        self.look = true;
        rested
    }
}

/// Sends events for as long as the client reads and may read them.
pub fn follow(waking: Waking, source: impl Source, first: Option<Event>) -> Response {
    let ready: VecDeque<Event> = first.into_iter().collect();
    let events = stream::unfold((waking, source, ready), |mut at| async move {
        let (waking, source, ready) = &mut at;
        let event = next(waking, source, ready).await?;
        Some((Ok::<_, Infallible>(event), at))
    });
    Sse::new(events).into_response()
}

/// The next event to send; `None` ends the stream.
async fn next(waking: &mut Waking, source: &mut impl Source, ready: &mut VecDeque<Event>) -> Option<Event> {
    loop {
        if let Some(event) = ready.pop_front() {
            return Some(event);
        }
        if waking.look {
            // A token or session that has ended ends the stream here.
            let (found, more) = source.next(&waking.app).await.ok()?;
            ready.extend(found);
            waking.look = more;
        } else if waking.wait().await? {
            source.heartbeat(&waking.app).await.ok()?;
            return Some(Event::default().comment("still here"));
        }
    }
}
