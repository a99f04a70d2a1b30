//! `conformance [DIR]`: compares the engine with recorded answers of Kubernetes' own code.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use taintlab_tests::conformance::runner::{default_dir, run_dir};

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let dir = args.next().map_or_else(default_dir, PathBuf::from);
    if args.next().is_some() || dir.as_os_str().to_string_lossy().starts_with('-') {
        eprintln!("usage: conformance [DIR]");
        eprintln!();
        eprintln!("DIR holds vector files, NAME.jsonl or NAME.jsonl.gz; its default is the one of");
        eprintln!("this repository, tests/vectors, whose README.md says what the files hold.");
        eprintln!("DIR may also hold traces, or be one: see tests/traces/README.md.");
        return ExitCode::from(2);
    }
    match run_dir(&dir, |text| println!("{text}")) {
        Ok(report) if report.is_success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot read the folder {}: {error}", dir.display());
            ExitCode::FAILURE
        }
    }
}
