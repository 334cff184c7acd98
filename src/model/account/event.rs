//! Events: a record of every change in an account.

use crate::model::disk::Disk;
use crate::model::entity::{Entity, EntityKind};
use crate::model::event_change::Changes;
use crate::model::id::{ConfigId, EventId, InstanceId};
use crate::model::instance::Instance;
use crate::model::object_tag::ObjectTag;
use crate::model::ssh_key::SshKey;
use crate::model::subject::SubjectKind;
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
    /// The progress in percent; `None` for an action that finished immediately.
    pub percent: Option<i64>,
    /// The duration so far, in microseconds.
    pub duration: Option<i64>,
    /// The fields that an update changed. Responses of the API do not have them.
    pub changes: Changes,
    pub seen: bool,
    pub read: bool,
}

impl Event {
    /// Why the operation failed. Empty if it did not fail.
    pub fn message(&self) -> &'static str {
        let is_boot = matches!(self.action.as_str(), "linode_boot" | "linode_reboot");
        match self.duration {
            _ if self.status != "failed" || !is_boot => "",
            Some(0) => {
                "No host of the region has capacity for another instance. Boot the instance again later."
            }
            _ => "The network of the instance was not ready on its host in time. Boot the instance again.",
        }
    }
}

/// Constructors for the entities of events.
impl Entity {
    fn new(kind: EntityKind, id: i64, label: &str) -> Self {
        let label = label.to_owned();
        Self { kind, id, label }
    }

    pub fn vpc(vpc: &Vpc) -> Self {
        SubjectKind::Vpc.entity(vpc.id.0, vpc.label.as_str().to_owned())
    }

    pub fn subnet(subnet: &Subnet) -> Self {
        let kind = EntityKind::Subnet(subnet.vpc);
        Self::new(kind, subnet.id.0, subnet.label.as_str())
    }

    pub fn instance(instance: &Instance) -> Self {
        SubjectKind::Linode.entity(instance.id.0, instance.label.as_str().to_owned())
    }

    pub fn config(instance: InstanceId, config: ConfigId, label: &str) -> Self {
        Self::new(EntityKind::Config(instance), config.0, label)
    }

    pub fn disk(disk: &Disk) -> Self {
        Self::new(EntityKind::Disk(disk.instance), disk.id.0, disk.label.as_str())
    }

    pub fn ticket(ticket: &Ticket) -> Self {
        Self::new(EntityKind::Ticket, ticket.id.0, ticket.summary.as_str())
    }

    pub fn ssh_key(key: &SshKey) -> Self {
        Self::new(EntityKind::SshKey, key.id.0, key.label.as_str())
    }

    pub fn tag(tag: &ObjectTag) -> Self {
        Self::new(EntityKind::Tag, tag.id, tag.label.as_str())
    }

    pub fn token(token: &Token) -> Self {
        Self::new(EntityKind::Token, token.id.0, &token.label)
    }

    pub fn user(user: &User) -> Self {
        Self::new(EntityKind::User, user.id.0, user.username.as_str())
    }
}

/// The kind of an event (interface §6).
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
    InstanceAddIp,
    InstanceDeleteIp,
    IpUpdate,
    ConfigCreate,
    ConfigUpdate,
    ConfigDelete,
    DiskCreate,
    DiskUpdate,
    DiskDelete,
    DiskResize,
    DiskDuplicate,
    PasswordReset,
    TagCreate,
    TagDelete,
    TicketCreate,
    TicketUpdate,
    TicketAttachmentUpload,
    AccountUpdate,
    AccountSettingsUpdate,
    ProfileUpdate,
    TokenCreate,
    TokenUpdate,
    TokenDelete,
    SshKeyAdd,
    SshKeyUpdate,
    SshKeyDelete,
    UserCreate,
    UserUpdate,
    UserDelete,
    OauthClientCreate,
    OauthClientUpdate,
    OauthClientDelete,
    OauthClientSecretReset,
}

impl Action {
    /// All actions, in the order of the declaration.
    pub const ALL: [Action; 45] = [
        Action::VpcCreate,
        Action::VpcUpdate,
        Action::VpcDelete,
        Action::SubnetCreate,
        Action::SubnetUpdate,
        Action::SubnetDelete,
        Action::InstanceCreate,
        Action::InstanceUpdate,
        Action::InstanceDelete,
        Action::InstanceBoot,
        Action::InstanceReboot,
        Action::InstanceShutdown,
        Action::InstanceAddIp,
        Action::InstanceDeleteIp,
        Action::IpUpdate,
        Action::ConfigCreate,
        Action::ConfigUpdate,
        Action::ConfigDelete,
        Action::DiskCreate,
        Action::DiskUpdate,
        Action::DiskDelete,
        Action::DiskResize,
        Action::DiskDuplicate,
        Action::PasswordReset,
        Action::TagCreate,
        Action::TagDelete,
        Action::TicketCreate,
        Action::TicketUpdate,
        Action::TicketAttachmentUpload,
        Action::AccountUpdate,
        Action::AccountSettingsUpdate,
        Action::ProfileUpdate,
        Action::TokenCreate,
        Action::TokenUpdate,
        Action::TokenDelete,
        Action::SshKeyAdd,
        Action::SshKeyUpdate,
        Action::SshKeyDelete,
        Action::UserCreate,
        Action::UserUpdate,
        Action::UserDelete,
        Action::OauthClientCreate,
        Action::OauthClientUpdate,
        Action::OauthClientDelete,
        Action::OauthClientSecretReset,
    ];

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
            Action::InstanceAddIp => "linode_addip",
            Action::InstanceDeleteIp => "linode_deleteip",
            Action::IpUpdate => "ipaddress_update",
            Action::ConfigCreate => "linode_config_create",
            Action::ConfigUpdate => "linode_config_update",
            Action::ConfigDelete => "linode_config_delete",
            Action::DiskCreate => "disk_create",
            Action::DiskUpdate => "disk_update",
            Action::DiskDelete => "disk_delete",
            Action::DiskResize => "disk_resize",
            Action::DiskDuplicate => "disk_duplicate",
            Action::PasswordReset => "password_reset",
            Action::TagCreate => "tag_create",
            Action::TagDelete => "tag_delete",
            Action::TicketCreate => "ticket_create",
            Action::TicketUpdate => "ticket_update",
            Action::TicketAttachmentUpload => "ticket_attachment_upload",
            Action::AccountUpdate => "account_update",
            Action::AccountSettingsUpdate => "account_settings_update",
            Action::ProfileUpdate => "profile_update",
            Action::TokenCreate => "token_create",
            Action::TokenUpdate => "token_update",
            Action::TokenDelete => "token_delete",
            Action::SshKeyAdd => "user_ssh_key_add",
            Action::SshKeyUpdate => "user_ssh_key_update",
            Action::SshKeyDelete => "user_ssh_key_delete",
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
