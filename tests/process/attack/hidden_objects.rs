//! The cost of a request does not depend on objects that the caller cannot see. Otherwise, other users could slow it
//! down, and its duration would reveal the objects.

use serde_json::{Value, json};

use super::meter::Meter;
use crate::harness::Folder;

/// The number of hidden objects.
const OBJECTS: usize = 900;
/// The number of requests in a measurement.
const MEASURED: usize = 30;

#[test]
fn cost_of_a_vpc_of_another_account_equals_the_cost_of_a_missing_vpc() {
    let folder = Folder::new("attack-foreign-vpc");
    let (server, meter) = Meter::start(&folder);
    folder.run("account create --email it@acme.example --company Acme");
    folder.run("user create --account 2 --username eve --email eve@acme.example");
    folder.run("user create --account 1 --username bob --email bob@example.com --restricted");
    let tokens = ["eve", "bob"].map(|user| folder.create_token(user).1);
    let subnets: Vec<Value> = (0..OBJECTS).map(subnet).collect();
    let body = json!({"label": "large", "region": "us-east", "subnets": subnets});
    server.client().post("/v4/vpcs", body).ok();
    for token in tokens {
        let mut client = server.client_with(&token);
        let mut cost_of = |path: &str| {
            meter.cost_of(|| {
                (0..MEASURED).for_each(|_| assert_eq!(client.get(path).status, 404));
                Ok(())
            })
        };
        cost_of("/v4/vpcs/999");

        let (missing, hidden) = (cost_of("/v4/vpcs/999"), cost_of("/v4/vpcs/1"));

        let unit = meter.unit();
        assert!(
            hidden < 2 * missing,
            "{missing} {unit} for a missing VPC, {hidden} for a hidden one"
        );
    }
}

#[test]
fn cost_of_a_stream_is_independent_of_the_number_of_hidden_events() {
    let folder = Folder::new("attack-hidden-events");
    let (server, meter) = Meter::start(&folder);
    folder.run("user create --account 1 --username bob --email bob@example.com --restricted");
    let (_, token) = folder.create_token("bob");
    let mut client = server.client();
    client.create_vpc("core");
    let streams: Vec<_> = (0..40).map(|_| server.stream(&token)).collect();
    let mut numbers = 0..;
    let mut create = |count: usize| {
        for at in numbers.by_ref().take(count) {
            client.post("/v4/vpcs/1/subnets", subnet(at)).ok();
        }
    };

    let first = meter.cost_of(|| {
        create(MEASURED);
        Ok(())
    });
    create(OBJECTS - 4 * MEASURED);
    let last = meter.cost_of(|| {
        create(MEASURED);
        Ok(())
    });

    let unit = meter.unit();
    assert!(last < 2 * first, "{first} {unit} at first, {last} at last");
    drop(streams);
}

fn subnet(at: usize) -> Value {
    json!({"label": format!("s-{at}"), "ipv4": format!("10.{}.{}.0/24", at / 256, at % 256)})
}
