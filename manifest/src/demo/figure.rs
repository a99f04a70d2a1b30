//! A demo as HTML, in one line.

use std::fmt::Write as _;

use taintlab_core::api::PodKey;
use taintlab_core::time::format_duration;

use super::embed::LONGEST_LINK;
use super::html::{escape, prose};
use super::{Demo, DemoOptions, Run, outcome, rounded, terms};
use crate::svg::{SvgOptions, rows_of, timeline_svg};

/// Lanes that fit on a screen.
const MOST_LANES: usize = 30;

/// The element with its figure and its recording. A `div` surrounds it, since Markdown takes a line
/// that begins with a custom element for text.
///
/// # Errors
/// `start-at` lies after the end of the run, or the pod of `budget` has no time budget.
pub(super) fn html(demo: &Demo, options: &DemoOptions, packed: &str) -> Result<String, String> {
    let run = &demo.written;
    let metadata = &demo.scenario.metadata;
    let mut html =
        format!("<div class=\"taint-lab-demo\"><taint-lab scenario=\"{}\"", escape(&metadata.name));
    if let Some(start_at) = options.start_at {
        let end = run.report.simulator.now();
        if start_at > end {
            return Err(format!("start-at={start_at} lies after the end of the run, {end}"));
        }
        let _ = write!(html, " start-at=\"{start_at}\"");
    }
    for (name, value) in options.attributes.iter().filter(|(name, _)| name != "editable") {
        let _ = write!(html, " {name}=\"{}\"", escape(value));
    }
    if options.is_editable() {
        html += " editable";
    }
    let link = demo.playground_link(options, packed);
    let link = link.filter(|link| options.is_example || link.len() <= LONGEST_LINK);
    if link.is_some() {
        let _ = write!(html, " playground=\"{}\"", escape(&options.playground));
    }
    html += ">";
    html += &figure(demo, run, options, link.as_deref())?;
    let recording = serde_json::to_string(&demo.recording()).map_err(|error| error.to_string())?;
    // `<` could end the script.
    let recording = recording.replace('<', "\\u003c");
    let _ =
        write!(html, "<script type=\"application/json\">{recording}</script></taint-lab></div>");
    Ok(html)
}

/// The figure, which needs no JavaScript.
fn figure(
    demo: &Demo,
    run: &Run,
    options: &DemoOptions,
    link: Option<&str>,
) -> Result<String, String> {
    let metadata = &demo.scenario.metadata;
    let id = id_of(demo, options);
    let title = if metadata.title.is_empty() { &metadata.name } else { &metadata.title };
    let mut html = format!(
        "<figure class=\"taint-lab\" id=\"{id}\" aria-labelledby=\"{id}-title\"><figcaption>\
         <strong id=\"{id}-title\">{}</strong> <small>Kubernetes {}</small>",
        escape(title),
        run.report.simulator.config().release
    );
    html += &paragraph("question", &metadata.question);
    html += "</figcaption>";
    html += &picture(run, title, &id, options);
    html += &open(link);
    if !metadata.answer.is_empty() {
        html += &folded("answer", "The answer", &paragraph("", &metadata.answer));
    }
    html += &paragraph("outcome", &outcome(&run.report.simulator));
    html += &settings(demo);
    html += "<div class=\"notes\">";
    if let Some(pod) = &options.budget {
        html += &budget(run, pod)?;
    }
    html += &events(run, options, &id);
    html += &expectations(run);
    let _ = write!(
        html,
        "<details><summary>YAML</summary><pre><code class=\"language-yaml\">{}\
         </code></pre></details></div></figure>",
        escape(demo.text.trim_end())
    );
    Ok(html)
}

/// The id of the figure.
fn id_of(demo: &Demo, options: &DemoOptions) -> String {
    match (options.id.as_str(), demo.scenario.metadata.name.as_str()) {
        ("", "") => "taintlab-demo".into(),
        ("", name) => format!("taintlab-{}", escape(name)),
        (id, _) => escape(id),
    }
}

/// The line with the link to the playground, or with a command to run instead.
fn open(link: Option<&str>) -> String {
    match link {
        Some(link) => format!(
            "<p class=\"open\"><a href=\"{}\">Open this moment in the playground</a></p>",
            escape(link)
        ),
        None => "<p class=\"open\">Run it yourself: <code>npx taintlab run</code> with the YAML \
                 below.</p>"
            .into(),
    }
}

