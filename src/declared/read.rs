//! Parses a document, and checks everything that does not depend on the store.

use std::collections::HashMap;

use serde_json::Value;

use super::document::{
    Document, Grants, Instance, Interface, InterfaceIpv4, InterfaceIpv6, ObjectGrant, Range, Subnet, User,
    VERSION, Vpc,
};
use super::fault::Fault;
use super::fields::{Object, Reader};
use crate::model::grant::Global;

/// The maximum number of keys and values in a document.
const MAX_NODES: usize = 20_000_000;

/// Parses YAML or JSON. The errors name the line, or the path of the field.
pub fn read(text: &str) -> Result<Document, Vec<Fault>> {
    let budget = serde_saphyr::budget! {
        max_nodes: MAX_NODES,
        max_events: 3 * MAX_NODES,
    };
    let options = serde_saphyr::options! {
        budget: budget,
        strict_booleans: true,
        with_snippet: false,
    };
    let value: Value = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| vec![Fault::new("", in_own_words(&error.to_string()))])?;
    let mut reader = Reader::default();
    let document = read_document(&mut reader, &value);
    match document {
        Some(document) if reader.faults.is_empty() => Ok(document),
        _ => Err(reader.faults),
    }
}

/// An error of the parser, without advice about the options of its library.
fn in_own_words(error: &str) -> String {
    const ADVICE: &str = ", set DuplicateKeyPolicy in Options if acceptable";
    let error = error
        .replace(ADVICE, "")
        .replace("duplicate mapping key", "a key is used twice");
    format!("not valid YAML or JSON: {error}")
}

fn read_document(reader: &mut Reader, value: &Value) -> Option<Document> {
    let object = reader.object(String::new(), value, &["version", "vpcs", "instances", "users"])?;
    let version = reader.integer(&object, "version").unwrap_or(VERSION);
    if version != VERSION {
        reader.refuse(
            "version",
            format!("must be {VERSION}, the version of this format"),
        );
    }
    let document = Document {
        version,
        vpcs: reader.list(&object, "vpcs", read_vpc),
        instances: reader.list(&object, "instances", read_instance),
        users: reader.list(&object, "users", read_user),
    };
    let labels = |vpc: &Vpc| vpc.label.clone();
    refuse_repeated(
        reader,
        "vpcs",
        "label",
        document.vpcs.iter().flatten().map(labels),
    );
    let labels = |instance: &Instance| instance.label.clone();
    let instances = document.instances.iter().flatten().map(labels);
    refuse_repeated(reader, "instances", "label", instances);
    let names = document.users.iter().flatten().map(|user| user.username.clone());
    refuse_repeated(reader, "users", "username", names);
    Some(document)
}

/// Refuses a label or name that an earlier item of the list has.
fn refuse_repeated(reader: &mut Reader, path: &str, key: &str, names: impl Iterator<Item = String>) {
    let mut first: HashMap<String, usize> = HashMap::new();
    for (at, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        match first.get(&name.to_ascii_lowercase()) {
            Some(earlier) => reader.refuse(
                format!("{path}[{at}].{key}"),
                format!("{name} is already at {path}[{earlier}]"),
            ),
            None => drop(first.insert(name.to_ascii_lowercase(), at)),
        }
    }
}

fn read_vpc(reader: &mut Reader, path: String, value: &Value) -> Option<Vpc> {
    let keys = ["label", "region", "description", "ipv6", "subnets"];
    let object = reader.object(path, value, &keys)?;
    let vpc = Vpc {
        label: reader.required_text(&object, "label"),
        region: reader.required_text(&object, "region"),
        description: reader.text(&object, "description"),
        ipv6: read_range(reader, &object),
        subnets: reader.list(&object, "subnets", read_subnet),
    };
    let labels = vpc.subnets.iter().flatten().map(|subnet| subnet.label.clone());
    refuse_repeated(reader, &object.path("subnets"), "label", labels);
    Some(vpc)
}

