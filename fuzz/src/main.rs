//! Runs targets for a time or a number of executions: `cargo xtask fuzz`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use taintlab_fuzz::search::replay;
use taintlab_fuzz::targets::TARGETS;
use taintlab_fuzz::{Limit, Target, search};

/// The command line.
#[derive(Parser)]
#[command(name = "cargo xtask fuzz", about = "Run fuzz targets", version)]
struct Options {
    /// Only this target; may be given several times
    #[arg(long)]
    target: Vec<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Executions of each target, instead of a time
    #[arg(long)]
    executions: Option<u64>,
    /// The number from which all inputs are made
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Run one target once with this input, in hexadecimal digits as a failure prints it
    #[arg(long, requires = "target")]
    replay: Option<String>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether no target fails.
fn run(options: &Options) -> Result<bool, String> {
    let targets = chosen(&options.target)?;
    if let Some(hex) = &options.replay {
        let data = bytes(hex)?;
        targets.iter().for_each(|target| replay(target, &data));
        return Ok(true);
    }
    let limit = match options.executions {
        Some(executions) => Limit::Executions(executions),
        None => Limit::Time(Duration::from_secs(options.seconds)),
    };
    let mut passed = true;
    let mut executions = 0;
    for target in targets {
        match search(target, options.seed, limit) {
            Ok(found) => {
                println!("{:16} {found}", target.name);
                executions += found.executions;
            }
            Err(_) => {
                println!("{:16} FAILED", target.name);
                passed = false;
            }
        }
    }
    println!("{:16} {executions} executions, seed {}", "all", options.seed);
    Ok(passed)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Target>, String> {
    if names.is_empty() {
        return Ok(TARGETS.iter().collect());
    }
    let find = |name: &String| {
        TARGETS.iter().find(|target| target.name == name).ok_or_else(|| {
            let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            format!("there is no target `{name}`; the targets are `{}`", known.join("`, `"))
        })
    };
    names.iter().map(find).collect()
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let digit = |index: usize| hex.get(index..index + 2);
    let byte = |index| digit(index).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    bytes.ok_or_else(|| format!("`{hex}` is no list of bytes, for example `00ff`"))
}
