//! The simulated clock and its controls.

use std::rc::Rc;

use taintlab_core::time::Timestamp;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::components::parts::forms::Choice;
use crate::components::parts::icon;
use crate::components::parts::style::style;
use crate::messages::{Dialog, Dispatch, Msg, maybe};
use crate::playback::Speed;
use crate::protocol::{ClockView, Rest};
use crate::session::MarkKind;
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::timeline::{TimelineMark, TimelineView};

/// The properties of the clock bar.
pub(crate) struct ClockBar<'a> {
    /// The clock's state.
    pub(crate) clock: &'a ClockView,
    /// The marks on the timeline.
    pub(crate) timeline: &'a TimelineView,
    /// Kinds of events that are neither marked nor stepped to.
    pub(crate) hidden: &'a [MarkKind],
    /// The beginning of a condition about the selection.
    pub(crate) about: Rc<str>,
    /// The number of conditions that stop time.
    pub(crate) breakpoints: usize,
    /// The name of the present branch.
    pub(crate) branch: Rc<str>,
    /// Whether time passes.
    pub(crate) playing: bool,
    /// The speed of the clock.
    pub(crate) speed: Speed,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The clock bar.
pub(crate) fn clock_bar(props: &ClockBar<'_>) -> Html {
    html! {
        <section class="clockbar" aria-label="Clock" data-testid={TestId::Clockbar}>
            <div class="clock">
                <time
                    data-testid={TestId::Clock}
                    data-sim-time-ns={props.clock.now.as_nanos().to_string()}
                    aria-label="Simulated time">{ at(props.clock.now) }</time>
                if props.clock.peeks {
                    <small class="peekbadge">{ "peek: the clock stands still" }</small>
                } else {
                    <small>{ props.clock.wall_clock.clone() }</small>
                }
            </div>
            { controls(props) }
            { next(props) }
            <div class="clockright">{ ways(props) }{ speed(props) }</div>
            { timeline(props) }
            { kinds(props) }
        </section>
    }
}

fn controls(props: &ClockBar<'_>) -> Html {
    let dispatch = &props.dispatch;
    let (label, picture) =
        if props.playing { ("Pause", icon::pause()) } else { ("Play", icon::play()) };
    let idle = props.clock.next.is_none();
    html! {
        <div class="controls" role="group" aria-label="Time">
            <button class="btn icon" title="Back to the start (Home)" aria-label="Back to the start"
                data-testid={TestId::Home} disabled={props.clock.now == Timestamp::ZERO}
                onclick={dispatch.reform(|_| Msg::Seek(Timestamp::ZERO))}>{ icon::start() }</button>
            <button class="btn icon back" title="Step back to the previous event (←)"
                aria-label="Step back to the previous event" data-testid={TestId::StepBack}
                disabled={props.clock.now == Timestamp::ZERO}
                onclick={dispatch.reform(|_| Msg::StepBack)}>{ icon::step() }</button>
            <button class="btn primary play" title={format!("{label} (Space)")} aria-label={label}
                data-testid={TestId::Play}
                onclick={dispatch.reform(|_| Msg::TogglePlay)}>{ picture }</button>
            <button class="btn icon" title="Step to the next event (→)" data-testid={TestId::Step}
                aria-label="Step to the next event" disabled={idle}
                onclick={dispatch.reform(|_| Msg::Step)}>{ icon::step() }</button>
            <button class="btn icon" title="Run until nothing more happens (E)"
                data-testid={TestId::End}
                aria-label="Run until nothing more happens" disabled={idle}
                onclick={dispatch.reform(|_| Msg::RunToEnd)}>{ icon::end() }</button>
        </div>
    }
}

fn next(props: &ClockBar<'_>) -> Html {
    let (whole, words) = match &props.clock.next {
        Some((next_at, next)) => (
            format!("Next {}: {next}", at(*next_at)),
            html! {
                <>
                    <span class="muted">{ "Next " }</span><b class="num">{ at(*next_at) }</b>{ " " }
                    <span>{ next.clone() }</span>
                </>
            },
        ),
        None => rest(props),
    };
    html! {
        <div class="nextup" title={whole} data-testid={TestId::Next}><p>{ words }</p></div>
    }
}

/// A hint, or the outcome of the run; each part of the outcome selects the pods that it mentions.
fn rest(props: &ClockBar<'_>) -> (String, Html) {
    match &props.clock.rest {
        Rest::Hint(hint) => (hint.clone(), html! { <span class="muted">{ hint.clone() }</span> }),
        Rest::Ended(at, parts) => {
            let texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
            let words = html! {
            <>
                <span class="muted">{ at.clone() }</span>
                { for parts.iter().map(|(text, selection)| {
                    let Some(selection) = selection.clone() else {
                        return html! { <>{ " " }<span>{ text.clone() }</span></> };
                    };
                    let onclick = props.dispatch.reform(move |_: MouseEvent| {
                        Msg::Select(Some(selection.clone()))
                    });
                    html! { <>{ " " }<button class="ending" {onclick}>{ text.clone() }</button></> }
                }) }
            </>
            };
            (format!("{at} {}", texts.join(" ")), words)
        }
    }
}

