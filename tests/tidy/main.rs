//! Checks the claims of ARCHITECTURE.md and the style rules against the source.

mod imports;
mod prose;
mod sources;

use std::fs;
use std::path::Path;
use std::process::Command;

use garth::store::Schema;
use serde_json::Value;
use sources::{root, sources};

/// Lines of code (without comments) that contain one of the words, as `file:line: text`.
fn lines_with(folder: &str, words: &[&str], except: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in sources(folder) {
        if except.contains(&file.as_str()) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if words.iter().any(|word| code.contains(word)) {
                found.push(format!("{file}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    found
}

fn assert_none(claim: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{claim}, but:\n{}", found.join("\n"));
}

#[test]
fn a_layer_imports_only_earlier_layers() {
    let layers = [
        "model",
        "agent_protocol",
        "store",
        "files",
        "rules",
        "uploads",
        "mail",
        "declared",
        "backup",
        "archiving",
        "jobs",
        "web",
        "api",
        "console",
        "test_control",
        "agent",
        "exchange",
        "cli",
    ];
    for (index, layer) in layers.iter().enumerate() {
        // `crate::agent` is also the beginning of `crate::agent_protocol`, which is an earlier layer.
        let later: Vec<String> = layers[index + 1..]
            .iter()
            .flat_map(|layer| [format!("crate::{layer}::"), format!("crate::{layer};")])
            .collect();
        let later: Vec<&str> = later.iter().map(String::as_str).collect();
        assert_none(
            &format!("{layer} uses no later layer"),
            lines_with(layer, &later, &[]),
        );
    }
}

#[test]
fn the_console_does_not_import_the_api() {
    assert_none(
        "api and console are siblings",
        lines_with("console", &["crate::api"], &[]),
    );
}

#[test]
fn the_agent_knows_only_the_protocol() {
    let layers = [
        "store", "files", "rules", "uploads", "backup", "jobs", "web", "api", "console",
    ];
    let layers = layers.map(|layer| format!("crate::{layer}"));
    let layers: Vec<&str> = layers.iter().map(String::as_str).collect();
    assert_none(
        "the agent runs on hosts without a store",
        lines_with("agent", &layers, &[]),
    );
}

#[test]
fn the_model_uses_no_io_clock_or_json() {
    let foreign = [
        "serde",
        "tokio",
        "rusqlite",
        "axum",
        "std::fs",
        "std::io",
        "SystemTime",
        "Timestamp::now",
    ];
    assert_none("the model is pure", lines_with("model", &foreign, &[]));
}

#[test]
fn rules_use_no_http_sql_or_clock() {
    let foreign = [
        "axum",
        "hyper",
        "StatusCode",
        "rusqlite",
        "SELECT ",
        "serde",
        "SystemTime",
        "tokio",
    ];
    assert_none("rules know only transactions", lines_with("rules", &foreign, &[]));
}

#[test]
fn only_the_engines_depend_on_a_database() {
    let dialect = [
        "rusqlite",
        "PRAGMA",
        "pragma",
        "SAVEPOINT",
        "AUTOINCREMENT",
        "sqlite_",
        "BEGIN IMMEDIATE",
        "tokio_postgres",
        "pg_",
        "ISOLATION LEVEL",
        "FOR UPDATE",
        "NOTIFY",
        "::regclass",
    ];
    let found = lines_with("", &dialect, &[]).into_iter();
    let engines = ["store/sqlite/", "store/postgres/"];
    let found = found.filter(|line| !engines.iter().any(|engine| line.starts_with(engine)));
    assert_none("dialect is in the engines' files", found.collect());
}

#[test]
fn sql_is_only_in_the_store_and_status_codes_only_in_web() {
    for layer in [
        "model",
        "rules",
        "uploads",
        "mail",
        "backup",
        "archiving",
        "jobs",
        "web",
        "api",
        "console",
        "test_control",
        "cli",
    ] {
        let sql = ["SELECT ", "INSERT INTO", "UPDATE vpc", "DELETE FROM"];
        assert_none("SQL is in the store", lines_with(layer, &sql, &[]));
    }
    for layer in [
        "model",
        "store",
        "rules",
        "uploads",
        "backup",
        "archiving",
        "jobs",
        "cli",
    ] {
        assert_none(
            "status codes are in web, api and console",
            lines_with(layer, &["StatusCode"], &[]),
        );
    }
}

#[test]
fn api_paths_occur_only_in_api_and_web() {
    for layer in ["model", "store", "rules", "uploads", "backup"] {
        assert_none(
            "paths of the API are in web and api",
            lines_with(layer, &["/v4"], &[]),
        );
    }
}

#[test]
fn every_file_has_a_module_comment_and_no_module_is_a_catch_all() {
    for (file, text) in sources("") {
        assert!(text.starts_with("//!"), "{file} has no module comment");
        let stem = Path::new(&file)
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert!(
            !["utils", "util", "helpers", "common", "misc"].contains(&stem.as_str()),
            "{file}"
        );
    }
}

#[test]
fn licenses_of_all_dependencies_are_allowed() {
    let allowed = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let allowed: toml::Table = allowed.parse().expect("deny.toml is TOML");
    let allowed: Vec<&str> = allowed["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|l| l.as_str())
        .collect();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        metadata.status.success(),
        "{}",
        String::from_utf8_lossy(&metadata.stderr)
    );
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let used: Vec<&Value> = metadata["resolve"]["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|n| &n["id"])
        .collect();
    for package in metadata["packages"].as_array().expect("packages") {
        if !used.contains(&&package["id"]) {
            continue;
        }
        let license = package["license"].as_str().unwrap_or("none");
        assert!(
            is_allowed(license, &allowed),
            "{} has the license {license}",
            package["name"]
        );
        let source = package["source"].as_str();
        assert!(
            source.is_none_or(|source| source.starts_with("registry+")),
            "{} is from {source:?}",
            package["name"]
        );
    }
}

/// `A OR B` is allowed if `A` or `B` is, `A AND B` if both are. No dependency has a more complex expression.
fn is_allowed(license: &str, allowed: &[&str]) -> bool {
    let license = license.replace(['(', ')'], "").replace('/', " OR ");
    let is_allowed = |word: &str| allowed.contains(&word.trim());
    license
        .split(" OR ")
        .any(|either| either.split(" AND ").all(is_allowed))
        || {
            // `(A OR B) AND C`, without the parentheses.
            license
                .split(" AND ")
                .all(|both| both.split(" OR ").any(is_allowed))
        }
}

/// Decision 0025: from migration 11 on, each migration names the version that added it, and only a migration
/// of a new minor version may be breaking. All other migrations only add, so that the previous version can
/// keep running.
#[test]
fn migrations_of_a_patch_release_only_add() {
    for migration in Schema::current().migrations() {
        if migration.number < 11 {
            continue;
        }
        let name = format!("migration {}", migration.number);
        let first = migration.sql.lines().next().unwrap_or_default();
        let since = first
            .strip_prefix("-- Since Garth ")
            .unwrap_or_else(|| panic!("{name} does not start with its version"));
        match since.strip_suffix("; breaking.") {
            Some(version) => {
                assert!(
                    version.ends_with(".0"),
                    "{name} is breaking, but {version} is a patch release"
                );
                let raised = format!("oldest_schema = {};", migration.number);
                assert!(
                    migration.number == 11 || migration.sql.contains(&raised),
                    "{name} is breaking, but does not raise oldest_schema"
                );
            }
            None => assert_none(&format!("{name} only adds"), not_additive(migration.sql)),
        }
    }
}

#[test]
fn breaking_statements_are_not_additive() {
    let additive = "-- Since Garth 0.2.1.
        CREATE TABLE thing (id {identity}, name TEXT NOT NULL);
CREATE UNIQUE INDEX thing_name ON thing (name);
CREATE INDEX vpc_color ON vpc (color);
CREATE INDEX event_status ON event (account, id, status);
DROP INDEX event_account;
ALTER TABLE vpc ADD COLUMN color TEXT;
ALTER TABLE vpc ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
UPDATE vpc SET color = 'blue';
INSERT INTO thing (name) SELECT label FROM vpc;
";
    assert_none("all of it is additive", not_additive(additive));
    for breaking in [
        "DROP TABLE vpc;\n",
        "DROP INDEX vpc_label;\n",
        "DROP INDEX event_account;\n",
        "CREATE INDEX event_status ON event (account, status, id);\nDROP INDEX event_account;\n",
        "ALTER TABLE vpc RENAME TO cloud;\n",
        "ALTER TABLE vpc RENAME COLUMN label TO name;\n",
        "ALTER TABLE vpc DROP COLUMN label;\n",
        "ALTER TABLE vpc ADD COLUMN color TEXT NOT NULL;\n",
        "ALTER TABLE vpc ADD COLUMN color TEXT UNIQUE;\n",
        "ALTER TABLE vpc ADD COLUMN color TEXT CHECK (color <> '');\n",
        "CREATE UNIQUE INDEX vpc_region ON vpc (region);\n",
        "UPDATE vpc SET label = 'other';\n",
        "DELETE FROM vpc;\n",
        "INSERT INTO vpc (label) VALUES ('x');\n",
    ] {
        assert_eq!(not_additive(breaking).len(), 1, "{breaking}");
    }
}

/// The statements of a migration that break an older build.
fn not_additive(sql: &str) -> Vec<String> {
    let lines = sql.lines().filter(|line| !line.trim_start().starts_with("--"));
    let sql = lines.collect::<Vec<_>>().join("\n") + "\n";
    let (mut tables, mut columns, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let indexes = created_indexes(&sql);
    for statement in sql.split(";\n").map(str::trim).filter(|s| !s.is_empty()) {
        let words: Vec<&str> = statement
            .split(|c: char| c.is_whitespace() || c == '(')
            .filter(|word| !word.is_empty())
            .collect();
        let adds = match words.as_slice() {
            ["CREATE", "TABLE", table, ..] => {
                tables.push(*table);
                true
            }
            ["CREATE", "INDEX", ..] => true,
            ["DROP", "INDEX", index] => is_replaced(index, &indexes),
            ["CREATE", "UNIQUE", "INDEX", _, "ON", table, ..] => tables.contains(table),
            ["ALTER", "TABLE", table, "ADD", "COLUMN", column, kind @ ..] => {
                columns.push((*table, *column));
                let required = kind.contains(&"NULL") && !kind.contains(&"DEFAULT");
                let constrained = ["UNIQUE", "CHECK", "REFERENCES", "PRIMARY"];
                !required && !constrained.iter().any(|word| kind.contains(word))
            }
            ["INSERT", "INTO", table, ..] => tables.contains(table),
            ["UPDATE", table, "SET", column, ..] => {
                tables.contains(table) || columns.contains(&(*table, *column))
            }
            _ => false,
        };
        if !adds {
            found.push(statement.to_owned());
        }
    }
    found
}

/// An index that is not unique: its name, its table, and its columns.
type Index<'a> = (&'a str, &'a str, Vec<&'a str>);

fn created_indexes(sql: &str) -> Vec<Index<'_>> {
    let created = sql.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("CREATE INDEX ")?.split_once(" ON ")?;
        let (table, columns) = rest.strip_suffix(");")?.split_once(" (")?;
        Some((name, table, columns.split(", ").collect()))
    });
    created.collect()
}

/// Whether one of the new indexes begins with the columns of the dropped one, so that it serves the same queries.
fn is_replaced(dropped: &str, new: &[Index]) -> bool {
    let schema = Schema::current();
    let migrations = schema.migrations().iter();
    let earlier = migrations.flat_map(|migration| created_indexes(migration.sql));
    let replaces = |(_, table, columns): &Index| {
        new.iter()
            .any(|(_, on, first)| on == table && first.starts_with(columns))
    };
    earlier
        .filter(|(name, ..)| *name == dropped)
        .any(|index| replaces(&index))
}
