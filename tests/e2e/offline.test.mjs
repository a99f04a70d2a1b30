// The page without a network: its service worker keeps one build, never parts of two.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { playgroundTest } from "./support/browser.mjs";
import { pods, ready, taint, until } from "./support/page.mjs";
import { serve } from "./support/server.mjs";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const WITH_WORKER = { closed: true, context: { serviceWorkers: "allow" } };

/** Leaves the page first, which may still load its engine. */
const close = async (server, page) => {
  await page.goto("about:blank");
  await server.close();
};

const keptFiles = (page) =>
  page.evaluate(async () => {
    const [name] = await caches.keys();
    return name ? (await (await caches.open(name)).keys()).length : 0;
  });

playgroundTest("opened once, the page opens and works without a network", WITH_WORKER, async ({ page, problems }) => {
  const server = await serve();
  await page.goto(server.url);
  await ready(page);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await until(page, async () => assert.ok((await keptFiles(page)) > 5));
  await close(server, page);
  await page.goto(`${server.url}#s=sample-cluster&release=1.35&control-plane=false`);
  await page.reload();
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/offline" });
  await until(page, async () => {
    const states = Object.values(await pods(page));
    assert.ok(states.includes("terminating"), states.join());
  });
  // Its own server is another host to the harness.
  assert.ok(problems.every((problem) => problem.startsWith(`asked another host: ${server.url}`)));
  problems.length = 0;
});

playgroundTest("of a build that is half published nothing is kept", WITH_WORKER, async ({ page, problems }) => {
  const folder = await mkdtemp(join(tmpdir(), "taintlab-"));
  await cp(DIST, folder, { recursive: true });
  // The page is of the next build already, its service worker is not.
  const index = join(folder, "index.html");
  await writeFile(index, `${await readFile(index, "utf8")}\n`);
  const server = await serve(folder);
  // Only the page can register a worker.
  await page.addInitScript(() => {
    // An empty page has none.
    if (!globalThis.ServiceWorkerContainer) return;
    const { register } = ServiceWorkerContainer.prototype;
    ServiceWorkerContainer.prototype.register = function (script) {
      globalThis.registered = register.call(this, script);
      return globalThis.registered;
    };
  });
  try {
    await page.goto(server.url);
    await ready(page);
    await page.waitForFunction(() => globalThis.registered);
    const state = await page.evaluate(async () => {
      const registration = await globalThis.registered;
      const worker = registration.installing ?? registration.waiting ?? registration.active;
      // It may have been refused before this line.
      if (!worker) return "redundant";
      while (!["redundant", "activated"].includes(worker.state)) {
        await new Promise((next) => worker.addEventListener("statechange", next, { once: true }));
      }
      return worker.state;
    });
    assert.equal(state, "redundant");
    assert.equal(await keptFiles(page), 0);
    problems.length = 0;
  } finally {
    await close(server, page);
    await rm(folder, { recursive: true });
  }
});

/** Files with their digests, as the service worker has them. */
const DIGESTS = /const FILES = (\{.*\});/;
const digest = (text) => createHash("sha256").update(text).digest("base64");

playgroundTest("of an old and a new build a page has one, never parts of both", WITH_WORKER, async ({ page, problems }) => {
  const folder = await mkdtemp(join(tmpdir(), "taintlab-"));
  await cp(DIST, folder, { recursive: true });
  const server = await serve(folder);
  try {
    await page.goto(server.url);
    await ready(page);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await until(page, async () => assert.ok((await keptFiles(page)) > 5));
    // A page is the worker's from its second visit on.
    await page.reload();
    await ready(page);
    // The next build: another page with another style sheet, and a service worker that knows both.
    const worker = await readFile(join(folder, "sw.js"), "utf8");
    const files = JSON.parse(DIGESTS.exec(worker)[1]);
    const style = Object.keys(files).find((name) => /^layout.*\.css$/.test(name));
    for (const [name, mark] of [[style, "/* new */"], ["index.html", "<!-- new -->"]]) {
      const old = await readFile(join(folder, name), "utf8");
      const text = `${old.replaceAll(/ integrity="[^"]*"/g, "")}\n${mark}`;
      await writeFile(join(folder, name), text);
      files[name] = digest(text);
    }
    await writeFile(join(folder, "sw.js"), worker.replace(DIGESTS, `const FILES = ${JSON.stringify(files)};`));
    /** Which build the page and its style sheet are of. */
    const builds = () =>
      page.evaluate(async (style) => {
        const texts = await Promise.all(["./", style].map(async (it) => (await fetch(it)).text()));
        return texts.map((text) => (/(<!-- new -->|\/\* new \*\/)$/.test(text) ? "new" : "old"));
      }, style);
    // The page that is open goes on with the old one while the new one comes.
    await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      await registration.update();
      const worker = registration.installing;
      while (worker && !["installed", "redundant"].includes(worker.state)) {
        await new Promise((next) => worker.addEventListener("statechange", next, { once: true }));
      }
    });
    assert.deepEqual(await builds(), ["old", "old"]);
    await page.reload();
    await ready(page);
    assert.deepEqual(await builds(), ["old", "old"], "another page of the old build was open");
    // Once no page is open any more, the new one takes over, whole.
    await page.goto("about:blank");
    await until(page, async () => {
      await page.goto(server.url);
      await ready(page);
      const [first, second] = await builds();
      assert.equal(first, second, "parts of two builds");
      assert.equal(first, "new");
    });
    assert.equal(await page.evaluate(async () => (await caches.keys()).length), 1);
    problems.length = 0;
  } finally {
    await close(server, page);
    await rm(folder, { recursive: true });
  }
});
