//! JSON views of the encryption of a region.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::encryption::{KeyHolder, RotationObstacle};
use crate::model::time::Time;
use crate::rules::encryption::EncryptionState;
use crate::web::answer;

#[derive(Serialize)]
pub struct EncryptionView<'a> {
    region: &'a str,
    enabled: bool,
    key_days: i64,
    generation: i64,
    #[serde(serialize_with = "answer::optional_time")]
    rotated: Option<Time>,
    #[serde(serialize_with = "answer::optional_time")]
    next_rotation: Option<Time>,
    rotation: Option<RotationView<'a>>,
    hosts: Vec<HostKeyView<'a>>,
}

/// The progress of a rotation.
#[derive(Serialize)]
struct RotationView<'a> {
    done: usize,
    total: usize,
    waiting_host_ids: Vec<i64>,
    blocked_by: Vec<BlockerView<'a>>,
}

/// A host that blocks a rotation.
#[derive(Serialize)]
struct BlockerView<'a> {
    id: i64,
    label: &'a str,
    reason: &'static str,
}

impl<'a> RotationView<'a> {
    fn new(state: &'a EncryptionState) -> Self {
        let blockers = state.blockers().into_iter();
        let blocker = |(host, obstacle): (&'a KeyHolder, RotationObstacle)| BlockerView {
            id: host.host.0,
            label: host.label.as_str(),
            reason: obstacle.text(),
        };
        let waiting: Vec<_> = state.waiting().map(|host| host.host.0).collect();
        let total = state.hosts.len() - state.without_key().count();
        Self {
            done: total - waiting.len(),
            total,
            waiting_host_ids: waiting,
            blocked_by: blockers.map(blocker).collect(),
        }
    }
}

#[derive(Serialize)]
struct HostKeyView<'a> {
    id: i64,
    label: &'a str,
    key_generation: Option<i64>,
    #[serde(serialize_with = "answer::optional_time")]
    key_created: Option<Time>,
}

impl<'a> HostKeyView<'a> {
    fn new(holder: &'a KeyHolder) -> Self {
        let key = holder.key.as_ref();
        Self {
            id: holder.host.0,
            label: holder.label.as_str(),
            key_generation: key.map(|key| key.generation),
            key_created: key.map(|key| key.created),
        }
    }
}

impl<'a> EncryptionView<'a> {
    pub fn new(state: &'a EncryptionState) -> Self {
        let setting = &state.setting;
        let is_rotating = setting.is_rotating();
        Self {
            region: &setting.region,
            enabled: setting.is_enabled,
            key_days: setting.key_days.get(),
            generation: setting.generation,
            rotated: setting.is_enabled.then_some(setting.rotated),
            next_rotation: (setting.is_enabled && !is_rotating).then(|| setting.due()),
            rotation: is_rotating.then(|| RotationView::new(state)),
            hosts: state.hosts.iter().map(HostKeyView::new).collect(),
        }
    }
}

pub fn one(state: &EncryptionState, _: &ViewContext) -> Response {
    answer::one(state, &EncryptionView::new(state))
}
