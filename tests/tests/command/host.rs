//! A world in memory for the command.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use taintlab_command::{Host, Printed, Program, Tools, run};
use taintlab_words::Style;

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) out: String,
    pub(super) err: String,
    pub(super) code: u8,
}

#[derive(Default)]
struct Memory {
    files: BTreeMap<String, String>,
    out: Mutex<String>,
    err: Mutex<String>,
    tools: Mutex<Option<Arc<dyn Tools>>>,
}

impl Host for Memory {
    fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        let text = self.files.get(file).ok_or("no such file")?;
        Ok(text.clone().into_bytes())
    }

    fn write(&self, _: &str, _: &str) -> Result<(), String> {
        Err("nothing is written here".into())
    }

    fn out(&self, text: &str) {
        *self.out.lock().unwrap() += text;
    }

    fn err(&self, text: &str) {
        *self.err.lock().unwrap() += text;
    }

    fn kubectl(&self, _: &[String]) -> Result<Printed, String> {
        Err("there is no kubectl here".into())
    }

    fn style(&self) -> Style {
        Style::Plain
    }

    fn cores(&self) -> usize {
        2
    }

    fn progress(&self, _: Option<(usize, usize)>) {}

    fn interrupted(&self) -> bool {
        false
    }

    fn serve(&self, tools: Arc<dyn Tools>) -> Result<(), String> {
        *self.tools.lock().unwrap() = Some(tools);
        Ok(())
    }
}

/// The tools of `taintlab mcp` about a file.
pub(super) fn tools(text: &str) -> Arc<dyn Tools> {
    let files = [("cluster.yaml".to_owned(), text.to_owned())];
    let memory = Memory { files: files.into(), ..Memory::default() };
    let words = ["taintlab", "mcp", "cluster.yaml"].map(Into::into);
    assert_eq!(run(&memory, Program::Taintlab, words), 0, "{:?}", memory.err);
    memory.tools.into_inner().unwrap().unwrap()
}

/// Runs a line such as `lint a.yaml` beside these files; words are separated by blanks.
pub(super) fn taintlab(line: &str, files: &[(&str, &str)]) -> Ran {
    taintlab_words(&line.split_whitespace().collect::<Vec<_>>(), files)
}

/// The same with words that may have blanks.
pub(super) fn taintlab_words(words: &[&str], files: &[(&str, &str)]) -> Ran {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let memory = Memory { files: files.collect(), ..Memory::default() };
    let words = ["taintlab"].into_iter().chain(words.iter().copied());
    let code = run(&memory, Program::Taintlab, words.map(Into::into));
    let (out, err) = (memory.out.into_inner().unwrap(), memory.err.into_inner().unwrap());
    Ran { out, err, code }
}
