//! Writes the first state of the page into a file, for the build.

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let file = env::args_os().nth(1).ok_or_else(|| io::Error::other("no file is given"))?;
    fs::write(file, taintlab_web::sample_picture())
}
