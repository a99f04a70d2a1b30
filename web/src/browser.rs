//! The features of the browser that the page uses. Each may be missing or refused, and its function
//! says so.

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, CanvasRenderingContext2d, Document, Element, File, HtmlAnchorElement,
    HtmlCanvasElement, HtmlElement, HtmlImageElement, HtmlTemplateElement, IntersectionObserver,
    IntersectionObserverEntry, ResizeObserver, Storage, Url, Window,
};

use crate::protocol::{Progress, Update};
use crate::wire::from_bytes;

#[wasm_bindgen]
extern "C" {
    /// The bytes of the first state of the page, if the build made them. Of `index.html`.
    #[wasm_bindgen(catch, js_name = loadPicture)]
    async fn load_picture() -> Result<JsValue, JsValue>;
}

/// A watch for an element to come into sight, which ends when it is dropped.
pub(crate) struct Seen {
    observer: IntersectionObserver,
    _callback: Closure<dyn FnMut(Array)>,
}

impl Seen {
    /// Calls `does` when the element comes into sight for the first time, or is there already.
    pub(crate) fn first(element: &Element, does: impl FnOnce() + 'static) -> Option<Self> {
        let mut does = Some(does);
        let callback = Closure::<dyn FnMut(Array)>::new(move |entries: Array| {
            let seen = entries
                .iter()
                .any(|entry| entry.unchecked_into::<IntersectionObserverEntry>().is_intersecting());
            if let Some(does) = does.take_if(|_| seen) {
                does();
            }
        });
        let observer = IntersectionObserver::new(callback.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _callback: callback })
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// A watch for changes of an element's size, which ends when it is dropped.
pub(crate) struct Resized {
    observer: ResizeObserver,
    _callback: Closure<dyn Fn()>,
}

impl Resized {
    /// Calls `does` now, and whenever the size of the element changes.
    pub(crate) fn always(element: &Element, does: impl Fn() + 'static) -> Option<Self> {
        let callback = Closure::<dyn Fn()>::new(does);
        let observer = ResizeObserver::new(callback.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _callback: callback })
    }
}

impl Drop for Resized {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// The window, in a browser.
pub(crate) fn window() -> Option<Window> {
    web_sys::window()
}

/// The page.
pub(crate) fn document() -> Option<Document> {
    window()?.document()
}

/// The clock in milliseconds, to measure durations.
pub(crate) fn stopwatch() -> f64 {
    js_sys::Date::now()
}

/// Number of threads that the machine runs at the same time, at least 1.
pub(crate) fn cores() -> usize {
    let cores = window().map_or(1.0, |window| window.navigator().hardware_concurrency());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small whole number"
    )]
    let cores = cores as usize;
    cores.max(1)
}

/// Whether the user asked for less motion.
pub(crate) fn wants_less_motion() -> bool {
    let query = window().and_then(|w| w.match_media("(prefers-reduced-motion: reduce)").ok()?);
    query.is_some_and(|query| query.matches())
}

/// Whether the page is so narrow that the inspector lies over a part of it, as in the style sheet.
pub(crate) fn is_narrow() -> bool {
    let query = window().and_then(|w| w.match_media("(max-width: 800px)").ok()?);
    query.is_some_and(|query| query.matches())
}

fn storage() -> Option<Storage> {
    // Access itself can be forbidden, which is an exception in JavaScript.
    window()?.local_storage().ok().flatten()
}

/// The text that is stored under a key.
pub(crate) fn stored(key: &str) -> Option<String> {
    storage()?.get_item(key).ok().flatten()
}

/// Stores a text under a key.
///
/// # Errors
/// The browser has no room or does not allow it; the text says so.
pub(crate) fn store(key: &str, text: &str) -> Result<(), String> {
    let storage = storage().ok_or("this browser blocks local storage")?;
    storage.set_item(key, text).map_err(|_| "the browser's storage is full or closed".to_owned())
}

/// Removes the text that is stored under a key.
pub(crate) fn forget(key: &str) {
    if let Some(storage) = storage() {
        // The key need not have been there.
        let _ = storage.remove_item(key);
    }
}

