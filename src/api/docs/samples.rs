//! Samples of each operation: curl, and the published clients that have a function for it.
//!
//! `client_samples.toml` has the commands and functions of the clients. `tests/clients/samples.py` runs all samples with
//! the published packages. The address of the server is inserted for each request, because clients can use different
//! addresses.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::document::{DocumentedOperation, entries, plain, text};

/// Stands for the address of the server in a rendered page. It is a private-use character of Unicode.
pub const ORIGIN: char = '\u{e000}';

const SOURCE: &str = include_str!("client_samples.toml");

static CALLS: LazyLock<BTreeMap<String, ClientCalls>> =
    LazyLock::new(|| toml::from_str(SOURCE).expect("a test verifies that client_samples.toml is valid"));

/// How the published clients call an operation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientCalls {
    /// A command of linode-cli, without its arguments.
    cli: Option<String>,
    /// Statements with the `client` of linode_api4.
    python: Option<String>,
    /// A function of @linode/api-v4. Without arguments, these are the parameters in the path, and the body.
    javascript: Option<String>,
    /// Statements with the `client` of linodego.
    go: Option<String>,
}

/// How to connect each client with this server.
pub fn render_setup() -> Markup {
    let host = format!("{ORIGIN}");
    html! {
        details #clients .setup {
            summary { "Set up curl or a client for this server" }
            p { "The samples read a token from the variable " code { "GARTH_TOKEN" } "." }
            (sample("curl", &format!("export GARTH_TOKEN=…\ncurl {host}/v4/regions")))
            (sample("linode-cli", &format!(
                "export LINODE_CLI_TOKEN=$GARTH_TOKEN LINODE_CLI_API_VERSION=v4\nurl={host}\n\
                 export LINODE_CLI_API_SCHEME=${{url%%:*}} LINODE_CLI_API_HOST=${{url#*://}}"
            )))
            (sample("Python, linode_api4", &format!(
                "import os\nfrom linode_api4 import *\n\n\
                 client = LinodeClient(os.environ[\"GARTH_TOKEN\"], base_url=\"{host}/v4\")"
            )))
            (sample("JavaScript, @linode/api-v4", &format!(
                "import {{ baseRequest, setToken }} from '@linode/api-v4';\n\n\
                 setToken(process.env.GARTH_TOKEN);\n\
                 // The address of the public service is built into the package.\n\
                 baseRequest.interceptors.request.use((c) => ({{ ...c, url: c.url.replace('https://api.linode.com', '{host}') }}));"
            )))
            (sample("Go, linodego", &format!(
                "client := linodego.NewClient(nil)\nclient.SetBaseURL(\"{host}\")\n\
                 client.SetToken(os.Getenv(\"GARTH_TOKEN\"))\nctx := context.Background()"
            )))
        }
    }
}

fn sample(title: &str, code: &str) -> Markup {
    html! { h4 { (title) } pre { (code) } }
}

/// The samples of an operation. The first one is open.
pub fn render(operation: &DocumentedOperation) -> Markup {
    let group = format!("sample-{}", operation.id);
    html! {
        h4 { "Samples" }
        div .samples {
            @for (index, (client, code)) in samples_of(operation).iter().enumerate() {
                details name=(group) open[index == 0] {
                    summary { (client) }
                    pre data-client=(client) { (code) }
                }
            }
        }
    }
}

fn samples_of(operation: &DocumentedOperation) -> Vec<(&'static str, String)> {
    let mut samples = vec![("curl", curl(operation))];
    if let Some(calls) = CALLS.get(operation.id) {
        let cli = calls.cli.as_ref().map(|command| linode_cli(operation, command));
        let javascript = calls.javascript.as_ref().map(|name| javascript(operation, name));
        let trimmed = |text: &String| text.trim_end().to_owned();
        samples.extend(cli.map(|code| ("linode-cli", code)));
        samples.extend(calls.python.as_ref().map(trimmed).map(|code| ("Python", code)));
        samples.extend(javascript.map(|code| ("JavaScript", code)));
        samples.extend(calls.go.as_ref().map(trimmed).map(|code| ("Go", code)));
    }
    samples
}

