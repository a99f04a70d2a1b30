//! Texts that come in by pasting, dropping and opening, and texts that are copied.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::{ClipboardEvent, DragEvent, File};

use crate::browser;
use crate::components::dialogs::import::SHOWN;
use crate::messages::{Dialog, Dispatch, Msg, Notice, Source};

/// Opens pasted text in the import dialog, if no other element takes it.
pub(super) fn pasted(event: &ClipboardEvent) -> Option<Msg> {
    if browser::keys_are_taken() {
        return None;
    }
    let text = event.clipboard_data()?.get_data("text/plain").ok()?;
    if text.trim().is_empty() {
        return None;
    }
    event.prevent_default();
    Some(Msg::Open(Dialog::Import(Source::Text(text.into(), "pasted text".into()))))
}

/// Follows files that are dragged over the page, or off it.
pub(super) fn dragged(event: &DragEvent, over: bool) -> Option<Msg> {
    let files = event.data_transfer()?.types().includes(&"Files".into(), 0);
    if !files {
        return None;
    }
    event.prevent_default();
    // Moving from one element to another does not leave the page.
    let inside = !over && event.related_target().is_some();
    (!inside).then_some(Msg::Dropping(over))
}

/// Takes files that were dropped on the page.
pub(super) fn dropped(event: &DragEvent) -> Option<Msg> {
    let list = event.data_transfer()?.files()?;
    let files: Vec<File> = (0..list.length()).filter_map(|index| list.get(index)).collect();
    if files.is_empty() {
        return None;
    }
    event.prevent_default();
    Some(Msg::Files(files))
}

/// Opens files in the import dialog. The page does not read files that are too long to be shown
/// there.
pub(super) fn read(dispatch: &Dispatch, files: Vec<File>) {
    let names = files.iter().map(File::name).collect::<Vec<_>>().join(", ");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bytes")]
    let length = files.iter().map(|file| file.size() as usize).sum();
    if length > SHOWN {
        let source = Source::Files(Rc::new(files), names.into(), length);
        return dispatch.emit(Msg::Open(Dialog::Import(source)));
    }
    send(dispatch, async move {
        let mut texts = Vec::new();
        for file in &files {
            match browser::read(file).await {
                Ok(text) => texts.push(text),
                Err(error) => return Msg::Notice(Notice::error(error)),
            }
        }
        // Several files become the documents of one text.
        let text = texts.join("\n---\n").into();
        Msg::Open(Dialog::Import(Source::Text(text, names.into())))
    });
}

/// Copies a text, and reports success or the error.
pub(super) fn copy(dispatch: &Dispatch, text: Rc<str>) {
    send(dispatch, async move {
        Msg::Notice(match browser::copy(&text).await {
            Ok(()) => Notice::info("Copied"),
            Err(error) => Notice::error(error),
        })
    });
}

/// Sends the message that a future returns.
fn send(dispatch: &Dispatch, future: impl Future<Output = Msg> + 'static) {
    let dispatch = dispatch.clone();
    spawn_local(async move { dispatch.emit(future.await) });
}
