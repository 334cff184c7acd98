//! The kinds of objects that numeric IDs belong to: VPC 5 and subnet 5 are different objects.
//!
//! The kind follows from the path of a request, or from the names of fields.

use serde_json::{Map, Value};

/// Fields with lists of IDs.
const ID_LISTS: [&str; 9] = [
    "configs",
    "disks",
    "domains",
    "firewalls",
    "interfaces",
    "linodes",
    "subnets",
    "volumes",
    "vpcs",
];

/// Segments whose numbers are not IDs, such as a year.
const WITHOUT_IDS: [&str; 3] = ["stats", "transfer", "usage"];

/// The kind of the objects of a collection: `vpcs` has objects of the kind `vpc`.
fn of_collection(name: &str) -> String {
    let singular = match name {
        _ if name.ends_with("sses") => &name[..name.len() - 2],
        _ if name.ends_with("ies") => return format!("{}y", &name[..name.len() - 3]),
        _ if name.ends_with("ss") => name,
        _ => name.strip_suffix('s').unwrap_or(name),
    };
    match singular {
        "linode" => "instance".to_owned(),
        singular => singular.to_owned(),
    }
}

/// The kind of the objects in the response of a path. The last segment can be an action, such as `boot`.
pub fn of_path(path: &str) -> String {
    let mut names = path.rsplit('/').filter(|segment| !is_id(segment));
    let last = names.next().unwrap_or_default();
    let collection = match last.ends_with('s') {
        true => last,
        false => names.find(|name| name.ends_with('s')).unwrap_or(last),
    };
    of_collection(collection)
}

/// The kind of the ID in a segment of a path, from the segment before it; `None` if the segment is not an ID.
pub fn of_segment(previous: &str, segment: &str) -> Option<(String, i64)> {
    let is_other = previous.is_empty() || is_id(previous) || WITHOUT_IDS.contains(&previous);
    if !is_id(segment) || is_other {
        return None;
    }
    Some((of_collection(previous), segment.parse().ok()?))
}

/// The objects whose IDs are in a path.
pub fn in_path(path: &str) -> Vec<(String, i64)> {
    let segments: Vec<&str> = path.split('/').collect();
    let pairs = segments.windows(2);
    pairs.filter_map(|pair| of_segment(pair[0], pair[1])).collect()
}

fn is_id(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// The kind of an integer, if it is an ID. `path` is the path of the field, and `parent` the object that contains it.
pub fn of_field(request_kind: &str, path: &[String], parent: Option<&Map<String, Value>>) -> Option<String> {
    let (name, above) = path.split_last()?;
    if is_id(name) {
        let list = above.last()?;
        return ID_LISTS.contains(&list.as_str()).then(|| of_collection(list));
    }
    if name != "id" {
        return name.strip_suffix("_id").map(of_collection);
    }
    let is_container = |segment: &&String| !is_id(segment) && *segment != "data" && *segment != "body";
    match above.iter().rev().find(is_container).map(String::as_str) {
        Some("entity" | "secondary_entity") => {
            let kind = parent?.get("type")?.as_str()?;
            Some(of_collection(kind))
        }
        Some(container) => Some(of_collection(container)),
        None => Some(request_kind.to_owned()),
    }
}

/// Calls `found` with the kind of each ID of a document, and the ID.
pub fn for_each_id(request_kind: &str, document: &Value, found: &mut impl FnMut(String, i64)) {
    walk(request_kind, document, None, &mut vec!["body".to_owned()], found);
}

fn walk(
    request_kind: &str,
    value: &Value,
    parent: Option<&Map<String, Value>>,
    path: &mut Vec<String>,
    found: &mut impl FnMut(String, i64),
) {
    match value {
        Value::Number(number) => {
            if let (Some(kind), Some(id)) = (of_field(request_kind, path, parent), number.as_i64()) {
                found(kind, id);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(index.to_string());
                walk(request_kind, item, None, path, found);
                path.pop();
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                path.push(name.clone());
                walk(request_kind, field, Some(fields), path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_kind_of_an_id_follows_from_its_place() {
        let document = json!({
            "id": 1, "label": "x", "vpc_id": 2, "linode_id": 3, "size": 4, "ports": [80], "linodes": [5],
            "subnets": [{"id": 6, "linodes": [{"id": 7, "interfaces": [{"id": 8, "config_id": 9}]}]}],
            "entity": {"id": 10, "type": "linode"},
        });
        let mut found = Vec::new();
        for_each_id("vpc", &document, &mut |kind, id| {
            found.push(format!("{kind} {id}"))
        });
        assert_eq!(
            found,
            [
                "vpc 1",
                "vpc 2",
                "instance 3",
                "instance 5",
                "subnet 6",
                "instance 7",
                "interface 8",
                "config 9",
                "instance 10",
            ]
        );
        let mut found = Vec::new();
        for_each_id("reply", &json!({"data": [{"id": 1}]}), &mut |kind, id| {
            found.push((kind, id));
        });
        assert_eq!(found, [("reply".to_owned(), 1)]);
    }

    #[test]
    fn the_kind_of_a_path_is_that_of_its_collection() {
        for (path, kind) in [
            ("/v4/vpcs", "vpc"),
            ("/v4/vpcs/5", "vpc"),
            ("/v4/vpcs/5/subnets/6", "subnet"),
            ("/v4/linode/instances/5/boot", "instance"),
            ("/v4/linode/instances/5/clone", "instance"),
            ("/v4/support/tickets/5/replies", "reply"),
            ("/v4/profile", "profile"),
        ] {
            assert_eq!(of_path(path), kind, "{path}");
        }
        assert_eq!(of_segment("vpcs", "5"), Some(("vpc".to_owned(), 5)));
        assert_eq!(of_segment("stats", "2024"), None);
        assert_eq!(of_segment("vpcs", "ips"), None);
    }
}
