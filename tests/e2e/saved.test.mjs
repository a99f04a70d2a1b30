// The work survives a reload, and a storage that cannot be read does no harm.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { largeClusterText } from "../large-cluster.mjs";
import { playgroundTest } from "./support/browser.mjs";
import {
  keptSessions,
  log,
  now,
  pods,
  ready,
  replaceCluster,
  scrubTo,
  seconds,
  taint,
  until,
} from "./support/page.mjs";

/** Where earlier versions of the page stored its only session. */
const SESSION = "taintlab.session";
const KINDS = ["event", "change", "fact"];

const stored = (page, key = SESSION) => page.evaluate((name) => localStorage.getItem(name), key);

/** Everything that is to survive. */
async function state(page) {
  await page.getByTestId("events-open").click();
  const decisions = page.getByRole("button", { name: "Decisions" });
  if ((await decisions.getAttribute("aria-pressed")) !== "true") {
    await decisions.click();
  }
  return {
    now: await now(page),
    pods: await pods(page),
    log: await log(page, KINDS),
    release: await page.getByTestId("release").inputValue(),
    theme: await page.evaluate(() => document.documentElement.dataset.theme),
  };
}

/** Stores a text as the session of an earlier version and opens the page as a new tab does. */
async function openWith(page, url, text) {
  // A page of the same origin, but no playground, which would store something itself.
  const elsewhere = `${url}elsewhere`;
  const body = '<link rel="icon" href="data:,">';
  await page.route(elsewhere, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(elsewhere);
  await page.evaluate(
    ([key, value]) => {
      localStorage.clear();
      sessionStorage.clear();
      localStorage.setItem(key, value);
    },
    [SESSION, text],
  );
  await page.goto(url);
  await ready(page);
}

playgroundTest(
  "a long session says that it is restored, and the page can begin without it",
  { alone: true },
  async ({ page }) => {
    await ready(page);
    const text = largeClusterText({ nodes: 60, pods: 1_500, deployments: 20 });
    assert.ok(text.length > 1 << 20, "long enough to be told of");
    await replaceCluster(page, text);
    // What is stored first may still begin with the cluster before, and have this one as an edit.
    await until(page, async () => {
      const [kept] = await keptSessions(page);
      const begins = kept?.size > 1 << 20 && kept.edits.length < 1 << 10;
      assert.ok(begins, "the large cluster is stored as the beginning");
    });
    // What is asked of a worker waits until the test lets it go on.
    await page.addInitScript(() => {
      const { postMessage } = Worker.prototype;
      let held = [];
      Worker.prototype.postMessage = function (...message) {
        if (held) held.push([this, message]);
        else postMessage.apply(this, message);
      };
      globalThis.release = () => {
        for (const [worker, message] of held) postMessage.apply(worker, message);
        held = undefined;
      };
    });
    await page.reload({ waitUntil: "commit" });
    await page.getByRole("status").getByText("Restoring “60 nodes, 1500 pods”").waitFor();
    await page.getByRole("button", { name: "Cancel and start without it" }).click();
    await page.evaluate(() => globalThis.release());
    await ready(page);
    await page.getByText("Your work is kept under Sessions").waitFor();
    assert.equal(await page.locator("[data-zone]").count(), 3, "the sample cluster");
    assert.equal((await keptSessions(page)).length, 1);
  },
);

playgroundTest("leaving asks to stay while a large cluster is not stored", async ({ page }) => {
  await ready(page);
  const asks = () =>
    page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
  assert.equal(await asks(), false, "the sample is no work");
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    globalThis.isFull = true;
    IDBObjectStore.prototype.put = function (...entry) {
      if (globalThis.isFull) throw new DOMException("full", "QuotaExceededError");
      return put.apply(this, entry);
    };
  });
  await replaceCluster(page, largeClusterText({ nodes: 60, pods: 1_500, deployments: 20 }));
  await page.getByText("Your work cannot be saved").waitFor();
  assert.equal(await asks(), true);
  await page.evaluate(() => {
    globalThis.isFull = false;
  });
  await taint(page, "node-1", { key: "example.com/fire" });
  await until(page, async () => assert.equal(await asks(), false, "it is stored"));
});

