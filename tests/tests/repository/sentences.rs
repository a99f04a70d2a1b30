//! Sentences that readers stumbled over stay away from what they read: the page, the command and
//! the documents.

use super::{files, read};

/// Each with what stands in its place.
const FORBIDDEN: [(&str, &str); 33] = [
    ("pod left;", "1 pod evicted; 2 pods stuck Terminating"),
    ("are too small ever to be", "their nodes"),
    ("for which the next pod waits", "that its replacement must wait for"),
    ("each two zones", "every pair of zones"),
    ("These nodes at once", "These nodes together"),
    ("with other heartbeats", "heartbeat timing varied"),
    ("Findings for which remedies", "Findings to try fixes for"),
    ("opens at this moment as", "Opens at the simulated time shown"),
    ("as a session of its own", "in a new session"),
    ("\"In it\"", "Contains"),
    ("Hide names: node-1", "Replace names by node-1"),
    ("leave out what is the same", "Hide unchanged lanes"),
    ("Timeline: leave out", "Timeline: hide"),
    ("All of the time", "Fit everything"),
    ("Light, dark or as the system", "Theme: light, dark, system"),
    ("\"as the system\"", "Theme: system"),
    ("On to what happens next", "Next event of the selection"),
    ("forks by itself", "Editing the past starts a new branch"),
    ("plays the same again", "replays the same run"),
    ("What the release rests on", "How this release is known"),
    ("since then sees the last heartbeat", "the number of the health check"),
    ("\"Looks next\"", "Next check"),
    ("is never in a link", "Never environment, commands, …"),
    ("\"Force\"", "Force delete"),
    ("Nothing is due", "Nothing happens by itself now"),
    ("\"Until …\"", "Run until…"),
    ("\"Full height\"", "Fill the window"),
    ("\"Fact\"", "Decision"),
    ("replica-s\"", "replica-seconds"),
    ("\"Tokens\"", "Limiter"),
    ("Compare with this run", "Use this run as baseline"),
    ("Nodes for pods that wait", "Autoscaling"),
    ("At most so many nodes", "Maximum nodes in the group"),
];

#[test]
fn sentences_that_nobody_understood_are_gone() {
    let code = files("web/src", &["rs"]).into_iter().chain(files("npm/package/bin", &["js"]));
    let documents = files("docs", &["md"]);
    let mut found = Vec::new();
    for path in code.chain(documents) {
        let is_document = path.extension().is_some_and(|it| it == "md");
        for (number, line) in read(&path).lines().enumerate() {
            // Comments are read by those who have the code beside them.
            if !is_document && line.trim_start().starts_with("//") {
                continue;
            }
            for (sentence, instead) in FORBIDDEN {
                if line.contains(sentence) {
                    let place = format!("{}:{}", path.display(), number + 1);
                    found.push(format!("{place}: `{sentence}`: say `{instead}`"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
