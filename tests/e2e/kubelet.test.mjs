// A node runs out: what the page says of usage, thresholds, conditions and of who goes first, when
// a user fills it by the forms of the tab Resources.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  log,
  now,
  pods,
  ready,
  replaceCluster,
  scrubTo,
  seconds,
  selectNode,
  selectPod,
  tab,
  until,
} from "./support/page.mjs";

const CLUSTER = `
apiVersion: v1
kind: Node
metadata: { name: worker-1 }
status: { capacity: { memory: 4Gi }, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Node
metadata: { name: worker-2 }
status: { capacity: { memory: 4Gi }, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Pod
metadata: { name: cache }
spec: { nodeName: worker-1, containers: [{ name: main, image: redis }] }
---
apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  nodeName: worker-1
  containers: [{ name: main, image: nginx, resources: { requests: { memory: 500Mi } } }]
---
apiVersion: v1
kind: Pod
metadata: { name: db }
spec:
  nodeName: worker-1
  containers: [{ name: main, image: postgres, resources: { requests: { memory: 1Gi } } }]
`;

/** Opens the tab Resources of a node. */
async function resources(page, node) {
  await selectNode(page, node);
  await tab(page, "resources").click();
  await page.getByTestId("node-resources").waitFor();
}

/** Fills the form Load and sends it. What is not named stays as it is. */
async function load(page, { who, what, shape, ...fields }) {
  const form = page.getByTestId("load-form");
  if (who !== undefined) await form.getByLabel("Who uses it").selectOption(who);
  if (what !== undefined) await form.getByLabel("What").selectOption({ label: what });
  if (shape !== undefined) await form.getByLabel("Shape").selectOption({ label: shape });
  for (const [label, text] of Object.entries(fields)) {
    await form.getByRole("textbox", { name: label, exact: true }).fill(text);
  }
  await form.getByRole("button", { name: "Apply load" }).click();
}

/** The candidates in their order: `[pod, { key: value }, the key that decides]`. */
const ranking = (page) =>
  page
    .getByTestId("ranking")
    .locator("li")
    .evaluateAll((rows) =>
      rows.map((row) => {
        const keys = [...row.querySelectorAll("[data-key]")];
        const decides = keys.find(({ dataset }) => dataset.decides === "true");
        return [
          row.dataset.pod,
          Object.fromEntries(
            keys.map((key) => [key.dataset.key, key.querySelector("dd").textContent]),
          ),
          decides?.dataset.key,
        ];
      }),
    );

/** The cells of the thresholds of the signal that is shown. */
const thresholds = (page) =>
  page
    .getByTestId("thresholds")
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())),
    );

/** Steps from event to event until something holds. */
async function stepUntil(page, holds) {
  for (let step = 0; step < 200; step += 1) {
    if (await holds()) {
      return;
    }
    const before = await now(page);
    await page.getByTestId("step").click();
    await until(page, async () => assert.ok((await now(page)) >= before));
  }
  assert.fail("it never came");
}

const taintOf = (page, node, key) =>
  page.locator(`[data-node="${node}"] .taint[title^="node.kubernetes.io/${key}"]`);

