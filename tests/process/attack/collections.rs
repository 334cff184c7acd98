//! The cost of creating an object does not grow with the number of objects that exist. Otherwise, a client that creates
//! many objects would slow down all writes, because the embedded store has one writer.

use serde_json::{Value, json};

use super::meter::Meter;
use crate::harness::Folder;

/// The number of objects between the two measurements.
const OBJECTS: usize = 500;
/// The same for collections that have no limit, and whose objects are cheap to create.
const MANY_OBJECTS: usize = 3000;
/// The number of objects in a measurement.
const MEASURED: usize = 30;
/// The maximum cost of the last objects, relative to the first ones. It is above 1, because indexes grow.
const MAX_RATIO: f64 = 3.0;

#[test]
fn cost_of_a_create_is_independent_of_the_size_of_its_collection() {
    let folder = Folder::new("attack-collections");
    let (server, meter) = Meter::start(&folder);
    let mut client = server.client();
    client.create_vpc("first");
    let mut failures = Vec::new();
    for (path, objects, body) in creates() {
        let mut numbers = 0..;
        let mut create = |count: usize| {
            for at in numbers.by_ref().take(count) {
                client.post(path, body(at)).ok();
            }
        };
        let first = meter.cost_of(|| {
            create(MEASURED);
            Ok(())
        });
        create(objects);
        let last = meter.cost_of(|| {
            create(MEASURED);
            Ok(())
        });
        if last as f64 > MAX_RATIO * first as f64 {
            let unit = meter.unit();
            failures.push(format!("{path}: {first} {unit} at first, {last} at last"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

type Create = (&'static str, usize, fn(usize) -> Value);

/// Operations that create an object, and the number of objects to create. The function makes the body of the object with
/// a number.
fn creates() -> [Create; 9] {
    [
        (
            "/v4/profile/tokens",
            MANY_OBJECTS,
            |at| json!({"label": format!("t{at}")}),
        ),
        (
            "/v4/account/users",
            OBJECTS,
            |at| json!({"username": format!("user-{at}"), "email": "u@example.com"}),
        ),
        (
            "/v4/account/oauth-clients",
            OBJECTS,
            |at| json!({"label": format!("c{at}"), "redirect_uri": "https://example.com/"}),
        ),
        ("/v4/tags", OBJECTS, |at| json!({"label": format!("tag-{at}")})),
        (
            "/v4/vpcs",
            OBJECTS,
            |at| json!({"label": format!("vpc-{at}"), "region": "us-west"}),
        ),
        (
            "/v4/vpcs/1/subnets",
            OBJECTS,
            |at| json!({"label": format!("s-{at}"), "ipv4": format!("10.{}.{}.0/24", at / 256, at % 256)}),
        ),
        (
            "/v4/linode/instances",
            OBJECTS,
            |at| json!({"label": format!("vm-{at}"), "region": "us-east", "type": "g6-nanode-1"}),
        ),
        (
            "/v4/support/tickets",
            OBJECTS,
            |at| json!({"summary": format!("Ticket {at}"), "description": "Text"}),
        ),
        (
            "/v4/support/tickets/1/replies",
            OBJECTS,
            |at| json!({"description": format!("Reply {at}")}),
        ),
    ]
}
