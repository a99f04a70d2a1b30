//! A demo in the forms that fit on an author's page.

use serde::Serialize;
use taintlab_core::time::Timestamp;

use super::html::escape;
use super::{Demo, DemoOptions, rounded};
use crate::svg::rows_of;

/// Height of a frame without its lanes, and of a lane, in pixels: used until the demo in the frame
/// reports its height.
const AROUND: usize = 420;
const LANE: usize = 20;

/// Links with more characters are cut off in some of the places where people paste them.
pub const LONGEST_LINK: usize = 1_900;
/// Greatest number of characters after `#` in a link that the playground opens.
pub const LONGEST_FRAGMENT: usize = 16 * 1024;

/// What an author puts on a page of their own besides the HTML of the demo, or in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct Embed {
    /// Markdown, for sites that are built with a plugin of Taintlab.
    pub fence: String,
    /// What a page with demos as HTML needs once: the script and the style sheet of the element.
    pub head: String,
    /// An `<iframe>`, for places that take no script; absent if the scenario is too long for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub iframe: Option<String>,
    /// A link: to the playground if the options say where it is, else to the page of the frame.
    /// Absent if the scenario is too long for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub link: Option<String>,
    /// Why the iframe or the link is absent, in a sentence; absent if both are there.
    #[serde(rename = "tooLong", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub too_long: Option<String>,
}

impl Demo {
    /// The demo in the forms that fit on an author's page. Frame and link need `base`, the address
    /// of the folder with the element (`taint-lab.js`, `frame.html` and the files that they load),
    /// with `/` at its end. `packed` is [`text`](Self::text), deflated raw (RFC 1951), in base64url
    /// without padding: this crate packs nothing.
    #[must_use]
    pub fn embed(&self, options: &DemoOptions, base: &str, packed: &str) -> Embed {
        let metadata = &self.scenario.metadata;
        let title = if metadata.title.is_empty() { "A run of Taintlab" } else { &metadata.title };
        let lanes = rows_of(self.lanes()).len();
        let words = match options.words.as_str() {
            "" => String::new(),
            words => format!(" {words}"),
        };
        let fence = match options.is_example {
            true => format!("```taintlab{words}\n```"),
            false => self.fence_with_text(&words),
        };
        let at = at(options);
        let mut attributes = String::new();
        for (name, value) in &options.attributes {
            attributes += &format!("&{name}={}", escape_in_fragment(value));
        }
        let what = match options.is_example {
            true => format!("scenario={}", escape_in_fragment(&metadata.name)),
            false => format!("d={packed}"),
        };
        let fragment = format!("{what}{at}{attributes}");
        let frame = opens(&fragment).then(|| format!("{base}frame.html#{fragment}"));
        let link = self.playground_link(options, packed).or_else(|| frame.clone());
        let too_long = format!(
            "the scenario is too long for an iframe or a link: that would have {} characters after \
             its `#`, and {LONGEST_FRAGMENT} is the most that opens",
            fragment.len(),
        );
        let too_long = (frame.is_none() || link.is_none()).then_some(too_long);
        let folder = escape(base);
        Embed {
            fence,
            head: format!(
                "<script src=\"{folder}taint-lab.js\" defer></script>\n\
                 <link rel=\"stylesheet\" href=\"{folder}taint-lab.css\" />"
            ),
            iframe: frame.map(|frame| {
                format!(
                    "<iframe src=\"{}\" title=\"{}\" width=\"100%\" height=\"{}\" \
                     loading=\"lazy\"></iframe>",
                    escape(&frame),
                    escape(title),
                    AROUND + LANE * lanes
                )
            }),
            link,
            too_long,
        }
    }

    /// A link that opens the options' moment in the playground. It exists if the options say where
    /// the playground is, and if the scenario is an example or its packed link is short enough to
    /// open.
    pub(super) fn playground_link(&self, options: &DemoOptions, packed: &str) -> Option<String> {
        let (playground, at) = (&options.playground, at(options));
        match options.is_example {
            _ if playground.is_empty() => None,
            true => {
                let name = escape_in_fragment(&self.scenario.metadata.name);
                let release = self.written.report.simulator.config().release;
                Some(format!("{playground}#s={name}&release={release}{at}"))
            }
            false if packed.is_empty() => None,
            false => scenario_link(playground, packed, options.start_at),
        }
    }

    /// The fence that holds the scenario itself, longer than any fence inside it.
    fn fence_with_text(&self, words: &str) -> String {
        let lines = self.text.lines().map(|line| line.trim_start());
        let longest = lines.map(|line| line.len() - line.trim_start_matches('`').len()).max();
        let ticks = "`".repeat(longest.unwrap_or_default().max(2) + 1);
        format!("{ticks}taintlab{words}\n{}\n{ticks}", self.text.trim_end())
    }
}

/// A link that opens a moment of a scenario in the playground at this address. `packed` is the
/// scenario file, packed as for [`Demo::embed`]. `None` if it is too long to open.
#[must_use]
pub fn scenario_link(playground: &str, packed: &str, at: Option<Timestamp>) -> Option<String> {
    let fragment = format!("d={packed}{}", moment(at));
    opens(&fragment).then(|| format!("{playground}#{fragment}"))
}

