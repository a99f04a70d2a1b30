// The session is in a worker: the page answers whatever is being computed, what takes long can be
// stopped, a worker that breaks down loses nothing, and a page without workers does the same.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { atOnce, idle } from "./support/idle.mjs";
import {
  legend,
  loadScenario,
  log,
  now,
  openImport,
  pods,
  ready,
  replaceCluster,
  runToEnd,
  seconds,
  selectNode,
  taint,
  until,
} from "./support/page.mjs";

/** So many nodes of three zones with so many pods each, as JSON. */
function cluster(nodes, podsOfEach) {
  const items = [];
  for (let node = 0; node < nodes; node += 1) {
    const name = `node-${node}`;
    items.push({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "topology.kubernetes.io/zone": `zone-${node % 3}` } },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
    for (let pod = 0; pod < podsOfEach; pod += 1) {
      const spec = { nodeName: name, containers: [{ name: "web", image: "nginx" }] };
      const metadata = { name: `web-${node}-${pod}`, namespace: "shop" };
      items.push({ apiVersion: "v1", kind: "Pod", metadata, spec });
    }
  }
  return Buffer.from(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
}

/** The worker of the session. */
async function worker(page) {
  for (const worker of page.workers()) {
    if ((await worker.evaluate(() => self.name)) === "session") {
      return worker;
    }
  }
  return undefined;
}

/** Opens a file in the import dialog. */
const openFile = (page, buffer) =>
  page.getByTestId("import-file").setInputFiles({
    name: "large.json",
    mimeType: "application/json",
    buffer,
  });

playgroundTest("a worker that breaks down takes no work with it", { alone: true }, async ({
  page,
  problems,
}) => {
  await ready(page);
  const node = await page.locator("[data-node]").first().getAttribute("data-node");
  await taint(page, node, { key: "kept" });
  const before = { pods: await pods(page), log: await log(page), now: await now(page) };
  const session = await worker(page);
  assert.ok(session, "the session is in a worker");
  await session.evaluate(() => setTimeout(() => { throw new Error("broken for a test"); }));
  await page.getByTestId("notice").getByText("The engine crashed").waitFor();
  await idle(page);
  assert.deepEqual({ pods: await pods(page), log: await log(page), now: await now(page) }, before);
  // It goes on, and the edit can still be taken back.
  await selectNode(page, node);
  await page.getByTestId("undo").click();
  assert.equal(await page.locator(`[data-node="${node}"]`).getAttribute("data-tainted"), "false");
  // Twice in a row is no more than once.
  await (await worker(page)).evaluate(() => setTimeout(() => { throw new Error("again"); }));
  await page.getByTestId("notice").getByText("Error: again").waitFor();
  problems.length = 0;
});

for (const [what, without] of [
  ["has no workers", (page) => page.addInitScript(() => delete globalThis.Worker)],
  [
    "may have no workers",
    (page) =>
      page.route("**/*", async (route) => {
        const response = await route.fetch();
        const headers = { ...response.headers(), "content-security-policy": "worker-src 'none'" };
        await route.fulfill({ response, headers });
      }),
  ],
]) {
  playgroundTest(`a page that ${what} does the same`, { closed: true }, async ({
    page,
    url,
    problems,
  }) => {
    await without(page);
    await page.goto(url);
    await ready(page);
    assert.equal(page.workers().length, 0);
    await replaceCluster(page, cluster(3, 4).toString());
    await taint(page, "node-1", { key: "k" });
    // So slowly that nothing is over before it is paused.
    await page.getByTestId("speed").selectOption("1×");
    await page.getByRole("button", { name: "Play" }).click();
    await until(page, async () => assert.ok((await now(page)) > 0n));
    await page.getByRole("button", { name: "Pause" }).click();
    if (await page.getByTestId("end").isEnabled()) {
      await runToEnd(page);
    }
    assert.equal((await legend(page)).gone, 4);
    await page.getByTestId("undo").click();
    assert.equal((await legend(page)).stay, 12);
    // The browser logs what the policy forbids.
    problems.length = 0;
  });
}

/** Stops an import as soon as it says how far it is, and reads another one. */
async function stopAnImport(page) {
  const before = await pods(page);
  await page.getByTestId("import").click();
  await atOnce(page, async () => {
    await openFile(page, cluster(3_000, 40));
    // For it may be over before a mouse is there.
    const said = await page.evaluate(async () => {
      const busy = () => document.querySelector("[data-testid=busy]");
      while (!busy()?.innerText.includes("so far")) {
        await new Promise((next) => requestAnimationFrame(next));
      }
      const said = busy().querySelector("span").innerText;
      busy().querySelector("[data-testid=cancel]").click();
      return said;
    });
    assert.match(said, /^Reading: \d+0000 objects so far$/);
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  });
  await idle(page);
  await page.getByTestId("notice").getByText("Cancelled. Nothing has changed.").waitFor();
  assert.deepEqual(await pods(page), before);
  await openImport(page, cluster(2, 2).toString());
  await page.getByTestId("found").getByText("2 nodes, 4 pods").waitFor();
}

playgroundTest("an import is stopped, and everything is as it was", { alone: true }, async ({
  page,
}) => {
  await ready(page);
  await stopAnImport(page);
});

playgroundTest("an import is stopped on a page without workers, too", { closed: true }, async ({
  page,
  url,
}) => {
  await page.addInitScript(() => delete globalThis.Worker);
  await page.goto(url);
  await ready(page);
  await stopAnImport(page);
});

playgroundTest("a file that cannot be read is told, and the next one is read", { alone: true }, async ({
  page,
}) => {
  await ready(page);
  const session = await worker(page);
  await session.evaluate(() => {
    const read = FileReaderSync.prototype.readAsArrayBuffer;
    FileReaderSync.prototype.readAsArrayBuffer = () => {
      FileReaderSync.prototype.readAsArrayBuffer = read;
      throw new DOMException("it is gone", "NotFoundError");
    };
  });
  await page.getByTestId("import").click();
  // Shorter ones are read by the page, to be shown.
  await openFile(page, cluster(100, 50));
  await page.getByTestId("found").getByText("`large.json` cannot be read: it is gone").waitFor();
  assert.equal(await page.getByTestId("import-replace").count(), 0);
  await openFile(page, cluster(100, 60));
  await page.getByTestId("found").getByText("100 nodes, 6000 pods").waitFor();
});

playgroundTest("the page answers while the session is busy", { alone: true }, async ({ page }) => {
  await ready(page);
  const session = await worker(page);
  // It computes for as long as the page is tried out below, and longer.
  const computes = session.evaluate(() => {
    const until = performance.now() + 2_000;
    while (performance.now() < until);
  });
  const found = await page.evaluate(async () => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const begin = performance.now();
    // An answer to this is awaited all the time.
    document.querySelector('[data-node="worker-1"] > .name').click();
    await frame();
    const filter = document.querySelector("[data-testid=log] input");
    filter.value = "web-3";
    filter.dispatchEvent(new InputEvent("input", { bubbles: true }));
    document.querySelector("[data-testid=help]").click();
    await frame();
    await frame();
    return {
      filter: filter.value,
      dialog: document.querySelector("dialog[open]")?.getAttribute("aria-label"),
      busy: document.querySelector("[data-testid=page]").hasAttribute("data-busy"),
      time: performance.now() - begin,
    };
  });
  const { time, ...rest } = found;
  assert.deepEqual(rest, { filter: "web-3", dialog: "Help", busy: true });
  assert.ok(time < 1_500, `${time} ms`);
  await computes;
  await page.keyboard.press("Escape");
  await idle(page);
  await page.getByTestId("inspector").getByRole("heading", { name: "worker-1" }).waitFor();
});

