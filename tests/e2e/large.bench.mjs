// How the release build bears a cluster of 5,000 nodes and up to 150,000 pods: loading it,
// selecting and tainting a node, and playing the loss of a zone. Run by `cargo xtask bench --page`;
// it measures, and fails on nothing. Memory is read where there is a /proc.
//
// Environment: CHROMIUM, the browser's path; DIST, a build to measure in place of dist/; PODS, how
// many pods, separated by commas.

import { readFileSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { FLAGS } from "./support/flags.mjs";
import { now, ready, selectZone } from "./support/page.mjs";
import { serve } from "./support/server.mjs";

const DIST = process.env.DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const NODES = 5_000;
const PODS = (process.env.PODS ?? "10000,20000,40000,80000,150000").split(",").map(Number);
/** How long the outage is watched, in milliseconds. */
const WATCHED = 10_000;

/** A cluster as `kubectl get -o json` prints it, the less interesting fields left out. */
function cluster(pods) {
  const ready = { type: "Ready", status: "True" };
  const known = (index) => ({
    uid: `00000000-0000-4000-9000-${String(index).padStart(12, "0")}`,
    creationTimestamp: "2026-01-02T03:04:05Z",
  });
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: `node-${index}`,
      labels: { "topology.kubernetes.io/zone": `zone-${index % 3}` },
      ...known(index),
    },
    status: { conditions: [ready] },
  }));
  const tolerate = (key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  });
  const running = Array.from({ length: pods }, (_, index) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `web-${index}`,
      namespace: "shop",
      labels: { app: "web" },
      ...known(NODES + index),
    },
    spec: {
      nodeName: `node-${index % NODES}`,
      containers: [{ name: "web", image: "registry.example/web:1" }],
      tolerations: [tolerate("not-ready"), tolerate("unreachable")],
    },
    status: { phase: "Running", conditions: [ready] },
  }));
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: [...nodes, ...running] }, null, 4);
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
  `${took < 1_000 ? milliseconds(took) : seconds(took)}, longest task ${milliseconds(longest)}, ${slow} frames over 50 ms, ` +
  `the longest ${milliseconds(frame)}`;

/** Puts a cluster into the place of the sample. */
async function load(page, pods) {
  const file = join(folder, "cluster.json");
  await writeFile(file, cluster(pods));
  const read = await timed(page, async () => {
    await page.getByTestId("import").click();
    await page.getByTestId("import-file").setInputFiles(file);
    await page.getByTestId("found").getByText(`${pods} pods`).waitFor();
  });
  const shown = await timed(page, async () => {
    await page.getByTestId("import-replace").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  });
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

/** Plays what follows. */
async function outage(page) {
  await page.getByTestId("speed").selectOption("60×");
  await page.evaluate(() => {
    globalThis.longest = 0;
    globalThis.frames = [];
  });
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForTimeout(WATCHED);
  const { frames, longest, slow } = await seen(page);
  await page.getByRole("button", { name: "Pause" }).click();
  const rate = (frames * 1_000) / WATCHED;
  const clock = Number(await now(page)) / 1e9;
  return (
    `${rate.toFixed(1)} frames a second, ${slow} over 50 ms, longest task ` +
    `${milliseconds(longest)}; the clock came to ${clock.toFixed(0)} s`
  );
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
    `they are scrolled and zoomed: 95 of 100 frames within ${moved.p95.toFixed(1)} ms; ${told(moved)}`,
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
  const both = seconds(read.took + shown.took);
  console.log(`${NODES} nodes and ${pods} pods: loaded in ${both}`);
  console.log(`  read: ${told(read)}`);
  console.log(`  put in place and drawn: ${told(shown)}`);
  if (pods === PODS.at(-1)) {
    const canvas = page.getByTestId("cells").first().locator("canvas");
    const select = () => canvas.click({ position: { x: 20, y: 20 } });
    const selected = await answered(page, select, "[data-testid=inspector] h2", "node-");
    console.log(`  a node is selected: ${milliseconds(selected)}`);
    const taint = () => page.getByRole("button", { name: "unreachable" }).click();
    const tainted = await answered(page, taint, "button[aria-pressed=true]", "unreachable");
    console.log(`  it is tainted: ${milliseconds(tainted)}`);
    const undo = () => page.getByTestId("undo").click();
    const undone = await answered(page, undo, "button[aria-pressed=false]", "unreachable");
    console.log(`  that is undone: ${milliseconds(undone)}`);
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    console.log(`  elements: ${elements}`);
    console.log(`  a zone is lost: ${told(await lose(page))}`);
    console.log(`  what follows, 60 times as fast: ${await outage(page)}`);
    for (const line of await lanes(page)) {
      console.log(`  ${line}`);
    }
    const session = await context.newCDPSession(page);
    const { metrics } = await session.send("Performance.enable").then(() =>
      session.send("Performance.getMetrics"),
    );
    const heap = metrics.find(({ name }) => name === "JSHeapUsedSize").value;
    console.log(`  heap of JavaScript: ${Math.round(heap / 2 ** 20)} MiB`);
    console.log(`  memory of the page and its worker: ${memory(process.pid)} MiB`);
  }
  await context.close();
}
await browser.close();
await server.close();
await rm(folder, { recursive: true });
