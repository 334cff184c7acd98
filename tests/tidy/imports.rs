//! The import graph of the source files, and its cycles.
//!
//! Names are resolved through the re-exports of `mod.rs` files: `crate::rules::vpcs` is
//! `rules/network/vpcs.rs`, and `crate::web::App` is `web/app.rs`. A `mod.rs` with only declarations is in no
//! cycle.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{code_only, sources};

type Path = Vec<String>;

/// A module with its own file.
#[derive(Default)]
struct Module {
    file: String,
    /// Imported names, with their paths.
    imports: BTreeMap<String, Path>,
    /// Paths of imports without a name (`use a::Trait as _`, `use a::*`).
    unnamed: Vec<Path>,
    /// Names of `pub use` declarations. They count as used only if the code also mentions them.
    exported: BTreeSet<String>,
    /// Paths in the code outside of `use` declarations.
    mentioned: Vec<Path>,
}

struct Crate {
    modules: BTreeMap<Path, Module>,
}

/// The strongly connected components of the import graph.
pub fn cycles() -> Vec<Vec<String>> {
    let files = sources("").into_iter().filter(|(file, _)| file != "main.rs");
    cycles_of(&Crate::read(files))
}

impl Crate {
    fn read(files: impl Iterator<Item = (String, String)>) -> Self {
        let read = |(file, text): (String, String)| {
            let path = path_of(&file);
            (path, Module::read(file, &text))
        };
        Self {
            modules: files.map(read).collect(),
        }
    }

    /// The files that a file uses.
    fn used_by(&self, at: &Path) -> BTreeSet<String> {
        let module = &self.modules[at];
        let mentioned: BTreeSet<&String> = module.mentioned.iter().filter_map(|path| path.first()).collect();
        let imported = module
            .imports
            .iter()
            .filter(|(name, _)| !module.exported.contains(*name) || mentioned.contains(name));
        let paths = imported
            .map(|(_, path)| path)
            .chain(&module.unnamed)
            .chain(module.mentioned.iter().filter(|path| path.len() > 1));
        let files = paths.filter_map(|path| self.file_of(at, path, 0));
        files.filter(|file| *file != module.file).collect()
    }

    /// The file of a path, as seen from a module; `None` for other crates and for a folder as a whole.
    fn file_of(&self, at: &Path, path: &[String], depth: usize) -> Option<String> {
        assert!(depth < 20, "re-exports have a cycle at {at:?} {path:?}");
        let mut here = at.clone();
        for (index, name) in path.iter().enumerate() {
            let mut child = here.clone();
            match name.as_str() {
                "crate" => child.clear(),
                "self" => {}
                "super" => drop(child.pop()),
                name => child.push(name.to_owned()),
            }
            if self.modules.contains_key(&child) {
                here = child;
                continue;
            }
            let module = &self.modules[&here];
            return match module.imports.get(name) {
                // `use anyhow::{self, Context}`: another crate under its own name.
                Some(target) if target.first() == Some(name) => None,
                Some(target) => {
                    let whole: Path = target.iter().chain(&path[index + 1..]).cloned().collect();
                    self.file_of(&here, &whole, depth + 1)
                }
                // The name is an item of that module. The first name of a path may also be another crate or a
                // local name.
                None if index > 0 => Some(module.file.clone()),
                None => None,
            };
        }
        // A path that names only a folder does not count as a use.
        let file = &self.modules[&here].file;
        (!file.ends_with("mod.rs") && !here.is_empty()).then(|| file.clone())
    }
}

fn path_of(file: &str) -> Path {
    let mut path: Path = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if path.last().is_some_and(|last| last == "mod") || path == ["lib"] {
        path.pop();
    }
    path
}

impl Module {
    fn read(file: String, text: &str) -> Self {
        let mut module = Self {
            file,
            ..Self::default()
        };
        let code = code_only(text);
        let tokens = tokens(&code);
        let mut rest = &tokens[..];
        let mut public = false;
        while let Some((first, after)) = rest.split_first() {
            match *first {
                "pub" => public = true,
                "use" => {
                    let end = after
                        .iter()
                        .position(|token| *token == ";")
                        .unwrap_or(after.len());
                    module.add_use(&after[..end], public);
                    rest = &after[end..];
                    continue;
                }
                ";" | "}" | "{" => public = false,
                "mod" => {
                    rest = after.get(1..).unwrap_or_default();
                    continue;
                }
                word if is_name(word) => {
                    let path = path_at(rest);
                    rest = &rest[path.len() * 2 - 1..];
                    module.mentioned.push(path);
                    continue;
                }
                _ => {}
            }
            rest = after;
        }
        module
    }

