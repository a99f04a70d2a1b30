// Tests in a real Chromium: each with nothing stored, failing on any problem the page has.
//
// Environment: CHROMIUM, the browser's path (`cargo xtask test` finds one); TAINTLAB_URL, a served
// playground to test in place of dist/.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { FLAGS } from "./flags.mjs";
import { waitForAnswers } from "./idle.mjs";
import { serve } from "./server.mjs";

/** The longest wait for one thing to become true, in milliseconds. */
const PATIENCE = 20_000;

/** A test is too short to gain from optimised code: making it is a seventh of the work. */
const NOTHING_OPTIMISED = "--js-flags=--liftoff-only";

/** The longest a test may take, in milliseconds; a hung page must not hang the run. */
const TEST_LIMIT = 180_000;

/**
 * The sample cluster without controllers: what is evicted stays away, taints stay, and what a test
 * does is all that happens.
 */
export const QUIET = "#s=sample-cluster&release=1.35&control-plane=false";

/** Where a failed test leaves its screenshot. */
const OUTPUT = fileURLToPath(new URL("../output/", import.meta.url));

let browser;
let server;

/** The page of the tests that need no profile of their own, once there is one. */
let shared;

before(async () => {
  const executablePath = process.env.CHROMIUM;
  assert.ok(executablePath, "CHROMIUM is not set: run `cargo xtask test`, or set it to a browser");
  const url = process.env.TAINTLAB_URL;
  server = url ? { url: new URL(url).href, close: async () => {} } : await serve();
  browser = await chromium.launch({ executablePath, args: [...FLAGS, NOTHING_OPTIMISED] });
});

after(async () => {
  await browser?.close();
  await server?.close();
});

/**
 * @typedef {object} Options
 * @property {boolean} [alone] in a profile of its own, since the test leaves more behind than
 * `afresh` takes   away: scripts, routes, permissions; with any other option it is so, too
 * @property {boolean} [sample] open the page as everybody finds it: its controllers run, and nodes
 *   on which nothing happens are folded when something does
 * @property {boolean} [closed] do not open the playground; the test goes to `url` when it wants
 * @property {import("playwright-core").BrowserContextOptions} [context] viewport, colours, …
 *
 * @typedef {object} Playground
 * @property {import("playwright-core").Page} page
 * @property {string} url where the playground is served; ends with a slash
 * @property {string[]} problems what the page threw, logged as an error, failed to load, or asked
 * of
 *   another host, and what its policy forbade, so far; the test fails unless it is empty at the end
 */

/**
 * Declares a test with the playground open, and nothing saved.
 *
 * @param {string} name what is shown to hold
 * @param {Options | ((playground: Playground) => Promise<void>)} options
 * @param {(playground: Playground) => Promise<void>} [body]
 */
export function playgroundTest(name, options, body) {
  if (typeof options === "function") {
    return playgroundTest(name, {}, options);
  }
  const alone = Object.keys(options).length > 0;
  return test(name, { timeout: TEST_LIMIT }, async () => {
    const { url } = server;
    const profile = (!alone && shared) || (await newProfile(options.context, options.sample));
    const { context, page, problems } = profile;
    let passed = false;
    try {
      if (profile === shared) {
        await afresh(page, url);
      } else if (!options.closed) {
        await page.goto(options.sample ? url : url + QUIET);
      }
      await body({ page, url, problems });
      assert.deepEqual(problems, [], "the page has problems");
      passed = true;
    } catch (error) {
      await screenshot(page, name);
      throw error;
    } finally {
      const goesOn = passed && !alone && !page.isClosed() && context.pages().length === 1;
      shared = goesOn ? profile : alone ? shared : undefined;
      if (!goesOn) {
        await context.close();
      }
    }
  });
}

/** A profile with one page. */
async function newProfile(options, sample) {
  const context = await browser.newContext(options);
  // Scripts and files are those of the test, unless it is about the service worker.
  if (!options?.serviceWorkers) {
    await context.addInitScript(() => delete Navigator.prototype.serviceWorker);
  }
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
      console.error(`against the policy: ${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
  if (!sample) {
    // Nodes on which nothing happens are not folded.
    await context.addInitScript(() => {
      try {
        localStorage.setItem("taintlab.fine", "shown");
      } catch {
        // A frame without storage.
      }
    });
  }
  context.setDefaultTimeout(PATIENCE);
  const problems = [];
  // Every tab: the tests open more, and the page may.
  context.on("page", (tab) => {
    watch(tab, new URL(server.url).origin, problems);
    waitForAnswers(tab);
  });
  const page = await context.newPage();
  return { context, page, problems };
}

/**
 * Opens the playground once more in a page, with nothing saved: what a new profile would show, for
 * half of its work, since the engine is compiled.
 */
export async function afresh(page, url) {
  // What it stores when it is left may come after the clearing, and so it stores nothing any more.
  await page.evaluate(() => {
    const refuse = () => {
      throw new DOMException("the test is over", "InvalidStateError");
    };
    IDBFactory.prototype.open = refuse;
    IDBDatabase.prototype.transaction = refuse;
    IDBObjectStore.prototype.put = refuse;
    Storage.prototype.setItem = () => {};
    sessionStorage.clear();
  });
  await page.goto("about:blank");
  await page.unrouteAll();
  await page.context().clearPermissions();
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.emulateMedia({
    colorScheme: null, forcedColors: null, media: null, reducedMotion: null,
  });
  await page.mouse.move(0, 0);
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(url);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await session.detach();
  await page.goto(url + QUIET);
}

/** Collects what goes wrong in a page. */
function watch(page, origin, problems) {
  page.on("pageerror", (error) => problems.push(`threw: ${error.stack ?? error}`));
  page.on("crash", () => problems.push("crashed"));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      problems.push(`logged: ${message.text()} (${message.location().url})`);
    }
  });
  page.on("request", (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (asked !== origin && protocol !== "data:" && protocol !== "blob:") {
      problems.push(`asked another host: ${request.url()}`);
    }
  });
  page.on("requestfailed", (request) => {
    // A page that is left or reloaded drops the requests it no longer needs.
    const reason = request.failure()?.errorText;
    if (reason !== "net::ERR_ABORTED") {
      problems.push(`could not load ${request.url()}: ${reason}`);
    }
  });
  page.on("response", (response) => {
    if (response.status() >= 400) {
      problems.push(`got ${response.status()} for ${response.url()}`);
    }
  });
}

/** Keeps what a failed test saw; the test's own error matters more than a failure to do so. */
async function screenshot(page, name) {
  const path = `${OUTPUT}${name.replaceAll(/[^\w]+/g, "-")}.png`;
  try {
    await mkdir(OUTPUT, { recursive: true });
    await page.screenshot({ path, timeout: PATIENCE });
    console.log(`screenshot: ${path}`);
  } catch (error) {
    console.log(`no screenshot: ${error.message}`);
  }
}
