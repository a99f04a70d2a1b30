// What a user does with the playground and reads from it, in the words of the page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** The longest wait for an assertion to hold, in milliseconds. */
const PATIENCE = 20_000;

/**
 * Tries assertions again, frame by frame, until they hold; the last error is the test's if they
 * never do.
 *
 * @template T
 * @param {import("playwright-core").Page} page
 * @param {() => Promise<T>} check
 * @returns {Promise<T>} what the check returns
 */
export async function until(page, check) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) {
        throw error;
      }
      await page.evaluate(() => new Promise((next) => requestAnimationFrame(next)));
    }
  }
}

/** Waits for the playground to be there. */
export const ready = (page) => page.getByTestId("page").waitFor();

/**
 * The pods on the board by `namespace/name`: what is to become of each (`state`; those that are
 * gone are `gone`), or how each is doing (`health`).
 */
export async function pods(page, what = "state") {
  const all = await page
    .getByTestId("board")
    .locator("[data-pod]")
    .evaluateAll(
      (elements, what) => elements.map(({ dataset }) => [dataset.pod, dataset[what]]),
      what,
    );
  return Object.fromEntries(all.sort());
}

/** The numbers of the legend: `{ "stay": 3, … }`. */
export async function legend(page) {
  const texts = await page.getByTestId("legend").locator("button").allInnerTexts();
  return Object.fromEntries(
    texts.map((text) => {
      const [, number, words] = /^(\d+)\s*(.*)$/s.exec(text.trim()) ?? assert.fail(text);
      return [words.trim(), Number(number)];
    }),
  );
}

/** The simulated time in nanoseconds. */
export async function now(page) {
  return BigInt(await page.getByTestId("clock").getAttribute("data-sim-time-ns"));
}

/** So many seconds, in nanoseconds. */
export const seconds = (number) => BigInt(Math.round(number * 1_000_000)) * 1_000n;

/** Moves the clock by the slider. */
export async function scrubTo(page, time) {
  await page.getByTestId("timeline").fill(String(time / 1_000_000n));
  await until(page, async () => assert.equal(await now(page), time));
}

/** Runs until nothing more happens. */
export async function runToEnd(page) {
  await page.getByTestId("end").click();
  await page.locator('[data-testid="end"]:disabled').waitFor();
}

/**
 * The rows of the event log until now, in order, of the given kinds, read by scrolling through it.
 *
 * @param {import("playwright-core").Page} page
 * @param {("event" | "change" | "fact")[]} [kinds]
 * @returns {Promise<string[]>} `time type reason object: message`
 */
export async function log(page, kinds = ["event"]) {
  const rows = await page.getByTestId("log").evaluate(async (log) => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    // As by keyboard, and the focus stays.
    const events = document.querySelector('[data-testid="events-open"]');
    const before = document.querySelector('.pane [role=tab][aria-selected="true"]');
    events.click();
    while (!log.querySelector(".rows")) await frame();
    const box = log.querySelector(".rows");
    do {
      await frame();
    } while (box.dataset.waits);
    const count = Number(events.querySelector(".num").textContent);
    const found = new Map();
    const look = () => {
      for (const row of box.querySelectorAll(".ev:not([data-later])")) {
        const text = (part) => row.querySelector(`.${part}`).textContent;
        const line = `${text("t")} ${text("ty")} ${text("r")} ${text("o")}: ${text("m")}`;
        found.set(Number.parseFloat(row.style.top), { kind: row.dataset.category, line });
      }
    };
    const back = box.scrollTop;
    // A dozen rows above and below those in sight are painted too.
    const page = box.clientHeight + 250;
    for (let top = 0; found.size < count && top <= box.scrollHeight; top += page) {
      box.scrollTop = top;
      // The rows in sight are asked for in the frame after the scroll event.
      do {
        await frame();
        await frame();
      } while (box.dataset.waits);
      look();
    }
    look();
    box.scrollTop = back;
    await frame();
    before?.click();
    const inOrder = [...found].sort(([a], [b]) => a - b).map(([, row]) => row);
    return { count, inOrder };
  });
  assert.equal(rows.inOrder.length, rows.count, "the log shows as many rows as it counts");
  return rows.inOrder.filter(({ kind }) => kinds.includes(kind)).map(({ line }) => line);
}

/** Shows a tab of the pane below the board: "lanes", "workloads", "events" or "console". */
export const showView = (page, name) => page.getByTestId(`${name}-open`).click();

