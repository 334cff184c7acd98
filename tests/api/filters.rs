//! The filter language: refusals, and a comparison with a reference implementation.

use std::future::IntoFuture;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::harness::{TestApp, User};

#[tokio::test]
async fn invalid_filters_are_refused_with_a_reason() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let deep = format!("{}{{}}{}", r#"{"+and":["#.repeat(16), "]}".repeat(16));
    let wide = json!({"+or": vec![json!({"id": 1}); 257]}).to_string();
    let empty_objects = json!({"+and": vec![json!({}); 257]}).to_string();
    let empty_lists = json!({"+or": vec![json!({"+and": []}); 257]}).to_string();
    let empty_conditions = json!({"label": {"+or": vec![json!({}); 257]}}).to_string();
    for (filter, code) in [
        ("", "filter_invalid"),
        ("{", "filter_invalid"),
        ("[]", "filter_invalid"),
        ("\"label\"", "filter_invalid"),
        (r#"{"label":"a","label":"b"}"#, "filter_invalid"),
        (r#"{"+or":[]}"#, "filter_invalid"),
        (r#"{"label":{"+or":[]}}"#, "filter_invalid"),
        (r#"{"nope":1}"#, "filter_field"),
        (r#"{"+order_by":"nope"}"#, "filter_field"),
        (r#"{"+order_by":"subnets.label"}"#, "filter_field"),
        (r#"{"+xor":[{"id":1}]}"#, "filter_operator"),
        (r#"{"label":{"+like":"a"}}"#, "filter_operator"),
        (r#"{"label":{"contains":"a"}}"#, "filter_operator"),
        (r#"{"+order":"up"}"#, "filter_type"),
        (r#"{"+and":[{"+order_by":"id"}]}"#, "filter_operator"),
        (r#"{"+order_by":"id","+order":"up"}"#, "filter_type"),
        (r#"{"+order_by":1}"#, "filter_type"),
        (r#"{"+or":{"id":1}}"#, "filter_type"),
        (r#"{"+or":[1]}"#, "filter_type"),
        (r#"{"id":"1"}"#, "filter_type"),
        (r#"{"id":1.5}"#, "filter_type"),
        (r#"{"id":true}"#, "filter_type"),
        (r#"{"id":[1]}"#, "filter_type"),
        (r#"{"label":1}"#, "filter_type"),
        (r#"{"label":{"+contains":1}}"#, "filter_type"),
        (r#"{"label":{"+gt":null}}"#, "filter_type"),
        (r#"{"label":"\u0000"}"#, "filter_type"),
        (r#"{"created":"yesterday"}"#, "filter_type"),
        (r#"{"created":{"+contains":"2024"}}"#, "filter_type"),
        (&deep, "filter_too_large"),
        (&wide, "filter_too_large"),
        (&empty_objects, "filter_too_large"),
        (&empty_lists, "filter_too_large"),
        (&empty_conditions, "filter_too_large"),
    ] {
        let reply = ada.filter("/vpcs", filter).await;
        assert_eq!(reply.status, 400, "{filter}");
        assert_eq!(reply.errors(), [format!("X-Filter {code}")], "{filter}");
    }
    assert_eq!(
        ada.filter("/vpcs", r#"{"nope":1}"#).await.reason(),
        "Cannot filter on nope"
    );
    let deepest = format!("{}{{}}{}", r#"{"+and":["#.repeat(15), "]}".repeat(15));
    let widest = json!({"+or": vec![json!({"id": 1}); 256]}).to_string();
    for filter in [
        "{}",
        r#"{"+and":[]}"#,
        r#"{"+order":"asc"}"#,
        &deepest,
        &widest,
        r#"{"label":{}}"#,
        &json!({"+and": vec![json!({}); 256]}).to_string(),
    ] {
        assert_eq!(ada.filter("/vpcs", filter).await.status, 200, "{filter}");
    }
}

#[tokio::test]
async fn filters_of_published_clients_work() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for label in ["py-one", "two", "py-three"] {
        ada.create_vpc(label, &["10.0.0.0/24", "10.0.1.0/24"]).await;
    }

    for (path, filter, found) in [
        ("/vpcs", r#"{"label":"two"}"#, vec![2]),
        ("/vpcs", r#"{"label":"TWO"}"#, vec![]),
        ("/vpcs", r#"{"+and":[],"+order":"desc"}"#, vec![1, 2, 3]),
        (
            "/vpcs",
            r#"{"+and":[{"+or":[{"label":"two"}]}],"+order":"desc"}"#,
            vec![2],
        ),
        ("/vpcs", r#"{"label":{"+or":["two","py-one"]}}"#, vec![1, 2]),
        ("/vpcs", r#"{"+order":"desc","+order_by":"label"}"#, vec![2, 3, 1]),
        (
            "/vpcs",
            r#"{"+and":[{"+or":[{"label":{"+contains":"PY"}},{"region":"us-mia"}]},{"id":{"+gt":1}}]}"#,
            vec![3],
        ),
        ("/vpcs", r#"{"subnets.id":3}"#, vec![2]),
        ("/vpcs", r#"{"label":{"+contains":"_"}}"#, vec![]),
        ("/vpcs", r#"{"label":{"+contains":"%"}}"#, vec![]),
        ("/vpcs", r#"{"updated":null}"#, vec![]),
        (
            "/vpcs",
            r#"{"updated":{"+neq":null},"id":{"+or":[1,3]}}"#,
            vec![1, 3],
        ),
        ("/vpcs", r#"{"id":{"+gte":2,"+lte":2}}"#, vec![2]),
        (
            "/vpcs/2/subnets",
            r#"{"+or":[{"label":{"+contains":"b"}},{"id":{"+contains":"b"}}],"+order":"asc","+order_by":"label"}"#,
            vec![4],
        ),
        ("/vpcs/2/subnets", r#"{"id":{"+contains":"3"}}"#, vec![3]),
        ("/vpcs/2/subnets", r#"{"id":{"+contains":4}}"#, vec![4]),
    ] {
        assert_eq!(ada.filter(path, filter).await.ids(), found, "{filter}");
    }
}

/// The reference implementation: evaluates a filter on the JSON of the list.
fn holds(filter: &Value, item: &Value) -> bool {
    let parts = filter
        .as_object()
        .unwrap()
        .iter()
        .filter(|(key, _)| *key != "+order_by" && *key != "+order");
    parts.into_iter().all(|(key, value)| match key.as_str() {
        "+and" => value.as_array().unwrap().iter().all(|part| holds(part, item)),
        "+or" => value.as_array().unwrap().iter().any(|part| holds(part, item)),
        field => condition(field, value, item),
    })
}

fn condition(field: &str, value: &Value, item: &Value) -> bool {
    let Some(operators) = value.as_object() else {
        return values(field, item).iter().any(|is| is == value);
    };
    operators.iter().all(|(operator, value)| match operator.as_str() {
        "+or" => value
            .as_array()
            .unwrap()
            .iter()
            .any(|value| condition(field, value, item)),
        operator => values(field, item).iter().any(|is| compare(operator, is, value)),
    })
}

fn values(field: &str, item: &Value) -> Vec<Value> {
    match field.strip_prefix("subnets.") {
        Some(field) => item["subnets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|subnet| subnet[field].clone())
            .collect(),
        None => vec![item[field].clone()],
    }
}

fn compare(operator: &str, is: &Value, value: &Value) -> bool {
    let written = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    let order = match (is.as_i64(), value.as_i64()) {
        (Some(is), Some(value)) => is.cmp(&value),
        _ => written(is).cmp(&written(value)),
    };
    match operator {
        "+neq" => order.is_ne(),
        "+gt" => order.is_gt(),
        "+gte" => order.is_ge(),
        "+lt" => order.is_lt(),
        "+lte" => order.is_le(),
        "+contains" => written(is)
            .to_lowercase()
            .contains(&written(value).to_lowercase()),
        other => panic!("{other}?"),
    }
}

fn expected(filter: &Value, items: &[Value]) -> Vec<i64> {
    let mut found: Vec<&Value> = items.iter().filter(|item| holds(filter, item)).collect();
    if let Some(by) = filter.get("+order_by").and_then(Value::as_str) {
        found.sort_by(|a, b| {
            let same_kind = match (a[by].as_i64(), b[by].as_i64()) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => a[by].as_str().cmp(&b[by].as_str()),
            };
            same_kind.then(a["id"].as_i64().cmp(&b["id"].as_i64()))
        });
        if filter.get("+order").and_then(Value::as_str) == Some("desc") {
            found.reverse();
        }
    }
    found.iter().map(|item| item["id"].as_i64().unwrap()).collect()
}

const LABELS: [&str; 6] = ["a", "A-b", "b", "ab", "B-a", "c-1"];
const REGIONS: [&str; 3] = ["us-east", "us-mia", "fr-par"];
const TIMES: [&str; 5] = [
    "2024-06-01T11:59:59",
    "2024-06-01T12:00:00",
    "2024-06-01T12:00:20",
    "2024-06-01T12:00:30",
    "2024-06-01T12:01:00",
];

fn a_condition() -> impl Strategy<Value = (String, Value)> {
    let with_operators = |values: BoxedStrategy<Value>, more: BoxedStrategy<Value>| {
        let compared = (
            prop::sample::select(vec!["+neq", "+gt", "+gte", "+lt", "+lte"]),
            values.clone(),
        );
        let among = prop::collection::vec(values.clone(), 1..4);
        prop_oneof![
            values,
            compared.prop_map(|(operator, value)| json!({operator: value})),
            among.prop_map(|values| json!({"+or": values})),
            more,
        ]
    };
    let label = || {
        prop::sample::select(LABELS.to_vec())
            .prop_map(|label| json!(label))
            .boxed()
    };
    let part = || {
        "[abAB1%_-]{0,2}"
            .prop_map(|part| json!({"+contains": part}))
            .boxed()
    };
    let number = || (0i64..45).prop_map(|number| json!(number)).boxed();
    let digits = || "[0-9]{1,2}".prop_map(|part| json!({"+contains": part})).boxed();
    let region = || {
        prop::sample::select(REGIONS.to_vec())
            .prop_map(|region| json!(region))
            .boxed()
    };
    let time = || {
        prop::sample::select(TIMES.to_vec())
            .prop_map(|time| json!(time))
            .boxed()
    };
    let never = || Just(json!({"+neq": null})).boxed();
    prop_oneof![
        with_operators(number(), digits()).prop_map(|value| ("id".to_owned(), value)),
        with_operators(label(), part()).prop_map(|value| ("label".to_owned(), value)),
        with_operators(region(), part()).prop_map(|value| ("region".to_owned(), value)),
        (
            prop::sample::select(vec!["created", "updated"]),
            with_operators(time(), never())
        )
            .prop_map(|(field, value)| (field.to_owned(), value)),
        with_operators(label(), part()).prop_map(|value| ("subnets.label".to_owned(), value)),
        with_operators(number(), digits()).prop_map(|value| ("subnets.id".to_owned(), value)),
    ]
}

fn a_filter() -> impl Strategy<Value = Value> {
    let object =
        |conditions: Vec<(String, Value)>| Value::Object(conditions.into_iter().collect::<Map<_, _>>());
    let leaf = prop::collection::vec(a_condition(), 0..3).prop_map(object);
    let tree = leaf.prop_recursive(3, 12, 3, move |inner| {
        let parts = prop::collection::vec(inner, 1..4);
        let extra = prop::collection::vec(a_condition(), 0..2);
        (prop::sample::select(vec!["+and", "+or"]), parts, extra).prop_map(move |(word, parts, extra)| {
            let mut whole = object(extra);
            whole[word] = json!(parts);
            whole
        })
    });
    let order = prop::option::of((
        prop::sample::select(vec!["id", "label", "region", "created", "updated"]),
        prop::option::of(prop::sample::select(vec!["asc", "desc"])),
    ));
    (tree, order).prop_map(|(mut filter, order)| {
        if let Some((by, order)) = order {
            filter["+order_by"] = json!(by);
            if let Some(order) = order {
                filter["+order"] = json!(order);
            }
        }
        filter
    })
}

/// About forty VPCs with similar labels, regions and times, and up to three subnets.
async fn create_many_vpcs(app: &TestApp, ada: &User<'_>) {
    for number in 0..40 {
        let (label, region) = (LABELS[number % LABELS.len()], REGIONS[number % REGIONS.len()]);
        let subnet =
            |at: usize| json!({"label": LABELS[(number + at * 2) % 6], "ipv4": format!("10.{at}.0.0/16")});
        let subnets: Vec<_> = (0..number % 4).filter(|at| *at < 3).map(subnet).collect();
        let body = json!({"label": format!("{label}-{number}"), "region": region, "subnets": subnets});
        assert_eq!(ada.post("/vpcs", body).await.status, 200);
        if number % 10 == 9 {
            app.advance(10);
        }
    }
    for (number, label) in LABELS.iter().enumerate() {
        let path = format!("/vpcs/{}", number * 6 + 1);
        assert_eq!(ada.put(&path, json!({"label": label})).await.status, 200);
        app.advance(10);
    }
}

#[test]
fn random_filters_match_a_reference_implementation() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let app = runtime.block_on(TestApp::new());
    let ada = runtime.block_on(app.user("ada").into_future());
    runtime.block_on(create_many_vpcs(&app, &ada));
    let items = runtime.block_on(ada.get("/vpcs?page_size=500")).data();

    let found_some = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config {
        cases: 600,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&a_filter(), |filter| {
        let reply = runtime.block_on(ada.filter("/vpcs?page_size=500", &filter.to_string()));
        prop_assert_eq!(reply.status.as_u16(), 200, "{}", reply);
        let matching = expected(&filter, &items);
        prop_assert_eq!(reply.ids(), matching.clone(), "{}", filter);
        let some = !matching.is_empty() && matching.len() < items.len();
        found_some.set(found_some.get() + i32::from(some));
        Ok(())
    });
    outcome.unwrap();
    assert!(
        found_some.get() > 100,
        "too few of the random filters select a part: {}",
        found_some.get()
    );
    let _in_runtime = runtime.enter();
    drop(app);
}
