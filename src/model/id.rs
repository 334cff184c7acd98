//! IDs: one type per resource, so that the IDs of different resources cannot be confused.

macro_rules! ids {
    ($($name:ident),+ $(,)?) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids!(
    AccountId,
    AnnouncementId,
    AttachmentId,
    CannedReplyId,
    ConfigId,
    DiskId,
    EventId,
    HistoryId,
    HostId,
    InstanceId,
    InterfaceId,
    JobId,
    LoginRecordId,
    NoteId,
    OutgoingMailId,
    ReceivedMailId,
    ReplyId,
    SavedViewId,
    SshKeyId,
    SubnetId,
    SuppressedAddressId,
    TicketId,
    TokenId,
    UserId,
    VpcId,
);