playgroundTest(
  "memory is filled by hand: ranking, eviction, condition, taint, and the way back",
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, CLUSTER);
    await resources(page, "worker-1");
    await page.getByText("The capacity of this node is not set").waitFor();

    // What is no amount is refused in the form, and nothing has changed.
    await load(page, { who: "default/cache", shape: "constant", Amount: "much" });
    await until(page, async () =>
      assert.match(
        await page.getByTestId("load-form").getByRole("alert").innerText(),
        /^Amount: quantities must match the regular expression/,
      ),
    );
    assert.equal(await page.getByTestId("usage-chart").count(), 0);

    await load(page, { who: "default/cache", Amount: "1Gi" });
    await page.getByTestId("usage-chart").waitFor();
    await load(page, { who: "default/web", Amount: "700Mi" });
    await load(page, { who: "default/db", Amount: "900Mi" });

    // The three keys of each pod, and which of them decides.
    await until(page, async () =>
      assert.deepEqual(await ranking(page), [
        [
          "default/cache",
          {
            "Usage exceeds requests": "yes",
            Priority: "0",
            "Above its request": "1Gi (1Gi of 0)",
          },
          "Above its request",
        ],
        [
          "default/web",
          {
            "Usage exceeds requests": "yes",
            Priority: "0",
            "Above its request": "200Mi (700Mi of 500Mi)",
          },
          "Usage exceeds requests",
        ],
        [
          "default/db",
          {
            "Usage exceeds requests": "no",
            Priority: "0",
            "Above its request": "-124Mi (900Mi of 1Gi)",
          },
          undefined,
        ],
      ]),
    );
    const first = page.getByTestId("ranking").locator("li").first();
    assert.match(
      await first.innerText(),
      /Ranked before the next pod because it is further above its request\./,
    );
    assert.match(
      await first.innerText(),
      /after it with a priority of 1 or more, or a request of .* or more, or a usage of .* or less/,
    );

    // The chart stacks the pods on what the system uses.
    const bands = await page.getByTestId("usage-chart").locator("polygon title").allTextContents();
    assert.deepEqual(bands, ["system", "default/cache", "default/db", "default/web"]);
    assert.deepEqual(await thresholds(page), [["hard < 100Mi", "1.4Gi", "1.3Gi", "enough"]]);

    // The node is filled.
    await load(page, { who: "", shape: "fill, leaving", Left: "60Mi" });
    await until(page, async () =>
      assert.deepEqual(await thresholds(page), [
        ["hard < 100Mi", "60Mi", "-40Mi", "below the threshold, not yet observed"],
      ]),
    );
    assert.equal((await pods(page))["default/cache"], "stays");
    await stepUntil(page, async () => (await pods(page))["default/cache"] === "evicted");
    assert.deepEqual(await pods(page), {
      "default/cache": "evicted",
      "default/db": "stays",
      "default/web": "stays",
    });
    assert.deepEqual(
      (await ranking(page)).map(([pod]) => pod),
      ["default/web", "default/db"],
    );
    const told = (await log(page)).join("\n");
    assert.match(
      told,
      /^\S+ Warning EvictionThresholdMet node\/worker-1: Attempting to reclaim memory$/m,
    );
    assert.match(
      told,
      /^\S+ Warning Evicted pod\/default\/cache: The node was low on resource: memory\. Threshold quantity: 100Mi, available: /m,
    );
    const legend = page.getByTestId("legend");
    assert.match(await legend.innerText(), /1\s*evicted/);

    // The condition, with its taint, outlasts its cause.
    const pressure = page.getByTestId("pressure");
    await pressure.getByText("MemoryPressure").waitFor();
    await stepUntil(
      page,
      async () => (await taintOf(page, "worker-1", "memory-pressure").count()) === 1,
    );
    await stepUntil(
      page,
      async () =>
        (await pressure.count()) === 1 && /Usage has dropped/.test(await pressure.innerText()),
    );
    assert.match(
      await pressure.innerText(),
      /clears at 5m1\ds \(--eviction-pressure-transition-period 5m0s\)/,
    );
    await stepUntil(page, async () => (await pressure.count()) === 0);
    assert.ok((await now(page)) >= seconds(310));
    await stepUntil(
      page,
      async () => (await taintOf(page, "worker-1", "memory-pressure").count()) === 0,
    );
    assert.equal((await pods(page))["default/web"], "stays");

    // The pod says what became of it.
    await selectPod(page, "default/cache");
    assert.match(
      await page.getByTestId("verdict").innerText(),
      /Evicted by its kubelet[\s\S]*low on resource: memory/,
    );

    // Undo: nobody has filled the node.
    await page.getByTestId("undo").click();
    await until(page, async () => assert.equal((await pods(page))["default/cache"], "stays"));
    assert.doesNotMatch((await log(page)).join("\n"), /EvictionThresholdMet/);
  },
);

playgroundTest(
  "what is used and what is left follow the clock, also where nothing happens",
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, CLUSTER);
    await resources(page, "worker-1");
    await load(page, { who: "default/cache", shape: "ramp", From: "0", To: "2Gi", Within: "1m" });
    await until(page, async () => assert.deepEqual((await thresholds(page))[0][1], "4Gi"));
    for (const [at, left] of [
      [30, "3Gi"],
      [60, "2Gi"],
      [30, "3Gi"],
      [0, "4Gi"],
    ]) {
      await scrubTo(page, seconds(at));
      await until(page, async () => assert.equal((await thresholds(page))[0][1], left));
    }
  },
);

