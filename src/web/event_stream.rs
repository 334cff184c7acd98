//! Server-sent events. A stream queries for new events after each commit and at each heartbeat.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::rules::Result;
use crate::store::notifier::Topic;
use crate::web::App;

/// The source of a stream's events. It stores the position of the stream.
pub trait Source: Send + 'static {
    /// The next events, and whether there may be more. An error ends the stream, for example if the client has lost
    /// access.
    fn next(&mut self, app: &App) -> impl Future<Output = Result<(Vec<Event>, bool)>> + Send;

    /// Runs at each heartbeat.
    fn heartbeat(&self, _: &App) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }
}

/// A subscription to the commits of a topic, with a regular heartbeat.
pub struct Subscription {
    pub app: App,
    commits: watch::Receiver<()>,
    heartbeat: Interval,
    stopping: watch::Receiver<bool>,
    /// Whether there may be events that the stream has not queried yet.
    has_pending: bool,
}

impl Subscription {
    /// Subscribes to the commits of a topic. Call this before the first query, so that the stream misses no commit.
    pub fn new(app: &App, topic: Topic) -> Self {
        let period = app.options().heartbeat;
        let mut heartbeat = tokio::time::interval_at(Instant::now() + period, period);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            heartbeat,
            commits: app.store().notifier().subscribe(topic),
            stopping: app.stopping(),
            app: app.clone(),
            has_pending: true,
        }
    }

    /// Waits for a commit or a heartbeat. Returns true for a heartbeat, and `None` when the server shuts down. Commits do
    /// not delay the heartbeat.
    pub async fn wait(&mut self) -> Option<bool> {
        let is_heartbeat = tokio::select! {
            notified = self.commits.changed() => notified.ok().map(|()| false),
            _ = self.stopping.wait_for(|stopping| *stopping) => None,
            _ = self.heartbeat.tick() => Some(true),
        };
        self.has_pending = true;
        is_heartbeat
    }
}

/// Sends `first` and then the events of the source, until the client disconnects or loses access.
pub fn follow(subscription: Subscription, source: impl Source, first: Option<Event>) -> Response {
    let ready: VecDeque<Event> = first.into_iter().collect();
    let events = stream::unfold((subscription, source, ready), |mut state| async move {
        let (subscription, source, ready) = &mut state;
        let event = next(subscription, source, ready).await?;
        Some((Ok::<_, Infallible>(event), state))
    });
    Sse::new(events).into_response()
}

/// The next event to send; `None` ends the stream.
async fn next(
    subscription: &mut Subscription,
    source: &mut impl Source,
    ready: &mut VecDeque<Event>,
) -> Option<Event> {
    loop {
        if let Some(event) = ready.pop_front() {
            return Some(event);
        }
        if subscription.has_pending {
            // An expired or revoked token or session ends the stream here.
            let (found, more) = source.next(&subscription.app).await.ok()?;
            ready.extend(found);
            subscription.has_pending = more;
        } else if subscription.wait().await? {
            source.heartbeat(&subscription.app).await.ok()?;
            return Some(Event::default().comment("still here"));
        }
    }
}