/// A table of the outcomes, one for each setting of the knobs.
fn settings(demo: &Demo) -> String {
    if demo.knobs.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<details class=\"knobs\"><summary>How it ends with other values</summary><table><thead><tr>",
    );
    for knob in &demo.knobs {
        let _ = write!(html, "<th>{}</th>", escape(&knob.name));
    }
    html += "<th>what becomes of it</th></tr></thead><tbody>";
    for run in demo.runs() {
        html += "<tr>";
        for value in &run.values {
            let _ = write!(html, "<td>{}</td>", escape(value));
        }
        let _ = write!(html, "<td>{}</td></tr>", escape(&outcome(&run.report.simulator)));
    }
    html + "</tbody></table></details>"
}

/// The picture, in one line.
fn picture(run: &Run, title: &str, id: &str, options: &DemoOptions) -> String {
    let at = options.start_at;
    let svg = SvgOptions { title: title.into(), id: id.into(), at, is_bare: true };
    let svg = timeline_svg(&run.lanes, &svg).replace('\n', "&#10;");
    // The style sheet lets this many lanes scroll, which must be possible by keyboard.
    let attributes = match rows_of(&run.lanes).len() > MOST_LANES {
        true => format!(
            " class=\"lanes tall\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}-title\""
        ),
        false => " class=\"lanes\"".into(),
    };
    format!("<div{attributes}>{svg}</div>")
}

fn paragraph(class: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let class = if class.is_empty() { "" } else { &format!(" class=\"{class}\"") };
    format!("<p{class}>{}</p>", prose(text))
}

/// A section that is open in a feed and on paper; on a screen the style sheet closes it until the
/// reader asks.
fn folded(class: &str, summary: &str, html: &str) -> String {
    format!("<details class=\"{class}\" open><summary>{summary}</summary>{html}</details>")
}

fn budget(run: &Run, pod: &PodKey) -> Result<String, String> {
    let simulator = &run.report.simulator;
    let Some(budget) = taintlab_core::simulator::last_time_budget(simulator, pod) else {
        let known: Vec<String> = simulator.evictions().map(|(pod, _)| pod.to_string()).collect();
        let known = known.join(", ");
        return Err(format!("budget={pod}: the pod is not evicted; these are: {known}"));
    };
    let mut html = format!(
        "<table class=\"budget\"><caption>{pod}: {} after {}</caption><thead><tr><th>takes</th>\
         <th>until</th><th>what</th><th>set by</th></tr></thead><tbody>",
        format_duration(budget.rounded_total()),
        budget.counted_from
    );
    for term in terms(&budget) {
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            format_duration(term.rounded_duration()),
            term.end.rounded(),
            escape(&term.text),
            if term.set_by.is_empty() {
                String::new()
            } else {
                format!("<code>{}</code>", escape(&term.set_by))
            }
        );
    }
    Ok(folded("terms", "Time budget", &(html + "</tbody></table>")))
}

fn events(run: &Run, options: &DemoOptions, id: &str) -> String {
    let is_open = options.attributes.iter().any(|(name, value)| name == "view" && value == "log");
    let mut html = format!(
        "<details{}><summary id=\"{id}-log\">What happens</summary><div class=\"panel\" tabindex=\"0\" \
         role=\"region\" aria-labelledby=\"{id}-log\"><table class=\"events\"><thead><tr><th>time</th>\
         <th>what</th></tr></thead><tbody>",
        if is_open { " open" } else { "" }
    );
    for row in &run.rows {
        let (class, text) = (if row.is_step { " class=\"step\"" } else { "" }, escape(&row.text));
        let at = format_duration(rounded(row.at.since_zero()));
        let _ = write!(html, "<tr{class}><td>{at}</td><td>{text}</td></tr>");
    }
    html + "</tbody></table></div></details>"
}

fn expectations(run: &Run) -> String {
    let outcomes = &run.report.outcomes;
    let mut html = format!("<details><summary>Checks: {}</summary><ul>", outcomes.len());
    for outcome in outcomes {
        let _ = write!(html, "<li>{}</li>", escape(&outcome.expectation));
    }
    html + "</ul></details>"
}
