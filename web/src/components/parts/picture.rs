//! Pictures of lanes in the page.

use yew::prelude::*;

use crate::browser;

/// A picture as an image: its styles are its own, which the page's policy would forbid.
pub(crate) fn picture(svg: &str) -> Html {
    html! { <img src={browser::picture_address(svg)} alt={words(svg)} /> }
}

/// The picture in words: its `title` and its `desc`.
fn words(svg: &str) -> String {
    let part = |tag: &str| {
        let (_, rest) = svg.split_once(tag)?;
        let (_, rest) = rest.split_once('>')?;
        rest.split_once("</").map(|(text, _)| text)
    };
    let parts: Vec<_> = ["<title", "<desc"].into_iter().filter_map(part).collect();
    let [less, more, quote, and] = ["&lt;", "&gt;", "&quot;", "&amp;"];
    let words = parts.join("\n").replace(less, "<").replace(more, ">").replace(quote, "\"");
    words.replace(and, "&")
}

#[cfg(test)]
mod tests {
    use taintlab_core::lanes::Lanes;
    use taintlab_core::time::Timestamp;
    use taintlab_manifest::{SvgOptions, timeline_svg};

    use super::*;

    #[test]
    fn the_words_are_those_of_the_picture() {
        let title = "Why \"5m\" & not <b>&lt;".to_owned();
        let lanes = Lanes { until: Timestamp::ZERO, forecast_from: None, lanes: Vec::new() };
        let svg = timeline_svg(&lanes, &SvgOptions { title, ..SvgOptions::default() });
        assert_eq!(words(&svg), "Why \"5m\" & not <b>&lt;\n");
    }
}
