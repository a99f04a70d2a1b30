//! The figure that stands for a fence: plain HTML, in one line, that needs no JavaScript.

use taintlab_core::api::PodKey;
use taintlab_core::lanes::Lanes;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::format_duration;
use taintlab_manifest::{SvgOptions, timeline_svg};

use crate::fence::Fence;
use crate::html::{escape, prose};
use crate::run::{Run, rounded, terms};

/// More lanes than these do not fit on a screen.
const MOST_LANES: usize = 30;

/// The figure of a run; `id` is unique in the whole book, as one page may hold all chapters.
///
/// # Errors
/// `start-at` lies after the end of the run, or there is no time budget for that pod.
pub(crate) fn figure(run: &Run, fence: &Fence, id: &str) -> Result<String, String> {
    let simulator = &run.report.simulator;
    let metadata = &run.scenario.metadata;
    let mut html = format!(
        "<figure class=\"taint-lab\" id=\"{id}\" aria-labelledby=\"{id}-title\" \
         data-scenario=\"{}\"",
        escape(&metadata.name)
    );
    if let Some(start_at) = fence.start_at {
        if start_at > simulator.now() {
            let end = simulator.now();
            return Err(format!("start-at={start_at} lies after the end of the run, {end}"));
        }
        html += &format!(" data-start-at=\"{start_at}\"");
    }
    let title = if metadata.title.is_empty() { &metadata.name } else { &metadata.title };
    let release = simulator.config().release;
    html += &format!(
        "><figcaption><strong id=\"{id}-title\">{}</strong> <small>Kubernetes {release}</small>",
        escape(title)
    );
    html += &paragraph("question", &metadata.question);
    html += "</figcaption>";
    let options = SvgOptions { title: title.clone(), id: id.into(), at: fence.start_at };
    html += &lanes(run, &options)?;
    html += &paragraph("answer", &metadata.answer);
    html += &paragraph("outcome", &run.outcome());
    if let Some(pod) = &fence.budget {
        html += &budget(simulator, pod)?;
    }
    html += &events(run);
    html += &expectations(run);
    html += &format!(
        "<details><summary>The scenario as YAML</summary><pre><code class=\"language-yaml\">{}\
         </code></pre></details></figure>",
        escape(run.text.trim_end())
    );
    Ok(html)
}

/// The picture, in one line.
fn lanes(run: &Run, options: &SvgOptions) -> Result<String, String> {
    let lanes = Lanes::of(&run.scenario).map_err(|error| error.to_string())?;
    let svg = timeline_svg(&lanes, options).replace('\n', "&#10;");
    // So many that the style sheet lets them scroll, which must be possible by keyboard.
    let attributes = match lanes.lanes.len() > MOST_LANES {
        true => format!(
            " class=\"lanes tall\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{}-title\"",
            options.id
        ),
        false => " class=\"lanes\"".into(),
    };
    Ok(format!("<div{attributes}>{svg}</div>"))
}

fn paragraph(class: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<p class=\"{class}\">{}</p>", prose(text))
}

fn budget(simulator: &Simulator, pod: &PodKey) -> Result<String, String> {
    let Some(budget) = simulator.time_budget(pod) else {
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
        html += &format!(
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
    Ok(html + "</tbody></table>")
}

fn events(run: &Run) -> String {
    let mut html = String::from(
        "<details><summary>What happens, as a table</summary><table class=\"events\"><thead><tr>\
         <th>time</th><th>what</th></tr></thead><tbody>",
    );
    for row in &run.rows {
        let (class, text) = (if row.is_step { " class=\"step\"" } else { "" }, escape(&row.text));
        let at = format_duration(rounded(row.at.since_zero()));
        html += &format!("<tr{class}><td>{at}</td><td>{text}</td></tr>");
    }
    html + "</tbody></table></details>"
}

fn expectations(run: &Run) -> String {
    let outcomes = &run.report.outcomes;
    let mut html = format!(
        "<details><summary>What was checked when this page was built: {}</summary><ul>",
        outcomes.len()
    );
    for outcome in outcomes {
        html += &format!("<li>{}</li>", escape(&outcome.expectation));
    }
    html + "</ul></details>"
}
