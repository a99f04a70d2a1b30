//! What an author puts on a page of their own: a fence, HTML, a frame, a link.

use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::write_scenario;

use crate::session::Session;
use crate::{files, samples};

/// A form of an embed: what it is called, what it is for, and the text.
pub(crate) type Form = (&'static str, &'static str, String);

/// The forms in which a session can stand on another page; `link` is its link, if it has one.
pub(crate) fn forms(session: &Session, link: Option<&str>) -> Vec<Form> {
    let scenario = files::as_scenario(session);
    let name = &scenario.metadata.name;
    // An example stands for itself as long as nothing of it was changed.
    let example = samples::all()
        .find(|(known, _)| known == name)
        .and_then(|(name, text)| files::scenario(name, text).ok())
        .is_some_and(|example| example == scenario);
    let at = match session.now() {
        Timestamp::ZERO => None,
        now => Some(Span::from(now).to_string()),
    };
    let start_at = at.as_ref().map(|at| format!(" start-at={at}")).unwrap_or_default();
    let attribute = at.as_ref().map(|at| format!(" start-at=\"{at}\"")).unwrap_or_default();
    let title = match scenario.metadata.title.as_str() {
        "" => "A run of Taintlab".to_owned(),
        title => escape(title),
    };
    let (fence, source) = if example {
        (
            format!("```taintlab scenario={name}{start_at}\n```\n"),
            format!("scenario=\"{name}\" release=\"{}\"", session.simulator().config().release),
        )
    } else {
        (
            format!("````taintlab{start_at}\n{}````\n", write_scenario(&scenario)),
            "src=\"scenario.yaml\"".to_owned(),
        )
    };
    let fallback = link
        .map_or_else(|| title.clone(), |link| format!("<a href=\"{}\">{title}</a>", escape(link)));
    let mut forms = vec![
        (
            "Fence",
            "For Markdown that a plugin of Taintlab reads: mdBook, Docusaurus, VitePress.",
            fence,
        ),
        (
            "HTML",
            if example {
                "For any page. What is in it shows without JavaScript."
            } else {
                "For any page, beside the scenario file (Export, Scenario file)."
            },
            format!(
                "<script type=\"module\">\n  import \"taintlab/embed\";\n</script>\n\
                 <taint-lab {source}{attribute}>{fallback}</taint-lab>\n"
            ),
        ),
    ];
    if let Some(link) = link {
        let link = escape(link);
        forms.push((
            "Frame",
            "For places that take no script: the playground itself.",
            format!(
                "<iframe src=\"{link}\" title=\"{title}\" width=\"100%\" height=\"640\" \
                 loading=\"lazy\"></iframe>\n"
            ),
        ));
        forms.push(("Link", "For Markdown anywhere.", format!("[{title}]({link})\n")));
    }
    forms
}

/// A text in an attribute or between tags of HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use taintlab_core::command::Command;

    use super::*;

    fn session() -> Session {
        let name = "why-345-seconds";
        let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
        let mut session = Session::new(files::scenario(name, text).unwrap()).unwrap();
        session.seek(Timestamp::from_secs(40));
        session
    }

    #[test]
    fn an_example_is_named() {
        let forms = forms(&session(), Some("https://example.com/#s=why-345-seconds&t=40s"));
        let texts: Vec<&str> = forms.iter().map(|(_, _, text)| text.as_str()).collect();
        assert_eq!(texts[0], "```taintlab scenario=why-345-seconds start-at=40s\n```\n");
        let element = "<taint-lab scenario=\"why-345-seconds\" release=\"1.31\" start-at=\"40s\">";
        assert!(texts[1].contains(element), "{}", texts[1]);
        assert!(texts[1].contains("seconds&amp;t=40s"), "{}", texts[1]);
        assert!(texts[2].starts_with("<iframe src=\"https://example.com/#s="), "{}", texts[2]);
        assert!(texts[3].starts_with("[Why 345 seconds and not 300?]("), "{}", texts[3]);
    }

    #[test]
    fn what_was_changed_is_a_scenario_of_its_own() {
        let mut session = session();
        session.apply(vec![Command::RestartControllerManager]).unwrap();
        let forms = forms(&session, None);
        let (_, _, fence) = &forms[0];
        let yaml = fence.strip_prefix("````taintlab start-at=40s\n").unwrap();
        let scenario = files::scenario("fence", yaml.strip_suffix("````\n").unwrap()).unwrap();
        assert!(scenario.steps.len() > 1 && !scenario.bookmarks.is_empty());
        assert!(forms[1].2.contains("src=\"scenario.yaml\""));
        assert_eq!(forms.len(), 2, "no link, no frame");
    }
}