playgroundTest(
  "thresholds of a kubelet by keyboard: refused, set, and a soft grace period that counts",
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, CLUSTER);
    await resources(page, "worker-1");
    await load(page, { who: "default/cache", shape: "constant", Amount: "1Gi" });
    const form = page.getByTestId("threshold-form");
    const flag = (name) => form.getByRole("textbox", { name: `--${name}`, exact: true });
    assert.equal(await flag("eviction-pressure-transition-period").inputValue(), "5m0s");

    // What a kubelet would not start with is refused in its own words, and stays to be mended.
    await flag("eviction-hard").fill("memory.available<lots");
    await page.keyboard.press("Enter");
    await until(page, async () =>
      assert.match(
        await form.getByRole("alert").first().innerText(),
        /quantities must match the regular expression/,
      ),
    );
    assert.equal(await flag("eviction-hard").inputValue(), "memory.available<lots");
    await flag("eviction-hard").fill("memory.available<200Mi");

    // A soft threshold needs a grace period.
    await flag("eviction-soft").focus();
    await page.keyboard.type("memory.available<1Gi");
    await page.keyboard.press("Enter");
    await until(page, async () =>
      assert.match(await form.getByRole("alert").innerText(), /grace period/),
    );
    await page.keyboard.press("Tab");
    assert.ok(
      await flag("eviction-soft-grace-period").evaluate(
        (field) => field === document.activeElement,
      ),
    );
    await page.keyboard.type("memory.available=1m30s");
    await page.keyboard.press("Enter");
    await until(page, async () =>
      assert.deepEqual(
        (await thresholds(page)).map(([what]) => what),
        ["hard < 200Mi", "soft < 1Gi"],
      ),
    );

    // Soft, then hard: each has its line in the chart, and the grace period counts.
    assert.equal(await page.getByTestId("usage-chart").locator("line.hard").count(), 1);
    assert.equal(await page.getByTestId("usage-chart").locator("line.soft").count(), 1);
    await load(page, { who: "", shape: "fill, leaving", Left: "700Mi" });
    const soft = async () => (await thresholds(page))[1]?.at(-1) ?? "";
    await stepUntil(page, async () => /^below the threshold since/.test(await soft()));
    const [, since, acts] = /^below the threshold since (\S+), evicts from (\S+)$/.exec(await soft());
    assert.notEqual(since, acts);
    await page.getByTestId("pressure").getByText("MemoryPressure").waitFor();
    assert.equal((await pods(page))["default/cache"], "stays");
    await stepUntil(page, async () => (await pods(page))["default/cache"] !== "stays");
    assert.ok((await now(page)) >= seconds(90));

    // Undo twice: no load, then the thresholds that a kubelet has by itself.
    await page.getByTestId("undo").click();
    await until(page, async () => assert.equal((await pods(page))["default/cache"], "stays"));
    await page.getByTestId("undo").click();
    await until(page, async () =>
      assert.deepEqual(
        (await thresholds(page)).map(([what]) => what),
        ["hard < 100Mi"],
      ),
    );
    await until(page, async () =>
      assert.match(await flag("eviction-hard").inputValue(), /(^|,)memory\.available<100Mi(,|$)/),
    );
  },
);

playgroundTest(
  "disk, inodes and processes: what nobody said the node has is asked for",
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, CLUSTER);
    await resources(page, "worker-1");
    await load(page, { who: "", what: "Disk", shape: "fill, leaving", Left: "5Gi" });
    await until(page, async () =>
      assert.match(
        await page.getByTestId("load-form").getByRole("alert").innerText(),
        /^The node has: /,
      ),
    );
    await load(page, { "The node has": "100Gi" });
    const signal = (name) =>
      page.getByTestId("node-resources").getByRole("button", { name, exact: true });
    await signal("nodefs.available").click();
    await until(page, async () =>
      assert.deepEqual((await thresholds(page))[0].slice(0, 3), ["hard < 10Gi", "5Gi", "-5Gi"]),
    );
    await stepUntil(
      page,
      async () => (await taintOf(page, "worker-1", "disk-pressure").count()) === 1,
    );
    await page.getByTestId("pressure").getByText("DiskPressure").waitFor();

    // Inodes are counted: an amount of space is none of them.
    const form = page.getByTestId("load-form");
    await form.getByLabel("What").selectOption({ label: "Inodes" });
    const has = form.getByRole("textbox", { name: "The node has", exact: true });
    await until(page, async () => assert.equal(await has.inputValue(), ""));

    // Another node, by its inodes.
    await resources(page, "worker-2");
    await load(page, { what: "Inodes", shape: "fill, leaving", "The node has": "1M", Left: "10k" });
    await signal("nodefs.inodesFree").click();
    await until(page, async () =>
      assert.deepEqual((await thresholds(page))[0].slice(0, 3), [
        "hard < 50000",
        "10000",
        "-40000",
      ]),
    );
    await stepUntil(
      page,
      async () => (await taintOf(page, "worker-2", "disk-pressure").count()) === 1,
    );
    assert.match(
      (await log(page)).join("\n"),
      /^\S+ Warning EvictionThresholdMet node\/worker-2: Attempting to reclaim inodes$/m,
    );

    // And by its processes.
    await load(page, {
      what: "Processes",
      shape: "fill, leaving",
      "The node has": "1000",
      Left: "10",
    });
    await signal("pid.available").waitFor();
    await signal("pid.available").click();
    assert.equal(await signal("pid.available").getAttribute("aria-pressed"), "true");
    await page.getByTestId("usage-chart").getByText("Used, of 1000").waitFor();
    await page.getByText("No pod runs here that could be evicted.").waitFor();
  },
);

playgroundTest(
  "a scenario: the ranking on the page is who goes, and static pods never do",
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "who-goes-first");
    await page.getByTestId("end").click();
    await scrubTo(page, seconds(16));
    await resources(page, "worker-1");
    const before = await ranking(page);
    assert.deepEqual(
      before.map(([pod]) => pod),
      ["default/batch", "default/cache", "default/etcd-worker-1", "default/web", "default/db"],
    );
    assert.equal(before[0][2], "Priority");
    await page
      .getByTestId("ranking")
      .locator('[data-pod="default/etcd-worker-1"]')
      .getByText("never evicted")
      .waitFor();
    await scrubTo(page, seconds(40));
    await until(page, async () =>
      assert.deepEqual(
        (await ranking(page)).map(([pod]) => pod),
        before.slice(1).map(([pod]) => pod),
      ),
    );
    assert.equal((await pods(page))["default/batch"], "evicted");
  },
);