fn read_subnet(reader: &mut Reader, path: String, value: &Value) -> Option<Subnet> {
    let object = reader.object(path, value, &["label", "ipv4", "ipv6"])?;
    Some(Subnet {
        label: reader.required_text(&object, "label"),
        ipv4: reader.required_text(&object, "ipv4"),
        ipv6: read_range(reader, &object),
    })
}

/// The field `ipv6` of a VPC or subnet: a list with at most one range.
fn read_range(reader: &mut Reader, object: &Object) -> Option<Vec<Range>> {
    let ranges = read_ranges(reader, object, "ipv6")?;
    if ranges.len() > 1 {
        reader.refuse(object.path("ipv6"), "must have at most one element");
    }
    Some(ranges)
}

fn read_ranges(reader: &mut Reader, object: &Object, name: &str) -> Option<Vec<Range>> {
    reader.list(object, name, |reader, path, value| {
        let object = reader.object(path, value, &["range"])?;
        let range = reader.text(&object, "range");
        Some(Range {
            range: range.unwrap_or_else(|| "auto".to_owned()),
        })
    })
}

fn read_instance(reader: &mut Reader, path: String, value: &Value) -> Option<Instance> {
    let keys = ["label", "region", "type", "image", "tags", "interfaces"];
    let object = reader.object(path, value, &keys)?;
    Some(Instance {
        label: reader.required_text(&object, "label"),
        region: reader.required_text(&object, "region"),
        plan: reader.required_text(&object, "type"),
        image: reader.text(&object, "image"),
        tags: reader.texts(&object, "tags"),
        interfaces: reader.list(&object, "interfaces", read_interface),
    })
}

fn read_interface(reader: &mut Reader, path: String, value: &Value) -> Option<Interface> {
    let keys = [
        "purpose",
        "primary",
        "label",
        "ipam_address",
        "vpc",
        "subnet",
        "ipv4",
        "ip_ranges",
        "ipv6",
    ];
    let object = reader.object(path, value, &keys)?;
    let interface = Interface {
        purpose: reader.required_text(&object, "purpose"),
        primary: reader.boolean(&object, "primary").unwrap_or(false),
        label: reader.text(&object, "label"),
        ipam_address: reader.text(&object, "ipam_address"),
        vpc: reader.text(&object, "vpc"),
        subnet: reader.text(&object, "subnet"),
        ipv4: reader.within(&object, "ipv4", |reader, path, value| {
            let object = reader.object(path, value, &["vpc", "nat_1_1"])?;
            Some(InterfaceIpv4 {
                vpc: reader.text(&object, "vpc"),
                nat_1_1: reader.text(&object, "nat_1_1"),
            })
        }),
        ip_ranges: reader.texts(&object, "ip_ranges").unwrap_or_default(),
        ipv6: reader.within(&object, "ipv6", |reader, path, value| {
            let object = reader.object(path, value, &["slaac", "ranges", "is_public"])?;
            Some(InterfaceIpv6 {
                slaac: read_ranges(reader, &object, "slaac"),
                ranges: read_ranges(reader, &object, "ranges"),
                is_public: reader.boolean(&object, "is_public"),
            })
        }),
    };
    if interface.vpc.is_some() != interface.subnet.is_some() {
        let name = if interface.vpc.is_some() { "subnet" } else { "vpc" };
        reader.refuse(
            object.path(name),
            "is required: an interface in a VPC has both vpc and subnet",
        );
    }
    Some(interface)
}

fn read_user(reader: &mut Reader, path: String, value: &Value) -> Option<User> {
    let object = reader.object(path, value, &["username", "email", "restricted", "grants"])?;
    let user = User {
        username: reader.required_text(&object, "username"),
        email: reader.required_text(&object, "email"),
        restricted: reader.boolean(&object, "restricted"),
        grants: reader.within(&object, "grants", read_grants),
    };
    if user.restricted == Some(false) && user.grants.is_some() {
        reader.refuse(object.path("grants"), UNRESTRICTED);
    }
    Some(user)
}

