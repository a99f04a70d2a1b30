// The Content-Security-Policies: of the page, and of the report that the command writes as a page. That the
// page gets along with its own is shown by all tests, which fail on a violation.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { playgroundTest } from "./support/browser.mjs";
import { ready, until } from "./support/page.mjs";

const REPORTS = new URL("../reports/", import.meta.url);

/** The digest of a text as a policy has it. */
const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** What the policy of a page allows, by directive. */
function policyOf(page) {
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page);
  const parts = policy.split("; ").map((part) => part.split(" "));
  return Object.fromEntries(parts.map(([name, ...sources]) => [name, sources]));
}

/** The digests of the inline elements of a page. */
const digestsOf = (page, tag) => {
  const elements = page.matchAll(new RegExp(`<${tag}(?![^>]*\\ssrc=)[^>]*>([^]*?)</${tag}>`, "g"));
  return new Set([...elements].map(([, text]) => digest(text)));
};

playgroundTest("the page allows its own files and scripts, and nothing inline", async ({ url }) => {
  const page = await (await fetch(url)).text();
  const { "script-src": scripts, ...others } = policyOf(page);
  assert.deepEqual(others, {
    "default-src": ["'none'"],
    "style-src": ["'self'"],
    "connect-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    "form-action": ["'none'"],
    "base-uri": ["'none'"],
    "require-trusted-types-for": ["'script'"],
    "trusted-types": ["taintlab"],
  });
  const inline = digestsOf(page, "script");
  assert.ok(inline.size >= 2);
  assert.deepEqual(new Set(scripts), new Set(["'self'", "'wasm-unsafe-eval'", ...inline]));
  assert.doesNotMatch(page, /\sstyle=|<style|\snonce=/);
});

playgroundTest("its policy holds", { alone: true }, async ({ page, problems }) => {
  await ready(page);
  const done = await page.evaluate(async () => {
    const element = document.body.appendChild(document.createElement("i"));
    const attempts = {
      style: () => {
        element.setAttribute("style", "left:7px");
        if (element.style.left !== "7px") throw new Error("not applied");
      },
      html: () => {
        element.innerHTML = "<b></b>";
      },
      worker: () => new Worker("worker.js"),
      policy: () => trustedTypes.createPolicy("other", {}),
      "the same policy": () => trustedTypes.createPolicy("taintlab", {}),
      request: () => fetch("https://example.com"),
    };
    const done = [];
    for (const [what, attempt] of Object.entries(attempts)) {
      try {
        await attempt();
        done.push(what);
      } catch {
        // As it should be.
      }
    }
    return done;
  });
  assert.deepEqual(done, []);
  await until(page, async () => {
    for (const part of ["style-src-attr", "require-trusted-types-for", "trusted-types", "connect-src"]) {
      const said = `against the policy: ${part} `;
      assert.ok(problems.some((problem) => problem.includes(said)), `${said}: ${problems}`);
    }
  });
  problems.length = 0;
});

for (const file of readdirSync(REPORTS).filter((name) => name.endsWith(".html"))) {
  test(`the report ${file} asks for nothing, and has no inline styles`, () => {
    const page = readFileSync(new URL(file, REPORTS), "utf8");
    const styles = digestsOf(page, "style");
    assert.equal(styles.size, 2, "its own, and that of its pictures");
    const { "style-src": allowed, "script-src": scripts, ...others } = policyOf(page);
    assert.deepEqual(new Set(allowed), styles);
    assert.deepEqual(new Set(scripts), digestsOf(page, "script"));
    assert.deepEqual(others, {
      "default-src": ["'none'"],
      "base-uri": ["'none'"],
      "form-action": ["'none'"],
    });
    assert.doesNotMatch(page, /\s(?:style|on\w+)=/);
  });
}

playgroundTest("a report is coloured, drawn and sorted", { closed: true }, async ({ page, url }) => {
  const address = `${url}report.html`;
  const path = fileURLToPath(new URL("sample-cluster.html", REPORTS));
  await page.route(address, (route) => route.fulfill({ path }));
  await page.goto(address);
  const cells = page.locator("td.h[title]");
  const colours = (all) => all.map((cell) => getComputedStyle(cell).backgroundColor);
  const found = new Set(await cells.evaluateAll(colours));
  assert.ok(found.size > 3 && !found.has("rgba(0, 0, 0, 0)"), [...found].join("; "));
  const scheme = (picture) => getComputedStyle(picture.querySelector(".b")).fill;
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await page.locator("svg.tl").evaluate(scheme), "rgb(23, 28, 36)");
  await page.getByRole("button", { name: "SCORE", exact: true }).click();
  await page.locator('th[aria-sort="ascending"]').waitFor();
});
