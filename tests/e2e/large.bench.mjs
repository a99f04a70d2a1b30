// How the release build bears a cluster of 5,000 nodes and up to 150,000 pods of Deployments with
// budgets: reading it and putting it in place, a node tainted and that undone, a reload, and the
// outage of a zone to its end. Run by `cargo xtask bench --page`; it prints a table, and fails over a limit.
// Memory is read where there is a /proc.
//
// Environment: CHROMIUM, the browser's path; DIST, a build to measure in place of dist/; PODS, how
// many pods, separated by commas; LOOSE=1, on a machine with other work: only prints what is over.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { largeClusterText } from "../large-cluster.mjs";
import { FLAGS } from "./support/flags.mjs";
import { keptSessions, legend, now, ready, selectZone, until } from "./support/page.mjs";
import { serve } from "./support/server.mjs";

const DIST = process.env.DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const NODES = 5_000;
const PODS = (process.env.PODS ?? "10000,20000,40000,80000,150000").split(",").map(Number);
/** How long an outage may take, in milliseconds, until this gives up. */
const PATIENCE = 600_000;

/** Prints what was measured, and what is the most (or the least) that it may be. */
let isOver = false;
function row(what, measured, limit, unit, least = false) {
  const over = limit !== undefined && (least ? measured < limit : measured > limit);
  const figure = measured.toFixed(unit === "s" ? 1 : 0);
  const bound = limit === undefined ? "" : `(${least ? "at least" : "at most"} ${limit} ${unit})`;
  const text = `${what.padEnd(54)}  ${figure.padStart(7)} ${unit.padEnd(3)} ${bound}`;
  console.log(`${text}${over ? " OVER" : ""}`);
  isOver ||= over;
}

/** What is noted from within the page: long tasks, and frames. */
function watch() {
  globalThis.longest = 0;
  globalThis.frames = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      globalThis.longest = Math.max(globalThis.longest, duration);
    }
  }).observe({ type: "longtask", buffered: true });
  const frame = (at) => {
    globalThis.frames.push(at);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** Runs something; how many milliseconds it took, its longest task, and its frames. */
async function timed(page, work) {
  await page.evaluate(() => {
    globalThis.longest = 0;
    globalThis.frames = [];
  });
  const start = performance.now();
  await work();
  // The frame in which it is to be seen.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const took = performance.now() - start;
  return { took, ...(await seen(page)) };
}

/** The longest task; how many frames there were and took over 50 ms, the longest, and 95 of 100. */
const seen = (page) =>
  page.evaluate(() => {
    const { longest, frames } = globalThis;
    const took = frames.slice(1).map((at, index) => at - frames[index]);
    const slow = took.filter((frame) => frame > 50).length;
    const p95 = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.95)] ?? 0;
    return { longest, frames: frames.length, slow, frame: Math.max(0, ...took), p95 };
  });

/**
 * Clicks, and waits for an element with a text; how many milliseconds passed in the page between
 * the click and the frame that shows it, without what it takes to drive a browser.
 */
async function answered(page, click, selector, text) {
  const took = page.evaluate(
    ([selector, text]) =>
      new Promise((done) => {
        let clicked;
        const isThere = () =>
          [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text));
        const observer = new MutationObserver(() => {
          if (clicked !== undefined && isThere()) {
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - clicked)));
          }
        });
        observer.observe(document, { attributes: true, childList: true, subtree: true });
        const note = ({ timeStamp }) => {
          clicked = timeStamp;
        };
        addEventListener("click", note, { capture: true, once: true });
      }),
    [selector, text],
  );
  await click();
  return took;
}

/** How much memory the processes below one have that show pages, in MiB. */
function memory(root) {
  const parents = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      parents.set(Number(pid), Number(parent));
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (pid) => pid === root || (parents.has(pid) && isBelow(parents.get(pid)));
  let kibibytes = 0;
  for (const pid of parents.keys()) {
    try {
      const started = () => readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (isBelow(pid) && started().includes("--type=renderer")) {
        const [, size] = /Pss:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
        kibibytes += Number(size);
      }
    } catch {
      // Likewise.
    }
  }
  return Math.round(kibibytes / 1024);
}

const seconds = (number) => `${(number / 1_000).toFixed(1)} s`;
const milliseconds = (number) => `${Math.round(number)} ms`;
const told = ({ took, longest, slow, frame }) =>
  `${took < 1_000 ? milliseconds(took) : seconds(took)}, longest task ${milliseconds(longest)}, ` +
  `${slow} frames over 50 ms, the longest ${milliseconds(frame)}`;

/** Puts a cluster into the place of the sample. */
async function load(page, pods) {
  const file = join(folder, "cluster.json");
  await writeFile(file, largeClusterText({ nodes: NODES, pods }));
  const read = await timed(page, async () => {
    await page.getByTestId("import").click();
    await page.getByTestId("import-file").setInputFiles(file);
    await page.getByTestId("found").getByText(`${pods} pods`).waitFor();
  });
  const counted = page.waitForFunction(
    () => /Putting the cluster in place: \d+ of \d+ pods/.test(document.body.textContent),
  );
  const shown = await timed(page, async () => {
    await page.getByTestId("import-replace").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  });
  await counted;
  return { read, shown };
}

/** Loses a zone; with the first fault kubelets begin to run, from the beginning. */
async function lose(page) {
  await selectZone(page, "zone-0");
  return timed(page, async () => {
    await page.getByRole("button", { name: "Cut the zone's network" }).click();
    await page.getByRole("button", { name: "Restore the zone's network" }).waitFor();
  });
}

