// axe-core finds nothing to complain about by WCAG 2.2, levels A and AA, and by what it calls best
// practice.

import assert from "node:assert/strict";

import axe from "axe-core";

import { playgroundTest } from "./support/browser.mjs";
import {
  loadScenario,
  openImport,
  ready,
  runToEnd,
  scrubTo,
  seconds,
  selectNode,
  selectPod,
  selectZone,
  showView,
  tab,
  taint,
} from "./support/page.mjs";

const RULES = {
  type: "tag",
  values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};

/** The rules that ask which colours there are. */
const RULES_OF_COLOUR = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** How the page is looked at, and by which rules. */
const LOOKS = [
  ["light", { colorScheme: "light", forcedColors: "none" }, RULES],
  ["dark", { colorScheme: "dark", forcedColors: "none" }, RULES_OF_COLOUR],
  ["forced colours", { colorScheme: "dark", forcedColors: "active" }, RULES_OF_COLOUR],
];

/** What is wrong with the page in each look, added to what was found before. */
async function examine(page, found, what) {
  await page.evaluate(axe.source);
  for (const [look, media, rules] of LOOKS) {
    await page.emulateMedia(media);
    const violations = await violationsOf(page, rules);
    found.push(...violations.map((violation) => `${what}, ${look}: ${violation}`));
  }
}

/** What is wrong with the page when nothing on it moves. */
const violationsOf = (page, rules) =>
  page.evaluate(async (runOnly) => {
    // A pod on its way to another node is faint, and lies over others. Paused countdowns stay.
    for (;;) {
      const moving = document.getAnimations().filter(({ playState }) => playState === "running");
      if (moving.length === 0) break;
      await Promise.allSettled(moving.map(({ finished }) => finished));
    }
    const { violations } = await globalThis.axe.run({ runOnly });
    const found = [];
    for (const { id, help, nodes } of violations) {
      for (const node of nodes) {
        // What is scrolled half out of sight counts as small, and must be large enough in sight.
        if (id === "target-size") {
          const element = document.querySelector(node.target[0]);
          element.scrollIntoView({ block: "center", inline: "center" });
          const again = await globalThis.axe.run(element, {
            runOnly: { type: "rule", values: [id] },
          });
          if (again.violations.length === 0) continue;
        }
        found.push(`${id}: ${help}: ${node.html.slice(0, 200)}: ${node.failureSummary}`);
      }
    }
    return found;
  }, rules);

/** Closes the dialog that is open. */
async function close(page) {
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
}

