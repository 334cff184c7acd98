//! Runs the tour of the README and compares the output.
//!
//! Only the path of the binary, the port and the times differ from the README.

use std::path::Path;
use std::process::Command;

/// A command and the output that the README shows.
struct Step {
    command: String,
    shown: String,
}

fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            line => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step {
                    command: command.to_owned(),
                    shown: String::new(),
                }),
                (None, Some(step)) => step.shown += &format!("{line}\n"),
                (None, None) => panic!("the tour starts with output: {line}"),
            },
        }
    }
    steps
}

/// Replaces times such as `2026-11-15T02:20:39` with a constant.
fn without_times(text: &str) -> String {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_time = |text: &str| {
        text.is_ascii()
            && [(0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)]
                .iter()
                .all(|(a, b)| digits(&text[*a..*b]))
            && (&text[4..5], &text[7..8], &text[10..11], &text[13..14]) == ("-", "-", "T", ":")
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        match rest.get(..19) {
            Some(time) if is_time(time) => {
                out += "TIME";
                rest = &rest[19..];
            }
            _ => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    out
}

#[test]
fn tour_of_the_readme_prints_the_shown_output() {
    run_tour("");
}

#[test]
fn tour_of_the_readme_works_with_the_limits_of_the_public_service() {
    run_tour("upstream");
}

/// Runs the tour with a profile; "" for none.
fn run_tour(profile: &str) {
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let steps = steps(&readme);
    assert!(steps.len() > 10, "the README has a tour");
    let folder = std::env::temp_dir().join(format!("garth-tour-{profile}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");

    let binaries = Path::new(env!("CARGO_BIN_EXE_garth"))
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    let serve = "garth serve --listen 127.0.0.1:0 >serve.out 2>serve.err & \
                 server=$!; trap 'kill $server; wait $server' EXIT; \
                 for _ in $(seq 300); do grep -q listening serve.out && break; sleep 0.1; done; \
                 address=$(sed -n 's|.*http://\\([0-9.:]*\\) .*|\\1|p' serve.out | head -1)";
    let mut script = String::new();
    for (number, step) in steps.iter().enumerate() {
        let command = step.command.replace("$PWD/target/release", &binaries);
        let command = command
            .replace("garth serve &", serve)
            .replace("127.0.0.1:8080", "$address");
        script += &format!("{command}\necho; echo '=== {number}'\n");
    }
    let ran = Command::new("bash")
        .args(["-c", &script])
        .current_dir(&folder)
        .env_remove("GARTH_BOOTSTRAP_TOKEN")
        .envs((!profile.is_empty()).then_some(("GARTH_PROFILE", profile)))
        .output()
        .expect("bash runs");

    let output = String::from_utf8_lossy(&ran.stdout);
    let mut rest: &str = &output;
    for (number, step) in steps.iter().enumerate() {
        let separator = format!("=== {number}\n");
        let (answer, after) = rest.split_once(&separator).unwrap_or_else(|| {
            panic!(
                "{} failed: {}",
                step.command,
                String::from_utf8_lossy(&ran.stderr)
            )
        });
        rest = after;
        let (answer, shown) = (without_times(answer), without_times(&step.shown));
        assert_eq!(answer.trim(), shown.trim(), "$ {}", step.command);
    }
    let _ = std::fs::remove_dir_all(&folder);
}
