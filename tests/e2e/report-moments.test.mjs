// What a report is about: its cluster, moment and release, and the moments that its cells open.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { gkeCluster } from "./support/gke.mjs";
import { now, ready, replaceCluster, scrubTo, seconds, until } from "./support/page.mjs";

const form = (page) => page.getByTestId("report-form");
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
  await page.getByTestId("report-score").waitFor();
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

playgroundTest("a report of another moment says so, and its own runs are no other work", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  await openReport(page);
  await run(page);
  const questions = [];
  page.on("dialog", async (dialog) => {
    questions.push(dialog.message());
    await dialog.dismiss();
  });
  const [, failure] = /^(.*?): /.exec(await cells(page).first().getAttribute("aria-label"));
  await cells(page).first().click();
  await until(page, async () =>
    assert.equal(await page.getByTestId("branches-open").textContent(), failure),
  );
  await openReport(page);
  assert.equal(await page.getByTestId("report-stale").count(), 0);
  await closeReport(page);
  // Back to the work itself, at another moment and release.
  await page.keyboard.press("g");
  const main = page.getByTestId("branches").locator('[data-branch="main"]');
  await main.getByRole("button", { name: "Switch" }).first().click();
  await page.getByTestId("branches").locator('[data-branch="main"][aria-current="true"]').waitFor();
  await closeReport(page);
  await scrubTo(page, seconds(30));
  await page.getByTestId("release").selectOption("1.31");
  await openReport(page);
  await page
    .getByTestId("report-stale")
    .getByText("Made at 0s on 1.35; the page shows 30s on 1.31.")
    .waitFor();
  await cells(page).first().click();
  await until(page, async () => assert.equal(questions.length, 1));
  assert.match(questions[0], /^Made at 0s on 1\.35; .*beside your work, as a branch of its own\?$/);
  await page.getByTestId("report-stale").waitFor();
  await page.getByRole("button", { name: "Run again" }).click();
  await run(page);
  await page
    .getByText("It is about 1.35, this one about 1.31. It was made at 0s, this one at 30s.")
    .waitFor();
});

/** A duration as Go prints it, in nanoseconds. */
const nanos = (text) => {
  const [, hours = 0, minutes = 0, rest = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(text);
  return seconds(Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest));
};

playgroundTest("Open leads to the fault and the time that it says after it", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, CLUSTER);
  await openReport(page);
  await run(page);
  const open = page.getByTestId("report-findings").getByRole("button", { name: /^Open .* after/ });
  const [, after] = /^Open (.*) after the failure$/.exec(await open.first().innerText());
  await open.first().click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.getByTestId("notice").getByText("at its worst moment").waitFor();
  const there = await now(page);
  // The first bookmark is the fault.
  await page.keyboard.press("m");
  const fault = page.getByTestId("bookmark-list").locator("li").first();
  await fault.getByRole("button").first().click();
  await page.keyboard.press("Escape");
  await until(page, async () => assert.ok((await now(page)) < there));
  // Reports say times to the tenth.
  const off = Number(there - (await now(page)) - nanos(after)) / 1e9;
  assert.ok(Math.abs(off) <= 0.051, `${off} s beside ${after}`);
});

playgroundTest("a cluster of GKE has no finding about its static pods, and pools to fail", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, JSON.stringify(gkeCluster({ nodes: 6 })));
  await openReport(page);
  const pool = form(page).getByRole("checkbox", { name: /cloud\.google\.com\/gke-nodepool/ });
  assert.equal(await pool.isChecked(), false, "there is one pool only");
  await form(page).getByLabel("Findings to try fixes for").fill("0");
  await run(page);
  for (const part of ["report-findings", "report-workloads", "report-map"]) {
    for (const text of await page.getByTestId(part).allInnerTexts()) {
      assert.doesNotMatch(text, /kube-proxy/, part);
    }
  }
});

playgroundTest("several pools of a cloud are failure domains unless somebody says otherwise", async ({ page }) => {
  await ready(page);
  const label = "eks.amazonaws.com/nodegroup";
  const labelled = CLUSTER.replaceAll(
    /kubernetes\.io\/hostname: (\w)/g,
    `kubernetes.io/hostname: $1, ${label}: pool-$1`,
  );
  await replaceCluster(page, labelled);
  await openReport(page);
  const pools = form(page).getByRole("checkbox", { name: new RegExp(label) });
  assert.equal(await pools.isChecked(), true);
  await form(page).getByText(`each of 2 node pools by ${label}`).waitFor();
  await run(page);
  await page.locator('[data-kind="label"]').getByRole("heading", { name: "2 label values" }).waitFor();
  await page.getByRole("button", { name: "Run again" }).click();
  assert.equal(await pools.isChecked(), true);
  await pools.uncheck();
  await run(page);
  assert.equal(await page.locator('[data-kind="label"]').count(), 0);
  await page.getByRole("button", { name: "Run again" }).click();
  assert.equal(await pools.isChecked(), false);
});
