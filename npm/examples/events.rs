//! Runs every scenario of a folder natively and writes its events as the package gives them, to
//! compare them with those of Node and Chromium: `events SCENARIOS OUTPUT`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use taintlab_manifest::{Limits, read_scenario};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(scenarios), Some(output)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: events SCENARIOS OUTPUT");
        return ExitCode::FAILURE;
    };
    match write_all(&scenarios, &output) {
        Ok(number) => {
            println!("{number} scenarios run natively");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(scenarios: &Path, output: &Path) -> Result<usize, String> {
    fs::create_dir_all(output).map_err(|error| error.to_string())?;
    let entries = fs::read_dir(scenarios).map_err(|error| error.to_string())?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut number = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == "yaml")) {
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let mut no_files = |_: &str| Err("a scenario that is compared stands alone".to_owned());
        let file = read_scenario(&text, "", &Limits::default(), &mut no_files);
        let scenario = file.scenario.ok_or_else(|| format!("{} is wrong", path.display()))?;
        let report = scenario.run().map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let to = output.join(format!("{name}.json"));
        fs::write(to, serde_json::to_string(&report.events).map_err(|error| error.to_string())?)
            .map_err(|error| error.to_string())?;
        number += 1;
    }
    Ok(number)
}
