//! Two runs side by side: the choice of runs, the moment where they part, and the cost of each.

use std::rc::Rc;

use taintlab_core::lanes::LaneSubject;
use taintlab_core::lanes::comparison::Divergence;
use taintlab_core::release::KubernetesRelease;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use crate::components::lanes::legend;
use crate::components::lanes::rows::bars;
use crate::components::parts::copy::copy;
use crate::components::parts::forms::{Choice, TextField, error_list, releases};
use crate::components::parts::modal::Modal;
use crate::components::parts::name::cut_name;
use crate::components::parts::style::style;
use crate::messages::{Dispatch, Msg};
use crate::protocol::BranchView;
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::lanes::selection_of;
use crate::view_models::names::Shared;
use crate::view_models::runs::{CompareWith, Compared, Side};

/// The example in an empty field for flags.
const FLAGS: &str = "--node-monitor-grace-period=20s\n--feature-gates=Name=true";

/// Properties of [`Compare`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CompareProps {
    /// The release that runs.
    pub(crate) release: KubernetesRelease,
    /// The present branch.
    pub(crate) here: u32,
    /// All branches, the present one among them.
    pub(crate) branches: Vec<BranchView>,
    /// The comparison that was made last.
    pub(crate) compared: Option<Rc<Compared>>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The input for one side; an empty field changes nothing.
#[derive(Clone, Default, PartialEq)]
struct Form {
    branch: String,
    release: String,
    seconds: String,
    flags: String,
}

impl Form {
    /// Both sides as the dialog opens. With branches, A is the one that was forked, B the fork: the
    /// present branch beside its parent, or the first one beside the newest of the others.
    fn pair(here: u32, branches: &[BranchView]) -> [Self; 2] {
        let others = branches.iter().filter(|branch| branch.id != here);
        let Some(newest) = others.map(|branch| branch.id).max() else { return Default::default() };
        let present = branches.iter().find(|branch| branch.id == here);
        let pair = present.and_then(|branch| branch.parent).map_or([here, newest], |it| [it, here]);
        pair.map(|id| Self { branch: id.to_string(), ..Self::default() })
    }

    fn read(&self) -> Result<Side, String> {
        let seconds = match self.seconds.trim() {
            "" => None,
            seconds => Some(seconds.parse().map_err(|_| {
                "tolerationSeconds must be a whole number of seconds, such as 60".to_owned()
            })?),
        };
        Ok(Side {
            branch: self.branch.parse().ok(),
            release: KubernetesRelease::parse(&self.release).ok(),
            flags: Side::read_flags(&self.flags)?,
            toleration_seconds: seconds,
        })
    }
}

/// The dialog that compares two runs.
#[component]
pub(crate) fn Compare(props: &CompareProps) -> Html {
    let error = use_state(|| None::<AttrValue>);
    let forms = use_state(|| Form::pair(props.here, &props.branches));
    let compare = {
        let (dispatch, error) = (props.dispatch.clone(), error.clone());
        Callback::from(move |[a, b]: [Form; 2]| {
            error.set(None);
            let error = error.clone();
            let failed = Callback::from(move |text: String| error.set(Some(text.into())));
            let read =
                |name: &str, form: &Form| form.read().map_err(|why| format!("{name}: {why}"));
            match (read("A", &a), read("B", &b)) {
                (Ok(a), Ok(b)) => {
                    dispatch.emit(Msg::Compare(CompareWith { sides: [a, b] }, failed));
                }
                (Err(why), _) | (_, Err(why)) => failed.emit(why),
            }
        })
    };
    // Two branches are compared as soon as the dialog opens.
    {
        let (forms, compare) = (forms.clone(), compare.clone());
        let forked = props.branches.len() > 1;
        use_effect_with((), move |()| {
            if forked {
                compare.emit((*forms).clone());
            }
        });
    }
    // A choice is compared immediately, typed text when the form is submitted.
    let change = |side: usize, at_once: bool, set: fn(&mut Form, String)| {
        let (forms, compare) = (forms.clone(), compare.clone());
        Callback::from(move |text: String| {
            let mut new = (*forms).clone();
            if let Some(form) = new.get_mut(side) {
                set(form, text);
            }
            forms.set(new.clone());
            if at_once {
                compare.emit(new);
            }
        })
    };
    let onsubmit = {
        let (forms, compare) = (forms.clone(), compare.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            compare.emit((*forms).clone());
        })
    };
    let choices = |as_it_is: String, values: Vec<(AttrValue, AttrValue)>| {
        let none = [(AttrValue::from(""), AttrValue::from(as_it_is))];
        none.into_iter().chain(values).collect::<Vec<_>>()
    };
    let side = |index: usize, name: &'static str, form: &Form| {
        let branches = props.branches.iter().map(|it| {
            let here = if it.id == props.here { " (here)" } else { "" };
            (it.id.to_string().into(), format!("{}{here}", it.name).into())
        });
        let (releases, older) = releases();
        let onflags = change(index, false, |form, text| form.flags = text);
        let onflags = onflags.reform(|event: InputEvent| {
            event.target_unchecked_into::<HtmlTextAreaElement>().value()
        });
        html! {
            <fieldset class="side">
                <legend><b>{ name }</b></legend>
                if props.branches.len() > 1 {
                    <label class="field"><span>{ "Branch" }</span>
                        <Choice value={form.branch.clone()} label={format!("Branch of {name}")}
                            options={branches.collect::<Vec<_>>()}
                            onchange={change(index, true, |form, text| form.branch = text)} />
                    </label>
                }
                <label class="field"><span>{ "Kubernetes" }</span>
                    <Choice value={form.release.clone()} label={format!("Release of {name}")}
                        options={choices(
                            format!("{}, as it is", props.release),
                            releases,
                        )} {older}
                        onchange={change(index, true, |form, text| form.release = text)} />
                </label>
                <TextField label="tolerationSeconds" value={form.seconds.clone()}
                    placeholder="as it is"
                    oninput={change(index, false, |form, text| form.seconds = text)} />
                <label class="field wide"><span>{ "Flags of kube-controller-manager" }</span>
                    <textarea class="mono" rows="2" spellcheck="false" autocapitalize="off"
                        placeholder={FLAGS} value={form.flags.clone()}
                        oninput={onflags} />
                </label>
            </fieldset>
        }
    };
    let [a, b] = &*forms;
    html! {
        <Modal title="Compare" dispatch={props.dispatch.clone()} width={1080}>
            <form class="comparewith" {onsubmit} data-testid={TestId::CompareWith}>
                { side(0, "A", a) }
                { side(1, "B", b) }
                <div class="row"><button class="btn primary">{ "Compare" }</button></div>
            </form>
            { error_list(&error.iter().cloned().collect::<Vec<_>>()) }
            if let Some(compared) = &props.compared { { result(compared, &props.dispatch) } }
        </Modal>
    }
}