/** The evictions of the log: `[time, pod]`, in order. */
export async function evictions(page) {
  const said = /^(\S+) Normal TaintManagerEviction pod\/(\S+): Marking for deletion Pod (\S+)$/;
  return (await log(page))
    .map((line) => said.exec(line))
    .filter((match) => match)
    .map(([, time, object, pod]) => {
      assert.equal(object, pod);
      return [time, pod];
    });
}

/** Exports in one of the forms of the dialog and reads the file. */
export async function exported(page, kind) {
  await page.getByTestId("export").click();
  const downloading = page.waitForEvent("download");
  await page.locator(`[data-export="${kind}"]`).getByRole("button", { name: "Download" }).click();
  const download = await downloading;
  const text = readFileSync(await download.path(), "utf8");
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  return { name: download.suggestedFilename(), text };
}

/** Opens the import dialog with a text in it, typed or pasted into its field. */
export async function openImport(page, text) {
  await page.getByTestId("import").click();
  // As when it is pasted: all at once.
  await page.getByTestId("import-text").evaluate((area, value) => {
    area.value = value;
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, text);
  await page.getByTestId("import-actions").waitFor();
}

/** Puts the objects of a text in place of the cluster. */
export async function replaceCluster(page, text) {
  await openImport(page, text);
  await page.getByTestId("import-replace").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
}

/** Loads a scenario that comes with the page. */
export async function loadScenario(page, name) {
  await page.getByTestId("scenarios").click();
  await page.locator(`[data-scenario="${name}"]`).click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
}

/** Selects a node by its name on the board. */
export async function selectNode(page, name) {
  await page.locator(`[data-node="${name}"] > .name`).click();
  await page.getByTestId("inspector").getByRole("heading", { name, level: 2 }).waitFor();
}

/** Selects a zone by its name on the board. */
export async function selectZone(page, name) {
  await page.getByRole("treeitem", { name: `zone ${name},` }).click();
  await page.getByTestId("zone-panel").waitFor();
}

/** Selects a pod, `namespace/name`, on the board. */
export async function selectPod(page, key) {
  await page.getByTestId("board").locator(`[data-pod="${key}"]`).click();
  const name = key.split("/")[1];
  await page.getByTestId("inspector").getByRole("heading", { name, level: 2 }).waitFor();
}

/** A tab of the inspector. */
export const tab = (page, name) => page.getByTestId("inspector").locator(`[data-tab="${name}"]`);

/** Taints a node by the fields of the inspector, as `kubectl taint node NAME KEY=VALUE:EFFECT`. */
export async function taint(page, node, { key, value = "", effect = "NoExecute" }) {
  // As a user does it: one does not type into a tab that is behind another.
  await page.bringToFront();
  await selectNode(page, node);
  await tab(page, "taints").click();
  await page.getByTestId("add-taint").click();
  const fields = page.getByTestId("taint-form").locator(".item").last();
  await fields.getByLabel("Key").fill(key);
  await fields.getByLabel("Value").fill(value);
  await fields.getByLabel("Effect").selectOption(effect);
  await page.getByTestId("apply").click();
  await page.getByTestId("apply").waitFor({ state: "detached" });
}

/** The sessions that are kept in the browser, the last changed first: of each its entry and texts. */
export const keptSessions = (page) =>
  page.evaluate(async () => {
    const settled = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    // To open what is not there would make it.
    const known = await indexedDB.databases();
    if (!known.some(({ name }) => name === "taintlab")) {
      return [];
    }
    const database = await settled(indexedDB.open("taintlab"));
    const stores = ["sessions", "starts", "edits"];
    const transaction = database.transaction(stores);
    const [entries, starts, edits] = await Promise.all(
      stores.map(async (name) => {
        const store = transaction.objectStore(name);
        const [keys, texts] = await Promise.all([
          settled(store.getAllKeys()),
          settled(store.getAll()),
        ]);
        return new Map(keys.map((key, index) => [key, texts[index]]));
      }),
    );
    database.close();
    return [...entries]
      .map(([id, entry]) => ({ ...JSON.parse(entry), start: starts.get(id), edits: edits.get(id) }))
      .sort((a, b) => b.changed - a.changed);
  });

/** Waits until the work that is on the page is stored: a session whose edits hold this text. */
export const storedWith = (page, text) =>
  until(page, async () => {
    const kept = await keptSessions(page);
    assert.ok(
      kept.some(({ edits }) => edits.includes(text)),
      `${text} is not stored yet`,
    );
  });
