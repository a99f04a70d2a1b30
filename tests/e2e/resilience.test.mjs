// The resilience report: made in workers while the page goes on, opened moment by moment, compared.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { nativeReport } from "../native.mjs";
import { playgroundTest } from "./support/browser.mjs";
import { focused } from "./support/focus.mjs";
import { largeCluster } from "./support/large-cluster.mjs";
import { loadScenario, now, ready, replaceCluster, seconds, until } from "./support/page.mjs";

const form = (page) => page.getByTestId("report-form");
const score = (page) => page.getByTestId("report-score");
const cells = (page) => page.getByTestId("report-cell");

async function openReport(page) {
  await page.keyboard.press("r");
  await page.getByRole("dialog", { name: "Resilience report" }).waitFor();
}

async function closeReport(page) {
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
}

/** Runs what the form says. */
async function run(page) {
  await form(page).getByRole("button", { name: "Run the report" }).click();
  await score(page).waitFor();
}

/** The report as the page hands it out. */
async function json(page) {
  const downloading = page.waitForEvent("download");
  await page.getByRole("dialog").getByRole("button", { name: "JSON" }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), "report.json");
  return readFileSync(await download.path(), "utf8");
}

/** Two nodes, each with room for no more than its own pod of a Deployment. */
const CLUSTER = ["a", "b"]
  .map(
    (name) => `apiVersion: v1
kind: Node
metadata: { name: ${name}, labels: { kubernetes.io/hostname: ${name} } }
status: { allocatable: { cpu: "1", pods: "10" } }
---
`,
  )
  .join("")
  .concat(`apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, resources: { requests: { cpu: 600m } } }] }
`);

playgroundTest(
  "a report is made while the page goes on, and a cell opens its run at the worst moment",
  { sample: true },
  async ({ page }) => {
    await ready(page);
    await openReport(page);
    await form(page).getByLabel("Runs per failure (heartbeat timing varied)").fill("10");
    const workers = [];
    page.on("worker", (worker) => workers.push(worker.url()));
    await form(page).getByRole("button", { name: "Run the report" }).click();
    // It goes on while the dialog is closed, and says when it is there.
    await closeReport(page);
    await page.getByTestId("notice").getByText(/The resilience report is ready: \d+ of 100/).waitFor();
    assert.match(workers[0], /worker\.js$/);
    await openReport(page);
    assert.match(await score(page).innerText(), /^\d+ of 100 · mean of \d+ workload scores: /);
    // Its first line says which cluster, when, and which release; then comes what survives what.
    assert.match(
      await page.getByTestId("report-heading").innerText(),
      /^A small cluster to play with at its beginning: 7 nodes, 29 pods, Kubernetes 1\.\d+, Taintlab \d/,
    );
    const verdict = await page.getByTestId("report-verdict").innerText();
    assert.match(verdict, /^Losing any one node .*\.$/);
    await page.getByText(/^\d+ failure domains, \d+ runs, each watched for 1h0m0s$/).waitFor();
    // Zones before nodes, and nodes alike in one row.
    const kinds = await page
      .locator("section[data-kind]")
      .evaluateAll((all) => all.map((it) => it.dataset.kind));
    // The only region has all nodes: nothing survives that.
    assert.deepEqual(kinds, ["zone", "node", "region"]);
    const nodes = page.locator('[data-kind="node"]');
    await nodes.getByRole("heading", { name: "7 nodes" }).waitFor();
    const map = page.getByTestId("report-map");
    await map.getByRole("columnheader", { name: /shop\/web/ }).first().waitFor();
    const findings = page.getByTestId("report-findings");
    await findings.locator("li").first().waitFor();
    // On a phone only what is in them scrolls: YAML, and tables.
    await page.setViewportSize({ width: 360, height: 800 });
    await findings.locator("details:has(> pre) > summary").first().click();
    await findings.locator("details[open] > pre").first().waitFor();
    const [wide, room] = await findings.evaluate((list) => [list.scrollWidth, list.clientWidth]);
    assert.ok(wide <= room && room < 360, `${wide} pixels in ${room}`);
    await page.setViewportSize({ width: 1280, height: 720 });

    const first = cells(page).first();
    const told = await first.getAttribute("aria-label");
    const [, failure, workload, least] =
      /^(.*): ((?:deployment|statefulset|daemonset|job|pod)\/\S+): (\d+) of \d+ ready at least/.exec(told);
    await first.click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await page.getByTestId("notice").getByText("at its worst moment").waitFor();
    assert.equal(await page.getByTestId("branches-open").textContent(), failure);
    assert.ok((await now(page)) > 0n);
    // What the figures say is what is shown.
    const row = page.locator(`[data-workload="${workload}"]`);
    if ((await row.count()) > 0) {
      assert.match(await row.first().innerText(), new RegExp(`\\b${least}\\s*(/|of)`));
    }
    // The moment is a story of its own: the failure, and what comes of it.
    await page.keyboard.press("m");
    await until(page, async () =>
      assert.equal(await page.getByTestId("bookmark-list").locator("li").count(), 2),
    );
  },
);