/** Lets the session's worker take its time for each thing that happens, until it is freed. */
const slowed = (session) =>
  session.evaluate(() => {
    const [later, { now }] = [self.setTimeout, Date];
    let time = now();
    Date.now = () => (time += 1_000);
    self.setTimeout = (work) => later(work, 700);
    self.freed = () => {
      Date.now = now;
      self.setTimeout = later;
    };
  });

playgroundTest("it says that it works once an answer has taken 300 ms", { alone: true }, async ({
  page,
}) => {
  await ready(page);
  // Else the time of an earlier question counts.
  await idle(page);
  const session = await worker(page);
  const computes = session.evaluate(() => {
    const until = performance.now() + 3_000;
    while (performance.now() < until);
  });
  // What fails before it ends is what is told.
  computes.catch(() => {});
  const said = await page.evaluate(async () => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const busy = () => document.querySelector("[data-testid=busy]");
    const begin = performance.now();
    document.querySelector('[data-node="worker-1"] > .name').click();
    const isSeen = () => busy()?.checkVisibility({ visibilityProperty: true });
    while (!isSeen() && performance.now() < begin + 5_000) await frame();
    const after = performance.now() - begin;
    const seen = isSeen();
    return { after, words: busy()?.querySelector("span").innerText, seen };
  });
  const { after, ...rest } = said;
  assert.deepEqual(rest, { words: "Working…", seen: true });
  assert.ok(after >= 250 && after < 3_000, `${after} ms`);
  await computes;
  await page.getByTestId("busy").waitFor({ state: "detached" });
});

playgroundTest("runs to the end and comparisons are stopped where they are", { alone: true }, async ({
  page,
}) => {
  await ready(page);
  await loadScenario(page, "why-345-seconds");
  const session = await worker(page);
  const busy = page.getByTestId("busy");
  const stop = async (words) => {
    await busy.getByText(words).waitFor();
    await page.getByTestId("cancel").click();
    await busy.waitFor({ state: "detached" });
  };
  await slowed(session);
  await atOnce(page, async () => {
    await page.getByTestId("end").click();
    await stop(/^Running to the end: /);
  });
  const stopped = await now(page);
  assert.ok(stopped > 0n && stopped < seconds(345), `${stopped}`);

  await atOnce(page, async () => {
    await page.getByTestId("compare-open").click();
    await page.getByRole("combobox", { name: "Release of B" }).selectOption("1.18");
    await stop(/^Comparing: /);
  });
  await page.getByTestId("dialog").getByText("it was stopped").waitFor();
  assert.equal(await page.getByTestId("compared").count(), 0);
  await page.keyboard.press("Escape");
  assert.equal(await now(page), stopped);

  // Both go on from there.
  await session.evaluate(() => self.freed());
  await runToEnd(page);
  assert.ok((await now(page)) > seconds(345));
});