const GOOD = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n-1}, status: {nodeInfo: {kubeletVersion: v1.30.1}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec: {nodeName: n-1, containers: [{name: c, image: i, env: [{name: A, value: b}]}]}
- {apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}}
- {apiVersion: v1, kind: Node, metadata: {name: A_B}}
`;
const BAD = "apiVersion: v1\nkind: Node\nmetadata: {name: A_B}\n---\nkind: Pod\n";

playgroundTest("nothing stands in anybody's way", { alone: true }, async ({ page }) => {
  const found = [];
  await ready(page);
  await examine(page, found, "the board");

  await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
  await page.getByTestId("add-taint").click();
  await page.getByTestId("taint-form").locator(".item").last().getByLabel("Key").fill("a b");
  await examine(page, found, "a node, and a form with an error");
  for (const part of ["pods", "labels", "yaml"]) {
    await tab(page, part).click();
    await examine(page, found, `a node, ${part}`);
  }
  await selectPod(page, "shop/web-7d4b9c6f5-x2x8p");
  await examine(page, found, "a pod that counts down");
  await tab(page, "tolerations").click();
  await examine(page, found, "tolerations");
  await selectZone(page, "eu-1b");
  await examine(page, found, "a zone");

  await page.keyboard.press("Escape");
  await showView(page, "events");
  await page.getByRole("button", { name: "Decisions" }).click();
  await runToEnd(page);
  await examine(page, found, "after the end, with pods that are gone");
  await page.getByTestId("lanes-open").click();
  await page.getByTestId("lanes").locator(".lbar").first().waitFor();
  await page.getByTestId("lanes").locator(".lpin").first().click();
  await examine(page, found, "the lanes, one of them pinned");
  await page.keyboard.press("l");
  await examine(page, found, "the lanes in full height");
  await page.keyboard.press("l");
  for (const [key, what] of [
    ["u", "run until"],
    ["g", "branches"],
  ]) {
    await page.keyboard.press(key);
    await page.getByTestId("dialog").waitFor();
    await examine(page, found, what);
    await close(page);
  }
  await page.keyboard.press("c");
  await page
    .getByRole("combobox", { name: "Release of B" })
    .selectOption("1.18");
  await page.getByTestId("compared").waitFor();
  await examine(page, found, "a comparison");
  await close(page);

  await openImport(page, BAD);
  await page.getByTestId("diagnostics").waitFor();
  await examine(page, found, "the import dialog, with errors");
  await close(page);
  await openImport(page, GOOD);
  await page.getByTestId("import-secrets").waitFor();
  await examine(page, found, "the report of an import");
  await page.getByTestId("import-add").click();
  await page.getByTestId("import-plan").waitFor();
  await examine(page, found, "what adding would do");
  await close(page);
  for (const dialog of ["scenarios", "export", "share", "sessions", "help", "warnings-open"]) {
    await page.getByTestId(dialog).click();
    await page.getByTestId("dialog").waitFor();
    await examine(page, found, dialog);
    await close(page);
  }
  for (const [key, dialog] of [
    ["m", "Bookmarks"],
    ["ControlOrMeta+Shift+P", "Commands"],
  ]) {
    await page.keyboard.press(key);
    await page.getByRole("dialog", { name: dialog }).waitFor();
    await examine(page, found, dialog);
    await close(page);
  }
  for (const title of ["Create a node", "Create a pod"]) {
    await page.getByRole("button", { name: title }).click();
    await page.getByRole("dialog", { name: title }).waitFor();
    await examine(page, found, title);
    await close(page);
  }

  await page.keyboard.press("k");
  const line = page.getByTestId("console-line");
  await line.fill("kubectl get nodes");
  await page.keyboard.press("Enter");
  await page.getByTestId("output").waitFor();
  await line.fill("kubectl get ");
  await page.keyboard.press("Tab");
  await page.getByTestId("completions").waitFor();
  await examine(page, found, "the console, with completions");
  await page.keyboard.press("Escape");

  await loadScenario(page, "why-345-seconds");
  await page.keyboard.press("o");
  await page.getByTestId("story").waitFor();
  await examine(page, found, "a story");
  await page.keyboard.press("Escape");
  await page.getByTestId("story").waitFor({ state: "detached" });

  await loadScenario(page, "two-taints-one-removed-1.20");
  await runToEnd(page);
  await examine(page, found, "a scenario with its expectations");
  await loadScenario(page, "");
  await examine(page, found, "an empty cluster");
  assert.ok(found.length === 0, found.join("\n\n"));
});

const MORE = "nor in resources, workloads, refusals and drains";

playgroundTest(MORE, { alone: true }, async ({ page }) => {
  const found = [];
  await ready(page);
  await loadScenario(page, "who-goes-first");
  await page.getByTestId("end").click();
  await scrubTo(page, seconds(40));
  await selectNode(page, "worker-1");
  await tab(page, "resources").click();
  await page.getByTestId("pressure").waitFor();
  await examine(page, found, "resources under pressure");

  await loadScenario(page, "nowhere-to-go");
  await page.getByTestId("end").click();
  await scrubTo(page, seconds(300));
  await showView(page, "workloads");
  await page.locator('[data-workload="deployment/default/web"]').click();
  await page.getByTestId("availability-chart").waitFor();
  await examine(page, found, "a workload that lacks a pod");
  await page
    .getByTestId("board")
    .locator('[data-pod][data-health="unschedulable"]')
    .first()
    .click();
  await page.getByTestId("refusals").waitFor();
  await examine(page, found, "a pod that has nowhere to go");

  await page.getByTestId("console-open").click();
  await page.getByTestId("console-line").fill("kubectl drain worker-2");
  await page.keyboard.press("Enter");
  await page.getByTestId("drain-runs").waitFor();
  await examine(page, found, "a drain");
  assert.deepEqual(found, []);
});

playgroundTest("nor in reports, flags, links and densities", { alone: true }, async ({ page }) => {
  const found = [];
  await ready(page);
  for (const button of ["about-release", "settings"]) {
    await page.getByTestId(button).click();
    await page.getByTestId("dialog").waitFor();
    await examine(page, found, button);
    await close(page);
  }
  // Only work that a link would replace is asked about.
  await taint(page, "worker-1", { key: "example.com/work" });
  await page.evaluate(() => (location.hash = "#s=three-effects&release=1.35"));
  await page.getByRole("dialog", { name: "Open this link?" }).waitFor();
  await examine(page, found, "a link");
  await page.getByTestId("link-keep").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });

  await page.keyboard.press("r");
  await page.getByTestId("report-form").waitFor();
  await examine(page, found, "the questions of a report");
  await page.getByRole("button", { name: "Run the report" }).click();
  await page.getByTestId("report-findings").locator("li").first().waitFor();
  await examine(page, found, "a report");
  await close(page);

  for (const density of ["Rows", "Cells"]) {
    await page.getByTestId("density").selectOption(density);
    await page.locator(`.board[data-detail=${density.toLowerCase()}]`).waitFor();
    await examine(page, found, `the board in ${density}`);
  }
  await page.getByTestId("export").click();
  await page.locator('[data-export="Embed"]').getByRole("button", { name: "Show" }).click();
  await page.getByTestId("embed-preview").getByRole("img").waitFor();
  await examine(page, found, "an embed");
  await close(page);

  // The page is no more; only its message is left.
  await page.evaluate(() =>
    document.body.replaceChildren(document.querySelector("#crash").content.cloneNode(true)));
  await examine(page, found, "a crash");
  assert.ok(found.length === 0, found.join("\n\n"));
});

playgroundTest(
  "nor on a phone, where whatever is pressed has room for a finger",
  { context: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } },
  async ({ page }) => {
    const found = [];
    await ready(page);
    await examine(page, found, "a phone");
    await selectNode(page, "worker-1");
    await examine(page, found, "a node on a phone");
    const small = await page.locator("button:visible, select:visible").evaluateAll((controls) =>
      controls
        .map((control) => [control, control.getBoundingClientRect()])
        .filter(([, { width, height }]) => width < 24 || height < 24)
        .map(
          ([control, { width, height }]) =>
            `${width} x ${height}: ${control.outerHTML.slice(0, 120)}`,
        ),
    );
    assert.deepEqual([...found, ...small], []);
  },
);
