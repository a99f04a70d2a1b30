//! `release`: the checksums of a release's archives, and the manifests of Krew and Homebrew with
//! them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::workspace::Workspace;

/// The manifest for Krew; krew-release-bot fills in the same placeholders.
const KREW: &str = ".krew.yaml";
/// The formula for Homebrew.
const HOMEBREW: &str = "packaging/taintlab.rb";

/// The SHA-256 of each file in hexadecimal digits, by the file's name.
type Sums = BTreeMap<String, String>;

/// Writes `SHA256SUMS`, `taintlab.yaml` (Krew) and `taintlab.rb` (Homebrew) beside the archives.
///
/// # Errors
/// An archive that a manifest names is missing, or a file cannot be read or written.
pub(crate) fn describe(workspace: &Workspace, archives: &Path) -> Result<()> {
    let mut sums = Sums::new();
    let entries = fs::read_dir(archives)
        .with_context(|| format!("cannot read the folder `{}`", archives.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if [".gz", ".tgz", ".wasm", ".json"].iter().any(|suffix| name.ends_with(suffix)) {
            sums.insert(name, format!("{:x}", Sha256::digest(fs::read(&path)?)));
        }
    }
    let template = |file: &str| {
        fs::read_to_string(workspace.path(file)).with_context(|| format!("cannot read `{file}`"))
    };
    let version = env!("CARGO_PKG_VERSION");
    let list = sums.iter().fold(String::new(), |mut list, (name, sum)| {
        // A text takes everything.
        let _ = writeln!(list, "{sum}  {name}");
        list
    });
    for (file, text) in [
        ("SHA256SUMS", list),
        ("taintlab.yaml", krew(&template(KREW)?, version, &sums)?),
        ("taintlab.rb", homebrew(&template(HOMEBREW)?, version, &sums)?),
    ] {
        let path = archives.join(file);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// The sum of a file that a template names.
fn sum<'a>(sums: &'a Sums, file: &str) -> Result<&'a str> {
    let sum = sums.get(file).map(String::as_str);
    sum.with_context(|| format!("there is no `{file}` among the archives"))
}

/// Fills in a template of krew-release-bot.
fn krew(template: &str, version: &str, sums: &Sums) -> Result<String> {
    let tag = format!("v{version}");
    let mut filled = String::new();
    for line in template.replace("{{ .TagName }}", &tag).lines() {
        let Some((indent, call)) = line.split_once("{{addURIAndSha \"") else {
            writeln!(filled, "{line}")?;
            continue;
        };
        let (address, _) = call.split_once('"').context("an address does not end")?;
        let (_, file) = address.rsplit_once('/').context("an address has no file")?;
        writeln!(filled, "{indent}uri: {address}\n{indent}sha256: {}", sum(sums, file)?)?;
    }
    ensure!(!filled.contains("{{"), "`{KREW}` has a placeholder that is not known here");
    Ok(filled)
}

/// Fills in the template of the formula.
fn homebrew(template: &str, version: &str, sums: &Sums) -> Result<String> {
    let text = template.replace("@VERSION@", version);
    let mut parts = text.split("@SHA256:");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once('@').context("a placeholder does not end")?;
        filled.push_str(sum(sums, &format!("taintlab-{target}.tar.gz"))?);
        filled.push_str(rest);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATES: [&str; 2] =
        [include_str!("../../.krew.yaml"), include_str!("../../packaging/taintlab.rb")];

    /// A sum of its own for each archive that the templates name.
    fn sums() -> Sums {
        let text = TEMPLATES.concat();
        let names = text.split(['/', '"']).filter(|it| it.ends_with(".tar.gz"));
        let names: std::collections::BTreeSet<_> = names.collect();
        names.into_iter().zip(1..).map(|(it, n)| (it.to_owned(), format!("{n:064x}"))).collect()
    }

    #[test]
    fn every_archive_has_its_own_sum() -> Result<()> {
        let (sums, [krew_template, formula]) = (sums(), TEMPLATES);
        assert_eq!(sums.len(), 6);
        let plugin = krew(krew_template, "1.2.3", &sums)?;
        for (name, sum) in &sums {
            let address = format!("/v1.2.3/{name}\n    sha256: {sum}\n");
            assert!(plugin.contains(&address), "no {address} in\n{plugin}");
        }
        let formula = homebrew(formula, "1.2.3", &sums)?;
        assert!(formula.contains("version \"1.2.3\"") && !formula.contains('@'), "{formula}");
        for (name, sum) in sums.iter().filter(|(name, _)| !name.contains("windows")) {
            let lines = format!("/{name}\"\n      sha256 \"{sum}\"\n");
            assert!(formula.contains(&lines), "no {lines} in\n{formula}");
        }
        Ok(())
    }

    #[test]
    fn an_archive_that_is_missing_is_named() {
        let mut sums = sums();
        sums.remove("taintlab-aarch64-apple-darwin.tar.gz");
        let [krew_template, formula] = TEMPLATES;
        for error in [krew(krew_template, "1.2.3", &sums), homebrew(formula, "1.2.3", &sums)] {
            let error = error.map_err(|error| error.to_string());
            let wanted = "there is no `taintlab-aarch64-apple-darwin.tar.gz` among the archives";
            assert_eq!(error, Err(wanted.to_owned()));
        }
    }
}