fn speed(props: &ClockBar<'_>) -> Html {
    let onchange = maybe(&props.dispatch, |label: String| Speed::parse(&label).map(Msg::SetSpeed));
    let options = Speed::all().map(|speed| (speed.label().into(), speed.label().into()));
    html! {
        <label class="speed" title="How fast time passes (+ and −)">
            <span class="sr">{ "Speed" }</span>
            <Choice value={props.speed.label()} options={options.collect::<Vec<_>>()} {onchange}
                testid={TestId::Speed} />
        </label>
    }
}

/// Buttons that lead to a condition, to branches, to a comparison, and to bookmarks.
fn ways(props: &ClockBar<'_>) -> Html {
    let about = props.about.clone();
    let until = props.dispatch.reform(move |_: MouseEvent| Msg::Open(Dialog::Until(about.clone())));
    let stops = match props.breakpoints {
        0 => String::new(),
        number => format!(" ({number})"),
    };
    let branch = format!("Branch “{}” of this run: fork, switch, compare (G)", props.branch);
    html! {
        <>
            <button class="btn small" onclick={until}
                title="Run until a condition is met, or back to it (U)"
                data-testid={TestId::UntilOpen}>{ format!("Run until…{stops}") }</button>
            <button class="btn small" title={branch} data-testid={TestId::BranchesOpen}
                onclick={props.dispatch.reform(|_: MouseEvent| Msg::Open(Dialog::Branches))}>
                { icon::fork() }
                <span class="clip branchname">{ props.branch.to_string() }</span></button>
            <button class="btn small" title="Compare with a branch, a release or other flags (C)"
                data-testid={TestId::CompareOpen}
                onclick={props.dispatch.reform(|_: MouseEvent| Msg::Open(Dialog::Compare))}>
                { "Compare" }</button>
            <button class="btn small" title="Bookmarks: note this moment (M)"
                data-testid={TestId::BookmarksOpen}
                onclick={props.dispatch.reform(|_: MouseEvent| Msg::Open(Dialog::Bookmarks))}>
                { "Bookmarks" }</button>
            // The palette lists every command, with and without a key.
            <button class="btn icon all" title="All commands (Ctrl Shift P)"
                aria-label="All commands"
                data-testid={TestId::PaletteOpen}
                onclick={props.dispatch.reform(|_: MouseEvent| Msg::Open(Dialog::Palette))}>
                { icon::more() }</button>
        </>
    }
}

/// Switches for the kinds of marks; a hidden kind is not stepped to.
fn kinds(props: &ClockBar<'_>) -> Html {
    html! {
        <div class="kinds" role="group" aria-label="Marked on the timeline, and stepped to">
            { for MarkKind::ALL.into_iter().map(|kind| {
                let on = !props.hidden.contains(&kind);
                let class = match kind {
                    MarkKind::Change => "change",
                    MarkKind::Eviction => "evict",
                    MarkKind::Node => "nodal",
                    MarkKind::Zone => "zonal",
                    MarkKind::Other => "other",
                };
                let title = format!("{}: {}", kind.words(),
                    if on { "stepped to" } else { "skipped when stepping" });
                html! {
                    <button class={classes!("kind", class)} aria-pressed={on.to_string()} {title}
                        onclick={props.dispatch.reform(move |_: MouseEvent| Msg::ToggleKind(kind))}>
                        <i class={classes!("tick", class)}></i>{ kind.words() }</button>
                }
            }) }
        </div>
    }
}

fn timeline(props: &ClockBar<'_>) -> Html {
    let end = props.timeline.end;
    let millis = |time: Timestamp| (time.as_nanos() / 1_000_000).to_string();
    let oninput = maybe(&props.dispatch, |event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        let millis = input.value().parse().ok()?;
        Some(Msg::Seek(Timestamp::from_millis(millis)))
    });
    html! {
        <div class="timeline">
            <div class="marks" aria-hidden="true">
                { for props.timeline.marks.iter().map(|(place, sign)| {
                    let class = match sign {
                        TimelineMark::Change => "change",
                        TimelineMark::Eviction => "evict",
                        TimelineMark::Zone => "zonal",
                        TimelineMark::Node => "nodal",
                        TimelineMark::Due => "due",
                    };
                    mark(class, *place)
                }) }
                { for props.timeline.noted.iter().map(|place| mark("noted", *place)) }
            </div>
            <input type="range" min="0" max={millis(end)} value={millis(props.clock.now)} step="1"
                {oninput} aria-label="Time" aria-valuetext={at(props.clock.now)}
                    data-testid={TestId::Timeline} />
        </div>
    }
}

fn mark(class: &'static str, place: u64) -> Html {
    html! {
        <i class={classes!("tick", class)}
            ~style={style(format!("left:{}.{}%", place / 10, place % 10))}></i>
    }
}