pub const UNRESTRICTED: &str = "an unrestricted user has no grants: remove them, or set restricted: true";

fn read_grants(reader: &mut Reader, path: String, value: &Value) -> Option<Grants> {
    let object = reader.object(path, value, &["account_access", "global", "vpcs", "instances"])?;
    let mut list = |name: &str| {
        let grants = reader.list(&object, name, read_object_grant).unwrap_or_default();
        let labels = grants.iter().map(|grant: &ObjectGrant| grant.label.clone());
        refuse_repeated(reader, &object.path(name), "label", labels);
        grants
    };
    let (vpcs, instances) = (list("vpcs"), list("instances"));
    let global = reader.texts(&object, "global").unwrap_or_default();
    for (at, word) in global.iter().enumerate() {
        if let Err(reasons) = Global::parse(word) {
            for reason in reasons {
                reader.refuse(object.path(&format!("global[{at}]")), reason.text);
            }
        }
    }
    Some(Grants {
        account_access: reader.text(&object, "account_access"),
        global,
        vpcs,
        instances,
    })
}

fn read_object_grant(reader: &mut Reader, path: String, value: &Value) -> Option<ObjectGrant> {
    let object = reader.object(path, value, &["label", "permissions"])?;
    Some(ObjectGrant {
        label: reader.required_text(&object, "label"),
        permissions: reader.required_text(&object, "permissions"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let faults = read(text).expect_err(text);
        faults.iter().map(Fault::to_string).collect()
    }

    #[test]
    fn yaml_and_json_have_the_same_content() {
        let yaml =
            "vpcs:\n- label: core\n  region: us-east\n  description: 😀\n  subnets: []\ninstances: null\n";
        let json = r#"{"vpcs": [{"label": "core", "region": "us-east", "description": "\ud83d\ude00", "subnets": []}]}"#;
        let document = read(yaml).expect("the document is valid");
        assert_eq!(document.vpcs.as_ref().map(Vec::len), Some(1));
        assert_eq!((document.version, &document.instances), (1, &None));
        assert_eq!(read(json), Ok(document));
    }

    #[test]
    fn all_errors_are_listed_with_their_paths() {
        let text = "
version: 2
vpc: []
vpcs:
- label: 12
  region: us-east
  subnets:
  - lable: web
    ipv4: 10.0.0.0/24
  - 7
- label: core
- {label: Core, region: us-east}
users:
- {username: ada, email: ada@example.com, restricted: false, grants: {}}
instances: {}
";
        assert_eq!(
            faults(text),
            [
                "vpc: unknown key; did you mean vpcs?",
                "version: must be 1, the version of this format",
                "vpcs[0].label: must be a string: write \"12\"",
                "vpcs[0].subnets[0].lable: unknown key; did you mean label?",
                "vpcs[0].subnets[0].label: is required",
                "vpcs[0].subnets[1]: must be an object with the keys label, ipv4, ipv6",
                "vpcs[1].region: is required",
                "instances: must be a list",
                "users[0].grants: an unrestricted user has no grants: remove them, or set restricted: true",
                "vpcs[2].label: Core is already at vpcs[1]",
            ]
        );
    }

    #[test]
    fn text_that_is_not_yaml_is_refused_with_its_line() {
        for text in ["vpcs:\n  - a\n b", "vpcs: []\nvpcs: []\n", "{\"vpcs\": ["] {
            let faults = faults(text);
            assert!(
                faults.len() == 1
                    && faults[0].contains("not valid YAML or JSON")
                    && faults[0].contains("line"),
                "{text}: {faults:?}"
            );
        }
        assert_eq!(
            faults("just text"),
            ["must be an object with the keys version, vpcs, instances, users"]
        );
    }
}
