//! Names that are cut where they are alike.

use yew::prelude::*;

use crate::view_models::names::Shared;

/// A name. Without room for all of it, the parts shared with other names go first, then its middle.
pub(crate) fn cut_name(name: &str, shared: Shared) -> Html {
    html! { <span class="cut">{ name_parts(name, shared) }</span> }
}

/// The parts of a name, in an element of the class `cut`.
pub(crate) fn name_parts(name: &str, shared: Shared) -> Html {
    let classes = ["p", "h", "t", "p"];
    html! {
        { for shared.parts(name).into_iter().zip(classes).filter(|(part, _)| !part.is_empty()).map(
            |(part, class)| html! { <span {class}>{ part }</span> }
        ) }
    }
}
