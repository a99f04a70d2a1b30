//! `site`: one folder to publish, which works under any path.
//!
//! The playground is at `/`, the book at `/book/`. At `/embed/` is everything that other pages need
//! for demos: the element, the engine, the page for iframes, and a recording of each example.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};
use crate::{book, npm, playground};

/// Files of the npm package that `/embed/` contains.
const EMBED: [&str; 7] = [
    "taint-lab.js",
    "taint-lab.css",
    "frame.html",
    "frame.js",
    "manual.js",
    "glue.js",
    "taintlab_bg.wasm",
];

/// Leads to the engine from the book, where the script is in another folder.
const LEADS_TO_ENGINE: &str = include_str!("js/manual.js");

/// The Node program that compresses the files of a folder.
const BROTLI: &str = include_str!("js/brotli.js");

/// The folder of the site.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("site")
}

/// Builds the whole site.
///
/// # Errors
/// A part cannot be built, or a page links to a missing file.
pub(crate) fn build(workspace: &mut Workspace) -> Result<()> {
    playground::set_up_and_build(workspace)?;
    npm::set_up_and_build(workspace)?;
    let site = folder(workspace);
    if site.exists() {
        fs::remove_dir_all(&site).with_context(|| format!("cannot empty `{}`", site.display()))?;
    }
    npm::copy_all(&workspace.path(playground::DIST), &site)?;
    // Makes GitHub Pages publish every file unchanged.
    fs::write(site.join(".nojekyll"), "")?;
    embed(workspace, &site.join("embed"))?;
    book::build(workspace, &site.join("book"))?;
    fs::write(site.join("book/manual.js"), LEADS_TO_ENGINE)?;
    let links = check_links(&site)?;
    let mut node = workspace.command("node");
    let compressed = workspace::output(node.args(["-e", BROTLI, "--"]).arg(&site))?;
    println!(
        "The site is in {}; {links} links in it lead somewhere. {} files are there compressed by brotli, too.",
        site.display(),
        compressed.trim()
    );
    Ok(())
}

/// Builds `/embed/`.
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
    let mut program = workspace.program("taintlab")?;
    program.args(["embed", "--base", "../", "--out"]).arg(&examples).args(&names);
    workspace::run(&mut program)
}

/// Checks the links between pages of the site; returns their number.
///
/// # Errors
/// A link leads to a missing file, or begins at the root of the server.
fn check_links(site: &Path) -> Result<usize> {
    let (mut folders, mut seen, mut broken) = (vec![site.to_owned()], 0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                // The 404 page is served for any path, so its links are not relative to it.
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

/// The links in the tags of a page to the same site, without `#`, `?` and the text after them.
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
        // Skip text that is not HTML.
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

/// The index of the `>` that ends a tag; one in an attribute's value does not count.
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
    fn only_links_to_other_files_of_the_site_count() {
        let html = "<a href=\"a.html#b\"></a><a href=\"#c\"></a><script src=\"../d.js?e\"></script>\
            <a href=\"https://example.com\"></a><link href=\"data:,\"><link rel=x href=\"/e.css\">";
        assert_eq!(links(html), ["a.html", "../d.js", "/e.css"]);
    }

    #[test]
    fn text_outside_of_tags_has_no_links() {
        let html = "<code>&lt;a href=\"a\"&gt;</code><script>\"<a href=\"b\">\"</script>\
            <!-- <a href=\"c\"> --><pre title='>' src=\"d\">< href=\"e\"</pre><scripts src=\"f\">";
        assert_eq!(links(html), ["d", "f"]);
    }
}