playgroundTest("what is changed is seen in the next report", { sample: true }, async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  await openReport(page);
  await form(page).getByLabel("each zone").uncheck();
  await run(page);
  const [, before] = /^(\d+) of 100/.exec(await score(page).innerText());
  // Both nodes do the same to it.
  assert.equal(await cells(page).count(), 1);
  await page.getByRole("button", { name: "2 nodes like a lost" }).waitFor();
  const findings = page.getByTestId("report-findings");
  await findings.locator("summary").filter({ hasText: "less harm" }).first().click();
  assert.match(await findings.locator("details[open] pre").first().innerText(), /\S/);
  await closeReport(page);

  // One more node: whatever fails, there is room.
  await page.keyboard.press("a");
  const node = page.getByTestId("create-node");
  await node.getByLabel("Name").fill("c");
  await node.getByRole("button", { name: "Create" }).click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await openReport(page);
  await page.getByRole("button", { name: "Run again" }).click();
  assert.equal(await form(page).getByLabel("each zone").isChecked(), false, "as it was asked");
  await run(page);
  const [, after] = /^(\d+) of 100/.exec(await score(page).innerText());
  assert.ok(Number(after) > Number(before), `${after} > ${before}`);
  await page.getByText(`The report before had a score of ${before}. 2 pairs of failure and workload improved`).waitFor();
  assert.match(await page.getByTestId("report-workloads").innerText(), /\(was \d+\)/);
});

playgroundTest("a report is of the cluster as it is now, and can be stopped", { sample: true }, async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  await page.locator('[data-node="b"] > .name').click();
  await page.getByTestId("inspector").locator('[data-tab="health"]').click();
  await page.getByTestId("inspector").getByRole("button", { name: "Stop kubelet" }).click();
  await page.keyboard.press("e");
  await until(page, async () => assert.ok((await now(page)) > seconds(300)));
  await openReport(page);
  await form(page).getByLabel("each zone").uncheck();
  await run(page);
  // It says what was lost before.
  await page.getByText("before anything fails: b is not ready").waitFor();
  assert.match(
    await page.getByTestId("report-heading").innerText(),
    /^Cluster \w+ \d+m\S+ after its beginning: 2 nodes/,
  );
  // Without b there is one pod, and without a none.
  const told = await cells(page).first().getAttribute("aria-label");
  assert.match(told, /^node a lost: deployment\/default\/web: 0 of 1 ready at least/);

  await page.getByRole("button", { name: "Run again" }).click();
  await form(page).getByLabel("Runs per failure (heartbeat timing varied)").fill("1000");
  await form(page).getByLabel("drained").check();
  await form(page).getByRole("button", { name: "Run the report" }).click();
  await page.getByText(/[1-9]\d* of 4000 failures run/).waitFor();
  await page.getByTestId("report-stop").click();
  await score(page).waitFor();
  assert.match(await score(page).innerText(), /^No score: only \d+ of 4000 runs were made$/);
});

playgroundTest("without workers the page makes the same report", { alone: true }, async ({ page, url }) => {
  await page.context().addInitScript(() => {
    if (new URLSearchParams(location.search).has("none")) globalThis.Worker = undefined;
  });
  const reports = [];
  for (const query of ["", "&none"]) {
    await page.goto(`${url}?new${query}#s=recovery-storm`);
    await ready(page);
    await openReport(page);
    await form(page).getByLabel("drained").check();
    await run(page);
    reports.push(await json(page));
  }
  assert.ok(reports[0].length > 1_000);
  assert.equal(reports[1], reports[0]);
});

for (const name of ["sample-cluster", "service-in-an-outage"]) {
  playgroundTest(`${name}: the same report as natively`, async ({ page, url }) => {
    await page.goto(`${url}?new#s=${name}`);
    await ready(page);
    await openReport(page);
    await run(page);
    assert.equal(JSON.stringify(JSON.parse(await json(page))), nativeReport(name));
  });
}

