//! Reasons for refusals: a message for people and a code for programs.
//!
//! Codes are stable: a message can be reworded, but a code never changes its meaning. `docs/errors.md` documents
//! each code; a test checks that the list is complete.

/// Why a value is refused. The form adds the name of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub code: Code,
    pub text: String,
}

impl Reason {
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
        }
    }

    /// The reason for a value that is not one of these words.
    pub fn not_one_of(code: Code, words: &[&str]) -> Self {
        Self::new(code, format!("Must be one of {}", words.join(", ")))
    }
}

/// All errors of one value.
pub type Reasons = Vec<Reason>;

macro_rules! codes {
    ($($name:ident = $word:literal),+ $(,)?) => {
        /// The stable codes of error responses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($name),+ }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$name),+];

            pub const fn word(self) -> &'static str {
                match self { $(Code::$name => $word),+ }
            }
        }
    };
}

codes! {
    // The request as a whole.
    NotFound = "not_found",
    MethodNotAllowed = "method_not_allowed",
    HttpInvalid = "http_invalid",
    UriTooLong = "uri_too_long",
    HeadersTooLarge = "headers_too_large",
    BodyTooLarge = "body_too_large",
    BodyTimeout = "body_timeout",
    HeaderTimeout = "header_timeout",
    MediaTypeUnsupported = "media_type_unsupported",
    JsonInvalid = "json_invalid",
    JsonDuplicateKey = "json_duplicate_key",
    JsonTooDeep = "json_too_deep",
    JsonTooMany = "json_too_many",
    ErrorsOmitted = "errors_omitted",
    JsonNotObject = "json_not_object",
    PreconditionFailed = "precondition_failed",
    RateLimited = "rate_limited",
    InternalError = "internal_error",
    Overloaded = "overloaded",
    StoreUnavailable = "store_unavailable",
    FaultInjected = "fault_injected",
    NotLocal = "not_local",

    // Authentication.
    TokenInvalid = "token_invalid",
    ScopeMissing = "scope_missing",
    GrantMissing = "grant_missing",
    WrongSide = "wrong_side",
    RoleMissing = "role_missing",
    UserDisabled = "user_disabled",
    AccountSuspended = "account_suspended",
    AccountClosed = "account_closed",

    // Lists.
    PageInvalid = "page_invalid",
    PageSizeInvalid = "page_size_invalid",
    AfterInvalid = "after_invalid",
    FilterInvalid = "filter_invalid",
    FilterField = "filter_field",
    FilterOperator = "filter_operator",
    FilterType = "filter_type",
    FilterTooLarge = "filter_too_large",

    // Fields of any kind.
    Required = "required",
    WrongType = "wrong_type",
    OutOfRange = "out_of_range",
    ChoiceInvalid = "choice_invalid",
    TooLong = "too_long",
    TooShort = "too_short",
    ControlCharacters = "control_characters",
    NotOffered = "not_offered",

    // VPCs and subnets.
    LabelLength = "label_length",
    LabelCharacters = "label_characters",
    LabelDashes = "label_dashes",
    LabelTaken = "label_taken",
    RegionInvalid = "region_invalid",
    CidrInvalid = "cidr_invalid",
    CidrHostBits = "cidr_host_bits",
    CidrNotPrivate = "cidr_not_private",
    CidrPrefix = "cidr_prefix",
    CidrForbidden = "cidr_forbidden",
    CidrOverlap = "cidr_overlap",
    NoFreeRange = "no_free_range",
    QuotaExceeded = "quota_exceeded",
    SubnetInUse = "subnet_in_use",

    // Instances, configs and interfaces.
    PlanInvalid = "plan_invalid",
    ImageInvalid = "image_invalid",
    CredentialsMissing = "credentials_missing",
    DiskAmbiguous = "disk_ambiguous",
    DiskContent = "disk_content",
    DiskCount = "disk_count",
    DiskSpace = "disk_space",
    ImageSize = "image_size",
    ImageRequired = "image_required",
    PlanMemory = "plan_memory",
    TagInvalid = "tag_invalid",
    DeviceInvalid = "device_invalid",
    ConfigInvalid = "config_invalid",
    ConfigCount = "config_count",
    ConfigMissing = "config_missing",
    PurposeInvalid = "purpose_invalid",
    InterfaceCount = "interface_count",
    InterfaceField = "interface_field",
    PrimaryInvalid = "primary_invalid",
    SubnetInvalid = "subnet_invalid",
    AddressInvalid = "address_invalid",
    AddressTaken = "address_taken",
    AddressesExhausted = "addresses_exhausted",
    AddressLast = "address_last",
    AddressInUse = "address_in_use",
    RdnsInvalid = "rdns_invalid",
    InstanceInvalid = "instance_invalid",
    RangeInvalid = "range_invalid",
    RangeCount = "range_count",
    NatInvalid = "nat_invalid",
    OrderInvalid = "order_invalid",
    InstanceBusy = "instance_busy",
    InstanceState = "instance_state",
    InterfaceActive = "interface_active",
    ConfigActive = "config_active",
    UserDataInvalid = "user_data_invalid",
    NoCapacity = "no_capacity",

    // Hosts.
    HostInUse = "host_in_use",
    EncryptionOff = "encryption_off",

    // Announcements and jobs.
    TimeInvalid = "time_invalid",
    JobRunning = "job_running",
    JobRecurring = "job_recurring",

    // Regions and plans of the provider.
    IdInvalid = "id_invalid",
    IdTaken = "id_taken",
    RetiredState = "retired_state",

    // Branding.
    ColorInvalid = "color_invalid",
    ColorContrast = "color_contrast",
    LinkInvalid = "link_invalid",
    BrandImageInvalid = "brand_image_invalid",

    // Tickets and their subjects.
    TicketClosed = "ticket_closed",
    TicketNotClosable = "ticket_not_closable",
    TicketClaimed = "ticket_claimed",
    TicketNotClaimed = "ticket_not_claimed",
    TicketMerged = "ticket_merged",
    MergeInvalid = "merge_invalid",
    EntityInvalid = "entity_invalid",
    EntityConflict = "entity_conflict",
    EntityUnknown = "entity_unknown",
    SpellingConflict = "spelling_conflict",
    VlanRegion = "vlan_region",
    AccountInvalid = "account_invalid",
    CannedReplyInvalid = "canned_reply_invalid",
    PlaceholderUnknown = "placeholder_unknown",
    SearchInvalid = "search_invalid",

    // Attachments.
    FileRequired = "file_required",
    FileCount = "file_count",
    FileEmpty = "file_empty",
    FileName = "file_name",
    FileExtension = "file_extension",
    FileContent = "file_content",
    FileTooLarge = "file_too_large",
    FileRefused = "file_refused",
    MultipartInvalid = "multipart_invalid",
    AttachmentLimit = "attachment_limit",
    ScanUnavailable = "scan_unavailable",
    FilesUnavailable = "files_unavailable",
    FileDamaged = "file_damaged",

    // Accounts, users and tokens.
    AccountInUse = "account_in_use",
    AccountState = "account_state",
    LastAdmin = "last_admin",
    UsernameInvalid = "username_invalid",
    UsernameTaken = "username_taken",
    EmailInvalid = "email_invalid",
    PasswordTooShort = "password_too_short",
    PasswordTooSimple = "password_too_simple",
    UserInvalid = "user_invalid",
    SshKeyInvalid = "ssh_key_invalid",
    GrantInvalid = "grant_invalid",
    ScopesInvalid = "scopes_invalid",
    TokenScopeExceeded = "token_scope_exceeded",
    ExpiryInvalid = "expiry_invalid",
    UserSelf = "user_self",
    GrantsUnrestricted = "grants_unrestricted",
    TimezoneInvalid = "timezone_invalid",
    PreferencesTooLarge = "preferences_too_large",
    RedirectUriInvalid = "redirect_uri_invalid",
    ClientInvalid = "client_invalid",
    GrantTypeInvalid = "grant_type_invalid",
    CodeInvalid = "code_invalid",
    CodeVerifierInvalid = "code_verifier_invalid",
    RefreshTokenInvalid = "refresh_token_invalid",
    FormInvalid = "form_invalid",
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn every_code_has_a_distinct_word() {
        let mut words: Vec<_> = Code::ALL.iter().map(|code| code.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