    fn add_use(&mut self, tree: &[&str], public: bool) {
        let mut leaves = Vec::new();
        use_leaves(&[], tree, &mut leaves);
        for (path, name) in leaves {
            match name {
                Some(name) => {
                    if public {
                        self.exported.insert(name.clone());
                    }
                    self.imports.insert(name, path);
                }
                None => self.unnamed.push(path),
            }
        }
    }
}

/// The paths of a `use` tree, each with the name that it imports.
fn use_leaves(prefix: &[String], tree: &[&str], leaves: &mut Vec<(Path, Option<String>)>) {
    let mut path = prefix.to_vec();
    let mut at = 0;
    while at < tree.len() {
        match tree[at] {
            "{" => {
                return branches(&tree[at + 1..tree.len() - 1], |branch| {
                    use_leaves(&path, branch, leaves)
                });
            }
            "as" => {
                let name = Some(tree[at + 1]).filter(|name| *name != "_");
                leaves.push((path, name.map(str::to_owned)));
                return;
            }
            "*" => return leaves.push((path, None)),
            "::" => {}
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    let name = path.last().cloned();
    leaves.push((path, name));
}

/// Splits at commas outside of inner braces.
fn branches<'a>(tree: &[&'a str], mut each: impl FnMut(&[&'a str])) {
    let (mut depth, mut from) = (0, 0);
    for (index, token) in tree.iter().enumerate() {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 0 => {
                each(&tree[from..index]);
                from = index + 1;
            }
            _ => {}
        }
    }
    if from < tree.len() {
        each(&tree[from..]);
    }
}

/// The path at this position: names joined by `::`.
fn path_at(tokens: &[&str]) -> Path {
    let mut path = vec![tokens[0].to_owned()];
    let mut rest = &tokens[1..];
    while let ["::", name, after @ ..] = rest {
        if !is_name(name) {
            break;
        }
        path.push((*name).to_owned());
        rest = after;
    }
    path
}

fn is_name(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// Names, `::`, and single characters for everything else.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let name = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let length = match name.unwrap_or(rest.len()) {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            length => length,
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn cycles_of(all: &Crate) -> Vec<Vec<String>> {
    let graph: BTreeMap<String, BTreeSet<String>> = all
        .modules
        .iter()
        .map(|(path, module)| (module.file.clone(), all.used_by(path)))
        .collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|file| (file, reachable(&graph, file))).collect();
    let mut found = BTreeSet::new();
    for (file, others) in &reached {
        let circle: Vec<String> = others
            .iter()
            .filter(|other| reached[**other].contains(file))
            .map(|other| (*other).clone())
            .collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// All files reachable from a file.
fn reachable<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &'a String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&String> = graph[from].iter().collect();
    while let Some(file) = next.pop() {
        if seen.insert(file) {
            next.extend(&graph[file]);
        }
    }
    seen
}

#[test]
fn no_import_cycle_has_more_than_two_files() {
    let large: Vec<String> = cycles()
        .into_iter()
        .filter(|circle| circle.len() > 2)
        .map(|circle| format!("{} files: {}", circle.len(), circle.join(", ")))
        .collect();
    assert!(large.is_empty(), "import cycles:\n{}", large.join("\n"));
}

#[test]
fn reexports_are_resolved() {
    let files = [
        ("lib.rs", "pub mod a; pub mod b;"),
        ("a/mod.rs", "mod inner; pub use inner::{one, Two};"),
        ("a/inner/mod.rs", "pub mod one; mod two; pub use two::Two;"),
        ("a/inner/one.rs", "use crate::b; fn f() { b::g() }"),
        ("a/inner/two.rs", "use std::fmt; pub struct Two;"),
        (
            "b.rs",
            "use crate::a::{self, Two as Other}; fn g(_: Other) { a::one::f() } // crate::c",
        ),
    ];
    let all = Crate::read(
        files
            .map(|(file, text)| (file.to_owned(), text.to_owned()))
            .into_iter(),
    );
    let used = all.used_by(&vec!["b".to_owned()]);
    assert_eq!(
        used.into_iter().collect::<Vec<_>>(),
        ["a/inner/one.rs", "a/inner/two.rs"]
    );
    assert_eq!(cycles_of(&all), [["a/inner/one.rs", "b.rs"]]);
}