playgroundTest("objects, edits, clock, release and colours survive a reload", async ({ page }) => {
  await ready(page);
  await page.getByTestId("theme").click();
  await page.getByTestId("theme").click();
  await page.getByTestId("release").selectOption("1.20");
  await scrubTo(page, seconds(7.5));
  await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
  await scrubTo(page, seconds(40));
  await taint(page, "worker-2", { key: "example.com/fire", value: "hot" });
  const before = await state(page);
  assert.equal(before.theme, "dark");
  assert.equal(before.release, "1.20");
  assert.equal(before.pods["shop/checkout-5b8f7d9c4-4fvlc"], "terminating");

  await page.reload();
  await ready(page);
  assert.deepEqual(await state(page), before);
  assert.equal(await page.getByTestId("notice").count(), 0);

  // The edits are still edits: the last one can be taken back.
  await page.getByTestId("undo").click();
  await until(page, async () => {
    const chips = page.locator('[data-node="worker-2"] .taint');
    assert.equal(await chips.count(), 0);
  });
});

playgroundTest("work that was done just before the page is left survives", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-3", { key: "example.com/late" });
  await page.reload();
  await ready(page);
  await page.locator('[data-node="worker-3"] .taint').waitFor();
});

playgroundTest("the clock of a playing page survives", async ({ page }) => {
  await ready(page);
  await page.getByRole("button", { name: "Play" }).click();
  await until(page, async () => assert.ok((await now(page)) > seconds(2)));
  const before = await now(page);
  await page.reload();
  await ready(page);
  assert.ok((await now(page)) >= before, "the clock does not go back");
});

const SCENARIO = { apiVersion: "taintlab/v1", kind: "Scenario" };

const UNREADABLE = {
  "cut off": '{"format":1,"now":0,"edits":[{"at":"1s","comm',
  "no JSON": "hello",
  empty: "",
  "a list": "[1,2,3]",
  null: "null",
  "another program's": '{"theme":"dark","user":{"id":7}}',
  "of a later format": '{"format":7,"everything":"new"}',
  "without its fields": '{"format":1}',
  "with an unknown command":
    '{"format":1,"now":0,"edits":[{"at":"1s","commands":[{"explode":{}}]}],"start":{}}',
  "with a scenario of another kind":
    '{"format":1,"now":0,"edits":[],"start":{"objects":{"nodes":7}}}',
};

const MESSAGE = "The work stored in this browser could not be read";

playgroundTest(
  "a stored session that cannot be read: a message, and a copy is kept",
  { closed: true },
  async ({ page, url }) => {
    for (const [name, text] of Object.entries(UNREADABLE)) {
      await openWith(page, url, text);
      await page.getByTestId("notice").getByText(MESSAGE).waitFor();
      const [{ title, edits }] = await keptSessions(page);
      assert.deepEqual([title, edits], ["Work that could not be read", text], name);
      assert.equal(await stored(page), null, `${name}: it is moved, not copied`);
      assert.ok((await page.getByTestId("node").count()) > 0, `${name}: the sample is there`);
    }
  },
);

