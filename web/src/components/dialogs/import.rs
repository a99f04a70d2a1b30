//! The dialog that imports a text.

use std::rc::Rc;

use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Time;
use taintlab_manifest::{DetectedRelease, Dropped, HOW_TO_GET_COMMAND};
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

use super::object_list::ObjectList;
use crate::components::parts::diagnostics::diagnostics;
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg, Source, maybe};
use crate::test_id::TestId;
use crate::text::{count, size};
use crate::view_models::import_report::{ReadKind, ReadView, Show, State, range_of_line};

/// The longest text to be shown in the text field, in bytes: browsers are slow with long ones.
pub(crate) const SHOWN: usize = 400_000;

/// Properties of [`Import`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ImportProps {
    /// The text or the files to import; may be empty.
    pub(crate) source: Source,
    /// The release that runs now.
    pub(crate) release: KubernetesRelease,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The import dialog: a text, its contents, and the result for each object. The session reads the
/// text; the answer to an earlier text is ignored.
#[component]
pub(crate) fn Import(props: &ImportProps) -> Html {
    let source = use_state(|| props.source.clone());
    let reading = use_state(|| None::<Rc<ReadView>>);
    let keep_all = use_state(|| false);
    let own_release = use_state(|| true);
    let plan = use_state(|| None::<Rc<ReadView>>);
    let excerpt = use_state(|| None::<(u32, Vec<(u32, String)>)>);
    let area = use_node_ref();
    let asked = use_mut_ref(|| 0_u32);
    let dispatch = &props.dispatch;
    let read = {
        let (reading, asked, plan) = (reading.clone(), asked.clone(), plan.clone());
        Callback::from(move |()| {
            let turn = asked.borrow().wrapping_add(1);
            *asked.borrow_mut() = turn;
            plan.set(None);
            let (reading, asked) = (reading.clone(), asked.clone());
            Callback::from(move |read: Rc<ReadView>| {
                if *asked.borrow() == turn {
                    reading.set(Some(read));
                }
            })
        })
    };
    {
        let (read, dispatch, reading, keeps) =
            (read.clone(), dispatch.clone(), reading.clone(), *keep_all);
        use_effect_with((*source).clone(), move |source| {
            let told = read.emit(());
            match source {
                Source::Text(text, _) if text.trim().is_empty() => reading.set(None),
                source => dispatch.emit(Msg::Read(source.clone(), keeps, told)),
            }
        });
    }
    let set_text = {
        let (source, excerpt) = (source.clone(), excerpt.clone());
        Callback::from(move |new: Rc<str>| {
            source.set(Source::Text(new, "text".into()));
            excerpt.set(None);
        })
    };
    let online = {
        let (area, excerpt, dispatch) = (area.clone(), excerpt.clone(), dispatch.clone());
        Callback::from(move |line: u32| match area.cast::<HtmlTextAreaElement>() {
            Some(area) => select_line(&area, line),
            None => {
                let excerpt = excerpt.clone();
                let told = Callback::from(move |lines| excerpt.set(Some((line, lines))));
                dispatch.emit(Msg::Excerpt(line, told));
            }
        })
    };
    let set_keep_all = {
        let (keep_all, dispatch, read) = (keep_all.clone(), dispatch.clone(), read.clone());
        Callback::from(move |keep| {
            keep_all.set(keep);
            dispatch.emit(Msg::ReadAgain(keep, read.emit(())));
        })
    };
    let set_release = {
        let own_release = own_release.clone();
        Callback::from(move |on| own_release.set(on))
    };
    let report = (*reading).as_ref().map(|reading| {
        if let Some(plan) = &*plan {
            return plan_view(plan, &online, dispatch);
        }
        html! {
            <>
                { read_view(reading, &online) }
                if let ReadKind::Objects(detected, nodes, time) = &reading.kind {
                    { cluster_view(detected.as_ref(), *nodes, *time, *own_release, props.release,
                        &set_release) }
                }
                { secrets_view(reading.dropped, *keep_all, &set_keep_all) }
                { objects_view(reading, &online, dispatch) }
            </>
        }
    });
    let set_plan = {
        let plan = plan.clone();
        Callback::from(move |new: Option<Rc<ReadView>>| plan.set(new))
    };
    let buttons = (*reading).as_ref().map(|reading| Buttons {
        reading,
        plan: plan.as_ref(),
        own_release: *own_release,
        set_plan: &set_plan,
        dispatch,
    });
    html! {
        <Modal title="Import" dispatch={dispatch.clone()} width={860}>
            { how_to(dispatch) }
            { text_view(&source, (*excerpt).as_ref(), &area, &set_text) }
            { report }
            { buttons.map(|buttons| buttons.view()) }
        </Modal>
    }
}

