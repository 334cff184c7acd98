//! Pages for users, grants, tokens, applications and OAuth clients.

pub mod apps;
mod grant_changes;
pub mod grant_words;
pub mod grants;
pub mod invitations;
pub mod oauth_clients;
mod object_grants;
pub mod password;
pub mod profile;
mod shown_values;
pub mod tokens;
pub mod users;

use crate::console::page::{Page, get, post};
use crate::web::operation::Class;

pub fn pages() -> Vec<Page> {
    vec![
        get("pageProfile", "/account", profile::view),
        post("sendProfile", "/account", profile::update),
        post("sendPassword", "/account/password", profile::change_password).class(Class::Oauth),
        get("pageStaffPassword", "/desk/password", password::staff_page).staff(),
        post("sendStaffPassword", "/desk/password", password::change_of_staff)
            .staff()
            .class(Class::Oauth),
        get("pageTokens", "/account/tokens", tokens::list),
        get("pageTokenNew", "/account/tokens/new", tokens::new),
        post("sendTokenNew", "/account/tokens/new", tokens::create),
        get("pageTokenEdit", "/account/tokens/{tokenId}/edit", tokens::edit),
        post("sendTokenEdit", "/account/tokens/{tokenId}/edit", tokens::update),
        get(
            "pageTokenRevoke",
            "/account/tokens/{tokenId}/revoke",
            tokens::confirm_revoke,
        ),
        post(
            "sendTokenRevoke",
            "/account/tokens/{tokenId}/revoke",
            tokens::revoke,
        ),
        get("pageApps", "/account/apps", apps::list),
        get(
            "pageAppRevoke",
            "/account/apps/{appId}/revoke",
            apps::confirm_revoke,
        ),
        post("sendAppRevoke", "/account/apps/{appId}/revoke", apps::revoke),
        get("pageUsers", "/account/users", users::list),
        get("pageUserNew", "/account/new-user", users::new),
        post("sendUserNew", "/account/new-user", users::create),
        get("pageUser", "/account/users/{username}", users::view),
        get("pageUserEdit", "/account/users/{username}/edit", users::edit),
        post("sendUserEdit", "/account/users/{username}/edit", users::update),
        get(
            "pageUserDelete",
            "/account/users/{username}/delete",
            users::confirm_delete,
        ),
        post(
            "sendUserDelete",
            "/account/users/{username}/delete",
            users::delete,
        ),
        post(
            "sendUserLink",
            "/account/users/{username}/link",
            users::create_link,
        ),
        post(
            "sendUserInvitation",
            "/account/users/{username}/invitation",
            users::invite,
        ),
        get("pageGrants", "/account/users/{username}/grants", grants::edit),
        post("sendGrants", "/account/users/{username}/grants", grants::update),
        get(
            "pageGrantsSet",
            "/account/users/{username}/grants/set",
            grant_changes::confirm,
        ),
        post(
            "sendGrantsSet",
            "/account/users/{username}/grants/set",
            grant_changes::set,
        ),
        get("pageClients", "/account/clients", oauth_clients::list),
        get("pageClientNew", "/account/clients/new", oauth_clients::new),
        post("sendClientNew", "/account/clients/new", oauth_clients::create),
        get(
            "pageClientEdit",
            "/account/clients/{clientId}/edit",
            oauth_clients::edit,
        ),
        post(
            "sendClientEdit",
            "/account/clients/{clientId}/edit",
            oauth_clients::update,
        ),
        get(
            "pageClientReset",
            "/account/clients/{clientId}/reset",
            oauth_clients::confirm_reset,
        ),
        post(
            "sendClientReset",
            "/account/clients/{clientId}/reset",
            oauth_clients::reset,
        ),
        get(
            "pageClientDelete",
            "/account/clients/{clientId}/delete",
            oauth_clients::confirm_delete,
        ),
        post(
            "sendClientDelete",
            "/account/clients/{clientId}/delete",
            oauth_clients::delete,
        ),
    ]
}