/** Plays what follows at the highest speed until nothing more is due or everything is replaced. */
async function outage(page) {
  await page.getByTestId("speed").selectOption("max");
  await page.evaluate(() => {
    globalThis.longest = 0;
    globalThis.frames = [];
  });
  const start = performance.now();
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByRole("button", { name: "Play" }).waitFor({ timeout: PATIENCE });
  const took = performance.now() - start;
  const noted = await seen(page);
  const clock = Number(await now(page)) / 1e9;
  // Nothing is left to come: every pod that went has one in its place. Pods that came to a lost node
  // before its taint never start.
  const states = await legend(page);
  for (const state of ["counting down", "pending", "unschedulable"]) {
    assert.equal(states[state] ?? 0, 0, `${state} after the outage: ${JSON.stringify(states)}`);
  }
  return { took, rate: (noted.frames * 1_000) / took, clock, ...noted };
}

/** Loads the page anew; until the work is there again. */
async function reload(page) {
  // The browser would ask whether to leave.
  await until(page, async () => assert.equal((await keptSessions(page)).length, 1));
  const start = performance.now();
  await page.reload({ waitUntil: "commit" });
  await page.getByText("Restoring").waitFor();
  await page.getByRole("button", { name: "start without it" }).waitFor();
  await page.getByText(/Opening: \d+ of \d+ pods/).waitFor();
  await ready(page);
  return performance.now() - start;
}

/** Scrolls through the lanes of all pods, and zooms them. */
async function lanes(page) {
  await page.getByTestId("lanes-open").click();
  await page.keyboard.press("l");
  const section = page.getByTestId("lanes");
  const unfolded = await timed(page, async () => {
    await section.getByRole("button", { name: "Unfold all" }).click();
    await section.locator('[data-subject^="pod "]').first().waitFor();
  });
  const { x, y, width, height } = await page.getByTestId("lanes-rows").boundingBox();
  await page.mouse.move(x + width * 0.7, y + height / 2);
  const moved = await timed(page, async () => {
    for (let turn = 0; turn < 150; turn += 1) {
      await page.mouse.wheel(0, turn < 75 ? 700 : -500);
    }
    await page.keyboard.down("Control");
    for (let turn = 0; turn < 50; turn += 1) {
      await page.mouse.wheel(0, turn < 25 ? -120 : 120);
    }
    await page.keyboard.up("Control");
  });
  return [
    `the lanes of all pods are unfolded: ${told(unfolded)}`,
    "they are scrolled and zoomed: " +
      `95 of 100 frames within ${moved.p95.toFixed(1)} ms; ${told(moved)}`,
  ];
}

const folder = await mkdtemp(join(tmpdir(), "taintlab-"));
const server = await serve(DIST);
// Not by a server, through which the file would have to go.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
for (const pods of PODS) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  const page = await context.newPage();
  page.setDefaultTimeout(300_000);
  await page.addInitScript(watch);
  await page.goto(server.url);
  await ready(page);
  const { read, shown } = await load(page, pods);
  const last = pods === PODS.at(-1);
  const size = `${NODES} nodes and ${pods} pods:`;
  const loaded = (read.took + shown.took) / 1_000;
  row(`${size} read and put in place`, loaded, last ? 10 : undefined, "s");
  row("  longest task of both", Math.max(read.longest, shown.longest), 50, "ms");
  if (last) {
    const zones = await page.evaluate(() => {
      const board = document.querySelector(".board").getBoundingClientRect();
      const all = [...document.querySelectorAll("[data-zone]")];
      return all.filter((zone) => zone.getBoundingClientRect().bottom <= board.bottom + 1).length;
    });
    row("  zones in sight, of 3", zones, 3, "", true);
    const canvas = page.getByTestId("cells").first().locator("canvas");
    const select = () => canvas.click({ position: { x: 20, y: 20 } });
    const selected = await answered(page, select, "[data-testid=inspector] h2", "node-");
    row("  a node is selected", selected, 100, "ms");
    const taint = () => page.getByRole("button", { name: "unreachable" }).click();
    const tainted = await answered(page, taint, "button[aria-pressed=true]", "unreachable");
    row("  it is tainted", tainted, 100, "ms");
    const undo = () => page.getByTestId("undo").click();
    const undone = await answered(page, undo, "button[aria-pressed=false]", "unreachable");
    row("  that is undone", undone, 250, "ms");
    const again = await reload(page);
    row("  reloaded, with progress", again / 1_000, 10, "s");
    const lost = await lose(page);
    row("  a zone is cut off", lost.took / 1_000, undefined, "s");
    const played = await outage(page);
    const whole = (lost.took + played.took) / 1_000;
    row(`  with its outage to ${played.clock.toFixed(0)} s at max`, whole, 60, "s");
    row("  frames a second meanwhile", played.rate, 30, "", true);
    row("  longest task meanwhile", Math.max(lost.longest, played.longest), 50, "ms");
    row("  memory of the page and its worker", memory(process.pid), 1_000, "MiB");
    for (const line of await lanes(page)) {
      console.log(line);
    }
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    row("  elements of the page", elements, 5_000, "");
  }
  await context.close();
}
await browser.close();
await server.close();
await rm(folder, { recursive: true });
if (isOver && process.env.LOOSE !== "1") {
  console.error("error: a figure is over its limit");
  process.exitCode = 1;
}