playgroundTest(
  "after a session that cannot be read the page works, and the copy can be had",
  { closed: true },
  async ({ page, url }) => {
    const text = UNREADABLE["cut off"];
    await openWith(page, url, text);
    const notice = page.getByTestId("notice");
    const downloading = page.waitForEvent("download");
    await notice.getByRole("button", { name: "Download the copy" }).click();
    const download = await downloading;
    assert.equal(readFileSync(await download.path(), "utf8"), text);

    await notice.getByRole("button", { name: "Dismiss" }).click();
    await notice.waitFor({ state: "detached" });
    await taint(page, "worker-1", { key: "example.com/again" });
    await page.reload();
    await ready(page);
    await page.locator('[data-node="worker-1"] .taint').waitFor();
    assert.equal(await page.getByTestId("notice").count(), 0, "what is stored now can be read");
    await page.getByTestId("sessions").click();
    const again = page.locator("[data-session]", { hasText: "Work that could not be read" });
    const second = page.waitForEvent("download");
    await again.getByRole("button", { name: "Download" }).click();
    assert.equal(
      readFileSync(await (await second).path(), "utf8"),
      text,
      "the copy is still there",
    );
  },
);

playgroundTest(
  "the session of an earlier version is gone on with, and becomes one of the list",
  { closed: true },
  async ({ page, url }) => {
    const session = {
      format: 1,
      now: "7s",
      selection: "node old",
      edits: [
        {
          at: "2s",
          commands: [{ taint: { node: "old", taint: { key: "k", effect: "NoExecute" } } }],
        },
      ],
      start: {
        ...SCENARIO,
        objects: { nodes: [{ apiVersion: "v1", kind: "Node", metadata: { name: "old" } }] },
      },
    };
    await openWith(page, url, JSON.stringify(session));
    await page.locator('[data-node="old"] .taint').waitFor();
    assert.equal(await now(page), seconds(7));
    assert.equal(await page.getByTestId("notice").count(), 0);
    const kept = await keptSessions(page);
    assert.deepEqual(
      kept.map(({ title }) => title),
      ["1 node, 0 pods"],
    );
    assert.equal(await stored(page), null);
    await page.reload();
    await ready(page);
    await page.locator('[data-node="old"] .taint').waitFor();
    assert.equal((await keptSessions(page)).length, 1);
  },
);

playgroundTest(
  "strange but readable sessions give a page that works",
  { closed: true },
  async ({ page, url }) => {
    const now = "5s";
    const untaint = { untaint: { node: "nowhere", key: "k" } };
    for (const text of [
      // Edits in the wrong order, of what is not there, and a clock that is at its end.
      {
        format: 1,
        now,
        edits: [
          { at: "9s", commands: [untaint] },
          { at: "1s", commands: [untaint] },
        ],
        start: {},
      },
      { format: 1, now: "0s", edits: [{ at: "0s", commands: [] }], start: {} },
    ]) {
      await openWith(page, url, JSON.stringify(text));
      await page.getByTestId("board").waitFor();
      await page.keyboard.press("a");
      const dialog = page.getByRole("dialog", { name: "Create a node" });
      await dialog.getByLabel("Name").fill("fresh");
      await dialog.getByTestId("create").click();
      await page.locator('[data-node="fresh"]').waitFor();
    }
  },
);

for (const [name, forbid] of Object.entries({
  "that is full": () => {
    const full = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    Storage.prototype.setItem = full;
    IDBObjectStore.prototype.put = full;
  },
  "whose storage is switched off": () => {
    const closed = {
      get() {
        throw new DOMException("closed", "SecurityError");
      },
    };
    for (const property of ["localStorage", "sessionStorage", "indexedDB"]) {
      Object.defineProperty(window, property, closed);
    }
  },
  "without IndexedDB": () => {
    Object.defineProperty(window, "indexedDB", { value: undefined });
  },
})) {
  playgroundTest(
    `a browser ${name} says that nothing is kept, and the page works`,
    { closed: true },
    async ({ page, url }) => {
      await page.addInitScript(forbid);
      await page.goto(url);
      await ready(page);
      await taint(page, "worker-1", { key: "example.com/unsaved" });
      await page.getByTestId("notice").getByText("will be lost when you close this tab").waitFor();
      await page.locator('[data-node="worker-1"] .taint').waitFor();
      await page.getByTestId("sessions").click();
      await page.getByRole("dialog", { name: "Sessions" }).waitFor();
    },
  );
}
