//! What happened: a record of every change, for the account it happened to.

use crate::model::id::{ConfigId, EventId, InstanceId, SubnetId, VpcId};
use crate::model::instance::Instance;
use crate::model::subnet::Subnet;
use crate::model::ticket::Ticket;
use crate::model::time::Time;
use crate::model::token::Token;
use crate::model::user::User;
use crate::model::vpc::Vpc;

#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Event {
    pub id: EventId,
    pub created: Time,
    pub action: String,
    pub username: Option<String>,
    pub entity: Option<Entity>,
    pub secondary: Option<Entity>,
    pub status: String,
    /// How far a thing that takes time has come; `None` for what was done at once.
    pub percent: Option<i64>,
    /// How long it took, or has taken so far, in microseconds.
    pub duration: Option<i64>,
    pub seen: bool,
    pub read: bool,
}

/// A thing an event is about, as it was called then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    pub kind: String,
    pub id: i64,
    pub label: String,
    pub url: String,
}

impl Entity {
    pub fn vpc(vpc: &Vpc) -> Self {
        Self {
            kind: "vpc".to_owned(),
            id: vpc.id.0,
            label: vpc.label.as_str().to_owned(),
            url: vpc_url(vpc.id),
        }
    }

    pub fn subnet(subnet: &Subnet) -> Self {
        Self {
            kind: "subnet".to_owned(),
            id: subnet.id.0,
            label: subnet.label.as_str().to_owned(),
            url: subnet_url(subnet.vpc, subnet.id),
        }
    }
}

impl Entity {
    pub fn instance(instance: &Instance) -> Self {
        Self {
            kind: "linode".to_owned(),
            id: instance.id.0,
            label: instance.label.as_str().to_owned(),
            url: format!("/v4/linode/instances/{}", instance.id),
        }
    }

    pub fn config(instance: InstanceId, config: ConfigId, label: &str) -> Self {
        Self {
            kind: "linode_config".to_owned(),
            id: config.0,
            label: label.to_owned(),
            url: format!("/v4/linode/instances/{instance}/configs/{config}"),
        }
    }
}

impl Entity {
    pub fn ticket(ticket: &Ticket) -> Self {
        Self {
            kind: "ticket".to_owned(),
            id: ticket.id.0,
            label: ticket.summary.as_str().to_owned(),
            url: format!("/v4/support/tickets/{}", ticket.id),
        }
    }
}

impl Entity {
    pub fn token(token: &Token) -> Self {
        Self {
            kind: "token".to_owned(),
            id: token.id.0,
            label: token.label.clone(),
            url: format!("/v4/profile/tokens/{}", token.id),
        }
    }

    pub fn user(user: &User) -> Self {
        let username = user.username.as_str();
        Self {
            kind: "user".to_owned(),
            id: user.id.0,
            label: username.to_owned(),
            url: format!("/v4/account/users/{username}"),
        }
    }
}

fn vpc_url(vpc: VpcId) -> String {
    format!("/v4/vpcs/{vpc}")
}

fn subnet_url(vpc: VpcId, subnet: SubnetId) -> String {
    format!("/v4/vpcs/{vpc}/subnets/{subnet}")
}

/// What was done (interface §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    VpcCreate,
    VpcUpdate,
    VpcDelete,
    SubnetCreate,
    SubnetUpdate,
    SubnetDelete,
    InstanceCreate,
    InstanceUpdate,
    InstanceDelete,
    InstanceBoot,
    InstanceReboot,
    InstanceShutdown,
    ConfigCreate,
    ConfigUpdate,
    ConfigDelete,
    TicketCreate,
    TicketUpdate,
    TicketAttachmentUpload,
    ProfileUpdate,
    TokenCreate,
    TokenUpdate,
    TokenDelete,
    UserCreate,
    UserUpdate,
    UserDelete,
    OauthClientCreate,
    OauthClientUpdate,
    OauthClientDelete,
    OauthClientSecretReset,
}

impl Action {
    pub const fn word(self) -> &'static str {
        match self {
            Action::VpcCreate => "vpc_create",
            Action::VpcUpdate => "vpc_update",
            Action::VpcDelete => "vpc_delete",
            Action::SubnetCreate => "subnet_create",
            Action::SubnetUpdate => "subnet_update",
            Action::SubnetDelete => "subnet_delete",
            Action::InstanceCreate => "linode_create",
            Action::InstanceUpdate => "linode_update",
            Action::InstanceDelete => "linode_delete",
            Action::InstanceBoot => "linode_boot",
            Action::InstanceReboot => "linode_reboot",
            Action::InstanceShutdown => "linode_shutdown",
            Action::ConfigCreate => "linode_config_create",
            Action::ConfigUpdate => "linode_config_update",
            Action::ConfigDelete => "linode_config_delete",
            Action::TicketCreate => "ticket_create",
            Action::TicketUpdate => "ticket_update",
            Action::TicketAttachmentUpload => "ticket_attachment_upload",
            Action::ProfileUpdate => "profile_update",
            Action::TokenCreate => "token_create",
            Action::TokenUpdate => "token_update",
            Action::TokenDelete => "token_delete",
            Action::UserCreate => "user_create",
            Action::UserUpdate => "user_update",
            Action::UserDelete => "user_delete",
            Action::OauthClientCreate => "oauth_client_create",
            Action::OauthClientUpdate => "oauth_client_update",
            Action::OauthClientDelete => "oauth_client_delete",
            Action::OauthClientSecretReset => "oauth_client_secret_reset",
        }
    }
}
