//! Entries of an account's change log.

/// The kind of an object that was created, changed or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    Account,
    Announcement,
    Attachment,
    Branding,
    CannedReply,
    Config,
    Disk,
    /// An object of another service, which tickets can refer to.
    Entity,
    Event,
    /// The grants of a user, with the ID of the user.
    Grant,
    Host,
    Instance,
    Interface,
    /// All texts of mails that the provider has changed.
    MailTemplates,
    OauthClient,
    /// An authorization of an OAuth client by a user.
    OauthGrant,
    /// A plan that staff have added or changed.
    Plan,
    /// A region that staff have added or changed.
    Region,
    Reply,
    /// A saved view of the queue.
    SavedView,
    SshKey,
    Subnet,
    /// An address that gets no mails.
    SuppressedAddress,
    Tag,
    Ticket,
    Token,
    User,
    Vlan,
    Vpc,
}

impl ChangeKind {
    pub const ALL: [ChangeKind; 29] = [
        ChangeKind::Account,
        ChangeKind::Announcement,
        ChangeKind::Attachment,
        ChangeKind::Branding,
        ChangeKind::CannedReply,
        ChangeKind::Config,
        ChangeKind::Disk,
        ChangeKind::Entity,
        ChangeKind::Event,
        ChangeKind::Grant,
        ChangeKind::Host,
        ChangeKind::Instance,
        ChangeKind::Interface,
        ChangeKind::MailTemplates,
        ChangeKind::OauthClient,
        ChangeKind::OauthGrant,
        ChangeKind::Plan,
        ChangeKind::Region,
        ChangeKind::Reply,
        ChangeKind::SavedView,
        ChangeKind::SshKey,
        ChangeKind::Subnet,
        ChangeKind::SuppressedAddress,
        ChangeKind::Tag,
        ChangeKind::Ticket,
        ChangeKind::Token,
        ChangeKind::User,
        ChangeKind::Vlan,
        ChangeKind::Vpc,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            ChangeKind::Account => "account",
            ChangeKind::Announcement => "announcement",
            ChangeKind::Attachment => "attachment",
            ChangeKind::Branding => "branding",
            ChangeKind::CannedReply => "canned_reply",
            ChangeKind::Config => "config",
            ChangeKind::Disk => "disk",
            ChangeKind::Entity => "entity",
            ChangeKind::Event => "event",
            ChangeKind::Grant => "grant",
            ChangeKind::Host => "host",
            ChangeKind::Instance => "instance",
            ChangeKind::Interface => "interface",
            ChangeKind::MailTemplates => "mail_templates",
            ChangeKind::OauthClient => "oauth_client",
            ChangeKind::OauthGrant => "oauth_grant",
            ChangeKind::Plan => "plan",
            ChangeKind::Region => "region",
            ChangeKind::Reply => "reply",
            ChangeKind::SavedView => "saved_view",
            ChangeKind::SshKey => "ssh_key",
            ChangeKind::Subnet => "subnet",
            ChangeKind::SuppressedAddress => "suppressed_address",
            ChangeKind::Tag => "tag",
            ChangeKind::Ticket => "ticket",
            ChangeKind::Token => "token",
            ChangeKind::User => "user",
            ChangeKind::Vlan => "vlan",
            ChangeKind::Vpc => "vpc",
        }
    }
}

/// An object that a commit has created, changed or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub revision: i64,
    pub kind: ChangeKind,
    pub id: i64,
}
