//! `taintlab embed`: a scenario as a demo for somebody's page.

use std::io::Write;

use base64ct::{Base64UrlUnpadded, Encoding};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use taintlab_answers::cluster::Imported;
use taintlab_answers::problem::ProblemCode;
use taintlab_answers::scenario::{Opened, SCENARIO, ScenarioOptions, at};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use taintlab_manifest::demo::{Demo, DemoError, DemoOptions, Embed, scenario_link};
use taintlab_manifest::write_scenario;

use crate::host::Host;
use crate::json;
use crate::line::EmbedLine;
use crate::options::release;
use crate::reading::{files_of, named, read_text, scenario_and_files};
use crate::run::tell;
use crate::stop::{Done, OK, Stop};

const FORMS: [&str; 5] = ["fence", "html", "iframe", "link", "json"];
/// Advice in place of a link that is too long.
const INSTEAD: &str = "publish its files, as --out FOLDER writes them";

struct Made {
    name: String,
    /// Without the script and the style sheet.
    html: String,
    json: String,
    embed: Embed,
}

pub(crate) fn embed(host: &dyn Host, line: &EmbedLine) -> Done<u8> {
    let files = files_of(&line.files, "embed")?;
    let only = line.only.as_deref();
    if let Some(form) = only.filter(|form| !FORMS.contains(form)) {
        let forms = FORMS.join(", ");
        return Err(Stop::usage(format!("--only: expected {forms}, found `{form}`")));
    }
    if files.len() > 1 && line.out.is_none() {
        let why = "several files need --out, the folder into which their recordings go";
        return Err(Stop::usage(format!("embed: {why}")));
    }
    let release = release(line.release.as_ref())?;
    for file in files {
        let made = demo(host, file, line, release)?;
        match (&line.out, only) {
            (Some(folder), _) => save(host, folder, &made)?,
            (None, Some(form)) => print_one(host, &made, form, file)?,
            (None, None) => print(host, &made, file),
        }
    }
    Ok(OK)
}

fn demo(
    host: &dyn Host,
    from: &str,
    line: &EmbedLine,
    release: Option<KubernetesRelease>,
) -> Done<Made> {
    let wrong_fence = |error: String| Stop::usage(format!("--fence: {error}"));
    let options = DemoOptions::parse(&line.fence).map_err(wrong_fence)?;
    let is_example = options.scenario.is_some();
    let options = DemoOptions { is_example, playground: line.playground.clone(), ..options };
    let text = read_text(host, from)?;
    let settings = ScenarioOptions { file: named(from).into(), release, ..Default::default() };
    let (opened, has_files) = scenario_and_files(host, from, &text, &settings);
    let Opened { scenario, file, .. } = opened.map_err(|problems| Stop::problems(&problems))?;
    // A page has no files beside it, the release counts as part of the scenario, and dropped fields
    // must not travel.
    let is_changed = has_files || !file.dropped.is_empty() || release.is_some();
    let text = if is_changed { write_scenario(&scenario) } else { text };
    let problem = |path: &str, message: &str, code: ProblemCode| {
        Stop::problems(&[at(&file, path, message, code)])
    };
    let stop = |error: DemoError| match error {
        DemoError::Scenario(error) => problem(&error.path(), &error.to_string(), SCENARIO),
        DemoError::TooLarge(_) => problem("objects", &error.to_string(), SCENARIO),
        DemoError::Option(error) => wrong_fence(error),
    };
    let made = Demo::new(&scenario, &text, &options).map_err(stop)?;
    let packed = pack(made.text());
    let html = made.html(&options, &packed).map_err(stop)?;
    tell(host, &Imported::of_dropped(&file.dropped), None, "");
    let recording = made.recording();
    Ok(Made {
        name: scenario.metadata.name.clone(),
        html,
        json: json::line(&recording),
        embed: made.embed(&options, &line.base, &packed),
    })
}

/// Form of a text in a link: deflated raw (RFC 1951), in base64url without padding.
pub(crate) fn pack(text: &str) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let _ = encoder.write_all(text.as_bytes());
    Base64UrlUnpadded::encode_string(&encoder.finish().unwrap_or_default())
}

/// The link that opens a scenario in the playground at a moment; a note if the cluster is too large
/// for one.
pub(crate) fn playground_link(
    playground: &str,
    scenario: &Scenario,
    at: Timestamp,
    notes: &mut Vec<String>,
) -> Option<String> {
    let link = scenario_link(playground, &pack(&write_scenario(scenario)), Some(at));
    if link.is_none() {
        notes.push("The cluster is too large for a link: use --scenario".into());
    }
    link
}

impl Made {
    fn form(&self, form: &str) -> Option<String> {
        match form {
            "fence" => Some(self.embed.fence.clone()),
            "html" => Some(format!("{}\n{}", self.html, self.embed.head)),
            "iframe" => self.embed.iframe.clone(),
            "link" => self.embed.link.clone(),
            _ => Some(self.json.clone()),
        }
    }
}

fn print_one(host: &dyn Host, made: &Made, form: &str, file: &str) -> Done<()> {
    let text = made.form(form).ok_or_else(|| {
        let why = made.embed.too_long.as_deref().unwrap_or_default();
        Stop::failed(format!("{}: error: {why}; {INSTEAD}", named(file)))
    })?;
    host.out(&format!("{text}\n"));
    Ok(())
}

fn print(host: &dyn Host, made: &Made, file: &str) {
    let titles = [
        ("A fence, for mdBook, Docusaurus, Astro, VitePress, Hugo and MkDocs", "fence"),
        ("HTML, which needs no JavaScript to be read", "html"),
        ("An iframe, for places that take no script", "iframe"),
        ("A link", "link"),
    ];
    let style = host.style();
    let parts = titles.into_iter().filter_map(|(title, form)| {
        Some(format!("{}\n\n{}\n", style.bold(title), made.form(form)?))
    });
    host.out(&format!("{}\n", parts.collect::<Vec<_>>().join("\n")));
    if let Some(why) = &made.embed.too_long {
        host.err(&format!("{}: {why}; {INSTEAD}\n", named(file)));
    }
}

/// The recording and the HTML, for sites that are built without Taintlab.
fn save(host: &dyn Host, folder: &str, made: &Made) -> Done<()> {
    let Made { name, html, json, .. } = made;
    if name.is_empty() {
        let why = "error: the scenario has no metadata.name, which names the files";
        return Err(Stop::failed(why));
    }
    for (ending, text) in [("json", json.clone()), ("html", format!("{html}\n"))] {
        let file = std::path::Path::new(folder).join(format!("{name}.{ending}"));
        host.write(&file.to_string_lossy(), &text)
            .map_err(|why| Stop::failed(format!("{folder}: error: {why}")))?;
    }
    Ok(())
}
