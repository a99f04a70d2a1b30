// The page without a network: its service worker keeps one build, never parts of two.

import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { playgroundTest } from "./support/browser.mjs";
import { pods, ready, taint, until } from "./support/page.mjs";
import { serve } from "./support/server.mjs";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const WITH_WORKER = { closed: true, context: { serviceWorkers: "allow" } };

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
  await server.close();
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
  try {
    await page.goto(server.url);
    await ready(page);
    const state = await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.register("sw.js");
      const worker = registration.installing ?? registration.waiting ?? registration.active;
      while (worker && !["redundant", "activated"].includes(worker.state)) {
        await new Promise((next) => worker.addEventListener("statechange", next, { once: true }));
      }
      return worker?.state;
    });
    assert.equal(state, "redundant");
    assert.equal(await keptFiles(page), 0);
    problems.length = 0;
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
});