fn how_to(dispatch: &Dispatch) -> Html {
    html! {
        <div class="hint stack">
            <div class="row">
                { "Paste what this prints, as YAML or JSON, or a scenario file; or " }
                { file_button(dispatch) }
            </div>
            <div class="row">
                <code class="grow">{ HOW_TO_GET_COMMAND }</code>
                <button
                    class="btn small"
                    onclick={dispatch.reform(|_| Msg::Copy(HOW_TO_GET_COMMAND.into()))}
                >
                    { "Copy" }
                </button>
            </div>
        </div>
    }
}

fn file_button(dispatch: &Dispatch) -> Html {
    let onchange = maybe(dispatch, |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        let list = input.files()?;
        let files: Vec<_> = (0..list.length()).filter_map(|index| list.get(index)).collect();
        (!files.is_empty()).then_some(Msg::Files(files))
    });
    html! {
        <label class="btn small">
            { "open a file" }
            <input class="sr" type="file" multiple={true} accept=".yaml,.yml,.json,.txt"
                {onchange} data-testid={TestId::ImportFile} />
        </label>
    }
}

/// The field for the text; for a long text, an excerpt around the requested line.
fn text_view(
    source: &Source,
    excerpt: Option<&(u32, Vec<(u32, String)>)>,
    area: &NodeRef,
    set: &Callback<Rc<str>>,
) -> Html {
    let (name, length) = match source {
        Source::Text(text, _) if text.len() <= SHOWN => {
            let oninput = set.reform(|event: InputEvent| {
                let area: HtmlTextAreaElement = event.target_unchecked_into();
                area.value().into()
            });
            return html! {
                <textarea class="importtext" ref={area.clone()} {oninput} value={text.to_string()}
                    spellcheck="false" autocomplete="off" wrap="off"
                    aria-label="Manifest or scenario" data-testid={TestId::ImportText}
                    placeholder={"apiVersion: v1\nkind: List\nitems:\n- …"} />
            };
        }
        Source::Text(text, name) => (name, text.len()),
        Source::Files(_, name, length) => (name, *length),
    };
    html! {
        <div class="stack">
            <div class="row hint">
                <span class="grow">
                    { format!("{name}: {}, too large to display", size(length)) }
                </span>
                <button class="btn small" onclick={set.reform(|_| "".into())}>
                    { "Paste another text" }
                </button>
            </div>
            if let Some((line, lines)) = excerpt {
                <pre class="excerpt" tabindex="0" aria-label={format!("Line {line}")}
                    data-testid={TestId::Excerpt}>
                    { for lines.iter().map(|(number, content)| html! {
                        <span class={classes!((number == line).then_some("on"))}>
                            <i>{ *number }</i>{ content }{ "\n" }
                        </span>
                    }) }
                </pre>
            }
        </div>
    }
}

/// Selects a line in a text field, and scrolls it to the middle.
fn select_line(area: &HtmlTextAreaElement, line: u32) {
    let value = area.value();
    let (begin, end) = range_of_line(&value, line);
    // The field can have the focus, and the line is within it.
    let _ = area.focus();
    let _ = area.set_selection_range(begin, end);
    let lines = i32::try_from(value.split('\n').count()).unwrap_or(i32::MAX).max(1);
    let line = i32::try_from(line).unwrap_or(i32::MAX).saturating_sub(1);
    // Lines are not wrapped, so all have the same height.
    let top = area.scroll_height() / lines * line;
    area.set_scroll_top((top - area.client_height() / 2).max(0));
    area.scroll_into_view();
}

/// The objects found, and the errors in the text.
fn read_view(reading: &ReadView, online: &Callback<u32>) -> Html {
    html! {
        <section class="stack" aria-label="What was read">
            <div role="status"><h3 data-testid={TestId::Found}>{ &reading.found }</h3></div>
            { diagnostics(&reading.diagnostics, Some(online)) }
        </section>
    }
}

/// The result for each object.
fn objects_view(reading: &Rc<ReadView>, online: &Callback<u32>, dispatch: &Dispatch) -> Html {
    if reading.counts.get(&Show::All).is_none_or(|all| *all == 0) {
        return Html::default();
    }
    html! {
        <section class="stack" aria-label="Every object">
            <h3>{ "Every object" }</h3>
            <ObjectList reading={reading.clone()} online={online.clone()}
                dispatch={dispatch.clone()} />
        </section>
    }
}

/// The release and the time of the cluster, as far as the text tells them.
fn cluster_view(
    detected: Option<&DetectedRelease>,
    nodes: bool,
    newest: Option<Time>,
    own: bool,
    present: KubernetesRelease,
    set: &Callback<bool>,
) -> Html {
    let onchange = set.reform(|event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        input.checked()
    });
    let clock = newest.map_or_else(
        || {
            "There are no times in the text: the clock begins as usual, and ages are unknown."
                .into()
        },
        |time| format!("The clock begins at {time}, the newest time in the text."),
    );
    html! {
        <section class="stack" aria-label="Release and clock" data-testid={TestId::ImportCluster}>
            <h3>{ "Release and clock" }</h3>
            { match detected {
                Some(detected) => html! {
                    <label class="check">
                        <input type="checkbox" checked={own} {onchange}
                            data-testid={TestId::OwnRelease} />
                        <span>{ release_words(detected) }</span>
                    </label>
                },
                None if !nodes => Html::default(),
                None => html! {
                    <p>{ format!("No node reports a version: Kubernetes {present} stays.") }</p>
                },
            } }
            <p>{ clock }</p>
        </section>
    }
}

