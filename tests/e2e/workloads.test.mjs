// Services and what becomes of them: a drain that waits for a budget, pods that are stuck or have
// nowhere to go, and how many were ready at each moment.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  now,
  openImport,
  pods,
  ready,
  scrubTo,
  seconds,
  selectPod,
  showView,
  until,
} from "./support/page.mjs";

/** Three replicas on two nodes, of which two must be available; a pod needs 20 s to be ready. */
const SERVICE = `
apiVersion: taintlab/v1
kind: Scenario
metadata: { name: service, title: A service with a budget }
kubernetes: { release: "1.34", startUpTime: 20s }
objects:
  nodes:
    - metadata: { name: worker-1 }
    - metadata: { name: worker-2 }
  workloads:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: { name: web }
      spec:
        replicas: 3
        selector: { matchLabels: { app: web } }
        template:
          metadata: { labels: { app: web } }
          spec: { containers: [{ name: web, image: "nginx:1.27" }] }
  budgets:
    - metadata: { name: web }
      spec: { minAvailable: 2, selector: { matchLabels: { app: web } } }
`;

const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";

async function importScenario(page, text) {
  await openImport(page, text);
  await page.getByRole("button", { name: "Load the scenario" }).click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
}

/** What the last line in the console printed until now. */
const printed = (page) =>
  page.getByTestId("console-output").locator(".entry").last().getByTestId("output").textContent();

const track = (page, name) => page.getByTestId("workloads").locator(`[data-workload="${name}"]`);

/** Moves the clock to a time, also where nobody knows yet that something will happen until then. */
async function passTo(page, time) {
  const [scrub, step] = [page.getByTestId("timeline"), page.getByTestId("step")];
  const end = async () => BigInt(await scrub.getAttribute("max")) * 1_000_000n;
  const quiet = page.getByText("No further events of the kinds that are shown");
  while ((await end()) < time && (await step.isEnabled())) {
    const before = await now(page);
    await step.click();
    await until(page, async () =>
      assert.ok((await now(page)) > before || (await quiet.count()) > 0),
    );
    if ((await now(page)) === before) {
      break;
    }
  }
  const last = await end();
  await scrubTo(page, last < time ? last : time);
}

/** Steps from event to event until something holds. */
async function stepUntil(page, holds) {
  for (let step = 0; step < 400; step += 1) {
    if (await holds()) {
      return;
    }
    await page.getByTestId("step").click();
  }
  assert.fail("it never came");
}

