// Each tab works on a session of its own; what was done can be found again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { QUIET, playgroundTest } from "./support/browser.mjs";
import { hasFocus } from "./support/hands.mjs";
import {
  keptSessions,
  loadScenario,
  openImport,
  ready,
  replaceCluster,
  storedWith,
  taint,
  until,
} from "./support/page.mjs";

/** The taints on a node's card. */
const taints = (page, node) =>
  page
    .locator(`[data-node="${node}"] .taint`)
    .evaluateAll((chips) => chips.map(({ title }) => title));

/** Waits until these nodes have exactly these taints. */
const tainted = (page, expected) =>
  until(page, async () => {
    for (const [node, wanted] of Object.entries(expected)) {
      assert.deepEqual(
        await taints(page, node),
        wanted.map((key) => `${key}:NoExecute`),
        node,
      );
    }
  });

/** Another tab, with the playground in it. */
async function newTab(page, url) {
  const tab = await page.context().newPage();
  await tab.goto(url + QUIET);
  await ready(tab);
  return tab;
}

/** A tab as the browser makes it when one is duplicated: with a copy of what the tab stored. */
async function duplicate(page) {
  const opened = page.context().waitForEvent("page");
  await page.evaluate(() => window.open(location.href) && null);
  const tab = await opened;
  await ready(tab);
  return tab;
}

async function reload(page) {
  await page.reload();
  await ready(page);
}

/** Opens the list; its rows, by name. */
async function openSessions(page) {
  await page.getByTestId("sessions").click();
  await page.getByTestId("sessions-list").waitFor();
  return (name) => page.locator("[data-session]", { has: page.locator("b", { hasText: name }) });
}

const cluster = (name) => `apiVersion: v1\nkind: Node\nmetadata: {name: ${name}}\n`;

playgroundTest("two tabs keep their work apart", async ({ page, url }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/first" });
  await storedWith(page, "example.com/first");
  const other = await newTab(page, url);
  await tainted(other, { "worker-1": [] });
  await taint(other, "worker-2", { key: "example.com/second" });
  await storedWith(other, "example.com/second");
  await taint(page, "worker-3", { key: "example.com/third" });
  const first = {
    "worker-1": ["example.com/first"],
    "worker-2": [],
    "worker-3": ["example.com/third"],
  };
  const second = { "worker-1": [], "worker-2": ["example.com/second"], "worker-3": [] };
  for (const tab of [page, other, page]) {
    await reload(tab);
    await tainted(tab, tab === page ? first : second);
    assert.deepEqual(await tab.getByTestId("notice").allInnerTexts(), []);
  }
  await storedWith(page, "example.com/third");
  assert.equal((await keptSessions(page)).length, 2);
});

playgroundTest("what was just done survives a reload of a page that is busy", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/stored" });
  await storedWith(page, "example.com/stored");
  // The edit is not stored: the page has no time for it.
  await page.evaluate(() => {
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (task, wait, ...rest) =>
      wait === 400 ? 0 : later(task, wait, ...rest);
  });
  await taint(page, "worker-2", { key: "example.com/new" });
  // Messages that take long go on in a task of their own, which a page that is left does not have.
  await page.evaluate(() => {
    const [now, later] = [Date.now.bind(Date), globalThis.setTimeout];
    let late = 0;
    Date.now = () => now() + (late += 20);
    globalThis.setTimeout = (task, wait, ...rest) => (wait > 0 ? later(task, wait, ...rest) : 0);
    dispatchEvent(new PopStateEvent("popstate"));
  });
  await reload(page);
  await tainted(page, { "worker-1": ["example.com/stored"], "worker-2": ["example.com/new"] });
  await storedWith(page, "example.com/new");
  assert.equal((await keptSessions(page)).length, 1);
});

playgroundTest(
  "what was being stored when the page was left is the tab's own",
  async ({ page }) => {
    await ready(page);
    await taint(page, "worker-1", { key: "example.com/known" });
    await storedWith(page, "example.com/known");
    // The next write is carried out, and the page is not told.
    await page.evaluate(() => {
      const { put } = IDBObjectStore.prototype;
      const listen = EventTarget.prototype.addEventListener;
      const untold = new Set();
      IDBObjectStore.prototype.put = function (value, key) {
        if (value.includes("example.com/untold")) {
          untold.add(this.transaction);
        }
        return put.call(this, value, key);
      };
      IDBTransaction.prototype.addEventListener = function (type, ...rest) {
        if (type !== "complete" || !untold.has(this)) {
          listen.call(this, type, ...rest);
        }
      };
    });
    await taint(page, "worker-2", { key: "example.com/untold" });
    await storedWith(page, "example.com/untold");
    await reload(page);
    await taint(page, "worker-3", { key: "example.com/next" });
    await storedWith(page, "example.com/next");
    assert.deepEqual(await page.getByTestId("notice").allInnerTexts(), []);
    assert.equal((await keptSessions(page)).length, 1);
  },
);

