// A large cluster: 600 nodes with 20 pods each, without owners and of Deployments.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { largeClusterText } from "../large-cluster.mjs";
import { playgroundTest } from "./support/browser.mjs";
import {
  evictions,
  legend,
  now,
  ready,
  runToEnd,
  seconds,
  selectZone,
  until,
} from "./support/page.mjs";

const NODES = 600;
const PODS = 20;
const ZONES = ["a", "b", "c"];

/** As kubectl prints it, the less interesting fields left out. */
function cluster() {
  const lines = ["apiVersion: v1", "kind: List", "items:"];
  for (let node = 0; node < NODES; node += 1) {
    const name = `node-${String(node).padStart(3, "0")}`;
    lines.push(
      "- apiVersion: v1",
      "  kind: Node",
      "  metadata:",
      `    name: ${name}`,
      "    labels:",
      `      topology.kubernetes.io/zone: ${ZONES[node % ZONES.length]}`,
      "  status:",
      "    conditions:",
      '    - {type: Ready, status: "True"}',
    );
    for (let pod = 0; pod < PODS; pod += 1) {
      lines.push(
        "- apiVersion: v1",
        "  kind: Pod",
        "  metadata:",
        `    name: web-${node}-${pod}`,
        "    namespace: shop",
        "  spec:",
        `    nodeName: ${name}`,
        "    containers:",
        "    - {name: web, image: nginx}",
        "    tolerations:",
        "    - effect: NoExecute",
        "      key: node.kubernetes.io/unreachable",
        "      operator: Exists",
        "      tolerationSeconds: 300",
      );
    }
  }
  return Buffer.from(`${lines.join("\n")}\n`);
}

/** How what has the focus is called. */
const focusedLabel = (page) =>
  page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? "");

/** How many elements the page has. */
const elements = (page) => page.evaluate(() => document.querySelectorAll("*").length);

