// One vocabulary: dots, legend, counts, lists and the log say the same of the pods, and an end that
// was reached says how it ended.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  legend,
  loadScenario,
  log,
  pods,
  ready,
  replaceCluster,
  scrubTo,
  seconds,
  selectPod,
  showView,
  taint,
  until,
} from "./support/page.mjs";

/** Legend words by the name that an element carries. */
const VERDICTS = {
  stays: ["stays", "stay"],
  counting: ["counting down"],
  terminating: ["being deleted"],
  stuck: ["stuck Terminating"],
  evicted: ["evicted"],
};
const HEALTHS = {
  notReady: "not ready",
  starting: "starting",
  pending: "pending",
  unschedulable: "unschedulable",
  failed: "failed",
  succeeded: "succeeded",
};

/** How many pods on the board carry each name. */
async function marks(page, what) {
  const found = await page
    .getByTestId("board")
    .locator("[data-pod]:not([data-state=gone])")
    .evaluateAll((elements, what) => {
      // A pod without a node stays nowhere: its health alone is counted.
      const waits = ({ state, health }) =>
        what === "state" && state === "stays" && /^(pending|unschedulable)$/.test(health);
      const shown = elements.map(({ dataset }) => dataset).filter((dataset) => !waits(dataset));
      return shown.map((dataset) => dataset[what]);
    }, what);
  const counts = {};
  for (const name of found) {
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Legend, dots and evictions of the log agree. */
async function assertAgrees(page, what) {
  const said = await legend(page);
  const states = await marks(page, "state");
  for (const [name, words] of Object.entries(VERDICTS)) {
    const number = words.reduce((sum, word) => sum + (said[word] ?? 0), 0);
    assert.equal(states[name] ?? 0, number, `${what}: ${name}`);
  }
  const healths = await marks(page, "health");
  for (const [name, word] of Object.entries(HEALTHS)) {
    assert.equal(healths[name] ?? 0, said[word] ?? 0, `${what}: ${name}`);
  }
  const evicted = (await log(page, ["event", "fact"])).filter(
    (line) => / Request .*: DELETE: ok$/.test(line) || / Warning Evicted /.test(line),
  );
  const stat = page.getByTestId("inspector").locator('[data-stat="eviction"] b');
  assert.equal(Number(await stat.innerText()), evicted.length, `${what}: evictions`);
}

for (const [name, times] of Object.entries({
  "default-tolerations": [0, 10, 65, 305],
  "stuck-terminating": [10, 60, 360, 600],
  "nowhere-to-go": [40, 100, 300, 600],
  "who-goes-first": [30, 60],
})) {
  playgroundTest(`${name}: legend, dots, counts and log say the same`, async ({ page }) => {
    await ready(page);
    await showView(page, "events");
    await page.getByRole("button", { name: "Decisions" }).click();
    await loadScenario(page, name);
    for (const time of times) {
      await scrubTo(page, seconds(time));
      await until(page, () => assertAgrees(page, `${name} at ${time} s`));
    }
  });
}

playgroundTest(
  "verdict and health are told apart by shape as well as by colour",
  async ({ page }) => {
    await ready(page);
    const shapes = await page.evaluate(() => {
      const board = document.querySelector("[data-testid=board]");
      const look = (state, health) => {
        const dot = document.createElement("i");
        dot.className = "dotpod";
        dot.dataset.state = state;
        dot.dataset.health = health;
        board.append(dot);
        const { borderRadius, rotate, backgroundImage, boxShadow, borderStyle } =
          getComputedStyle(dot);
        const image = backgroundImage.replaceAll(/rgb\([^)]*\)|color\([^)]*\)/g, "c");
        const shadow = boxShadow.replaceAll(/rgb\([^)]*\)|color\([^)]*\)/g, "c");
        dot.remove();
        return [borderRadius, rotate, image, shadow, borderStyle].join(" | ");
      };
      const verdicts = ["stays", "counting", "terminating", "stuck", "evicted"];
      const healths = [
        "ready",
        "notReady",
        "starting",
        "pending",
        "unschedulable",
        "failed",
        "succeeded",
      ];
      return {
        verdicts: verdicts.map((verdict) => look(verdict, "ready")),
        healths: healths.map((health) => look("stays", health)),
      };
    });
    for (const [what, looks] of Object.entries(shapes)) {
      assert.equal(new Set(looks).size, looks.length, `${what}: ${looks.join("\n")}`);
    }
  },
);

