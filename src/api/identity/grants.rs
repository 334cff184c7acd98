//! JSON views of grants.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::grant::{EntityGrant, Global, Permission};
use crate::rules::grants::Grants;
use crate::web::answer;

#[derive(Serialize)]
pub struct GrantsView<'a> {
    global: GlobalsView,
    linode: Vec<EntityGrantView<'a>>,
    domain: [(); 0],
    nodebalancer: [(); 0],
    image: [(); 0],
    longview: [(); 0],
    stackscript: [(); 0],
    volume: [(); 0],
    firewall: [(); 0],
    database: [(); 0],
    lkecluster: [(); 0],
    vpc: Vec<EntityGrantView<'a>>,
}

#[derive(Serialize)]
struct GlobalsView {
    account_access: Option<&'static str>,
    add_databases: bool,
    add_domains: bool,
    add_firewalls: bool,
    add_images: bool,
    add_kubernetes: bool,
    add_linodes: bool,
    add_lkes: bool,
    add_longview: bool,
    add_nodebalancers: bool,
    add_stackscripts: bool,
    add_volumes: bool,
    add_vpcs: bool,
    cancel_account: bool,
    longview_subscription: bool,
    child_account_access: Option<&'static str>,
}

#[derive(Serialize)]
struct EntityGrantView<'a> {
    id: i64,
    label: &'a str,
    permissions: Option<&'static str>,
}

impl<'a> GrantsView<'a> {
    fn new(grants: &'a Grants) -> Self {
        let holds = |global: Global| grants.globals.contains(&global);
        let list =
            |entity_grants: &'a [EntityGrant]| entity_grants.iter().map(EntityGrantView::new).collect();
        Self {
            global: GlobalsView {
                account_access: grants.account_access.map(Permission::word),
                add_databases: holds(Global::AddDatabases),
                add_domains: holds(Global::AddDomains),
                add_firewalls: holds(Global::AddFirewalls),
                add_images: holds(Global::AddImages),
                add_kubernetes: holds(Global::AddKubernetes),
                add_linodes: holds(Global::AddLinodes),
                add_lkes: holds(Global::AddLkes),
                add_longview: holds(Global::AddLongview),
                add_nodebalancers: holds(Global::AddNodebalancers),
                add_stackscripts: holds(Global::AddStackscripts),
                add_volumes: holds(Global::AddVolumes),
                add_vpcs: holds(Global::AddVpcs),
                cancel_account: holds(Global::CancelAccount),
                longview_subscription: holds(Global::LongviewSubscription),
                child_account_access: None,
            },
            linode: list(&grants.linodes),
            domain: [],
            nodebalancer: [],
            image: [],
            longview: [],
            stackscript: [],
            volume: [],
            firewall: [],
            database: [],
            lkecluster: [],
            vpc: list(&grants.vpcs),
        }
    }

    /// The response with the grants of a user. An unrestricted user has none; published clients then expect
    /// 204.
    pub fn answer(grants: Option<&'a Grants>) -> Response {
        match grants {
            Some(grants) => answer::one(grants, &Self::new(grants)),
            None => StatusCode::NO_CONTENT.into_response(),
        }
    }
}

impl<'a> EntityGrantView<'a> {
    fn new(entity_grant: &'a EntityGrant) -> Self {
        Self {
            id: entity_grant.id,
            label: &entity_grant.label,
            permissions: entity_grant.permission.map(Permission::word),
        }
    }
}

/// An unrestricted user has no grants.
pub fn optional(grants: &Option<Grants>, _: &ViewContext) -> Response {
    GrantsView::answer(grants.as_ref())
}

pub fn one(grants: &Grants, _: &ViewContext) -> Response {
    GrantsView::answer(Some(grants))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_without_content_has_no_length() {
        let response = GrantsView::answer(None);
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        assert!(response.headers().is_empty(), "{:?}", response.headers());
    }
}