playgroundTest(
  "600 nodes and 12,000 pods: imported, inspected, tainted, evicted to the last",
  async ({ page }) => {
    await ready(page);
    await page.getByTestId("import").click();
    await page.getByTestId("import-file").setInputFiles({
      name: "large.yaml",
      mimeType: "text/yaml",
      buffer: cluster(),
    });
    await page.getByTestId("found").getByText("600 nodes, 12000 pods").waitFor();
    await page.getByTestId("import-replace").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    assert.equal(await page.getByTestId("cells").count(), ZONES.length);
    assert.deepEqual(await legend(page), {
      stay: NODES * PODS,
      "counting down": 0,
      "being deleted": 0,
      gone: 0,
    });
    assert.ok((await elements(page)) < 1_500, `${await elements(page)} elements`);

    // Arrows go from node to node; nothing else is painted again.
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    await until(page, async () => assert.match(await focusedLabel(page), /^node node-/));
    const { took, changes } = await page.evaluate(async () => {
      const frame = () => new Promise((next) => requestAnimationFrame(next));
      const changes = [];
      const observer = new MutationObserver((records) => changes.push(...records));
      const all = { subtree: true, attributes: true, childList: true, characterData: true };
      observer.observe(document.querySelector("[data-testid=board]"), all);
      const took = [];
      for (const key of ["ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "End", "ArrowUp"]) {
        await frame();
        const before = performance.now();
        const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(event);
        await frame();
        took.push(Math.round(performance.now() - before));
      }
      observer.disconnect();
      return { took, changes: changes.map(({ type, attributeName }) => attributeName ?? type) };
    });
    assert.ok(changes.length <= 10 * took.length, `${changes.length} changes`);
    assert.ok(Math.max(...took) < 1_000, `${took} ms`);
    console.log(`arrows over 600 nodes took ${took} ms`);

    // Selecting shows the node with all of its pods.
    await page.getByTestId("find").fill("node-599");
    await page.getByTestId("find").press("Enter");
    const inspector = page.getByTestId("inspector");
    await inspector.getByRole("heading", { name: "node-599" }).waitFor();
    await inspector.locator('[data-tab="pods"]').click();
    assert.equal(await inspector.locator("[data-pod]").count(), PODS);

    for (const zone of ZONES) {
      await selectZone(page, zone);
      await page.getByTestId("taint-zone").click();
      await page.locator('[data-testid="taint-zone"]:disabled').waitFor();
    }
    assert.deepEqual(await legend(page), {
      stay: 0,
      "counting down": NODES * PODS,
      "being deleted": 0,
      gone: 0,
    });

    // The time passes while the page is painted, then to the end at once.
    await page.getByTestId("speed").selectOption("60×");
    await page.getByRole("button", { name: "Play" }).click();
    await until(page, async () => assert.ok((await now(page)) > seconds(30)));
    await page.getByRole("button", { name: "Pause" }).click();
    // All of it in one task: 12,000 evictions, and as many lanes.
    page.setDefaultTimeout(90_000);
    await runToEnd(page);
    assert.deepEqual(await legend(page), {
      stay: 0,
      "counting down": 0,
      "being deleted": 0,
      gone: NODES * PODS,
    });
    // Three requests for each of 12,000 pods, 20 a second once the burst is spent.
    assert.equal(await now(page), seconds(2128.65), "300 s, 1798.65 s of requests, 30 s of grace");

    // The log has a row for each, and paints those in sight.
    assert.ok((await page.getByTestId("log").locator(".ev").count()) < 200);
    assert.ok((await elements(page)) < 2_500, `${await elements(page)} elements`);
    await page.getByTestId("events-open").click();
    await page.getByLabel("Filter events").fill("web-123-7");
    assert.deepEqual(await evictions(page), [["5m0s", "shop/web-123-7"]]);
  },
);

/** How long a step may take on a slow machine with other work, in milliseconds. */
const PATIENCE = 120_000;

playgroundTest(
  "1,800 pods of 60 Deployments: put in place with a bar, and replaced when a zone is lost",
  { sample: true },
  async ({ page }) => {
    page.setDefaultTimeout(PATIENCE);
    const folder = await mkdtemp(join(tmpdir(), "taintlab-"));
    const file = join(folder, "large.json");
    const size = { nodes: 90, pods: 1_800, deployments: 60 };
    await writeFile(file, largeClusterText(size));
    await ready(page);
    await page.getByTestId("import").click();
    // By its name: a long text takes long through the line to the browser.
    await page.getByTestId("import-file").setInputFiles(file);
    await page.getByTestId("found").getByText(`${size.pods} pods`).waitFor();
    await rm(folder, { recursive: true });
    // Noted in the page, where no frame is missed.
    await page.evaluate(() => {
      globalThis.counted = false;
      const told = /Putting the cluster in place: \d+ of \d+ pods/;
      const look = () => {
        globalThis.counted ||= told.test(document.body.textContent);
      };
      const all = { subtree: true, childList: true, characterData: true };
      new MutationObserver(look).observe(document.body, all);
    });
    await page.getByTestId("import-replace").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    assert.ok(await page.evaluate(() => globalThis.counted), "it is said how many are in place");

    await selectZone(page, "zone-0");
    await page.getByRole("button", { name: "Cut the zone's network" }).click();
    await page.getByRole("button", { name: "Restore the zone's network" }).waitFor();
    const before = performance.now();
    await page.getByTestId("speed").selectOption("max");
    await page.getByRole("button", { name: "Play" }).click();
    // It stops by itself when nothing more is due.
    await page.getByRole("button", { name: "Play" }).waitFor();
    console.log(`the outage of a zone took ${Math.round(performance.now() - before)} ms`);
    const lost = size.pods / ZONES.length;
    const states = await legend(page);
    assert.equal(states.stay, size.pods, "as many as the Deployments want");
    assert.equal(states["stuck Terminating"], lost, "their kubelets do not confirm it");
    for (const state of ["counting down", "pending", "unschedulable", "starting"]) {
      assert.equal(states[state] ?? 0, 0, `${state}: ${JSON.stringify(states)}`);
    }
  },
);
