//! The map in `src/lib.rs` is true: modules import upwards only, the two halves never meet, and
//! `unsafe` and ONNX Runtime stay where they belong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// Files that may hold `unsafe`.
const UNSAFE_FILES: [&str; 2] = ["src/ring/mapping.rs", "src/consumer/assignment.rs"];

/// Only this module may name `ort`.
const ORT_MODULE: &str = "consumer";

/// Children's half and front end's half; neither imports the other.
const CHILDREN: [&str; 3] = ["source", "producer", "consumer"];
const FRONT_END: [&str; 3] = ["session", "report", "gui"];

/// A Rust file as a flat list of its words and punctuation; comments are gone, literals are `"`.
struct Source {
    path: String,
    module: String,
    words: Vec<String>,
}

fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                words.push("{".to_owned());
                flatten(group.stream(), words);
                words.push("}".to_owned());
            }
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Punct(punct) => words.push(punct.as_char().to_string()),
            TokenTree::Literal(_) => words.push("\"".to_owned()),
        }
    }
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("src"), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).expect("UTF-8 source");
            let relative = file.strip_prefix(root).expect("below the root");
            let path = relative.to_str().expect("UTF-8 path").to_owned();
            let first = relative.components().nth(1).expect("below src");
            let module = Path::new(first.as_os_str()).with_extension("");
            let module = module.to_str().expect("UTF-8 path").to_owned();
            let mut words = Vec::new();
            flatten(
                text.parse()
                    .unwrap_or_else(|error| panic!("{path}: {error}")),
                &mut words,
            );
            Source {
                path,
                module,
                words,
            }
        })
        .collect()
}

/// Modules in the order of the table in `src/lib.rs`.
fn table() -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"));
    let text = text.expect("src/lib.rs");
    let modules: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | [`"))
        .filter_map(|line| Some(line.split_once('`')?.0.to_owned()))
        .collect();
    assert!(
        modules.len() > 10,
        "the table of modules in src/lib.rs was not found"
    );
    modules
}

/// Names that follow `crate::` (also inside `crate::{…}`) at `at`, the index of `crate`.
fn imported(words: &[String], at: usize) -> Vec<String> {
    let rest = &words[at + 1..];
    if rest.len() < 3 || rest[0] != ":" || rest[1] != ":" {
        return Vec::new();
    }
    if rest[2] != "{" {
        return vec![rest[2].clone()];
    }
    let mut names = Vec::new();
    let mut depth = 0;
    let mut first = true;
    for word in &rest[2..] {
        match word.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            "," if depth == 1 => first = true,
            name if depth == 1 && first => {
                names.push(name.to_owned());
                first = false;
            }
            _ => {}
        }
    }
    names
}

/// For every module, the modules that it names.
fn imports(sources: &[Source], modules: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        if ["lib", "main"].contains(&source.module.as_str()) {
            continue;
        }
        let edges = graph.entry(source.module.clone()).or_default();
        for (at, word) in source.words.iter().enumerate() {
            let up = word == "crate" || word == "super" && at_top_level(&source.path);
            if up {
                let named = imported(&source.words, at).into_iter();
                edges.extend(named.filter(|name| modules.contains(name) && *name != source.module));
            }
            let climbs = word == "super"
                && source.words.get(at + 3).is_some_and(|next| next == "super")
                && source.words[at + 1] == ":";
            assert!(
                !climbs,
                "{}: `super::super` hides where an import goes; use `crate::`",
                source.path
            );
        }
    }
    graph
}

/// Whether `super` is the crate's root in this file.
fn at_top_level(path: &str) -> bool {
    path.ends_with("/mod.rs") && path.matches('/').count() == 2 || path.matches('/').count() == 1
}

fn reachable(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(module) = open.pop() {
        for next in graph.get(&module).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

#[test]
fn every_module_stands_in_the_table() {
    let modules = table();
    for source in sources() {
        let known =
            ["lib", "main"].contains(&source.module.as_str()) || modules.contains(&source.module);
        assert!(known, "{} is not in the table of src/lib.rs", source.module);
    }
}

#[test]
fn modules_import_only_what_stands_above_them() {
    let modules = table();
    let sources = sources();
    let graph = imports(&sources, &modules);
    assert!(
        graph["session"].contains("protocol"),
        "the imports were not found"
    );
    for (place, module) in modules.iter().enumerate() {
        for imported in reachable(&graph, module) {
            assert!(
                modules[..place].contains(&imported),
                "{module} imports {imported}, which does not stand above it"
            );
        }
    }
}

#[test]
fn the_two_halves_meet_only_in_the_ring_and_the_protocol() {
    let graph = imports(&sources(), &table());
    for (half, other) in [(&CHILDREN[..], &FRONT_END[..]), (&FRONT_END, &CHILDREN)] {
        for module in half {
            let reached = reachable(&graph, module);
            for forbidden in other {
                assert!(
                    !reached.contains(*forbidden),
                    "{module} imports {forbidden}"
                );
            }
        }
    }
}

#[test]
fn unsafe_stands_only_where_the_kernel_and_onnx_runtime_need_it() {
    for source in sources() {
        if !UNSAFE_FILES.contains(&source.path.as_str()) {
            assert!(
                !source.words.iter().any(|word| word == "unsafe"),
                "unsafe in {}",
                source.path
            );
        }
    }
}

#[test]
fn only_the_consumer_names_onnx_runtime() {
    let mut named = false;
    for source in sources() {
        let names_ort = source.words.windows(3).any(|words| {
            (words[0] == "ort" && words[1] == ":" && words[2] == ":")
                || (words[0] == "use" && words[1] == "ort")
        });
        named |= names_ort;
        assert!(
            !names_ort || source.module == ORT_MODULE,
            "{} names ort",
            source.path
        );
    }
    assert!(
        named,
        "the consumer no longer uses ort, or this test cannot see it"
    );
}