const fn opens(fragment: &str) -> bool {
    fragment.len() <= LONGEST_FRAGMENT
}

/// The start of a demo as part of a link.
fn at(options: &DemoOptions) -> String {
    moment(options.start_at)
}

/// A moment as part of a link, to the millisecond; nothing for the beginning.
fn moment(at: Option<Timestamp>) -> String {
    let at = at.filter(|at| *at > Timestamp::ZERO);
    let seconds = |at: Timestamp| rounded(at.since_zero()).as_secs_f64();
    at.map(|at| format!("&t={}s", seconds(at))).unwrap_or_default()
}

/// Escapes a value for the fragment of an address: characters that would end it become `%XX`.
#[must_use]
pub fn escape_in_fragment(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/,=".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped += &format!("%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportOptions, read_scenario};

    const TEXT: &str = "apiVersion: taintlab/v1
kind: Scenario
metadata: {name: own, title: 'One & \"two\"'}
objects:
  nodes: [{kind: Node, metadata: {name: a}}]
  pods: [{kind: Pod, metadata: {name: p}, spec: {nodeName: a}}]
steps:
- at: 10s
  do: {taint: {node: a, taint: {key: x, effect: NoExecute}}}
";

    fn demo(words: &str) -> (Demo, DemoOptions) {
        let read = read_scenario(TEXT, "own.yaml", ImportOptions::default(), &mut |_| {
            Err("no files".to_owned())
        });
        let scenario = read.scenario.unwrap_or_else(|| panic!("{:?}", read.diagnostics));
        let options = DemoOptions::parse(words).unwrap();
        (Demo::new(&scenario, TEXT, &options).unwrap(), options)
    }

    #[test]
    fn a_custom_scenario_is_in_the_fence_and_packed_in_frame_and_link() {
        let (demo, options) = demo("start-at=10s view=log select=pod/default/p");
        let embed = demo.embed(&options, "/embed/", "abc");
        let fence = format!(
            "```taintlab start-at=10s view=log select=pod/default/p\n{}\n```",
            TEXT.trim_end()
        );
        assert_eq!(embed.fence, fence);
        let link = "/embed/frame.html#d=abc&t=10s&view=log&select=pod/default/p";
        assert_eq!(embed.link.as_deref(), Some(link));
        assert_eq!(
            embed.iframe.unwrap(),
            "<iframe src=\"/embed/frame.html#d=abc&amp;t=10s&amp;view=log&amp;\
             select=pod/default/p\" title=\"One &amp; &quot;two&quot;\" width=\"100%\" \
             height=\"460\" loading=\"lazy\"></iframe>"
        );
        let playground = DemoOptions { playground: "https://example.com/".into(), ..options };
        let embed = demo.embed(&playground, "/embed/", "abc");
        assert_eq!(embed.link.as_deref(), Some("https://example.com/#d=abc&t=10s"));
        assert_eq!(embed.too_long, None);
    }

    #[test]
    fn an_example_goes_by_its_name() {
        let (demo, options) = demo("scenario=own");
        let options =
            DemoOptions { is_example: true, playground: "https://example.com/".into(), ..options };
        let embed = demo.embed(&options, "e/", "abc");
        assert_eq!(embed.fence, "```taintlab scenario=own\n```");
        assert!(embed.iframe.unwrap().starts_with("<iframe src=\"e/frame.html#scenario=own\""));
        let link = embed.link.unwrap();
        assert!(link.starts_with("https://example.com/#s=own&release=1."), "{link}");
        assert_eq!(
            embed.head,
            "<script src=\"e/taint-lab.js\" defer></script>\n\
             <link rel=\"stylesheet\" href=\"e/taint-lab.css\" />"
        );
    }

    #[test]
    fn no_link_is_made_that_would_not_open() {
        let (demo, options) = demo("start-at=10s");
        let playground =
            DemoOptions { playground: "https://example.com/".into(), ..options.clone() };
        let most = LONGEST_FRAGMENT - "d=&t=10s".len();
        for options in [options, playground] {
            let fits = demo.embed(&options, "/embed/", &"a".repeat(most));
            let link = fits.link.unwrap();
            assert_eq!(link.split_once('#').unwrap().1.len(), LONGEST_FRAGMENT);
            assert!(fits.iframe.is_some() && fits.too_long.is_none());
            let long = demo.embed(&options, "/embed/", &"a".repeat(most + 1));
            assert_eq!((long.iframe, long.link), (None, None));
            let why = long.too_long.unwrap();
            assert!(why.contains("16385 characters") && why.contains("16384 is the most"), "{why}");
            assert!(long.fence.starts_with("```taintlab start-at=10s\n"));
        }
    }

    #[test]
    fn a_fence_is_longer_than_the_fences_inside_it() {
        let (mut demo, options) = demo("");
        demo.text = "# ````\nkind: Scenario\n  ```` \n".into();
        let embed = demo.embed(&options, "", "");
        assert_eq!(embed.fence, format!("`````taintlab\n{}\n`````", demo.text.trim_end()));
    }
}
