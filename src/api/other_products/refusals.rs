//! Operations that Garth does not offer.

use axum::extract::State;

use crate::rules::caller::Caller;
use crate::rules::other_products;
use crate::rules::request::Request;
use crate::web::operation::{Handling, Operation, handler, post, put};
use crate::web::{App, answer};

/// The operation ID, the path, the family of the required scope, and the error text.
type Refusal = (&'static str, &'static str, &'static str, &'static str);

const CREATIONS: [Refusal; 28] = [
    // The account
    (
        "createServiceTransfer",
        "/account/service-transfers",
        "account",
        TRANSFERS,
    ),
    (
        "createEntityTransfer",
        "/account/entity-transfers",
        "account",
        TRANSFERS,
    ),
    ("createPayment", "/account/payments", "account", BILLING),
    (
        "createPaymentMethod",
        "/account/payment-methods",
        "account",
        BILLING,
    ),
    (
        "enrollBeta",
        "/account/betas",
        "account",
        "Beta programs are not offered",
    ),
    (
        "acceptAgreements",
        "/account/agreements",
        "account",
        "There are no agreements to accept",
    ),
    (
        "enableManaged",
        "/account/settings/managed-enable",
        "account",
        MANAGED,
    ),
    ("createManagedService", "/managed/services", "account", MANAGED),
    (
        "cancelAccount",
        "/account/cancel",
        "account",
        "Accounts cannot be canceled through the API; open a ticket with POST /support/tickets",
    ),
    (
        "answerSecurityQuestions",
        "/profile/security-questions",
        "account",
        "Security questions are not offered; the provider resets passwords with a link",
    ),
    (
        "enableTwoFactor",
        "/profile/tfa-enable",
        "account",
        "Two-factor authentication is not offered",
    ),
    (
        "sendPhoneCode",
        "/profile/phone-number",
        "account",
        "Phone numbers are not offered",
    ),
    // Networks
    (
        "createFirewall",
        "/networking/firewalls",
        "firewall",
        "Firewalls are not offered",
    ),
    (
        "createIpv6Range",
        "/networking/ipv6/ranges",
        "ips",
        "IPv6 ranges are not offered; an instance has one IPv6 address",
    ),
    (
        "createReservedIp",
        "/networking/reserved/ips",
        "ips",
        "Reserved IP addresses are not offered; addresses belong to instances",
    ),
    (
        "createNodebalancer",
        "/nodebalancers",
        "nodebalancers",
        "NodeBalancers are not offered",
    ),
    ("createDomain", "/domains", "domains", "Domains are not offered"),
    // Storage and machines
    (
        "createVolume",
        "/volumes",
        "volumes",
        "Volumes are not offered; instances have disks",
    ),
    (
        "createLkeCluster",
        "/lke/clusters",
        "lke",
        "Kubernetes clusters are not offered",
    ),
    (
        "createMysqlDatabase",
        "/databases/mysql/instances",
        "databases",
        DATABASES,
    ),
    (
        "createPostgresqlDatabase",
        "/databases/postgresql/instances",
        "databases",
        DATABASES,
    ),
    (
        "createStackscript",
        "/compute/stackscripts",
        "stackscripts",
        "StackScripts are not offered",
    ),
    (
        "createPlacementGroup",
        "/placement/groups",
        "linodes",
        "Placement groups are not offered",
    ),
    (
        "createLock",
        "/locks",
        "account",
        "Locks are not offered; use grants to control who can delete instances",
    ),
    (
        "createImage",
        "/images",
        "images",
        "Custom images are not offered; GET /images lists the images of the provider",
    ),
    // Monitoring
    ("createLongviewClient", "/longview/clients", "longview", LONGVIEW),
    ("createStream", "/monitor/streams", "monitor", STREAMS),
    (
        "createStreamDestination",
        "/monitor/streams/destinations",
        "monitor",
        STREAMS,
    ),
];

const CHANGES: [Refusal; 2] = [
    (
        "updateFirewallSettings",
        "/networking/firewalls/settings",
        "firewall",
        "Firewalls are not offered, so there are no default firewalls",
    ),
    ("updateLongviewPlan", "/longview/plan", "longview", LONGVIEW),
];

const TRANSFERS: &str =
    "Transfers between accounts are not offered; open a ticket with POST /support/tickets";
const BILLING: &str = "Payments are not offered; there is no billing";
const MANAGED: &str = "Managed services are not offered";
const DATABASES: &str = "Databases are not offered";
const LONGVIEW: &str = "Longview is not offered";
const STREAMS: &str = "Log streams are not offered; GET /account/events/stream has the events of the account";

pub fn operations() -> Vec<Operation> {
    let creations = CREATIONS
        .iter()
        .map(|&(id, path, family, text)| post(id, path, refuse(text)).of_family(family));
    let changes = CHANGES
        .iter()
        .map(|&(id, path, family, text)| put(id, path, refuse(text)).of_family(family));
    creations.chain(changes).collect()
}

/// Refuses every request. The rule runs in a read transaction, so that it does not use the writer.
pub fn refuse(text: &'static str) -> Handling {
    handler(
        move |State(app): State<App>, caller: Caller, request: Request| async move {
            let refused = app.read(caller, move |_, _| other_products::refuse(&request, text));
            refused.await.map(|()| answer::done())
        },
    )
}