fn tab_storage() -> Option<Storage> {
    window()?.session_storage().ok().flatten()
}

/// The text that this tab has stored for itself under a key.
pub(crate) fn tab_stored(key: &str) -> Option<String> {
    tab_storage()?.get_item(key).ok().flatten()
}

/// Stores a text for this tab alone.
///
/// # Errors
/// The browser has no room or does not allow it.
pub(crate) fn tab_store(key: &str, text: &str) -> Result<(), ()> {
    tab_storage().ok_or(())?.set_item(key, text).map_err(drop)
}

/// Removes the text that this tab has stored under a key.
pub(crate) fn tab_forget(key: &str) {
    if let Some(storage) = tab_storage() {
        // The key need not have been there.
        let _ = storage.remove_item(key);
    }
}

/// The current time, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole milliseconds of this millennium"
    )]
    let now = js_sys::Date::now() as u64;
    now
}

/// A new, unique id.
pub(crate) fn new_id() -> String {
    format!("{:x}-{:x}", now(), js_sys::Math::random().to_bits())
}

/// A time, given in milliseconds since 1970, in the format of the user's locale.
pub(crate) fn local_time(millis: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years")]
    let date = js_sys::Date::new(&JsValue::from_f64(millis as f64));
    date.to_locale_string("default", &JsValue::UNDEFINED).into()
}

/// The fragment of the address, with its `#`; empty if there is none.
pub(crate) fn fragment() -> String {
    window().and_then(|window| window.location().hash().ok()).unwrap_or_default()
}

/// The address of the page without its fragment and query.
pub(crate) fn page_address() -> String {
    let location = window().map(|window| window.location());
    let part = |part: Result<String, JsValue>| part.unwrap_or_default();
    location.map(|it| part(it.origin()) + &part(it.pathname())).unwrap_or_default()
}

/// The name of the present entry in the browser's history, if it has one.
pub(crate) fn address_state() -> Option<String> {
    window()?.history().ok()?.state().ok()?.as_string()
}

/// Puts a fragment into the address, and a name on the present entry of the history or on a new
/// one; `false` if the browser refuses.
pub(crate) fn set_address(fragment: &str, state: &str, new_entry: bool) -> bool {
    let set = || {
        let window = window()?;
        let location = window.location();
        let address = location.pathname().ok()? + &location.search().ok()? + fragment;
        let (history, state) = (window.history().ok()?, JsValue::from_str(state));
        let set = match new_entry {
            true => history.push_state_with_url(&state, "", Some(&address)),
            false => history.replace_state_with_url(&state, "", Some(&address)),
        };
        set.ok()
    };
    set().is_some()
}

/// Whether the address asks for a fresh start, which the message after a crash offers. Asking once
/// removes that from the address.
pub(crate) fn asked_for_fresh_start() -> bool {
    let Some(window) = window() else { return false };
    let location = window.location();
    let asked = location.search().is_ok_and(|search| search == "?fresh");
    if asked && let (Ok(path), Ok(history)) = (location.pathname(), window.history()) {
        // The next reload is to keep the work.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&path));
    }
    asked
}

/// Offers a text as a file for download.
///
/// # Errors
/// The browser refused; the text says why.
pub(crate) fn download(name: &str, text: &str) -> Result<(), String> {
    blob(text).map_err(refused).and_then(|blob| download_blob(name, &blob))
}

/// Offers a text that the browser keeps as a file for download.
///
/// # Errors
/// The browser refused; the text says why.
pub(crate) fn download_blob(name: &str, text: &Blob) -> Result<(), String> {
    offer(text, name).map_err(refused)
}

fn refused(error: JsValue) -> String {
    format!("cannot download the file: {}", js_text(&error))
}

/// A text that the browser keeps, out of the memory of the page.
///
/// # Errors
/// The browser refused.
pub(crate) fn blob(text: &str) -> Result<Blob, JsValue> {
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let bag = BlobPropertyBag::new();
    bag.set_type("text/plain;charset=utf-8");
    Blob::new_with_str_sequence_and_options(&parts, &bag)
}

