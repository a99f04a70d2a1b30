//! Embeds, which authors put on pages of their own. `taintlab_manifest::demo` knows what they say.

use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::demo::{Demo, DemoOptions};
use taintlab_manifest::{Extent, redact_scenario, write_scenario};

use crate::link::LONGEST_LINK;
use crate::session::Session;
use crate::{files, samples};

/// A form of an embed: its name, its purpose, and its text. Where there is no text, the reason
/// stands in place of the purpose.
pub(crate) type Form = (&'static str, String, Option<String>);

/// An embed whose scenario is not packed yet, which the browser does.
#[derive(Debug)]
pub(crate) struct Draft {
    demo: Demo,
    options: DemoOptions,
}

/// The demo that repeats the work of a session and begins at the time of its clock; `page` is the
/// playground's address.
///
/// # Errors
/// No demo can be made; the text says why.
pub(crate) fn draft(session: &Session, page: &str) -> Result<Draft, String> {
    let mut scenario = files::as_scenario(session);
    // An example is named, as long as nothing of it was changed.
    let name = scenario.metadata.name.clone();
    let example = samples::all()
        .find(|(known, _)| *known == name)
        .filter(|(name, text)| files::scenario(name, text).is_ok_and(|it| it == scenario));
    let text = match example {
        Some((_, text)) => text.to_owned(),
        None => {
            if !session.timeline().log.is_empty() {
                scenario.clear_expectations();
            }
            redact_scenario(&mut scenario, Extent::Shown)?;
            write_scenario(&scenario)
        }
    };
    let options = DemoOptions::default();
    let demo = Demo::new(&scenario, &text, &options).map_err(|error| error.to_string())?;
    let mut words = Vec::new();
    if example.is_some() {
        words.push(format!("scenario={name}"));
    }
    let at = session.now().min(demo.end());
    if at > Timestamp::ZERO {
        words.push(format!("start-at={}", Span::from(at)));
    }
    let options = DemoOptions {
        is_example: example.is_some(),
        playground: page.to_owned(),
        ..DemoOptions::parse(&words.join(" "))?
    };
    Ok(Draft { demo, options })
}

impl Draft {
    /// The text to be packed.
    pub(crate) fn text(&self) -> &str {
        self.demo.text()
    }

    /// The picture of the embed, as SVG.
    ///
    /// # Errors
    /// The embed is too large for a picture.
    pub(crate) fn picture(&self) -> Result<String, String> {
        let lanes = self.demo.lanes();
        files::picture_of(lanes, self.demo.title(), "embed", self.options.start_at)
    }

    /// The embed in its forms; `packed` is the [`text`](Self::text), deflated, in base64url.
    ///
    /// # Errors
    /// The HTML cannot be made; the text says why.
    pub(crate) fn forms(&self, packed: &str) -> Result<Vec<Form>, String> {
        let page = &self.options.playground;
        // `cargo xtask site` publishes that folder beside the page.
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        let embed = self.demo.embed(&self.options, &format!("{folder}/embed/"), packed);
        let html = self.demo.html(&self.options, packed).map_err(|error| error.to_string())?;
        let why_not = embed.too_long.map(|why| {
            let mut letters = why.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            let why: String = first.into_iter().chain(letters).collect();
            format!("{why}. Take the fence or the HTML, or send the scenario file.")
        });
        let link = match embed.link.as_ref().map(String::len) {
            None => why_not.clone().unwrap_or_default(),
            Some(length) if length > LONGEST_LINK => format!(
                "For a chat. It has {length} characters: some places cut that off, a scenario \
                 file is safer."
            ),
            Some(_) => "For a chat: it opens this moment in the playground.".to_owned(),
        };
        let frame = match &embed.iframe {
            None => why_not.unwrap_or_default(),
            Some(_) => "For places that take no script.".to_owned(),
        };
        Ok(vec![
            (
                "Fence",
                "For Markdown that a plugin of Taintlab reads: mdBook, Docusaurus, VitePress."
                    .to_owned(),
                Some(embed.fence),
            ),
            (
                "HTML",
                "For any page. What is in it shows without JavaScript.".to_owned(),
                Some(format!("{html}\n{}", embed.head)),
            ),
            ("Frame", frame, embed.iframe),
            ("Link", link, embed.link),
        ])
    }
}

#[cfg(test)]
mod tests {
    use taintlab_core::command::Command;

    use super::*;

    fn texts(draft: &Draft, packed: &str) -> Vec<String> {
        let forms = draft.forms(packed).unwrap().into_iter();
        forms.map(|(name, _, text)| text.unwrap_or_else(|| panic!("no {name}"))).collect()
    }

    fn session() -> Session {
        let name = "why-345-seconds";
        let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
        let mut session = Session::new(files::scenario(name, text).unwrap()).unwrap();
        session.seek(Timestamp::from_secs(40));
        session
    }

    const PAGE: &str = "https://example.com/lab/index.html";

    #[test]
    fn an_example_is_named() {
        let draft = draft(&session(), PAGE).unwrap();
        let texts = texts(&draft, "abc");
        assert_eq!(texts[0], "```taintlab scenario=why-345-seconds start-at=40s\n```");
        let script = "<script src=\"https://example.com/lab/embed/taint-lab.js\" defer></script>";
        assert!(texts[1].contains(script), "{}", texts[1]);
        assert!(texts[1].contains("<taint-lab scenario=\"why-345-seconds\" start-at=\"40s\""));
        assert!(texts[1].contains("<figure class=\"taint-lab\" id=\"taintlab-why-345-seconds\""));
        let frame = "<iframe src=\"https://example.com/lab/embed/frame.html\
            #scenario=why-345-seconds&amp;t=40s\"";
        assert!(texts[2].starts_with(frame), "{}", texts[2]);
        assert_eq!(texts[3], format!("{PAGE}#s=why-345-seconds&release=1.31&t=40s"));
    }

    #[test]
    fn a_changed_example_is_a_scenario_of_its_own() {
        let mut session = session();
        session.apply(vec![Command::RestartControllerManager]).unwrap();
        let draft = draft(&session, PAGE).unwrap();
        let texts = texts(&draft, "abc");
        let yaml = texts[0].strip_prefix("```taintlab start-at=40s\n").unwrap();
        let yaml = yaml.strip_suffix("\n```").unwrap();
        assert_eq!(yaml, draft.text().trim_end());
        let scenario = files::scenario("fence", yaml).unwrap();
        assert!(scenario.steps.len() > 1 && !scenario.bookmarks.is_empty());
        assert!(scenario.expect.is_empty(), "what was expected was expected without the change");
        assert_eq!(texts[3], format!("{PAGE}#d=abc&t=40s"));
    }

    /// 100 nodes and 900 pods, as many as a demo may have, with names of their own.
    #[test]
    fn a_large_cluster_has_a_sentence_in_place_of_a_link() {
        let mut text = String::from(
            "apiVersion: taintlab/v1\nkind: Scenario\nmetadata: {name: large}\nobjects:\n  nodes:\n",
        );
        let mut seed = 1_u64;
        let mut name = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{:016x}", seed)
        };
        let nodes: Vec<String> = (0..100).map(|_| name()).collect();
        for node in &nodes {
            text += &format!("  - {{kind: Node, metadata: {{name: n-{node}}}}}\n");
        }
        text += "  pods:\n";
        for pod in 0..900 {
            let (name, node) = (name(), &nodes[pod % 100]);
            text += &format!(
                "  - {{kind: Pod, metadata: {{name: p-{name}}}, spec: {{nodeName: n-{node}}}}}\n"
            );
        }
        let session = Session::new(files::scenario("large", &text).unwrap()).unwrap();
        let draft = draft(&session, PAGE).unwrap();
        let packed = miniz_oxide::deflate::compress_to_vec(draft.text().as_bytes(), 9);
        let packed = crate::link::text::base64(&packed);
        for (name, said, text) in draft.forms(&packed).unwrap() {
            let is_packed = ["Frame", "Link"].contains(&name);
            assert_eq!(text.is_none(), is_packed, "{name}");
            assert_eq!(said.contains("16384 is the most that opens"), is_packed, "{said}");
        }
    }

    #[test]
    fn no_demo_begins_after_its_end() {
        let mut session = session();
        session.seek(Timestamp::from_secs(4_000));
        let draft = draft(&session, PAGE).unwrap();
        assert_eq!(draft.options.start_at, Some(draft.demo.end()));
        assert!(draft.forms("abc").is_ok());
    }
}
