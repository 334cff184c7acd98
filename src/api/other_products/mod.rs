//! Products of the public service that Garth does not have (decision 0027).
//!
//! The web app of the public service requests lists of these products, even on pages about other products. So
//! Garth has these lists, and they are empty. Operations that would create an object of such a product are
//! refused with `not_offered`. `docs/other-products.md` has the same table for users.

mod objects;
mod refusals;

pub use refusals::refuse;

use crate::api::handlers::{catalog_list, empty_page, list};
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::other_products;
use crate::store::ReadTx;
use crate::web::operation::{Operation, get};

/// All operations on these products.
pub fn operations() -> Vec<Operation> {
    let parts = [
        lists(),
        public_lists(),
        objects::operations(),
        refusals::operations(),
    ];
    parts.into_iter().flatten().collect()
}

fn lists() -> Vec<Operation> {
    vec![
        // The account
        empty("getMaintenance", "/account/maintenance"),
        empty("getBetas", "/betas"),
        empty("getProfileDevices", "/profile/devices").on_account(),
        empty("getManagedIssues", "/managed/issues").on_account(),
        empty("getManagedServices", "/managed/services").on_account(),
        empty_with_account_access("getInvoices", "/account/invoices"),
        empty_with_account_access("getPayments", "/account/payments"),
        empty_with_account_access("getPaymentMethods", "/account/payment-methods"),
        empty_unrestricted("getServiceTransfers", "/account/service-transfers"),
        empty_unrestricted("getEntityTransfers", "/account/entity-transfers"),
        empty_unrestricted("getAccountBetas", "/account/betas"),
        empty_unrestricted("getChildAccounts", "/account/child-accounts").of_family("child_account"),
        // Networks
        empty("getFirewalls", "/networking/firewalls").of_family("firewall"),
        empty("getFirewallTemplates", "/networking/firewalls/templates"),
        empty("getIpv6Ranges", "/networking/ipv6/ranges").of_family("ips"),
        empty("getIpv6Pools", "/networking/ipv6/pools").of_family("ips"),
        empty("getReservedIps", "/networking/reserved/ips").of_family("ips"),
        empty("getNodebalancers", "/nodebalancers").of_family("nodebalancers"),
        empty("getDomains", "/domains").of_family("domains"),
        // Storage and machines
        empty("getVolumes", "/volumes").of_family("volumes"),
        empty("getLkeClusters", "/lke/clusters").of_family("lke"),
        empty("getDatabases", "/databases/instances").of_family("databases"),
        empty("getStackscripts", "/compute/stackscripts").of_family("stackscripts"),
        empty("getPlacementGroups", "/placement/groups").of_family("linodes"),
        empty("getLocks", "/locks").on_account(),
        // Monitoring
        empty("getLongviewClients", "/longview/clients").of_family("longview"),
        empty("getStreams", "/monitor/streams").of_family("monitor"),
        empty("getStreamDestinations", "/monitor/streams/destinations").of_family("monitor"),
    ]
}

fn public_lists() -> Vec<Operation> {
    vec![
        empty_public("getDatabaseTypes", "/databases/types"),
        empty_public("getObjectStorageClusters", "/object-storage/clusters"),
        empty_public("getLongviewSubscriptions", "/longview/subscriptions"),
        empty_public("getNetworkTransferPrices", "/network-transfer/prices"),
    ]
}

fn empty(id: &'static str, path: &'static str) -> Operation {
    let rule = |tx: &mut ReadTx, _: &Caller, list: &ListRequest| other_products::list(tx.policy(), list);
    get(id, path, list(rule, empty_page)).list()
}

fn empty_with_account_access(id: &'static str, path: &'static str) -> Operation {
    let rule = |tx: &mut ReadTx, caller: &Caller, list: &ListRequest| {
        other_products::list_with_account_access(tx.policy(), caller, list)
    };
    get(id, path, list(rule, empty_page)).list().with_account_access()
}

fn empty_unrestricted(id: &'static str, path: &'static str) -> Operation {
    let rule = |tx: &mut ReadTx, caller: &Caller, list: &ListRequest| {
        other_products::list_unrestricted(tx.policy(), caller, list)
    };
    get(id, path, list(rule, empty_page)).list().unrestricted()
}

fn empty_public(id: &'static str, path: &'static str) -> Operation {
    get(id, path, catalog_list(other_products::list, empty_page))
        .public()
        .list()
}
