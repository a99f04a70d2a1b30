//! The heat map: failures by workloads, kind by kind.

use std::rc::Rc;

use web_sys::{Element, HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::components::parts::style::style;
use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::report::{Look, MapCell, MapRow, Moment, Only, ReportView, Section};

/// Properties of [`Map`] and [`Finder`].
#[derive(Clone, PartialEq, Properties)]
pub(super) struct MapProps {
    /// The report.
    pub(super) view: Rc<ReportView>,
    /// The visible part of the report.
    pub(super) look: UseStateHandle<Look>,
    /// Opens a moment.
    pub(super) open: Callback<Rc<Moment>>,
}

/// Changes the visible part of a report.
pub(super) fn change(look: &UseStateHandle<Look>, change: impl FnOnce(&mut Look)) {
    let mut new = (**look).clone();
    change(&mut new);
    look.set(new);
}

/// The search field, and the choice of harm.
pub(super) fn finder(look: &UseStateHandle<Look>) -> Html {
    let oninput = {
        let look = look.clone();
        move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            change(&look, |look| look.text = input.value());
        }
    };
    let only =
        [(Only::Any, "Any harm"), (Only::Zero, "No ready pod"), (Only::Never, "Never whole again")];
    html! {
        <div class="row rfind">
            <input type="search" placeholder="Find a failure or a workload"
                aria-label="Find a failure or a workload" value={look.text.clone()} {oninput} />
            <div class="row" role="group" aria-label="Which harm">
                { for only.map(|(only, label)| {
                    let on = look.only == only;
                    let look = look.clone();
                    html! {
                        <button class={classes!("btn", "small", on.then_some("on"))}
                            aria-pressed={on.to_string()}
                            onclick={move |_: MouseEvent| change(&look, |it| it.only = only)}>
                            { label }
                        </button>
                    }
                }) }
            </div>
        </div>
    }
}

/// The map. Arrow keys move within it, and Enter opens a cell.
#[component]
pub(super) fn Map(props: &MapProps) -> Html {
    let MapProps { view, look, open } = props;
    let told = use_state(|| None::<Rc<Moment>>);
    let sections = view.sections(look);
    html! {
        <section class="stack">
            <h3>{ "Failures and workloads" }</h3>
            <p class="hint">
                { "A number says how long a workload has fewer ready pods than it wants. The darker \
                   its cell, the more harm. A cell opens the failure at its worst moment." }
            </p>
            if sections.is_empty() { <p>{ "No failure or workload matches." }</p> }
            { for sections.iter().map(|it| section(it, look, open, &told)) }
            <p class="rtold" aria-hidden="true">
                if let Some(moment) = &*told {
                    <b>{ &moment.name }</b>{ ": " }{ &moment.what }
                } else {
                    { "Point at a cell to read what becomes of that workload." }
                }
            </p>
        </section>
    }
}

fn section(
    section: &Section,
    look: &UseStateHandle<Look>,
    open: &Callback<Rc<Moment>>,
    told: &UseStateHandle<Option<Rc<Moment>>>,
) -> Html {
    let kind = section.kind;
    let mut is_first = true;
    let mut cell = |row: usize, column: usize, cell: &Option<MapCell>| {
        let Some(cell) = cell else { return html! { <td></td> } };
        let tabindex = if std::mem::take(&mut is_first) { "0" } else { "-1" };
        map_cell(cell, tabindex, format!("{row} {column}"), open, told)
    };
    let all = {
        let look = look.clone();
        move |_: MouseEvent| {
            change(&look, |it| {
                it.all.insert(kind);
            });
        }
    };
    let heads = section.columns.iter().map(|subject| {
        let (name, look) = (subject.to_string(), look.clone());
        // Long names break after a slash.
        let parts: Html =
            name.split_inclusive('/').map(|part| html! { <>{ part }<wbr /></> }).collect();
        let onclick = move |_: MouseEvent| change(&look, |it| it.text.clone_from(&name));
        html! {
            <th scope="col">
                <button type="button" {onclick} title="Find this workload">{ parts }</button>
            </th>
        }
    });
    html! {
        <section class="stack" data-kind={kind.as_str()}>
            <h4>{ &section.title }</h4>
            <div class="rmap" onkeydown={move_focus}>
                <table data-testid={TestId::ReportMap}>
                    <thead><tr>
                        <th scope="col"><span>{ "Failure" }</span></th>
                        { for heads }
                    </tr></thead>
                    <tbody>
                        { for section.rows.iter().enumerate().map(|(place, row)| {
                            let cells = row.cells.iter().enumerate();
                            let cells = cells.map(|(column, it)| cell(place, column, it));
                            html! { <tr>{ head(row, look) }{ for cells }</tr> }
                        }) }
                    </tbody>
                </table>
            </div>
            if section.more_rows + section.more_columns > 0 {
                <p class="row hint">
                    if section.more_columns > 0 {
                        <span>{ format!("{} harmed: find one by its name.",
                            count(section.more_columns, "more workload")) }</span>
                    }
                    if section.more_rows > 0 {
                        <button class="btn small" onclick={all}>
                            { format!("Show {}", count(section.more_rows, "more row")) }
                        </button>
                    }
                </p>
            }
        </section>
    }
}