fn release_words(detected: &DetectedRelease) -> String {
    format!("Use Kubernetes {}: {detected}", detected.release)
}

/// The data that was dropped, and the choice to keep it.
fn secrets_view(dropped: Dropped, keep_all: bool, set: &Callback<bool>) -> Html {
    if dropped.is_empty() && !keep_all {
        return Html::default();
    }
    let onchange = set.reform(|event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        input.checked()
    });
    html! {
        <section class="stack" aria-label="Secrets" data-testid={TestId::ImportSecrets}>
            <h3>{ "Secrets" }</h3>
            if !keep_all {
                <p>
                    { format!("Only what a simulation reads was kept, so that no secret comes in. \
                               Left out: {dropped}.") }
                </p>
            }
            <label class="check">
                <input type="checkbox" checked={keep_all} {onchange}
                    data-testid={TestId::KeepAll} />
                <span>
                    { "Keep everything, secrets too: it will be in exports and in this browser's \
                       storage" }
                </span>
            </label>
        </section>
    }
}

/// The changes that adding the objects would make.
fn plan_view(plan: &Rc<ReadView>, online: &Callback<u32>, dispatch: &Dispatch) -> Html {
    html! {
        <section class="stack" aria-label="What would be added" data-testid={TestId::ImportPlan}>
            <div role="status"><h3>{ &plan.found }</h3></div>
            <ObjectList reading={plan.clone()} online={online.clone()}
                dispatch={dispatch.clone()} />
        </section>
    }
}

/// The actions for the text that was read.
struct Buttons<'a> {
    reading: &'a ReadView,
    plan: Option<&'a Rc<ReadView>>,
    own_release: bool,
    set_plan: &'a Callback<Option<Rc<ReadView>>>,
    dispatch: &'a Dispatch,
}

impl Buttons<'_> {
    fn view(&self) -> Html {
        html! {
            <div class="actions foot" data-testid={TestId::ImportActions}>
                { match (&self.reading.kind, self.plan) {
                    (ReadKind::Nothing, _) => html! {
                        <button class="btn primary" disabled=true>{ "Replace the cluster" }</button>
                    },
                    (ReadKind::Scenario, _) => {
                        let onclick = self.dispatch.reform(|_| Msg::Replace(true));
                        html! {
                            <button class="btn primary" {onclick}>{ "Load the scenario" }</button>
                        }
                    }
                    (_, None) => self.choose(),
                    (_, Some(plan)) => self.confirm(plan),
                } }
            </div>
        }
    }

    fn choose(&self) -> Html {
        let planned = self.set_plan.reform(Some);
        let onadd = self.dispatch.reform(move |_: MouseEvent| Msg::Plan(planned.clone()));
        let own_release = self.own_release;
        let onreplace = self.dispatch.reform(move |_| Msg::Replace(own_release));
        html! {
            <>
                <button class="btn" onclick={onadd} data-testid={TestId::ImportAdd}>
                    { "Add to the cluster…" }
                </button>
                <button class="btn primary" onclick={onreplace} data-testid={TestId::ImportReplace}>
                    { format!("Replace{}", leaving_out(self.reading)) }
                </button>
            </>
        }
    }

    fn confirm(&self, plan: &ReadView) -> Html {
        let count_of = |state| plan.counts.get(&Show::Only(state)).copied().unwrap_or_default();
        let changes = count_of(State::Created) + count_of(State::Replaced);
        let back = self.set_plan.reform(|_: MouseEvent| None);
        let onadd = self.dispatch.reform(|_| Msg::Add);
        let missing = match plan.missing {
            0 => String::new(),
            missing => format!(", leaving out {missing}"),
        };
        html! {
            <>
                <button class="btn" onclick={back}>{ "Back" }</button>
                <button class="btn primary" disabled={changes == 0} onclick={onadd}
                    data-testid={TestId::ImportAddNow}>
                    { format!("Add {}{missing}", count(changes, "object")) }
                </button>
            </>
        }
    }
}

/// The button's words for a replacement; they always name what it leaves out.
fn leaving_out(reading: &ReadView) -> String {
    let of_text = |d: &taintlab_manifest::Diagnostic| d.is_error() && d.object.is_none();
    let unread = reading.diagnostics.iter().any(of_text);
    match (reading.missing, unread) {
        (0, false) => " the cluster".to_owned(),
        (0, true) => ", leaving out what cannot be read".to_owned(),
        (objects, false) => format!(", leaving out {}", count(objects, "object")),
        (objects, true) => {
            format!(", leaving out {} and what cannot be read", count(objects, "object"))
        }
    }
}
