//! The parts of `openapi.yaml` that the pages show: sections, operations, parameters and bodies.

use std::sync::LazyLock;

use serde_json::Value;

const SOURCE: &str = include_str!("../../../openapi.yaml");
const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_saphyr::from_str(SOURCE).expect("a test verifies that openapi.yaml is valid YAML")
});

/// The sections of the reference: the tags of the document, in its order.
pub static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let document: &'static Value = &DOCUMENT;
    list(&document["tags"]).iter().map(Section::of).collect()
});

/// A tag with its operations. Each section is one page.
pub struct Section {
    /// The last part of the URL of the page.
    pub slug: String,
    pub name: &'static str,
    pub description: &'static str,
    pub operations: Vec<DocumentedOperation>,
}

pub struct DocumentedOperation {
    pub id: &'static str,
    /// In capitals.
    pub method: String,
    /// The path from the root of the server.
    pub path: String,
    pub summary: &'static str,
    /// The operation in the document.
    pub details: &'static Value,
    /// The parameters of the path and of the operation.
    pub parameters: Vec<&'static Value>,
}

impl Section {
    fn of(tag: &'static Value) -> Self {
        let name = text(&tag["name"]);
        let belongs = |operation: &DocumentedOperation| {
            list(&operation.details["tags"])
                .first()
                .is_some_and(|tag| text(tag) == name)
        };
        Self {
            slug: name.to_lowercase().replace(' ', "-"),
            name,
            description: text(&tag["description"]),
            operations: operations().filter(belongs).collect(),
        }
    }

    pub fn url(&self) -> String {
        format!("/docs/{}", self.slug)
    }
}

impl DocumentedOperation {
    /// The content types of the body, with their descriptions.
    pub fn bodies(&self) -> impl Iterator<Item = (&'static str, &'static Value)> {
        entries(&resolve(&self.details["requestBody"])["content"])
    }

    /// The example of the body, as JSON.
    pub fn body_example(&self) -> Option<&'static Value> {
        self.bodies().next().and_then(|(_, media)| example(media))
    }

    /// The status and the description of each response.
    pub fn responses(&self) -> impl Iterator<Item = (&'static str, &'static Value)> {
        entries(&self.details["responses"]).map(|(status, response)| (status, resolve(response)))
    }

    pub fn parameters_in(&self, location: &str) -> impl Iterator<Item = &'static Value> {
        let parameters = self.parameters.iter().copied();
        parameters.filter(move |parameter| text(&parameter["in"]) == location)
    }

    /// The path with the examples of its parameters.
    pub fn example_path(&self) -> String {
        let mut path = self.path.clone();
        for parameter in self.parameters_in("path") {
            let placeholder = format!("{{{}}}", text(&parameter["name"]));
            path = path.replace(&placeholder, &plain(&parameter["example"]));
        }
        path
    }

    pub fn requires_token(&self) -> bool {
        !list(&self.details["security"]).is_empty()
    }

    /// The scopes that a token must have.
    pub fn scopes(&self) -> Vec<&'static str> {
        let schemes = list(&self.details["security"]).iter();
        let scopes = schemes.flat_map(entries).map(|(_, scopes)| scopes);
        scopes.flat_map(list).map(text).collect()
    }
}

fn operations() -> impl Iterator<Item = DocumentedOperation> {
    let document: &'static Value = &DOCUMENT;
    entries(&document["paths"]).flat_map(move |(path, item)| {
        let server = item["servers"][0]["url"].as_str();
        let base = server.unwrap_or_else(|| text(&document["servers"][0]["url"]));
        let base = base.trim_end_matches('/');
        METHODS.into_iter().filter_map(move |method| {
            let details = item.get(method)?;
            let parameters = list(&item["parameters"])
                .iter()
                .chain(list(&details["parameters"]));
            Some(DocumentedOperation {
                id: text(&details["operationId"]),
                method: method.to_uppercase(),
                path: format!("{base}{path}"),
                summary: text(&details["summary"]),
                details,
                parameters: parameters.map(resolve).collect(),
            })
        })
    })
}

/// The example of a content type, or the first of its examples.
pub fn example(media: &'static Value) -> Option<&'static Value> {
    let named = entries(&media["examples"])
        .next()
        .map(|(_, example)| &resolve(example)["value"]);
    media.get("example").or(named)
}

/// Follows a reference to a component.
pub fn resolve(value: &'static Value) -> &'static Value {
    let pointer = value["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    pointer
        .and_then(|pointer| DOCUMENT.pointer(pointer))
        .unwrap_or(value)
}

/// A scalar without the quotes of JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}