/// Asks the user a yes-or-no question; `false` where the browser shows no questions.
pub(crate) fn confirm(question: &str) -> bool {
    web_sys::window().is_some_and(|it| it.confirm_with_message(question).unwrap_or_default())
}

/// Offers a file for download.
fn offer(blob: &Blob, name: &str) -> Result<(), JsValue> {
    let document = document().ok_or_else(|| js_sys::Error::new("no page"))?;
    let url = Url::create_object_url_with_blob(blob)?;
    let link: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(name);
    link.click();
    Url::revoke_object_url(&url)
}

/// The longest side of an image that browsers draw, in pixels.
const MOST_PIXELS: f64 = 16_384.0;

/// Offers an SVG picture as a PNG file of twice its size, or as large as browsers can draw it.
///
/// # Errors
/// The browser cannot draw the picture; the text says why.
pub(crate) async fn download_png(name: &str, svg: &str) -> Result<(), String> {
    try_download_png(name, svg).await.map_err(|error| {
        format!("cannot render the image: {}; as SVG it has any size", js_text(&error))
    })
}

async fn try_download_png(name: &str, svg: &str) -> Result<(), JsValue> {
    let document = document().ok_or_else(|| js_sys::Error::new("no page"))?;
    // A picture that stands alone needs a width of its own.
    let svg = svg.replacen("width=\"100%\"", "width=\"1280\"", 1);
    let image = HtmlImageElement::new()?;
    image.set_src(&picture_address(&svg));
    JsFuture::from(image.decode()).await?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.unchecked_into();
    let (width, height) = (f64::from(image.width()), f64::from(image.height()));
    let scale = (MOST_PIXELS / width.max(height).max(1.0)).min(2.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole pixels, at most MOST_PIXELS"
    )]
    let pixels = |side: f64| (side * scale) as u32;
    canvas.set_width(pixels(width));
    canvas.set_height(pixels(height));
    let context = canvas.get_context("2d")?.ok_or_else(|| js_sys::Error::new("no canvas"))?;
    let context: CanvasRenderingContext2d = context.unchecked_into();
    let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height)?;
    let drawn = js_sys::Promise::new(&mut |resolve, reject| {
        if let Err(error) = canvas.to_blob(&resolve) {
            // Nothing is left to report an error of this call to.
            let _ = reject.call1(&JsValue::NULL, &error);
        }
    });
    // The browser makes no blob of an image that is too large.
    let blob: Blob = JsFuture::from(drawn).await?.dyn_into().map_err(|_| {
        let (width, height) = (canvas.width(), canvas.height());
        js_sys::Error::new(&format!("{width} × {height} pixels are too many"))
    })?;
    offer(&blob, name)
}

/// The address of an SVG picture that is nowhere but in the page.
pub(crate) fn picture_address(svg: &str) -> String {
    format!("data:image/svg+xml,{}", js_sys::encode_uri_component(svg))
}

/// Copies a text to the clipboard.
///
/// # Errors
/// The browser refused; the text says why.
pub(crate) async fn copy(text: &str) -> Result<(), String> {
    let window = window().ok_or("no window")?;
    let done = JsFuture::from(window.navigator().clipboard().write_text(text)).await;
    done.map(drop).map_err(|error| format!("cannot copy to the clipboard: {}", js_text(&error)))
}

/// Reads a file.
///
/// # Errors
/// The file cannot be read; the text says why.
pub(crate) async fn read(file: &File) -> Result<String, String> {
    let text = JsFuture::from(file.text()).await;
    text.map_err(|error| cannot_be_read(&file.name(), &error))
        .map(|text| text.as_string().unwrap_or_default())
}

/// The message that the browser could not read a file, with the reason.
pub(crate) fn cannot_be_read(name: &str, error: &JsValue) -> String {
    format!("`{name}` cannot be read: {}", js_text(error))
}

fn js_text(error: &JsValue) -> String {
    let error: &js_sys::Error = error.unchecked_ref();
    error.message().into()
}