playgroundTest(
  "a drain waits for a budget: its retries are in the console as the clock goes",
  async ({ page }) => {
    await ready(page);
    await importScenario(page, SERVICE);
    await passTo(page, seconds(60));
    const drained = await page
      .locator('[data-node="worker-1"] [data-pod]')
      .evaluateAll((all) => all.map(({ dataset }) => dataset.pod));
    assert.equal(drained.length, 2);
    const [first, second] = drained;
    const name = (pod) => pod.split("/")[1];

    await page.keyboard.press("k");
    await page.getByTestId("console-line").fill("kubectl drain worker-1");
    await page.keyboard.press("Enter");
    const retry = `error when evicting pods/"${name(second)}" -n "default" (will retry after 5s): ${REFUSED}\n`;
    const begun = `node/worker-1 cordoned\nevicting pod ${first}\nevicting pod ${second}\n${retry}`;
    await until(page, async () => assert.equal(await printed(page), begun));
    await page.getByTestId("drain-runs").waitFor();
    await page.locator('[data-node="worker-1"]').getByText("cordoned").waitFor();

    // Every 5 s it asks again, and is refused as long as the replacement is not ready.
    const again = `evicting pod ${second}\n${retry}`;
    await passTo(page, seconds(65));
    assert.equal(await printed(page), begun + again);
    await passTo(page, seconds(76));
    assert.equal(await printed(page), begun + again.repeat(3));
    await showView(page, "workloads");
    // Where nothing happens, replica-seconds are lost nevertheless.
    assert.match(
      await track(page, "deployment/default/web").locator(".lost").innerText(),
      /^16 replica-seconds$/,
    );
    // Back in time it has printed less.
    await showView(page, "console");
    await passTo(page, seconds(66));
    assert.equal(await printed(page), begun + again);

    // The replacement is ready after 20 s; both pods have 30 s to end.
    await stepUntil(page, async () => /drained/.test(await printed(page)));
    const text = await printed(page);
    assert.match(
      text,
      new RegExp(
        `evicting pod ${second}\\npod/${name(first)} evicted\\npod/${name(second)} evicted\\nnode/worker-1 drained\\n$`,
      ),
    );
    assert.equal(text.split(REFUSED).length - 1, 4);
    assert.equal(await page.getByTestId("drain-runs").count(), 0);
    assert.ok((await now(page)) >= seconds(110));
    const state = await pods(page);
    assert.equal(state[first], "gone");
    assert.equal(state[second], "gone");
    await showView(page, "workloads");
    assert.match(await track(page, "deployment/default/web").innerText(), /3\/3/);

    // Never fewer than the budget says; taken back, the drain has not been.
    await track(page, "deployment/default/web").click();
    await page.getByTestId("availability-chart").waitFor();
    const fewest = page
      .getByTestId("availability")
      .locator("tr", { hasText: "Fewest ready at once" });
    assert.match(await fewest.innerText(), /2/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+z");
    await until(page, async () => assert.equal((await pods(page))[first], "stays"));
  },
);

playgroundTest("a drain that goes on can be stopped", async ({ page }) => {
  await ready(page);
  await importScenario(page, SERVICE);
  await passTo(page, seconds(20));
  await page.getByTestId("console-open").click();
  await page.getByTestId("console-line").fill("kubectl drain worker-1");
  await page.keyboard.press("Enter");
  const runs = page.getByTestId("drain-runs");
  await runs.getByRole("button", { name: "Stop it" }).click();
  await runs.waitFor({ state: "detached" });
  const entry = page
    .getByTestId("console-output")
    .locator(".entry", { hasText: "drain worker-1" })
    .first();
  const stopped = await entry.getByTestId("output").textContent();
  await passTo(page, seconds(120));
  assert.equal(await entry.getByTestId("output").textContent(), stopped);
});

playgroundTest(
  "a StatefulSet pod is stuck on a lost node: it stands out, and is freed by the taint or by force",
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "out-of-service-taint");
    await passTo(page, seconds(600));
    const stuck = page.locator(
      '[data-node="worker-1"] [data-pod="default/db-0"][data-state="stuck"]',
    );
    await stuck.waitFor();
    await showView(page, "workloads");
    const db = track(page, "statefulset/default/db");
    assert.match(await db.innerText(), /1\/2/);
    await db.locator(".ready.some").waitFor();
    assert.match(
      await db.getAttribute("title"),
      /1 of 2 ready, 1 unavailable, 0 pending, 1 terminating/,
    );
    await page.getByTestId("warnings-open").click();
    await page
      .getByTestId("warnings")
      .locator('[data-code="stateful-set-stuck"][data-severity="critical"]')
      .waitFor();
    await page.keyboard.press("Escape");

    // By force: the name is free at once, and the pod is placed elsewhere.
    await selectPod(page, "default/db-0");
    assert.match(
      await page.getByTestId("verdict").innerText(),
      /Stuck Terminating until its kubelet is back/,
    );
    await page.getByRole("button", { name: "Force delete", exact: true }).click();
    await stuck.waitFor({ state: "detached" });
    await until(page, async () =>
      assert.equal(
        await page.locator('[data-node="worker-1"] .pods [data-pod="default/db-0"]').count(),
        0,
      ),
    );
    await passTo(page, seconds(603));
    assert.match(await db.innerText(), /2\/2/);

    // Taken back, it is stuck again; the taint of the scenario frees it within 20 s.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+z");
    await passTo(page, seconds(600));
    await stuck.waitFor();
    await page.getByTestId("console-open").click();
    await page
      .getByTestId("console-line")
      .fill(
        "kubectl taint nodes worker-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
      );
    await page.keyboard.press("Enter");
    await until(page, async () => assert.equal(await printed(page), "node/worker-1 tainted\n"));
    await passTo(page, seconds(625));
    await until(page, async () => assert.equal(await stuck.count(), 0));
    await showView(page, "workloads");
    assert.match(await db.innerText(), /2\/2/);
  },
);

