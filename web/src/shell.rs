//! What is painted first: the sample cluster on its board, before anything can run.
//!
//! The engine, and all that shows or changes what it does, is a second wasm file, which
//! [`later::load`] brings. Until it is there, wishes wait; then [`Page`] takes over, and finds the
//! board as it would have painted it.

use std::rc::Rc;

use taintlab_core::api::Node;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::{Objects, ScenarioMetadata};
use taintlab_core::time::{Time, Timestamp};
use yew::prelude::*;

use crate::app::{Dispatch, Msg, has_stored_work};
use crate::components::board::{Board, Detail};
use crate::components::clock_bar::{ClockBar, clock_bar};
use crate::components::header::Header;
use crate::components::overview::about;
use crate::later::{self, NotLoaded};
use crate::model;
use crate::playback::Playback;
use crate::sample;
use crate::scrub::Scrub;
use crate::theme::Theme;

/// The application, as the shell sees it.
pub(crate) trait Page {
    /// Carries out a wish; `false` if nothing looks different.
    fn update(&mut self, msg: Msg) -> bool;
    /// The page.
    fn view(&self) -> Html;
    /// It stands as it was viewed.
    fn painted(&mut self);
}

/// What happens to the shell.
pub(crate) enum ShellMsg {
    /// A wish for the page.
    Page(Msg),
    /// The rest of the page has come, or could not be loaded.
    Loaded(Result<Box<dyn Page>, NotLoaded>),
}

/// What is painted first, and the page once it is there.
pub(crate) struct Shell {
    page: Option<Box<dyn Page>>,
    /// What was wished for before.
    waiting: Vec<Msg>,
    /// Why the page is not there.
    failed: Option<NotLoaded>,
    dispatch: Dispatch,
    /// The sample, unless other work is stored.
    sample: Option<(ScenarioMetadata, Rc<model::Board>)>,
    theme: Theme,
}

impl Component for Shell {
    type Message = ShellMsg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let theme = Theme::stored();
        theme.use_it();
        let sample = (!has_stored_work()).then(|| {
            let sample = sample::sample();
            let Objects { nodes, pods, .. } = sample.objects;
            let nodes = nodes.iter().map(|node: &Node| (node.metadata.name.as_str().into(), node));
            let pods = pods.iter().map(|pod| (pod.key(), pod));
            (sample.metadata, model::still(nodes, pods))
        });
        Self {
            page: None,
            waiting: Vec::new(),
            failed: None,
            dispatch: ctx.link().callback(ShellMsg::Page),
            sample,
            theme,
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            self.load(ctx);
        }
        if let Some(page) = &mut self.page {
            page.painted();
        }
    }

    fn update(&mut self, ctx: &Context<Self>, msg: ShellMsg) -> bool {
        match (msg, &mut self.page) {
            (ShellMsg::Page(msg), Some(page)) => page.update(msg),
            (ShellMsg::Page(msg), None) => {
                self.waiting.push(msg);
                if self.failed.take().is_some() {
                    self.load(ctx);
                }
                true
            }
            (ShellMsg::Loaded(Ok(mut page)), _) => {
                for msg in self.waiting.drain(..) {
                    page.update(msg);
                }
                self.page = Some(page);
                true
            }
            (ShellMsg::Loaded(Err(error)), _) => {
                self.failed = Some(error);
                true
            }
        }
    }

    fn view(&self, _: &Context<Self>) -> Html {
        self.page.as_ref().map_or_else(|| self.first_view(), |page| page.view())
    }
}

impl Shell {
    fn load(&self, ctx: &Context<Self>) {
        let dispatch = self.dispatch.clone();
        ctx.link().send_future(async { ShellMsg::Loaded(later::load(dispatch).await) });
    }

    fn first_view(&self) -> Html {
        let dispatch = self.dispatch.clone();
        let title = self.sample.as_ref().map(|(about, _)| about.title.clone()).unwrap_or_default();
        let board = self.sample.as_ref().map(|(_, board)| board.clone());
        let detail = board.as_ref().map_or(Detail::Full, |board| Detail::of(board));
        html! {
            <div class="app">
                <Header release={KubernetesRelease::default()} title={AttrValue::from(title)}
                    can_undo=false can_redo=false theme={self.theme} dispatch={dispatch.clone()} />
                <main class="board" data-testid="board" data-detail={detail.word()}
                    aria-label="Cluster">
                    if let Some(board) = board {
                        <Board {board} {detail} selection={None::<model::Selection>}
                            dispatch={dispatch.clone()} />
                    }
                </main>
                <div class="running">
                    <aside class="inspector" aria-label="Inspector" data-empty="true">
                        { match &self.sample {
                            Some((metadata, _)) => about(metadata, true, self.loading()),
                            None => html! { <div class="body">{ self.loading() }</div> },
                        } }
                    </aside>
                </div>
                <section class="log" aria-label="Event log" data-open="true">
                    <div class="bar"><h2>{ "Events" }</h2></div>
                </section>
                <section class="console" aria-label="kubectl" data-open="false">
                    <div class="bar"><h2>{ "kubectl" }</h2></div>
                </section>
                { clock_bar(&ClockBar {
                    now: Timestamp::ZERO,
                    wall_clock: Time::DEFAULT_START.to_string().into(),
                    next_at: None,
                    next: None,
                    reached: Timestamp::ZERO,
                    scrub: Rc::new(Scrub::default()),
                    playing: false,
                    speed: Playback::default().speed,
                    dispatch,
                }) }
            </div>
        }
    }

    fn loading(&self) -> Html {
        match &self.failed {
            None => html! { <p class="hint">{ "Loading the engine…" }</p> },
            Some(error) => {
                let again = self.dispatch.reform(|_| Msg::Select(None));
                html! {
                    <>
                        <p class="error" role="alert">{ error.to_string() }</p>
                        <button class="btn" onclick={again}>{ "Try again" }</button>
                    </>
                }
            }
        }
    }
}