/// The head of a row: the failure, and its effect on the workloads.
fn head(row: &MapRow, look: &UseStateHandle<Look>) -> Html {
    let name = match row.folds {
        None => html! { <b>{ row.name.clone() }</b> },
        Some((number, is_open)) => {
            let look = look.clone();
            let onclick = move |_: MouseEvent| {
                change(&look, |it| {
                    if !it.open.remove(&number) {
                        it.open.insert(number);
                    }
                });
            };
            html! {
                <button type="button" aria-expanded={is_open.to_string()} {onclick}>
                    { row.name.clone() }
                </button>
            }
        }
    };
    html! {
        <th scope="row" class={row.is_unfolded.then_some("unfolded")}>
            { name }
            if !row.what.is_empty() { <small>{ row.what.clone() }</small> }
        </th>
    }
}

fn map_cell(
    cell: &MapCell,
    tabindex: &'static str,
    place: String,
    open: &Callback<Rc<Moment>>,
    told: &UseStateHandle<Option<Rc<Moment>>>,
) -> Html {
    let shows = || {
        let (told, moment) = (told.clone(), cell.moment.clone());
        move || told.set(Some(moment.clone()))
    };
    let (onfocus, onmouseover) = (shows(), shows());
    let moment = cell.moment.clone();
    let onclick = open.reform(move |_: MouseEvent| moment.clone());
    let change = cell.before.map(|before| if before > cell.harm { "▼" } else { "▲" });
    let before = cell.before.map(|before| format!(", harm {before} before")).unwrap_or_default();
    let label = format!("{}: {}{before}. Open it", cell.moment.name, cell.moment.what);
    html! {
        <td ~style={style(format!("--heat:{:.3}", cell.heat))}>
            <button type="button" {onclick} {tabindex} aria-label={label}
                onfocus={move |_: FocusEvent| onfocus()}
                onmouseover={move |_: MouseEvent| onmouseover()}
                data-place={place} data-testid={TestId::ReportCell}>
                { cell.below.to_string() }
                if let Some(change) = change { <span class="rchange">{ change }</span> }
            </button>
        </td>
    }
}

/// Moves the focus by arrow keys from cell to cell, over empty ones.
fn move_focus(event: KeyboardEvent) {
    let (down, right) = match event.key().as_str() {
        "ArrowUp" => (-1, 0),
        "ArrowDown" => (1, 0),
        "ArrowLeft" => (0, -1),
        "ArrowRight" => (0, 1),
        _ => return,
    };
    let Some(target) = event.target_dyn_into::<Element>() else { return };
    let Some(place) = target.get_attribute("data-place") else { return };
    let mut numbers = place.split(' ').filter_map(|number| number.parse::<i32>().ok());
    let (Some(mut row), Some(mut column)) = (numbers.next(), numbers.next()) else { return };
    event.prevent_default();
    let Some(table) = target.closest("table").ok().flatten() else { return };
    // The map has fewer rows and columns than this.
    for _ in 0..1_000 {
        (row, column) = (row + down, column + right);
        let found = table.query_selector(&format!("[data-place=\"{row} {column}\"]"));
        if let Some(found) = found.ok().flatten() {
            // The tab key returns to the cell where the arrows were.
            let _ = target.set_attribute("tabindex", "-1");
            let _ = found.set_attribute("tabindex", "0");
            if let Ok(found) = wasm_bindgen::JsCast::dyn_into::<HtmlElement>(found) {
                let _ = found.focus();
            }
            return;
        }
    }
}
