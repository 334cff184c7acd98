//! `garth host …`: the hosts that run instances.

use anyhow::Context;
use clap::{ArgGroup, Subcommand};
use serde::Serialize;

use super::arguments::{integer, parse_with};
use super::draining;
use super::encryption;
use super::output::Output;
use super::store_args::{OpenStore, StoreArgs};
use crate::api::HostView;
use crate::model::host::{DEFAULT_CAPACITY, Host, UnderlayAddress};
use crate::model::id::HostId;
use crate::model::input::Input;
use crate::model::label::Label;
use crate::model::port::PortDetails;
use crate::model::time::Time;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{drain, hosts, ports};
use crate::store::{ReadTx, WriteTx};

const MAX_CAPACITY: i64 = 10_000;

#[derive(Subcommand)]
pub enum Command {
    /// Add a host, and print the token with which its agent can join once, within an hour
    Add {
        /// Label of the host: letters, digits and dashes
        #[arg(value_name = "NAME", value_parser = parse_with(Label::parse))]
        label: Label,
        /// ID of the region
        #[arg(long)]
        region: String,
        /// Address of the host in the network between hosts
        #[arg(long, value_name = "ADDRESS", value_parser = parse_with(UnderlayAddress::parse))]
        underlay: UnderlayAddress,
        /// Maximum number of instances on the host
        #[arg(long, default_value_t = DEFAULT_CAPACITY, value_parser = integer(1..=MAX_CAPACITY))]
        instances: i64,
    },
    /// List the hosts of all regions
    List {
        /// Page number (100 hosts per page)
        #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = integer(1..=i64::MAX))]
        page: i64,
    },
    /// Show a host
    Show {
        /// Label or ID of the host
        #[arg(value_name = "HOST")]
        name: String,
    },
    /// Change the label, the address or the capacity of a host
    #[command(group = ArgGroup::new("changes").args(["label", "underlay", "instances"]).required(true).multiple(true))]
    Set {
        /// Label or ID of the host
        #[arg(value_name = "HOST")]
        name: String,
        /// New label: letters, digits and dashes
        #[arg(long, value_name = "NAME", value_parser = parse_with(Label::parse))]
        label: Option<Label>,
        /// Address of the host in the network between hosts
        #[arg(long, value_name = "ADDRESS", value_parser = parse_with(UnderlayAddress::parse))]
        underlay: Option<UnderlayAddress>,
        /// Maximum number of instances on the host
        #[arg(long, value_parser = integer(1..=MAX_CAPACITY))]
        instances: Option<i64>,
    },
    /// Print a new token with which the agent of a host can join
    JoinToken {
        /// Label or ID of the host
        #[arg(value_name = "HOST")]
        name: String,
        /// Revoke the credential of the host immediately
        #[arg(long)]
        revoke: bool,
    },
    /// Move the instances of a host to other hosts, and wait until they run there
    ///
    /// The server moves the instances: each is stopped and started on another host. The command fails if an instance
    /// does not start within two minutes. It waits while no other host is usable. Ctrl-C ends the command, and draining
    /// continues: garth host show has the state.
    Drain {
        /// Label or ID of the host
        #[arg(value_name = "HOST")]
        name: String,
        /// Do not wait
        #[arg(long)]
        no_wait: bool,
    },
    /// Make a host available for instances again
    Undrain {
        /// Label or ID of the host
        #[arg(value_name = "HOST")]
        name: String,
    },
    /// Show or change the encryption between the hosts of a region
    ///
    /// Prints the state, the hosts without keys, and the progress of a rotation.
    Encryption(encryption::Options),
    /// Remove a host without instances
    Remove {
        /// Label or ID of the host
        #[arg(value_name = "HOST")]
        name: String,
    },
}

/// The host as the API returns it, and its status as text.
#[derive(Serialize)]
struct HostDetails<'a> {
    #[serde(flatten)]
    host: HostView<'a>,
    /// Why no instance of a host that is drained can move.
    #[serde(skip_serializing_if = "Option::is_none")]
    drain_obstacle: Option<String>,
    #[serde(skip)]
    status: String,
}

impl<'a> HostDetails<'a> {
    fn new(host: &'a Host, now: Time) -> Self {
        Self {
            host: HostView::new(host, now),
            drain_obstacle: None,
            status: host.status_text(now),
        }
    }

    fn with_ports(
        host: &'a Host,
        ports: &'a [PortDetails],
        drain_obstacle: Option<String>,
        now: Time,
    ) -> Self {
        Self {
            host: HostView::new(host, now).with_port_errors(ports),
            drain_obstacle,
            status: host.status_text(now),
        }
    }

    fn text(&self) -> String {
        let host = &self.host;
        let mut text = format!(
            "host {} ({}) in {}: {}, {} of {} instances, underlay address {}, last seen {}",
            host.id,
            host.label,
            host.region,
            self.status,
            host.instances,
            host.capacity,
            host.underlay_address,
            host.last_seen
                .map_or_else(|| "never".to_owned(), |time| time.to_string())
        );
        if let Some(obstacle) = &self.drain_obstacle {
            text += &format!("\n  no instance can move: {obstacle}");
        }
        for warning in &host.warnings {
            text += &format!("\n  {warning}");
        }
        for port in host.port_errors.iter().flatten() {
            let (interface, instance, reason) = (port.interface_id, port.instance, port.reason);
            text += &format!("\n  interface {interface} of {instance}: {reason}");
        }
        text
    }
}

