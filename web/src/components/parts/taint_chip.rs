//! A taint on a card.

use taintlab_core::api::Taint;
use yew::prelude::*;

use super::icon;

/// A taint as a chip: the icon of its effect, and its text.
pub(crate) fn taint_chip(taint: &Taint, short: bool) -> Html {
    let text = if short {
        let key = taint.key.rsplit('/').next().unwrap_or_default();
        if taint.value.is_empty() { key.to_owned() } else { format!("{key}={}", taint.value) }
    } else {
        taint.to_string()
    };
    html! {
        <span class="taint" data-effect={taint.effect.to_string()} title={taint.to_string()}>
            { icon::effect(&taint.effect) }
            <span class="clip">{ text }</span>
        </span>
    }
}