playgroundTest(
  "a pod that has nowhere to go: the scheduler's words, for all nodes and for each",
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "nowhere-to-go");
    await passTo(page, seconds(300));
    await showView(page, "workloads");
    const web = track(page, "deployment/default/web");
    const said =
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.";
    assert.match(await web.innerText(), /4\/5/);
    assert.ok((await web.innerText()).includes(`1 pending: ${said}`), await web.innerText());
    await web.click();
    const inspector = page.getByTestId("inspector");
    const facts = await inspector
      .getByTestId("workload-panel")
      .locator(".facts")
      .first()
      .innerText();
    for (const fact of [/Desired\s+5/, /Ready\s+4/, /Unavailable\s+1/]) {
      assert.match(facts, fact);
    }
    assert.ok((await inspector.getByTestId("pending-reason").innerText()).includes(said));
    assert.match(
      await inspector.getByTestId("availability").innerText(),
      /Longest below desired\s+4m\d*s? ?/,
    );

    // Node by node, on the pod.
    const pending = Object.entries(await pods(page, "health")).find(
      ([, health]) => health === "unschedulable",
    )[0];
    await selectPod(page, pending);
    const refusals = inspector.getByTestId("refusals");
    const rows = await refusals
      .locator("tbody tr")
      .evaluateAll((all) =>
        all.map((row) => [...row.cells].map((cell) => cell.textContent.trim())),
      );
    assert.deepEqual(rows, [
      ["worker-1", "node(s) had untolerated taint(s)", "TaintToleration"],
      ["worker-2", "Insufficient cpu", "NodeResourcesFit"],
      ["worker-3", "Insufficient cpu", "NodeResourcesFit"],
    ]);

    // When the taint goes, the pod does.
    await passTo(page, seconds(610));
    await until(page, async () => assert.equal((await pods(page))[pending], "stays"));
    assert.equal(await refusals.count(), 0);
    assert.match(await web.innerText(), /5\/5/);
  },
);

playgroundTest("a workload is scaled, and two runs are compared", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "statefulset-waits-deployment-does-not");
  await passTo(page, seconds(600));
  await showView(page, "workloads");
  const web = track(page, "deployment/default/web");
  const lost = async () => (await web.locator(".lost").innerText()).trim();
  assert.match(await lost(), /^\d+(\.\d)? replica-seconds$/);
  const before = await lost();
  await page.getByTestId("keep-run").click();
  await until(page, async () => assert.equal(await lost(), `${before} (${before})`));

  // The same outage with one more replica, from the start.
  await passTo(page, seconds(30));
  await web.click();
  const scale = page.getByTestId("scale");
  await scale.getByLabel("Replicas").fill("many");
  await scale.getByRole("button").click();
  await scale.getByRole("alert").getByText("many").waitFor();
  await scale.getByLabel("Replicas").fill("4");
  await scale.getByRole("button").click();
  await until(page, async () => assert.match(await web.innerText(), /\d\/4/));
  await passTo(page, seconds(600));
  await until(page, async () => assert.match(await web.innerText(), /4\/4/));
  assert.ok((await lost()).endsWith(`(${before})`));
  await page.getByTestId("availability").getByText("Compared with").waitFor();
});

playgroundTest("a Job says how far it has come", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "jobs-in-an-outage");
  await passTo(page, seconds(40));
  await showView(page, "workloads");
  await track(page, "job/default/limited").click();
  const facts = page.getByTestId("inspector").getByTestId("job-facts");
  const says = (patterns) =>
    until(page, async () => {
      const text = await facts.innerText();
      for (const pattern of patterns) assert.match(text, pattern);
    });
  await says([/Completions\s+1/, /Active\s+1/, /Succeeded\s+0/, /Backoff limit\s+6/]);
  await says([/Deadline at\s+5m0s/]);
  await passTo(page, seconds(301));
  await says([/Active\s+0/, /Failed\s+1/]);
  // It has ended when its lost pod is gone.
  await passTo(page, seconds(1242));
  await says([/Active\s+0/, /Failed\s+1/, /Finished\s+Failed: DeadlineExceeded/]);
});

playgroundTest("a pod says where its volume is, and until when", async ({ page }) => {
  await loadScenario(page, "volume-on-a-dead-node");
  await passTo(page, seconds(660));
  // Not the one of that name that is gone.
  const board = page.getByTestId("board");
  await board.locator('[data-pod="default/db-0"]:not([data-state="gone"])').click();
  const volumes = page.getByTestId("volumes");
  await until(page, async () => {
    const text = (await volumes.locator("tbody").innerText()).replaceAll(/\s+/g, " ");
    assert.match(text, /^data-db-0 Bound pvc-\S+ worker-1 ?, mounted, detached by force at 16m0s$/);
  });
  await volumes.getByRole("button", { name: "worker-1" }).click();
  await page.getByTestId("inspector").getByText("worker-1").first().waitFor();
});
