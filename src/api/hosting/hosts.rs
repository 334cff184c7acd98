//! JSON views of hosts.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::host::{Host, HostReport};
use crate::model::page::Paged;
use crate::model::port::{PortDetails, PortState};
use crate::model::time::Time;
use crate::rules::hosts::JoinToken;
use crate::web::answer;

/// A host and the current time, on which its status depends.
pub type HostNow = (Host, Time);

#[derive(Serialize)]
pub struct HostView<'a> {
    pub id: i64,
    pub label: &'a str,
    pub region: &'a str,
    pub status: &'static str,
    agent_status: &'static str,
    pub underlay_address: &'a str,
    pub instances: i64,
    pub capacity: i64,
    agent_version: Option<&'a str>,
    #[serde(serialize_with = "answer::optional_time")]
    pub last_seen: Option<Time>,
    pub warnings: Vec<&'a str>,
    /// Only of one host, and not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_errors: Option<Vec<PortErrorView<'a>>>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
}

/// A port that does not work.
#[derive(Serialize)]
pub struct PortErrorView<'a> {
    pub interface_id: i64,
    pub instance_id: i64,
    pub instance: &'a str,
    pub reason: &'a str,
}

impl<'a> PortErrorView<'a> {
    fn new(port: &'a PortDetails) -> Self {
        Self {
            interface_id: port.interface.0,
            instance_id: port.instance.0,
            instance: &port.instance_label,
            reason: port.report.reason.as_deref().unwrap_or_default(),
        }
    }
}

impl<'a> HostView<'a> {
    pub fn new(host: &'a Host, now: Time) -> Self {
        let report = host.report.as_ref();
        Self {
            id: host.id.0,
            label: host.label.as_str(),
            region: &host.region,
            status: host.status(now).word(),
            agent_status: host.agent_status(now).word(),
            underlay_address: host.underlay_address.as_str(),
            instances: host.instances,
            capacity: host.capacity.get(),
            agent_version: report.map(|report| report.agent_version.as_str()),
            last_seen: report.map(|report| report.last_seen),
            warnings: report.map_or_else(Vec::new, texts),
            port_errors: None,
            created: host.created,
            updated: host.updated,
        }
    }

    /// Adds the ports in the state `error`.
    pub fn with_port_errors(self, ports: &'a [PortDetails]) -> Self {
        let errors = ports.iter().filter(|port| port.report.state == PortState::Error);
        Self {
            port_errors: Some(errors.map(PortErrorView::new).collect()),
            ..self
        }
    }
}

fn texts(report: &HostReport) -> Vec<&str> {
    let warnings = report.warnings.iter();
    warnings.map(|warning| warning.text.as_str()).collect()
}

/// A host with its ports and the current time.
pub type HostDetails = (Host, Vec<PortDetails>, Time);

/// The entity tag is that of the host, which `If-Match` compares.
pub fn details((host, ports, now): &HostDetails, _: &ViewContext) -> Response {
    answer::one(host, &HostView::new(host, *now).with_port_errors(ports))
}

pub fn one((host, now): &HostNow, _: &ViewContext) -> Response {
    answer::one(host, &HostView::new(host, *now))
}

pub fn page((hosts, now): &(Paged<Host>, Time), _: &ViewContext) -> Response {
    answer::page(hosts, |host| HostView::new(host, *now))
}

/// The response to a new join token, the only one with its text.
pub fn join_token(token: &JoinToken, _: &ViewContext) -> Response {
    #[derive(Serialize)]
    struct JoinTokenView<'a> {
        host_id: i64,
        token: &'a str,
        #[serde(serialize_with = "answer::time")]
        expiry: Time,
    }
    let view = JoinTokenView {
        host_id: token.host.id.0,
        token: token.text.reveal(),
        expiry: token.expiry,
    };
    answer::json(StatusCode::OK, &view)
}
