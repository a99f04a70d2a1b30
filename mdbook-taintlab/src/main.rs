//! `mdbook-taintlab`: mdBook runs it as a preprocessor; see the library.

use std::io::{stdin, stdout};
use std::process::ExitCode;

use mdbook_preprocessor::errors::Result;
use mdbook_preprocessor::{Preprocessor, parse_input};
use mdbook_taintlab::Taintlab;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match arguments.as_slice() {
        [] => preprocess(),
        ["supports", renderer] => Taintlab.supports_renderer(renderer),
        _ => {
            eprintln!("usage: mdbook-taintlab [supports RENDERER]\nmdBook gives the book on stdin");
            return ExitCode::from(2);
        }
    };
    match answer {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn preprocess() -> Result<bool> {
    let (context, book) = parse_input(stdin())?;
    serde_json::to_writer(stdout(), &Taintlab.run(&context, book)?)?;
    Ok(true)
}