playgroundTest(
  "a class of pods is listed by its legend, and the log can show it alone",
  async ({ page }) => {
    await ready(page);
    await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
    await page.getByTestId("legend").getByRole("button", { name: "counting down" }).click();
    const panel = page.getByTestId("pods-panel");
    const listed = await panel
      .locator("[data-pod]")
      .evaluateAll((all) => all.map((pod) => pod.dataset.pod));
    const counting = Object.entries(await pods(page)).filter(([, state]) => state === "counting");
    assert.deepEqual(listed.toSorted(), counting.map(([pod]) => pod).toSorted());
    assert.ok(listed.length > 1);
    await showView(page, "events");
    await page.getByRole("button", { name: "Decisions" }).click();
    await page.getByRole("button", { name: "Only selected" }).click();
    const about = new Set(
      (await log(page, ["event", "change", "fact"])).map((line) => /pod\/(\S+):/.exec(line)[1]),
    );
    assert.deepEqual([...about].toSorted(), listed.toSorted());
  },
);

playgroundTest("what is announced and what is warned of is called what it is", async ({ page }) => {
  await ready(page);
  const warnings = page.getByTestId("warnings-open");
  const counted = await warnings.getAttribute("title");
  assert.match(counted, /^Warnings \(W\): \d+ notes?$/);
  await selectPod(page, "data/postgres-0");
  assert.match(await page.getByTestId("warnings-about").innerText(), /^\d notes? about this pod$/);
  await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
  await page
    .getByTestId("announcement")
    .getByText("1 pod being deleted, 3 counting down, 2 stay")
    .waitFor();
});

playgroundTest("an end says how it ended, and leads to the pods it speaks of", async ({ page }) => {
  await ready(page);
  const next = page.getByTestId("next");
  await next.getByText("Nothing happens by itself now. Taint a node, or stop its kubelet.").waitFor();
  await page.locator('[data-zone$="eu-1b"] .zonename').click();
  await page.getByRole("button", { name: "Cut the zone's network" }).click();
  await page.getByTestId("end").click();
  await next.getByText(/^Ended at /).waitFor();
  const text = await next.innerText();
  const [, number] = /(\d+) stuck Terminating until worker-3 and worker-4 are back/.exec(
    text.replaceAll("\n", " "),
  );
  const announced = await page.getByTestId("announcement").innerText();
  assert.match(
    announced,
    new RegExp(
      `Nothing more is due\\. Ended at .*${number} stuck Terminating until worker-3 and worker-4 are back`,
    ),
  );
  await next.getByRole("button", { name: /stuck Terminating/ }).click();
  const panel = page.getByTestId("pods-panel");
  assert.equal(await panel.locator('[data-pod][data-state="stuck"]').count(), Number(number));
  await panel.locator("[data-pod]").first().click();
  assert.match(
    await page.getByTestId("verdict").innerText(),
    /Stuck Terminating until its kubelet is back/,
  );
  assert.equal((await legend(page))["stuck Terminating"], Number(number));
});

playgroundTest("what cannot be scheduled at the end says why", async ({ page }) => {
  await ready(page);
  await replaceCluster(
    page,
    `
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "1", pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 900m}}}]}
`,
  );
  const control = page.getByTestId("control-plane");
  if (!(await control.isChecked())) {
    await control.check();
  }
  await page.getByTestId("end").click();
  const next = page.getByTestId("next");
  await next
    .getByRole("button", {
      name: "2 cannot be scheduled (0/1 nodes are available: 1 Insufficient cpu)",
    })
    .click();
  assert.equal(
    await page.getByTestId("pods-panel").locator('[data-health="unschedulable"]').count(),
    2,
  );
});

playgroundTest(
  "a zone that takes the whole control plane with it is warned of",
  async ({ page }) => {
    await ready(page);
    await page.locator('[data-zone$="eu-1a"] .zonename').click();
    await page.getByRole("button", { name: "Cut the zone's network" }).click();
    await page.getByTestId("notice").getByText("Taintlab still runs the controllers").waitFor();
    await page.getByTestId("warnings-about").getByText("1 warning").waitFor();
    await page.getByTestId("warnings-open").click();
    const warning = page.getByTestId("warnings").locator('[data-code="control-plane-lost"]');
    assert.match(await warning.innerText(), /Taintlab assumes that the controllers are reachable/);
  },
);
