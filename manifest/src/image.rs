//! Names of images.

use std::borrow::Cow;

/// The name of an image without scheme, user, password and query: only the parts that tell where it
/// is.
pub(crate) fn without_credentials(image: &str) -> Cow<'_, str> {
    let is_digest = |text: &str| {
        let digits = text.split_once(':').map_or("", |(_, digits)| digits);
        digits.len() >= 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let place = image.split_once("://").map_or(image, |(_, place)| place);
    let place = place.split(['?', '#']).next().unwrap_or_default();
    let (name, digest) = match place.rsplit_once('@') {
        Some((name, digest)) if is_digest(digest) => (name, Some(digest)),
        _ => (place, None),
    };
    let clean = name.rsplit_once('@').map_or(name, |(_, name)| name);
    let length = clean.len() + digest.map_or(0, |digest| digest.len() + 1);
    match digest {
        _ if length == image.len() => Cow::Borrowed(image),
        Some(digest) => Cow::Owned(format!("{clean}@{digest}")),
        None => Cow::Owned(clean.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_credentials_are_removed_from_an_image_name() {
        let digest = format!("nginx@sha256:{}", "0f".repeat(32));
        for (image, clean) in [
            ("nginx", "nginx"),
            ("registry:5000/team/web:1.2", "registry:5000/team/web:1.2"),
            (digest.as_str(), digest.as_str()),
            ("https://user:pw@registry/web:1", "registry/web:1"),
            ("user:pw@registry/web", "registry/web"),
            ("registry/web?token=x", "registry/web"),
            (&format!("user:p@w@registry/{digest}"), &format!("registry/{digest}")),
        ] {
            assert_eq!(without_credentials(image), clean);
        }
    }
}