#[derive(Serialize)]
struct JoinTokenView {
    host_id: i64,
    token: String,
    expiry: String,
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::Add {
            label,
            region,
            underlay,
            instances,
        } => {
            let fields = vec![
                ("label", Input::Text(label.as_str().to_owned())),
                ("region", Input::Text(region)),
                ("underlay_address", Input::Text(underlay.as_str().to_owned())),
                ("capacity", Input::Integer(instances)),
            ];
            let request = Request::with_fields(fields);
            let add = move |tx: &mut WriteTx| {
                let host = hosts::create(tx, &request)?;
                hosts::create_join_token(tx, host.id, &Request::empty())
            };
            let token = store.write(add).await?;
            print_token(output, &token)
        }
        Command::List { page } => {
            let list = ListRequest::default().at_page_in_url(&page.to_string());
            let found = store.read(move |tx| hosts::list(tx, &list)).await?;
            let views: Vec<_> = found
                .items
                .iter()
                .map(|host| HostDetails::new(host, store.now()))
                .collect();
            let header = [
                "ID",
                "LABEL",
                "REGION",
                "STATUS",
                "UNDERLAY",
                "INSTANCES",
                "CAPACITY",
                "LAST SEEN",
            ];
            output.many(&views, &header, |HostDetails { host, status, .. }| {
                vec![
                    host.id.to_string(),
                    host.label.to_owned(),
                    host.region.to_owned(),
                    status.clone(),
                    host.underlay_address.to_owned(),
                    host.instances.to_string(),
                    host.capacity.to_string(),
                    host.last_seen.map(|time| time.to_string()).unwrap_or_default(),
                ]
            })
        }
        Command::Show { name } => {
            let host = find(&store, &name).await?;
            let id = host.id;
            let drained = host.clone();
            let read = move |tx: &mut ReadTx| {
                let obstacle = match drained.is_draining {
                    true => drain::obstacle(tx, &drained)?,
                    false => None,
                };
                Ok((ports::of_host(tx, id)?, obstacle))
            };
            let (ports, obstacle) = store.read(read).await?;
            let view = HostDetails::with_ports(&host, &ports, obstacle, store.now());
            output.one(&view, &view.text())
        }
        Command::Set {
            name,
            label,
            underlay,
            instances,
        } => {
            let label = label.map(|label| Input::Text(label.as_str().to_owned()));
            let address = underlay.map(|address| Input::Text(address.as_str().to_owned()));
            let fields = vec![
                ("label", label.unwrap_or(Input::Null)),
                ("underlay_address", address.unwrap_or(Input::Null)),
                ("capacity", instances.map_or(Input::Null, Input::Integer)),
            ];
            let request = Request::with_fields(fields);
            let host = change(&store, &name, move |tx, id| hosts::update(tx, id, &request)).await?;
            if instances.is_some_and(|maximum| maximum < host.instances) {
                output.hint(&format!(
                    "the host has {} instances, more than its maximum: they remain, and the host gets no others",
                    host.instances
                ))?;
            }
            print_host(output, &store, &host)
        }
        Command::JoinToken { name, revoke } => {
            let request = Request::with_fields(vec![("revoke", Input::Bool(revoke))]);
            let token = change(&store, &name, move |tx, id| {
                hosts::create_join_token(tx, id, &request)
            })
            .await?;
            if revoke {
                output.hint(&format!(
                    "the credential of {} is revoked: other hosts drop its packets until its agent joins with this token",
                    token.host.label.as_str()
                ))?;
            }
            print_token(output, &token)
        }
        Command::Drain { name, no_wait } => {
            let begin = |tx: &mut WriteTx, id| {
                let instances = drain::instances(tx, id)?;
                let host = hosts::drain(tx, id, &Request::empty())?;
                let obstacle = drain::obstacle(tx, &host)?;
                Ok((host, instances, obstacle))
            };
            let (host, instances, obstacle) = change(&store, &name, begin).await?;
            if let Some(obstacle) = obstacle {
                output.hint(&format!(
                    "{obstacle}. {}",
                    draining::meanwhile(&host, store.now())
                ))?;
            }
            match no_wait {
                true => print_host(output, &store, &host),
                false => draining::wait(output, &store, host, instances).await,
            }
        }
        Command::Undrain { name } => {
            let host = change(&store, &name, |tx, id| hosts::undrain(tx, id, &Request::empty())).await?;
            print_host(output, &store, &host)
        }
        Command::Encryption(options) => encryption::run(&store, output, options).await,
        Command::Remove { name } => {
            let host = find(&store, &name).await?;
            change(&store, &name, |tx, id| hosts::delete(tx, id, &Request::empty())).await?;
            let message = format!("removed host {} ({})", host.id, host.label.as_str());
            output.one(&HostDetails::new(&host, store.now()), &message)
        }
    }
}

pub async fn find(store: &OpenStore, name: &str) -> anyhow::Result<Host> {
    let wanted = name.to_owned();
    let found = store.read(move |tx| hosts::find(tx, &wanted)).await;
    found.with_context(|| format!("host {name}"))
}

/// Runs a rule on the host with this label or ID.
async fn change<T: Send + 'static>(
    store: &OpenStore,
    name: &str,
    rule: impl Fn(&mut WriteTx, HostId) -> crate::rules::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let id = find(store, name).await?.id;
    store.write(move |tx| rule(tx, id)).await
}

pub fn print_host(output: Output, store: &OpenStore, host: &Host) -> anyhow::Result<()> {
    let view = HostDetails::new(host, store.now());
    output.one(&view, &view.text())
}

fn print_token(output: Output, token: &hosts::JoinToken) -> anyhow::Result<()> {
    let view = JoinTokenView {
        host_id: token.host.id.0,
        token: token.text.reveal().to_owned(),
        expiry: token.expiry.to_string(),
    };
    output.one(&view, &view.token)
}