playgroundTest("what is wrong with a field is said there; arrows move in the map", async ({ page }) => {
  await ready(page);
  await loadScenario(page, "service-in-an-outage");
  await openReport(page);
  const begin = form(page).getByRole("button", { name: "Run the report" });
  for (const [label, text, error] of [
    ["Each run is watched for", "an hour", /write for example `1m30s`/],
    ["Tainted with", "example.com/failed", /effect: /],
    ["Runs per failure (heartbeat timing varied)", "0", /a whole number from 1 on/],
  ]) {
    const field = form(page).getByLabel(label);
    const value = await field.inputValue();
    await field.fill(text);
    await form(page).locator(".field", { hasText: label }).getByText(error).waitFor();
    assert.equal(await begin.isDisabled(), true, label);
    await field.fill(value);
  }
  await form(page).getByLabel("lost").uncheck();
  await form(page).getByText("choose at least one way to fail").waitFor();
  await form(page).getByLabel("lost").check();
  // The engine knows which nodes there are.
  await form(page).getByLabel("These nodes together").fill("nobody");
  await begin.click();
  await page.getByRole("alert").getByText(/nobody/).waitFor();
  await form(page).getByLabel("These nodes together").fill("");
  await form(page).getByLabel("network cut").check();
  await run(page);

  await page.locator('[data-kind="node"]').getByTestId("report-cell").first().focus();
  await page.keyboard.press("ArrowDown");
  await until(page, async () => assert.ok(await focused(page, '[data-place="1 0"]')));
  await page.locator(".rtold").getByText("ready at least").waitFor();
  await page.keyboard.press("Enter");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  assert.ok((await now(page)) > 0n);
});

playgroundTest("a report of another cluster says so, and asks before it opens", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  await openReport(page);
  await run(page);
  assert.equal(await page.getByTestId("report-stale").count(), 0);
  const [, failure] = /^(.*?): /.exec(await cells(page).first().getAttribute("aria-label"));
  await closeReport(page);
  await loadScenario(page, "service-in-an-outage");
  await openReport(page);
  const stale = page.getByTestId("report-stale");
  await stale.getByText("This report is about another cluster").waitFor();
  const questions = [];
  const answers = [false, true];
  page.on("dialog", async (dialog) => {
    questions.push(dialog.message());
    if (answers.shift()) await dialog.accept();
    else await dialog.dismiss();
  });
  await cells(page).first().click();
  await until(page, async () => assert.equal(questions.length, 1));
  assert.match(questions[0], /^This report is about another cluster: .*beside your work, as a branch of its own\?$/);
  // No: the dialog and the work stay.
  await page.getByTestId("report-stale").waitFor();
  await page.locator('[data-node="a"]').waitFor({ state: "detached" });
  await cells(page).first().click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await until(page, async () =>
    assert.equal(await page.getByTestId("branches-open").textContent(), failure),
  );
  // A report of this cluster is not compared with that of the other.
  await page.getByTestId("branches-open").click();
  await page.keyboard.press("Escape");
  await loadScenario(page, "service-in-an-outage");
  await openReport(page);
  await page.getByRole("button", { name: "Run again" }).click();
  await run(page);
  assert.equal(await page.getByText("The report before had").count(), 0);
});

playgroundTest("a report of one node says what it cannot say", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, "{apiVersion: v1, kind: Node, metadata: {name: only}}");
  await openReport(page);
  await run(page);
  await score(page).getByText("No score: the cluster has no workload").waitFor();
  assert.equal(await page.getByTestId("report-verdict").count(), 0);
});

playgroundTest("of a large cluster what matters comes first, and all is found", async ({ page }) => {
  await ready(page);
  const size = { nodes: 36, workloads: 30, pods: 5, databases: 3 };
  await replaceCluster(page, largeCluster(size));
  await openReport(page);
  await form(page).getByLabel("Findings to try fixes for").fill("0");
  await run(page);
  const nodes = page.locator('[data-kind="node"]');
  const rows = nodes.locator("tbody tr");
  // Each node with a database by itself; all others, which hurt little, in one row.
  assert.equal(await rows.count(), size.databases + 1);
  const first = await rows.first().innerText();
  assert.match(first, / at the end: statefulset\/shop\/db-\d; 5 other workloads short for at most 5m/);
  for (const row of await rows.all()) assert.ok((await row.getByTestId("report-cell").count()) > 0);
  const fold = rows.last().getByRole("button", { expanded: false });
  assert.match(await fold.innerText(), /^33 nodes like pool-\d-\d\d lost$/);
  await fold.click();
  await until(page, async () => assert.equal(await rows.count(), size.databases + 1 + 33));
  await rows.nth(size.databases).getByRole("button", { expanded: true }).click();
  await page.getByRole("searchbox", { name: "Find a failure or a workload" }).fill("db-1");
  await until(page, async () => assert.equal(await rows.count(), 1));
  assert.equal(await page.locator('[data-kind="zone"] tbody tr').count(), 1);
  await page.getByRole("searchbox", { name: "Find a failure or a workload" }).fill("");
  await page.getByRole("button", { name: "Never whole again" }).click();
  await until(page, async () => assert.equal(await rows.count(), size.databases));
  // On a phone the dialog is as wide as the screen.
  await page.setViewportSize({ width: 390, height: 844 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} pixels`);
});