fn curl(operation: &DocumentedOperation) -> String {
    let required = operation
        .parameters_in("query")
        .filter(|parameter| parameter["required"] == true);
    let mut query = form_urlencoded::Serializer::new(String::new());
    for parameter in required {
        query.append_pair(text(&parameter["name"]), &plain(&parameter["example"]));
    }
    let query = match query.finish() {
        query if query.is_empty() => query,
        query => format!("?{query}"),
    };
    let url = format!("{ORIGIN}{}{query}", operation.example_path());
    let url = if query.is_empty() { url } else { format!("'{url}'") };
    let mut parts = vec![match operation.method.as_str() {
        "GET" => format!("curl {url}"),
        method => format!("curl -X {method} {url}"),
    }];
    if operation.requires_token() {
        parts.push("-H \"Authorization: Bearer $GARTH_TOKEN\"".to_owned());
    }
    if let Some((kind, _)) = operation.bodies().next() {
        let example = operation.body_example().unwrap_or(&Value::Null);
        match kind {
            "application/json" => {
                parts.push("-H 'Content-Type: application/json'".to_owned());
                let body = if example.is_null() {
                    "{}".to_owned()
                } else {
                    json(example)
                };
                parts.push(format!("-d {}", shell_quoted(&body)));
            }
            "multipart/form-data" => {
                let files = entries(example).map(|(name, _)| format!("-F {name}=@example.txt"));
                parts.extend(files);
            }
            _ => {
                let pairs = entries(example).map(|(name, value)| format!("{name}={}", plain(value)));
                parts.extend(pairs.map(|pair| format!("-d {}", shell_quoted(&pair))));
            }
        }
    }
    joined(parts)
}

fn linode_cli(operation: &DocumentedOperation, command: &str) -> String {
    let mut parts = vec![format!("linode-cli {command}")];
    let ids = operation
        .parameters_in("path")
        .map(|parameter| plain(&parameter["example"]));
    for id in ids {
        parts[0] = format!("{} {}", parts[0], shell_quoted(&id));
    }
    if let Some(example) = operation.body_example() {
        add_options(example, "", &mut parts);
    }
    joined(parts)
}

/// The options of linode-cli for the fields of a body: `--ipv4.vpc 10.0.0.2`. Options of lists are repeated.
fn add_options(value: &Value, name: &str, parts: &mut Vec<String>) {
    match value {
        Value::Object(_) => {
            for (field, value) in entries(value) {
                let name = if name.is_empty() {
                    field.to_owned()
                } else {
                    format!("{name}.{field}")
                };
                add_options(value, &name, parts);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_options(item, name, parts)),
        scalar => parts.push(format!("--{name} {}", shell_quoted(&plain(scalar)))),
    }
}

fn javascript(operation: &DocumentedOperation, call: &str) -> String {
    let (name, call) = match call.split_once('(') {
        Some((name, _)) => (name, call.to_owned()),
        None => {
            let ids = operation.parameters_in("path");
            let ids = ids.map(|parameter| parameter["example"].to_string());
            let arguments: Vec<String> = ids.chain(operation.body_example().map(json)).collect();
            (call, format!("{call}({})", arguments.join(", ")))
        }
    };
    format!("import {{ {name} }} from '@linode/api-v4';\n\nconst result = await {call};")
}

/// JSON on one line if it is short.
fn json(value: &Value) -> String {
    const MAX_LINE: usize = 60;
    let line = value.to_string();
    match line.len() {
        ..=MAX_LINE => line,
        _ => serde_json::to_string_pretty(value).unwrap_or(line),
    }
}

/// The parts of a command, on one line if it is short.
fn joined(parts: Vec<String>) -> String {
    const MAX_LINE: usize = 76;
    let line = parts.join(" ");
    match line.len() {
        ..=MAX_LINE if !line.contains('\n') => line,
        _ => parts.join(" \\\n  "),
    }
}

/// Quotes an argument of a shell command, if it needs quotes.
fn shell_quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@,=+".contains(letter);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}
