//! Operations on users, grants, tokens and OAuth clients, and log-in.

pub mod account_users;
pub mod apps;
pub mod grants;
pub mod login_records;
pub mod logins;
pub mod oauth;
pub mod oauth_clients;
pub mod oauth_tokens;
pub mod password_resets;
pub mod permissions;
pub mod profile;
pub mod ssh_keys;
pub mod staff;
pub mod tokens;
pub mod users;

use crate::api::handlers::{change, change_at, done, list, list_at, view, view_at};
use crate::model::id::AccountId;
use crate::model::staff_role::StaffRole;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::web::operation::{Operation, delete, get, handler, post, put};

const PROFILE: &str = "/profile";
const PREFERENCES: &str = "/profile/preferences";
const TOKENS: &str = "/profile/tokens";
const TOKEN: &str = "/profile/tokens/{tokenId}";
const APP: &str = "/profile/apps/{appId}";
const SSH_KEYS: &str = "/profile/sshkeys";
const SSH_KEY: &str = "/profile/sshkeys/{sshKeyId}";
const USERS: &str = "/account/users";
const USER: &str = "/account/users/{username}";
const USER_GRANTS: &str = "/account/users/{username}/grants";
const CLIENTS: &str = "/account/oauth-clients";
const CLIENT: &str = "/account/oauth-clients/{clientId}";
const CLIENT_SECRET: &str = "/account/oauth-clients/{clientId}/reset-secret";
const STAFF: &str = "/provider/staff";
const STAFF_USER: &str = "/provider/staff/{staffUsername}";
const PASSWORD: &str = "/oauth/password/{link}";

pub fn operations() -> Vec<Operation> {
    vec![
        // The caller
        get("getProfile", PROFILE, view(rules::profile::view, profile::one)),
        put(
            "updateProfile",
            PROFILE,
            change(rules::profile::update, profile::one),
        )
        .on_account(),
        get(
            "getProfileGrants",
            "/profile/grants",
            view(rules::grants::view_own, grants::optional),
        ),
        get(
            "getPreferences",
            PREFERENCES,
            view(rules::profile::preferences, |json_text, context| {
                profile::preferences(json_text, context)
            }),
        ),
        put(
            "updatePreferences",
            PREFERENCES,
            handler(profile::set_preferences),
        )
        .on_account(),
        get("getTokens", TOKENS, list(rules::tokens::page, tokens::page))
            .on_account()
            .list(),
        post(
            "createToken",
            TOKENS,
            change(rules::tokens::create_own, tokens::created),
        )
        .on_account(),
        get("getToken", TOKEN, view_at(rules::tokens::view, tokens::one)).on_account(),
        put(
            "updateToken",
            TOKEN,
            change_at(rules::tokens::update, tokens::one),
        )
        .on_account(),
        delete("deleteToken", TOKEN, change_at(rules::tokens::delete, done)).on_account(),
        get(
            "getProfileApps",
            "/profile/apps",
            list(rules::apps::list, apps::page),
        )
        .on_account()
        .list(),
        get("getProfileApp", APP, view_at(rules::apps::view, apps::one)).on_account(),
        delete("deleteProfileApp", APP, change_at(rules::apps::delete, done)).on_account(),
        get(
            "getSshKeys",
            SSH_KEYS,
            list(rules::ssh_keys::list, ssh_keys::page),
        )
        .on_account()
        .list(),
        post(
            "createSshKey",
            SSH_KEYS,
            change(rules::ssh_keys::create, ssh_keys::one),
        )
        .on_account(),
        get(
            "getSshKey",
            SSH_KEY,
            view_at(rules::ssh_keys::view, ssh_keys::one),
        )
        .on_account(),
        put(
            "updateSshKey",
            SSH_KEY,
            change_at(rules::ssh_keys::update, ssh_keys::one),
        )
        .on_account(),
        delete("deleteSshKey", SSH_KEY, change_at(rules::ssh_keys::delete, done)).on_account(),
        get(
            "getProfileLogins",
            "/profile/logins",
            list(rules::login_records::list_own, login_records::page),
        )
        .on_account()
        .list(),
        get(
            "getProfileLogin",
            "/profile/logins/{loginId}",
            view_at(rules::login_records::view_own, login_records::one),
        )
        .on_account(),
        get(
            "getAccountLogins",
            "/account/logins",
            list(rules::login_records::list, login_records::page),
        )
        .unrestricted()
        .list(),
        get(
            "getAccountLogin",
            "/account/logins/{loginId}",
            view_at(rules::login_records::view, login_records::one),
        )
        .unrestricted(),
        // Users and their grants
        get("getUsers", USERS, list(rules::users::page, users::page))
            .unrestricted()
            .list(),
        post("createUser", USERS, handler(users::create)).unrestricted(),
        get(
            "getUser",
            USER,
            view_at(
                |tx, caller: &Caller, name: String| rules::users::view(tx, caller, &name),
                users::one,
            ),
        )
        .unrestricted(),
        put("updateUser", USER, handler(users::update)).unrestricted(),
        delete(
            "deleteUser",
            USER,
            change_at(
                |tx, caller: &Caller, name: String, request| rules::users::delete(tx, caller, &name, request),
                done,
            ),
        )
        .unrestricted(),
        get(
            "getUserGrants",
            USER_GRANTS,
            view_at(
                |tx, caller: &Caller, name: String| rules::grants::view(tx, caller, &name),
                grants::optional,
            ),
        )
        .unrestricted(),
        put(
            "updateUserGrants",
            USER_GRANTS,
            change_at(
                |tx, caller: &Caller, name: String, request| {
                    rules::grants::update(tx, caller, &name, request)
                },
                grants::one,
            ),
        )
        .unrestricted(),
        // Permissions by name
        get(
            "getAccountPermissions",
            "/iam/users/{username}/permissions/account",
            view_at(
                |tx, caller: &Caller, name: String| rules::permissions::on_account(tx, caller, &name),
                permissions::all,
            ),
        )
        .on_account(),
        get(
            "getEntityPermissions",
            "/iam/users/{username}/permissions/{entityType}/{entityId}",
            view_at(rules::permissions::on_entity, permissions::all),
        )
        .on_account(),
        // OAuth clients
        get(
            "getOauthClients",
            CLIENTS,
            list(rules::oauth_clients::list, oauth_clients::page),
        )
        .with_account_access()
        .list(),
        post(
            "createOauthClient",
            CLIENTS,
            change(rules::oauth_clients::create, oauth_clients::with_secret),
        )
        .unrestricted(),
        get(
            "getOauthClient",
            CLIENT,
            view_at(
                |tx, caller: &Caller, id: String| rules::oauth_clients::view(tx, caller, &id),
                oauth_clients::one,
            ),
        )
        .with_account_access(),
        put(
            "updateOauthClient",
            CLIENT,
            change_at(
                |tx, caller: &Caller, id: String, request| {
                    rules::oauth_clients::update(tx, caller, &id, request)
                },
                oauth_clients::one,
            ),
        )
        .unrestricted(),
        delete(
            "deleteOauthClient",
            CLIENT,
            change_at(
                |tx, caller: &Caller, id: String, request| {
                    rules::oauth_clients::delete(tx, caller, &id, request)
                },
                done,
            ),
        )
        .unrestricted(),
        post(
            "resetOauthClientSecret",
            CLIENT_SECRET,
            change_at(
                |tx, caller: &Caller, id: String, request| {
                    rules::oauth_clients::reset_secret(tx, caller, &id, request)
                },
                oauth_clients::with_secret,
            ),
        )
        .unrestricted(),
    ]
}