playgroundTest("a duplicated tab goes on with a copy", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/both" });
  await storedWith(page, "example.com/both");
  const copy = await duplicate(page);
  await tainted(copy, { "worker-1": ["example.com/both"] });
  await taint(copy, "worker-2", { key: "example.com/copy" });
  await taint(page, "worker-3", { key: "example.com/original" });
  await storedWith(page, "example.com/copy");
  await storedWith(page, "example.com/original");
  await reload(page);
  await reload(copy);
  const both = { "worker-1": ["example.com/both"] };
  await tainted(page, { ...both, "worker-2": [], "worker-3": ["example.com/original"] });
  await tainted(copy, { ...both, "worker-2": ["example.com/copy"], "worker-3": [] });
  assert.equal((await keptSessions(page)).length, 2);
});

playgroundTest("a tab in which nothing was done keeps nothing", async ({ page, url }) => {
  await ready(page);
  await page.locator('[data-node="worker-1"] > .name').click();
  await reload(page);
  await page
    .getByTestId("inspector")
    .getByRole("heading", { name: "worker-1", level: 2 })
    .waitFor();
  const other = await newTab(page, url);
  assert.deepEqual(await keptSessions(other), []);
  assert.deepEqual(await other.getByTestId("notice").allInnerTexts(), []);
  await other.getByTestId("sessions").click();
  await other.getByTestId("sessions-list").getByText("Nothing is kept yet").waitFor();
});

playgroundTest(
  "what was done in a tab that is closed can be gone on with",
  async ({ page, url }) => {
    await ready(page);
    await taint(page, "worker-1", { key: "example.com/yesterday" });
    await storedWith(page, "example.com/yesterday");
    const next = await newTab(page, url);
    await page.close();
    const offer = next.getByTestId("notice").filter({ hasText: "Your last session" });
    await offer.getByRole("button", { name: "Continue" }).click();
    await tainted(next, { "worker-1": ["example.com/yesterday"] });
    await offer.waitFor({ state: "detached" });
    await taint(next, "worker-2", { key: "example.com/today" });
    await storedWith(next, "example.com/today");
    assert.equal((await keptSessions(next)).length, 1);
  },
);

playgroundTest(
  "sessions are listed, renamed, opened, downloaded, deleted and put back",
  async ({ page, url }) => {
    await ready(page);
    await replaceCluster(page, cluster("alone"));
    await storedWith(page, "now");
    const other = await newTab(page, url);
    await taint(other, "worker-1", { key: "example.com/list" });
    await storedWith(other, "example.com/list");
    let row = await openSessions(other);
    const present = other.locator('[data-present="true"]');
    assert.match(await present.innerText(), /this tab\s+Kubernetes 1\.\d+, 1 edit, the last at 0s: taints of node worker-1: .*\s+changed just now/);
    assert.deepEqual(
      await present
        .getByRole("button")
        .evaluateAll((buttons) => buttons.map((button) => button.getAttribute("aria-label"))),
      ["Rename", "Download"],
    );

    const first = row("1 node, 0 pods");
    await first.getByRole("button", { name: "Rename" }).click();
    const field = other.getByRole("textbox", { name: "Name" });
    await until(other, async () => assert.ok(await hasFocus(field)));
    await field.fill("Lost node");
    await other.keyboard.press("Enter");
    await row("Lost node").waitFor();
    // What is pressed away leaves the focus in its row.
    const rename = row("Lost node").getByRole("button", { name: "Rename" });
    await until(other, async () => assert.ok(await hasFocus(rename)));

    const downloading = other.waitForEvent("download");
    await row("Lost node").getByRole("button", { name: "Download" }).click();
    const download = await downloading;
    assert.equal(download.suggestedFilename(), "lost-node.yaml");
    const file = readFileSync(await download.path(), "utf8");

    await row("Lost node").getByRole("button", { name: "Delete" }).click();
    const deleted = other.locator('[data-deleted="true"]');
    await deleted.getByText("“Lost node” is deleted.").waitFor();
    assert.equal((await keptSessions(other)).length, 1);
    const undo = deleted.getByRole("button", { name: "Undo" });
    await until(other, async () => assert.ok(await hasFocus(undo)));
    await deleted.getByRole("button", { name: "Undo" }).click();
    await row("Lost node").waitFor();
    assert.equal((await keptSessions(other)).length, 2);

    // Closed, so that nobody else works on it.
    await page.close();
    await row("Lost node").getByRole("button", { name: "Open" }).click();
    await other.locator('[data-node="alone"]').waitFor();
    assert.equal(await other.getByTestId("dialog").count(), 0);
    await reload(other);
    await other.locator('[data-node="alone"]').waitFor();
    row = await openSessions(other);
    assert.match(await other.locator('[data-present="true"]').innerText(), /^Lost node/);
    await other.keyboard.press("Escape");
    // The file is a scenario like any other.
    await openImport(other, file);
    await other.getByTestId("found").getByText("Scenario").waitFor();
  },
);

