//! `site`: one folder to publish, which works under any path.
//!
//! The playground is at `/`, the book at `/book/`, and at `/embed/` what other pages need for
//! demos: the element, the engine, the page for iframes, and a recording of each example.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};
use crate::{book, npm, playground};

/// What of the npm package stands in `/embed/`.
const EMBED: [&str; 7] = [
    "taint-lab.js",
    "taint-lab.css",
    "frame.html",
    "frame.js",
    "manual.js",
    "glue.js",
    "taintlab_bg.wasm",
];

/// In the book the script is in another folder than the engine; this leads to it.
const LEADS_TO_ENGINE: &str = include_str!("js/manual.js");

/// The folder.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("site")
}

/// Builds all of it.
///
/// # Errors
/// When a part cannot be built, or a page links to a file that is not there.
pub(crate) fn build(workspace: &mut Workspace) -> Result<()> {
    playground::set_up_and_build(workspace)?;
    npm::set_up_and_build(workspace)?;
    let site = folder(workspace);
    if site.exists() {
        fs::remove_dir_all(&site).with_context(|| format!("cannot empty `{}`", site.display()))?;
    }
    npm::copy_all(&workspace.path(playground::DIST), &site)?;
    // So that GitHub Pages publishes every file as it is.
    fs::write(site.join(".nojekyll"), "")?;
    embed(workspace, &site.join("embed"))?;
    book::build(workspace, &site.join("book"))?;
    fs::write(site.join("book/manual.js"), LEADS_TO_ENGINE)?;
    let links = check_links(&site)?;
    println!("The site is in {}; {links} links in it lead somewhere.", site.display());
    Ok(())
}

/// `/embed/`.
fn embed(workspace: &Workspace, to: &Path) -> Result<()> {
    let examples = to.join("examples");
    fs::create_dir_all(&examples)?;
    let dist = npm::folder(workspace).join("dist");
    for file in EMBED {
        fs::copy(dist.join(file), to.join(file))
            .with_context(|| format!("cannot copy `{file}`"))?;
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace.path("examples"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            names.push(path);
        }
    }
    names.sort();
    for path in &names {
        let name = path.file_name().context("an example has no name")?;
        fs::copy(path, examples.join(name))?;
    }
    let mut node = workspace.command("node");
    node.arg(npm::folder(workspace).join("bin/taintlab.js")).arg("embed");
    node.args(["--base", "../", "--out"]).arg(&examples).args(&names);
    workspace::run(&mut node)
}

/// How many links to its own files the pages of a site have.
///
/// # Errors
/// One leads to a file that is not there, or begins at the root of the server.
fn check_links(site: &Path) -> Result<usize> {
    let (mut folders, mut seen, mut broken) = (vec![site.to_owned()], 0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                // That of not found is served for any path.
                if path.file_name().is_some_and(|name| name == "404.html") {
                    continue;
                }
                for link in links(&fs::read_to_string(&path)?) {
                    seen += 1;
                    let target = folder.join(&link);
                    if !target.is_file() && !target.join("index.html").is_file() {
                        broken.push(format!("{}: {link}", path.display()));
                    }
                }
            }
        }
    }
    if broken.is_empty() { Ok(seen) } else { bail!("broken links:\n{}", broken.join("\n")) }
}

/// The links of the tags of a page to the same site, without what stands behind `#` and `?`.
fn links(html: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        if let Some((_, after)) = rest.strip_prefix("!--").and_then(|text| text.split_once("-->")) {
            rest = after;
            continue;
        }
        if !rest.starts_with(|first: char| first.is_ascii_alphabetic()) {
            continue;
        }
        let end = end_of_tag(rest);
        let (tag, after) = rest.split_at(end);
        // Text that is no HTML, up to its end.
        let raw = ["script", "style"].into_iter().find(|name| {
            tag.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        rest = raw.map_or(after, |name| {
            after.find(&format!("</{name}")).map_or("", |at| after.split_at(at).1)
        });
        for attribute in [" href=\"", " src=\""] {
            let Some((_, value)) = tag.split_once(attribute) else { continue };
            let link = value.split(['"', '#', '?']).next().unwrap_or_default();
            let is_elsewhere = link.is_empty() || link.contains(':') || link.starts_with("//");
            if !is_elsewhere {
                links.push(link.to_owned());
            }
        }
    }
    links
}

/// Where the `>` of a tag is, which may also stand in the value of an attribute.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (None, '>') => return at,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    tag.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_those_to_other_files_of_the_site() {
        let html = "<a href=\"a.html#b\"></a><a href=\"#c\"></a><script src=\"../d.js?e\"></script>\
            <a href=\"https://example.com\"></a><link href=\"data:,\"><link rel=x href=\"/e.css\">";
        assert_eq!(links(html), ["a.html", "../d.js", "/e.css"]);
    }

    #[test]
    fn what_is_no_tag_has_no_links() {
        let html = "<code>&lt;a href=\"a\"&gt;</code><script>\"<a href=\"b\">\"</script>\
            <!-- <a href=\"c\"> --><pre title='>' src=\"d\">< href=\"e\"</pre><scripts src=\"f\">";
        assert_eq!(links(html), ["d", "f"]);
    }
}