/// Puts an attribute on the root element, or takes it away.
pub(crate) fn set_root_attribute(name: &str, value: Option<&str>) {
    if let Some(root) = document().and_then(|document| document.document_element()) {
        // Only a wrong name would fail.
        let _ = match value {
            Some(value) => root.set_attribute(name, value),
            None => root.remove_attribute(name),
        };
    }
}

/// Gives the focus to an element, found by a selector.
pub(crate) fn focus(selector: &str) {
    if let Some(element) = find(selector) {
        // An element that cannot have the focus does not get it.
        let _ = element.focus();
    }
}

/// The first element that a selector finds.
pub(crate) fn find(selector: &str) -> Option<HtmlElement> {
    document()?.query_selector(selector).ok().flatten()?.dyn_into().ok()
}

/// All elements that a selector finds, in the order of the page.
pub(crate) fn find_all(selector: &str) -> Vec<HtmlElement> {
    let found = document().and_then(|document| document.query_selector_all(selector).ok());
    let Some(found) = found else { return Vec::new() };
    let elements = (0..found.length()).filter_map(|index| found.get(index));
    elements.filter_map(|node| node.dyn_into().ok()).collect()
}

/// The element that has the focus, if any.
pub(crate) fn focused() -> Option<Element> {
    let element = document()?.active_element()?;
    (element.tag_name() != "BODY").then_some(element)
}

/// Whether the user is typing or a dialog is open, so that keys are no shortcuts.
pub(crate) fn keys_are_taken() -> bool {
    dialog_is_open() || is_typing()
}

/// Whether a dialog is open.
pub(crate) fn dialog_is_open() -> bool {
    find("dialog[open]").is_some()
}

/// Whether a field for text has the focus.
pub(crate) fn is_typing() -> bool {
    focused().is_some_and(|element| {
        element.tag_name() == "TEXTAREA"
            || element.tag_name() == "INPUT"
                && !matches!(
                    element.get_attribute("type").as_deref(),
                    Some("checkbox" | "radio" | "range" | "button")
                )
    })
}

/// Whether a list has the focus, in which letters, the space bar and arrows choose.
pub(crate) fn list_has_the_focus() -> bool {
    focused().is_some_and(|element| element.tag_name() == "SELECT")
}

/// Whether a button or the like has the focus, which the space bar presses.
pub(crate) fn space_is_taken() -> bool {
    focused().is_some_and(|element| {
        matches!(element.tag_name().as_str(), "BUTTON" | "A" | "SUMMARY")
            || element.get_attribute("type").as_deref() == Some("checkbox")
    })
}

/// Shows how far the stored work is restored, before there is an application; `stop` is called if
/// the user would rather begin without that work.
pub(crate) fn show_restoring(progress: &Progress, stop: &JsValue) {
    let show = Reflect::get(&js_sys::global(), &"restoring".into());
    let Some(show) = show.ok().and_then(|show| show.dyn_into::<Function>().ok()) else { return };
    let part = progress.part.map_or(JsValue::UNDEFINED, JsValue::from_f64);
    // The message is gone soon, so an error does not matter.
    let _ = show.call3(&JsValue::UNDEFINED, &progress.what.as_str().into(), &part, stop);
}

/// The first state of the page with the sample cluster, which the build made; none if it is not there.
pub(crate) async fn sample_picture() -> Option<Box<Update>> {
    let bytes = load_picture().await.ok()?;
    from_bytes(&js_sys::Uint8Array::new(&bytes).to_vec()).map(Box::new)
}

/// Replaces the page with a message, when nothing else works any more.
pub(crate) fn show_crash(message: &str) {
    let Some(body) = document().and_then(|document| document.body()) else { return };
    // The message in plain HTML, of `index.html`.
    let template = find("#crash").and_then(|it| it.dyn_into::<HtmlTemplateElement>().ok());
    let Some(template) = template else { return };
    body.set_text_content(None);
    // Nothing is left to report an error to.
    let _ = body.append_child(&template.content());
    if let Some(code) = find("body > .crash code") {
        code.set_text_content(Some(message));
    }
}
