//! Names the environment variable in the error about a value that comes from it. The errors themselves name only the
//! option or the setting.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

/// Adds the variable to an error about the value of an option.
pub fn explain(mut error: clap::Error, mut command: Command) -> clap::Error {
    command.build();
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(arg) = find_option(&command, option)
        && let Some(variable) = arg.get_env().and_then(|name| name.to_str())
        && is_used(variable, arg.get_long().unwrap_or_default())
    {
        let tip = tip(variable);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Adds the variable to an error about a setting, whose message begins with the name of the setting.
pub fn explain_setting(error: anyhow::Error) -> anyhow::Error {
    match variable_of(&error.to_string()) {
        Some(variable) => anyhow::anyhow!("{error:#}\n{}", tip(&variable)),
        None => error,
    }
}

/// The environment variable of the setting that a message is about. `None` if the value comes from elsewhere.
pub fn variable_of(message: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_' || c == '.';
    let (setting, rest) = message.split_at(message.find(|c| !is_name(c)).unwrap_or(message.len()));
    let variable = format!("GARTH_{}", setting.replace('.', "_").to_uppercase());
    let begins_with_name = rest.starts_with(": ") || rest.starts_with(" (--");
    (begins_with_name && is_used(&variable, &setting.replace(['.', '_'], "-"))).then_some(variable)
}

fn tip(variable: &str) -> String {
    match std::env::var_os(variable) {
        Some(value) if value.is_empty() => {
            format!("the environment variable {variable} is empty: set a value, or unset it")
        }
        _ => format!("the value comes from the environment variable {variable}"),
    }
}

/// The option with this usage, such as `--data <FOLDER>`, of a command or its subcommands.
fn find_option<'a>(command: &'a Command, usage: &str) -> Option<&'a Arg> {
    let mut options = command.get_arguments();
    options.find(|arg| arg.to_string() == usage).or_else(|| {
        let mut commands = command.get_subcommands();
        commands.find_map(|command| find_option(command, usage))
    })
}

/// Whether the variable is set, and the command line does not have the option.
fn is_used(variable: &str, long: &str) -> bool {
    let flag = format!("--{long}");
    let is_flag = |arg: OsString| {
        let arg = arg.to_string_lossy();
        arg == *flag || arg.starts_with(&format!("{flag}="))
    };
    std::env::var_os(variable).is_some() && !std::env::args_os().any(is_flag)
}
