//! Deflating and inflating (RFC 1951), done by the browser.

use js_sys::{Array, Function, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ReadableStreamDefaultReader, ReadableWritablePair};

/// The name of the format, without a header.
const FORMAT: &str = "deflate-raw";

/// Deflates a text.
///
/// # Errors
/// The browser cannot deflate.
pub(crate) async fn deflate(text: &str) -> Result<Vec<u8>, String> {
    match through("CompressionStream", text.as_bytes(), usize::MAX).await {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) | Err(_) => Err("this browser cannot pack a link".to_owned()),
    }
}

/// Inflates bytes to a text of at most `most` bytes, which are counted while they come.
///
/// # Errors
/// The bytes are broken, too many or no text; the message says so.
pub(crate) async fn inflate(bytes: &[u8], most: usize) -> Result<String, String> {
    let inflated = through("DecompressionStream", bytes, most).await;
    let inflated = inflated.map_err(|_| {
        "its packed part cannot be unpacked: a piece of it is missing or was changed".to_owned()
    })?;
    let inflated = inflated.ok_or_else(|| format!("it unpacks to more than {most} bytes"))?;
    String::from_utf8(inflated).map_err(|_| "what is packed in it is no text".to_owned())
}

/// The output of a transforming stream of this name; none if it is more than `most` bytes.
async fn through(name: &str, bytes: &[u8], most: usize) -> Result<Option<Vec<u8>>, JsValue> {
    let class: Function = Reflect::get(&js_sys::global(), &name.into())?.dyn_into()?;
    let transform = Reflect::construct(&class, &Array::of1(&FORMAT.into()))?;
    let parts = Array::of1(&Uint8Array::from(bytes));
    let blob = Blob::new_with_u8_array_sequence(&parts)?;
    let pair: &ReadableWritablePair = transform.unchecked_ref();
    let reader = blob.stream().pipe_through(pair).get_reader();
    let reader: ReadableStreamDefaultReader = reader.unchecked_into();
    let mut out = Vec::new();
    loop {
        let chunk = JsFuture::from(reader.read()).await?;
        if Reflect::get(&chunk, &"done".into())?.is_truthy() {
            return Ok(Some(out));
        }
        let chunk: Uint8Array = Reflect::get(&chunk, &"value".into())?.dyn_into()?;
        if chunk.length() as usize > most.saturating_sub(out.len()) {
            // The rest is not wanted any more, however its cancellation ends.
            drop(reader.cancel());
            return Ok(None);
        }
        out.extend(chunk.to_vec());
    }
}
