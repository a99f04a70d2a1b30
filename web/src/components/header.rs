//! The header of the page.

use taintlab_core::release::KubernetesRelease;
use yew::prelude::*;

use crate::components::parts::forms::{Choice, releases};
use crate::components::parts::icon;
use crate::messages::{Dialog, Dispatch, Msg, Source, maybe};
use crate::session::StartChange;
use crate::test_id::TestId;
use crate::theme::Theme;

/// Properties of [`Header`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct HeaderProps {
    /// The Kubernetes release that runs.
    pub(crate) release: KubernetesRelease,
    /// The title of the scenario.
    pub(crate) title: AttrValue,
    /// Whether there is something to undo.
    pub(crate) can_undo: bool,
    /// Whether there is something to redo.
    pub(crate) can_redo: bool,
    /// The theme: light, dark, or as the system.
    pub(crate) theme: Theme,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The header.
#[component]
pub(crate) fn Header(props: &HeaderProps) -> Html {
    let dispatch = &props.dispatch;
    let (theme, picture) = match props.theme {
        Theme::Auto => ("system", icon::auto()),
        Theme::Light => ("light", icon::sun()),
        Theme::Dark => ("dark", icon::moon()),
    };
    html! {
        <header class="top">
            { skip_link(dispatch) }
            <h1 class="brand">{ icon::brand() }<span>{ "Taintlab" }</span></h1>
            <button class="btn" data-testid={TestId::Scenarios}
                onclick={dispatch.reform(|_| Msg::Open(Dialog::Scenarios))}>{ "Scenarios" }</button>
            <span class="title clip" title={props.title.clone()}>{ props.title.clone() }</span>
            <span class="grow"></span>
            { button("Undo (Ctrl Z)", icon::undo(), !props.can_undo, dispatch.reform(|_| Msg::Undo),
                TestId::Undo) }
            { button("Redo (Ctrl Shift Z)", icon::redo(), !props.can_redo,
                dispatch.reform(|_| Msg::Redo),
                TestId::Redo) }
            <span class="sep"></span>
            <button class="btn" data-testid={TestId::Import} title="Import (I)" aria-label="Import"
                onclick={dispatch.reform(|_| Msg::Open(Dialog::Import(Source::empty())))}>
                { icon::import() }<span class="wide">{ "Import" }</span>
            </button>
            <button class="btn report" data-testid={TestId::Report} aria-label="Report"
                title="Report: which failure hurts most, and what would help (R)"
                onclick={dispatch.reform(|_| Msg::Open(Dialog::Report))}>
                { icon::report() }<span class="wide">{ "Report" }</span>
            </button>
            <button class="btn" data-testid={TestId::Export} title="Export (X)" aria-label="Export"
                onclick={dispatch.reform(|_| Msg::Open(Dialog::Export))}>
                { icon::export() }<span class="wide">{ "Export" }</span>
            </button>
            <button class="btn" data-testid={TestId::Share} title="Share a link (H)"
                aria-label="Share" onclick={dispatch.reform(|_| Msg::Open(Dialog::Share))}>
                { icon::link() }<span class="wide">{ "Share" }</span>
            </button>
            <button class="btn" data-testid={TestId::Sessions} title="Sessions kept in this browser"
                aria-label="Sessions" onclick={dispatch.reform(|_| Msg::Sessions)}>
                { icon::sheets() }<span class="wide">{ "Sessions" }</span>
            </button>
            <span class="sep"></span>
            { release_select(props) }
            { button(&format!("Sources for Kubernetes {}", props.release), icon::info(), false,
                dispatch.reform(|_| Msg::Open(Dialog::Release)), TestId::AboutRelease) }
            <button class="btn" data-testid={TestId::Settings} title="Flags of the controllers"
                onclick={dispatch.reform(|_| Msg::Open(Dialog::Settings))}>{ "Flags" }</button>
            { button(&format!("Theme: {theme} (T)"), picture, false,
                dispatch.reform(|_| Msg::NextTheme),
                TestId::Theme) }
            { button("Help (?)", icon::question(), false,
                dispatch.reform(|_| Msg::Open(Dialog::Help)),
                TestId::Help) }
        </header>
    }
}

/// The first stop of the tab key: a link past the header, to the board.
fn skip_link(dispatch: &Dispatch) -> Html {
    let onclick = dispatch.reform(|event: MouseEvent| {
        event.prevent_default();
        Msg::ToBoard
    });
    html! { <a class="skip" href="#board" {onclick}>{ "Skip to the board" }</a> }
}

fn button(
    label: &str,
    picture: Html,
    disabled: bool,
    onclick: Callback<MouseEvent>,
    id: TestId,
) -> Html {
    let label = label.to_owned();
    html! {
        <button class="btn quiet icon" title={label.clone()} aria-label={label} {disabled} {onclick}
            data-testid={id}>{ picture }</button>
    }
}

fn release_select(props: &HeaderProps) -> Html {
    let onchange = maybe(&props.dispatch, |release: String| {
        let release = KubernetesRelease::parse(&release).ok()?;
        Some(Msg::ChangeStart(StartChange::Release(release)))
    });
    let (options, older) = releases();
    html! {
        <label title="The release of Kubernetes whose controllers run">
            <span>{ "Kubernetes" }</span>
            <Choice value={props.release.to_string()} {options} {older} {onchange}
                label="Kubernetes release" testid={TestId::Release} />
        </label>
    }
}