playgroundTest(
  "two tabs on one session: who stores second keeps a session of its own",
  async ({ page, url }) => {
    await ready(page);
    await taint(page, "worker-1", { key: "example.com/shared" });
    await storedWith(page, "example.com/shared");
    const other = await newTab(page, url);
    await other.getByTestId("notice").getByRole("button", { name: "Continue" }).click();
    await tainted(other, { "worker-1": ["example.com/shared"] });
    await taint(other, "worker-2", { key: "example.com/theirs" });
    await storedWith(other, "example.com/theirs");
    await taint(page, "worker-3", { key: "example.com/mine" });
    await page
      .getByTestId("notice")
      .getByText("This session is open in another tab")
      .waitFor();
    await storedWith(page, "example.com/mine");
    await reload(page);
    await tainted(page, { "worker-2": [], "worker-3": ["example.com/mine"] });
    await reload(other);
    await tainted(other, { "worker-2": ["example.com/theirs"], "worker-3": [] });
    assert.equal((await keptSessions(page)).length, 2);
  },
);

playgroundTest("of more sessions than are kept the oldest goes", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/one" });
  await storedWith(page, "example.com/one");
  // As if there had been 29 others.
  await page.evaluate(async () => {
    const database = await new Promise((resolve) => {
      const request = indexedDB.open("taintlab");
      request.onsuccess = () => resolve(request.result);
    });
    const transaction = database.transaction(["sessions", "starts", "edits"], "readwrite");
    for (let number = 1; number < 30; number += 1) {
      const entry = {
        id: `old-${number}`,
        title: `Old ${number}`,
        changed: number,
        size: 2,
        stamp: "x:1",
      };
      transaction.objectStore("sessions").put(JSON.stringify(entry), entry.id);
      transaction.objectStore("starts").put("{}", entry.id);
      transaction.objectStore("edits").put("{}", entry.id);
    }
    await new Promise((done) => (transaction.oncomplete = done));
    database.close();
  });
  const other = await duplicate(page);
  await taint(other, "worker-2", { key: "example.com/two" });
  await storedWith(other, "example.com/two");
  const kept = await keptSessions(page);
  assert.equal(kept.length, 30);
  assert.ok(!kept.some(({ id }) => id === "old-1"));
  assert.ok(kept.some(({ id }) => id === "old-2"));
});

const FULL = () => {
  IDBObjectStore.prototype.put = () => {
    throw new DOMException("no more room", "QuotaExceededError");
  };
};

playgroundTest("a full storage is told, and what was stored is still there", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/stored" });
  await storedWith(page, "example.com/stored");
  const before = await keptSessions(page);
  await page.evaluate(FULL);
  await taint(page, "worker-2", { key: "example.com/too-much" });
  const notice = page.getByTestId("notice");
  await notice
    .getByText("will be lost when you close this tab: the browser's storage is full")
    .waitFor();
  assert.deepEqual(await keptSessions(page), before);
  // The way out: the list, from which something can be deleted.
  await notice.getByRole("button", { name: "Sessions" }).click();
  await page.getByTestId("sessions-list").waitFor();
  // This tab has it all the same.
  await reload(page);
  await tainted(page, { "worker-1": ["example.com/stored"], "worker-2": ["example.com/too-much"] });
});

playgroundTest(
  "a cluster of more than 5 million characters survives a reload",
  async ({ page }) => {
    await ready(page);
    const pod = (number) =>
      `- {apiVersion: v1, kind: Pod, metadata: {name: p-${number}, annotations: {example.com/note: "${"x".repeat(200)}"}}, spec: {nodeName: "large", containers: [{name: c, image: i}]}}`;
    const pods = Array.from({ length: 18_000 }, (_, number) => pod(number));
    const text = `${cluster("large")}---\napiVersion: v1\nkind: List\nitems:\n${pods.join("\n")}\n`;
    await page.getByTestId("import").click();
    await page.getByTestId("import-file").setInputFiles({
      name: "large.yaml",
      mimeType: "text/yaml",
      buffer: Buffer.from(text),
    });
    await page.getByTestId("import-replace").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await until(page, async () => {
      const [kept] = await keptSessions(page);
      assert.ok(kept?.size > 2_000_000, `${kept?.size}`);
    });
    await reload(page);
    assert.equal(await page.locator('[data-node="large"]').count(), 1);
    assert.deepEqual(await page.getByTestId("notice").allInnerTexts(), []);
  },
);

playgroundTest(
  "a fresh start keeps the earlier work, however often it is asked for",
  async ({ page, url }) => {
    await ready(page);
    await loadScenario(page, "three-effects");
    await storedWith(page, "now");
    const title = (await keptSessions(page))[0].title;
    for (let time = 0; time < 2; time += 1) {
      await page.goto(`${url}?fresh`);
      await ready(page);
      await page.locator('[data-node="worker-1"]').waitFor();
      assert.equal(page.url(), url);
      await page.getByTestId("notice").getByText("Your earlier work is kept").waitFor();
    }
    // A reload is no fresh start.
    await taint(page, "worker-1", { key: "example.com/fresh" });
    await reload(page);
    await tainted(page, { "worker-1": ["example.com/fresh"] });
    const row = await openSessions(page);
    await row(title).getByRole("button", { name: "Open" }).click();
    await until(page, async () =>
      assert.equal(await page.locator("header .title").textContent(), title),
    );
  },
);