/// The axis above the lanes, with a button where the runs part.
fn axis(compared: &Compared, dispatch: &Dispatch) -> Html {
    let parting = compared.comparison.divergence.as_ref().zip(compared.parts_at);
    html! {
        <div class="pair paxis">
            <span></span>
            <span class="ptracks">
                { for compared.ticks.iter().map(|(place, text)| html! {
                    <span aria-hidden="true" ~style={style(format!("left:{place:.3}%"))}>{ text }</span>
                }) }
                if let Some((divergence, place)) = parting {
                    <button class="lflag" ~style={style(format!("left:{place:.3}%"))}
                        title={format!("{}: go there", divergence.text)}
                        data-testid={TestId::ComparePart}
                        onclick={go_to(divergence, dispatch)}>
                        { format!("diverge at {}", at(divergence.at)) }
                    </button>
                }
            </span>
        </div>
    }
}

/// Goes to the moment where the runs part, and selects the object that shows it.
fn go_to(divergence: &Divergence, dispatch: &Dispatch) -> Callback<MouseEvent> {
    let (moment, subject) = (divergence.at, selection_of(&divergence.subject));
    let goes = Rc::new(move || Msg::GoTo(moment, Some(subject.clone())));
    dispatch.reform(move |_: MouseEvent| Msg::Run(goes.clone()))
}

fn is_node(subject: &LaneSubject) -> bool {
    matches!(subject, LaneSubject::Node { .. })
}

fn result(compared: &Compared, dispatch: &Dispatch) -> Html {
    let comparison = &compared.comparison;
    let [a, b] = &comparison.names;
    let more = comparison.subjects.len().saturating_sub(compared.lanes.len());
    let all = compared.lanes.iter().flat_map(|(_, [above, below])| above.iter().chain(below));
    let nodes = compared.lanes.iter().map(|(subject, _)| subject).filter(|it| is_node(it));
    let nodes: Vec<String> = nodes.map(LaneSubject::name).collect();
    let nodes = Shared::of(nodes.iter().map(String::as_str));
    html! {
        <section class="stack" data-testid={TestId::Compared}>
            <p class="verdict"><b>{ comparison.sentence() }</b></p>
            if !compared.lanes.is_empty() {
                <div class="pairs">
                    { axis(compared, dispatch) }
                    <div class="pairlist" role="img" aria-label={format!(
                        "The lanes that differ, of {a} above and {b} below, to {}", at(compared.end))}>
                        { for compared.lanes.iter().map(|(subject, [above, below])| html! {
                            <div class="pair">
                                <span class="pname" title={subject.to_string()}>
                                    { cut_name(&subject.name(), match is_node(subject) {
                                        true => nodes,
                                        false => Shared::default(),
                                    }) }
                                </span>
                                <span class="ptracks">
                                    <span class="ltrack" title={format!("A: {a}")}>
                                        { bars(above) }</span>
                                    <span class="ltrack" title={format!("B: {b}")}>
                                        { bars(below) }</span>
                                    if let Some(place) = compared.parts_at {
                                        <i class="lparts" ~style={style(format!("left:{place:.3}%"))}></i>
                                    }
                                </span>
                            </div>
                        }) }
                    </div>
                </div>
                <div class="row">
                    { legend(all) }
                    <span class="muted">{ format!("above A: {a}; below B: {b}") }</span>
                </div>
                if more > 0 { <p class="hint">{ format!("and {more} more lanes") }</p> }
            }
            <div class="comparetable"><table>
                <thead><tr>
                    <th>{ format!("Until {}", at(comparison.until)) }</th>
                    <th>{ a.clone() }</th><th>{ b.clone() }</th>
                </tr></thead>
                <tbody>
                    { for comparison.rows().into_iter().map(|[what, a, b]| html! {
                        <tr data-differs={(a != b).to_string()}>
                            <td>{ what }</td><td class="num">{ a }</td><td class="num">{ b }</td>
                        </tr>
                    }) }
                </tbody>
            </table></div>
            <div class="actions"><span>{ "As Markdown" }</span>
                { copy(&comparison.to_markdown(), dispatch) }</div>
        </section>
    }
}
