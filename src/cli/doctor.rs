//! `garth doctor`: finds what an operator should fix in an installation, without changing anything.

mod advice;
mod archive;
mod attachments;
mod files;
mod folder;
mod host;
mod mail;
mod network;
mod store;

use std::process::ExitCode;

use advice::Advice;

use super::output::Output;
use super::settings::Settings;
use super::store_args::StoreArgs;
use super::{environment, serve, server_options};

pub async fn run(args: &StoreArgs, output: Output) -> anyhow::Result<ExitCode> {
    let settings =
        match Settings::from_environment().and_then(|settings| serve::merge_settings(args, settings)) {
            Ok(settings) => settings,
            // Without settings, there is nothing else to examine.
            Err(error) => return report(output, &[invalid_settings(&error)]),
        };
    let invalid = server_options::find_invalid(args, &settings);
    let mut advice: Vec<_> = invalid.iter().map(invalid_settings).collect();
    advice.extend(files::examine(args, &settings));
    advice.extend(attachments::examine(args, &settings).await);
    advice.extend(archive::examine(args, &settings));
    advice.extend(mail::examine(&settings).await);
    advice.extend(host::examine(&settings));
    advice.extend(network::examine(args, &settings));
    advice.extend(store::examine(args, &settings).await);
    report(output, &advice)
}

fn invalid_settings(error: &anyhow::Error) -> Advice {
    // The first line of an error of the command line parser names the setting; the others are about `--help`.
    let text = format!("{error:#}");
    let first_line = text.lines().next().unwrap_or_default();
    let fix = match environment::variable_of(&text) {
        Some(variable) => {
            format!("correct the environment variable {variable}: the server does not start with its value")
        }
        None => "correct the setting: the server does not start with it".to_owned(),
    };
    Advice::new("settings", first_line.trim_start_matches("error: "), fix)
}

fn report(output: Output, advice: &[Advice]) -> anyhow::Result<ExitCode> {
    if advice.is_empty() && !output.json {
        output.text("no problems found")?;
        return Ok(ExitCode::SUCCESS);
    }
    output.many(advice, &["AREA", "PROBLEM", "FIX"], |advice| {
        vec![advice.area.to_owned(), advice.problem.clone(), advice.fix.clone()]
    })?;
    Ok(match advice.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