/// The operations with which the provider manages staff and the users of accounts (decision 0034).
pub fn staff_operations() -> Vec<Operation> {
    vec![
        get(
            "getStaff",
            STAFF,
            list(|tx, _: &Staff, list| rules::staff::list(tx, list), staff::page),
        )
        .of_provider(StaffRole::Admin)
        .list(),
        post(
            "createStaffUser",
            STAFF,
            change(
                |tx, _: &Staff, request| rules::staff::create(tx, request),
                staff::one,
            ),
        )
        .of_provider(StaffRole::Admin),
        get(
            "getStaffUser",
            STAFF_USER,
            view_at(
                |tx, _: &Staff, name: String| rules::staff::view(tx, &name),
                staff::one,
            ),
        )
        .of_provider(StaffRole::Admin),
        put(
            "updateStaffUser",
            STAFF_USER,
            change_at(
                |tx, _: &Staff, name: String, request| rules::staff::update(tx, &name, request),
                staff::one,
            ),
        )
        .of_provider(StaffRole::Admin),
        delete(
            "deleteStaffUser",
            STAFF_USER,
            change_at(
                |tx, _: &Staff, name: String, request| rules::staff::delete(tx, &name, request),
                done,
            ),
        )
        .of_provider(StaffRole::Admin),
        get(
            "getProviderAccountUsers",
            "/provider/accounts/{accountId}/users",
            list_at(
                |tx, _: &Staff, id: AccountId, list| rules::account_users::list(tx, id, list),
                account_users::page,
            ),
        )
        .of_provider(StaffRole::Support)
        .list(),
        post(
            "createProviderAccountUser",
            "/provider/accounts/{accountId}/users",
            change_at(
                |tx, staff: &Staff, id: AccountId, request| {
                    rules::account_users::create(tx, &staff.agent, id, request)
                },
                account_users::one,
            ),
        )
        .of_provider(StaffRole::Admin),
        put(
            "updateProviderAccountUser",
            "/provider/accounts/{accountId}/users/{username}",
            change_at(
                |tx, staff: &Staff, (id, name): (AccountId, String), request| {
                    rules::account_users::update(tx, &staff.agent, id, &name, request)
                },
                account_users::one,
            ),
        )
        .of_provider(StaffRole::Operator),
    ]
}

/// The OAuth endpoints and their pages.
pub fn oauth_operations() -> Vec<Operation> {
    vec![
        get(
            "getAuthorizationServer",
            "/.well-known/oauth-authorization-server",
            handler(oauth::metadata),
        )
        .oauth(),
        get("authorize", "/oauth/authorize", handler(oauth::authorize))
            .page()
            .asks_password(),
        post("authorizeDecision", "/oauth/authorize", handler(oauth::decide)).page(),
        post("logIn", "/oauth/login", handler(logins::log_in))
            .page()
            .asks_password(),
        post("getOauthToken", "/oauth/token", handler(oauth_tokens::issue)).oauth(),
        post("revokeOauthToken", "/oauth/revoke", handler(oauth_tokens::revoke)).oauth(),
        get("logOut", "/logout", handler(logins::log_out)).page(),
        get(
            "getForgotPasswordPage",
            "/forgot/password",
            handler(password_resets::form),
        )
        .page()
        .asks_password(),
        post(
            "requestPasswordReset",
            "/forgot/password",
            handler(password_resets::send),
        )
        .page()
        .asks_password(),
        get("getPasswordPage", PASSWORD, handler(logins::password_page))
            .page()
            .asks_password(),
        post("setPassword", PASSWORD, handler(logins::set_password))
            .page()
            .asks_password(),
        get("getOauthStyle", "/oauth/style.css", handler(oauth::style)).at_root(),
    ]
}
