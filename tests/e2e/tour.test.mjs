// The tour of the README, done step by step as it is written there, once by mouse and once by
// keyboard alone. A step that is reworded fails until what is done here for it follows.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { playgroundTest } from "./support/browser.mjs";
import { keyboard, mouse, typeInto } from "./support/hands.mjs";
import { log, now, pods, ready, seconds, until } from "./support/page.mjs";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const CLUSTER = readFileSync(new URL("fixtures/cluster.yaml", import.meta.url), "utf8");

/** The numbered steps of the tour, each as one line. */
function steps() {
  const [, tour] = /^## A tour in 60 seconds\n(.*?)^## /ms.exec(README);
  const found = [...tour.matchAll(/^\d+\. (.*(?:\n {2,}.*)*)/gm)];
  return found.map(([, text]) => text.replaceAll(/\s+/g, " ").trim());
}

const WEB = "shop/web-7d4b9c6f5-x2x8p";
const inspector = (page) => page.getByTestId("inspector");
const button = (page, name) => inspector(page).getByRole("button", { name, exact: true });

/** Opens a scenario by its title. */
async function open(page, hand, title) {
  await hand.press(page.getByTestId("scenarios"));
  await hand.pick(page.getByTestId("dialog").locator("[data-scenario]", { hasText: title }));
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.locator(".top .title", { hasText: title }).waitFor({ state: "attached" });
}

/** How many pods of a node are in each state. */
async function statesOf(page, node) {
  const states = await page
    .locator(`[data-testid=board] [data-node="${node}"] [data-pod]`)
    .evaluateAll((found) => found.map((pod) => pod.dataset.state));
  const counts = {};
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** The steps by their exact words, and what is done and seen for each. */
const TOUR = {
  "`cargo xtask serve`, and open <http://127.0.0.1:8080>. A sample cluster is there: three zones, a control plane, workloads with default, custom and infinite tolerations. Three questions beside it lead to their answers.":
    async (page) => {
      await ready(page);
      assert.equal(await page.locator("[data-zone]").count(), 3);
      assert.equal(await page.getByTestId("questions").getByRole("button").count(), 3);
      await page.locator('[data-node="control-plane-1"]').waitFor();
    },

  "Press *Stop kubelet* on the card of `worker-1` (by keyboard, under *Health* of the node), and <kbd>N</kbd> to jump from event to event. After a minute the node is tainted: one pod is deleted at once, three begin to count down, two stay. The line above the board says so, and the lanes below it show what is to come.":
    async (page, hand) => {
      if (hand.name === "mouse") {
        await page.locator('[data-node="worker-1"] .deed', { hasText: "Stop kubelet" }).click();
      } else {
        await hand.node("worker-1");
        await hand.tab("health");
        await hand.press(button(page, "Stop kubelet"));
      }
      while ((await statesOf(page, "worker-1")).counting !== 3) {
        const before = await now(page);
        assert.ok(before < seconds(70), `${before}`);
        await page.keyboard.press("n");
        await until(page, async () => assert.ok((await now(page)) > before));
      }
      assert.ok((await now(page)) >= seconds(55), `${await now(page)}`);
      await until(page, async () => {
        const { counting, stays, ...deleted } = await statesOf(page, "worker-1");
        assert.deepEqual([counting, stays], [3, 2]);
        assert.deepEqual(Object.values(deleted), [1]);
      });
      const caption = page.getByTestId("caption");
      await caption.getByText(/worker-1 is tainted.*; 2 pods stay/).waitFor();
      const lanes = page.getByTestId("lanes");
      await lanes.locator("[data-forecast][data-state=counting]").first().waitFor();
    },

  "Press <kbd>Space</kbd> to play and again to pause. <kbd>3</kbd> shows the event log, which speaks Kubernetes' words; what is deleted comes back elsewhere.":
    async (page) => {
      await page.keyboard.press("Space");
      await until(page, async () => assert.ok((await now(page)) > seconds(76)));
      await page.keyboard.press("Space");
      await page.getByRole("button", { name: "Play" }).waitFor();
      assert.ok((await now(page)) < seconds(110), "there is time to read");
      await page.keyboard.press("3");
      await page.getByTestId("log").locator(".ev").first().waitFor();
      const rows = (await log(page)).join("\n");
      assert.match(rows, /TaintManagerEviction .*Marking for deletion Pod data\/report/);
      assert.match(rows, /Scheduled pod\/data\/report/);
    },

  "Select the pod of `web` on `worker-1` and read *Why*: the taint against its tolerations, which test failed, when it ends.":
    async (page, hand) => {
      await hand.pod(WEB);
      await inspector(page)
        .getByTestId("verdict")
        .getByText(/^Deleted at 6m/)
        .waitFor();
      const why = inspector(page).getByTestId("why");
      await why.getByText("node.kubernetes.io/unreachable:NoExecute").first().waitFor();
      assert.ok((await why.locator('[data-outcome="failed"]').count()) > 0);
      assert.ok((await why.locator('[data-outcome="used"]').count()) > 0);
    },

  "Under *Tolerations* empty *Seconds* of the one for `unreachable` and press <kbd>Enter</kbd>: the pod stays. Now choose Kubernetes 1.18. The same edits run again, and there the pod is deleted all the same: until 1.20 a timer that had started was never cancelled for a toleration without an end.":
    async (page, hand) => {
      await hand.tab("tolerations");
      const row = page.locator('[data-toleration="1"]');
      assert.equal(await row.getByLabel("Key").inputValue(), "node.kubernetes.io/unreachable");
      await hand.enter(row.getByLabel("Seconds"));
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.press("Delete");
      await page.keyboard.press("Enter");
      await until(page, async () => assert.equal((await pods(page))[WEB], "stays"));
      await hand.choose(page.getByTestId("release"), "1.18");
      await until(page, async () => assert.equal((await pods(page))[WEB], "counting"));
      await page.keyboard.press("Escape");
      await page.locator("select:focus").waitFor({ state: "detached" });
      await page.keyboard.press("e");
      // Its kubelet does not confirm it.
      await until(page, async () => assert.equal((await pods(page))[WEB], "stuck"));
    },

  "Open *A small cluster to play with* again under *Scenarios*, select the zone `eu-1b` and press *Cut the zone's network*. Step: the heartbeats stop, the grace period runs, the nodes turn Unknown, the limiter taints them one by one, and each pod says in its *time budget* why it goes when it goes. *Flags* has the rates and periods, and what differs between releases.":
    async (page, hand) => {
      await open(page, hand, "A small cluster to play with");
      await hand.zone("eu-1b");
      await hand.press(button(page, "Cut the zone's network"));
      // Where the focus is now, the key steps.
      const stepped = async (wanted) => {
        for (let step = 0; step < 60; step += 1) {
          const rows = (await log(page, ["event", "change", "fact"])).join("\n");
          if (wanted.every((words) => words.test(rows))) return;
          await page.keyboard.press("n");
        }
        assert.fail((await log(page, ["event", "change", "fact"])).join("\n"));
      };
      await stepped([
        /worker-3.*NodeNotReady|NodeNotReady.*worker-3/,
        /NodeNotReady.*worker-4|worker-4.*NodeNotReady/,
      ]);
      await stepped([/taint-eviction|TaintManagerEviction/]);
      await hand.pod("shop/checkout-5b8f7d9c4-zz6rb");
      const budget = inspector(page).locator(".budget");
      await budget.waitFor();
      const terms = await budget
        .locator("[data-term]")
        .evaluateAll((found) => [...new Set(found.map((term) => term.dataset.term))]);
      for (const term of ["grace", "limiter", "toleration"]) {
        assert.ok(terms.includes(term), `${term} is a term of ${terms}`);
      }
      await hand.press(page.getByTestId("settings"));
      await page.getByRole("dialog").getByText("--node-eviction-rate").first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByTestId("dialog").waitFor({ state: "detached" });
    },

  "Press <kbd>K</kbd> and type `kubectl get pods -A -o wide`, or <kbd>W</kbd> to read what is likely to surprise in this cluster, and why. What you do by mouse is shown as the kubectl line that does it.":
    async (page, hand) => {
      await page.keyboard.press("k");
      await typeInto(page, page.getByTestId("console-line"), "kubectl get pods -A -o wide");
      await page.keyboard.press("Enter");
      await page.getByTestId("output").getByText(WEB.split("/")[1]).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("w");
      await page.getByRole("dialog", { name: "Warnings" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByTestId("dialog").waitFor({ state: "detached" });
      await hand.node("worker-3");
      await hand.press(button(page, "Cordon"));
      await page.getByTestId("same-line").getByText("kubectl cordon worker-3").waitFor();
    },

  "Open *Who does the kubelet evict first?* under *Scenarios*, press <kbd>N</kbd>, select `worker-1`, and read under *Resources* what it runs out of, and who goes first by which key.":
    async (page, hand) => {
      await open(page, hand, "Who does the kubelet evict first?");
      await page.keyboard.press("n");
      await hand.node("worker-1");
      await hand.tab("resources");
      await inspector(page)
        .getByTestId("node-resources")
        .getByText("memory.available")
        .first()
        .waitFor();
      await inspector(page).locator('.ranking [data-decides="true"]').first().waitFor();
    },

  "Open *A service loses a node* under *Scenarios* and press <kbd>E</kbd>: replicas are lost, replaced, scheduled and ready again. <kbd>2</kbd> shows how many there were at each moment.":
    async (page, hand) => {
      await open(page, hand, "A service loses a node");
      await page.keyboard.press("e");
      await page.keyboard.press("2");
      const web = page.locator('[data-workload="deployment/shop/web"]');
      await web.getByText("replica-seconds").waitFor();
      const states = await web
        .locator(".curve rect")
        .evaluateAll((found) => found.map((part) => part.getAttribute("class")));
      assert.ok(states.includes("some") && states.at(-1) === "whole", states.join(", "));
    },

  "Press <kbd>L</kbd>: the whole outage in lanes (what is still to come is paler). Point at a lane to look at that moment, choose it to go there and to read what led to it.":
    async (page, hand) => {
      await page.keyboard.press("l");
      const rows = page.getByTestId("lanes-rows");
      const track = rows.locator('[data-subject="node worker-1"] .ltrack');
      await track.locator(".lbar[data-state=unknown]").first().waitFor();
      if (hand.name === "mouse") {
        await track.click();
      } else {
        await rows.focus();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("ArrowLeft");
        await page.locator('.app[data-peek="true"]').waitFor();
        await page.keyboard.press("Enter");
      }
      await page.locator('.app:not([data-peek="true"])').waitFor();
      await page.getByTestId("lanes-details").getByTestId("causes").waitFor();
    },

  "Press <kbd>C</kbd> and choose another release for B: where the two runs part, in a sentence, and what each costs, to be copied into an incident review. <kbd>G</kbd> forks, to compare with what you would have done.":
    async (page, hand) => {
      await page.keyboard.press("c");
      await hand.choose(
        page.getByRole("combobox", { name: "Release of B" }),
        "1.18",
      );
      const compared = page.getByTestId("compared");
      await compared.getByText("They diverge at").waitFor();
      await compared.getByRole("button", { name: "Copy" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByTestId("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("g");
      await hand.press(page.getByTestId("fork"));
      await page.getByTestId("branches").locator('[data-branch="branch 1"]').waitFor();
      await page.keyboard.press("Escape");
      await page.getByTestId("dialog").waitFor({ state: "detached" });
    },

  "Press <kbd>H</kbd> for a link to this very moment, and <kbd>M</kbd> to note what there is to see; <kbd>O</kbd> tells the notes as a story.":
    async (page) => {
      await page.keyboard.press("h");
      const link = page.getByTestId("share-link");
      await until(page, async () =>
        assert.match(await link.inputValue(), /#s=service-in-an-outage/));
      await page.keyboard.press("Escape");
      await page.getByTestId("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("m");
      await typeInto(page, page.getByTestId("bookmark-note"), "The end");
      await page.keyboard.press("Enter");
      await page.getByTestId("bookmark-list").locator("li").nth(7).waitFor();
      await page.keyboard.press("Escape");
      await page.getByTestId("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("o");
      await page.getByTestId("story").getByText("1 of 8").waitFor();
      await page.keyboard.press("Escape");
    },

  "Press <kbd>0</kbd>, then <kbd>R</kbd>, and run the report: which node or zone hurts most if it fails, what would help, and a click on a cell opens that failure at its worst moment.":
    async (page, hand) => {
      await page.keyboard.press("0");
      await until(page, async () => assert.equal(await now(page), seconds(0)));
      await page.keyboard.press("r");
      await hand.press(page.getByRole("button", { name: "Run the report" }));
      await page.getByTestId("report-findings").locator("li").first().waitFor();
      await hand.press(page.getByTestId("report-cell").first());
      await page.getByTestId("notice").getByText("at its worst moment").waitFor();
    },

  "Press *Import* and paste the output of the command that it shows, of your own cluster.": async (
    page,
    hand,
  ) => {
    await page.evaluate((text) => navigator.clipboard.writeText(text), CLUSTER);
    await hand.press(page.getByTestId("import"));
    await hand.enter(page.getByTestId("import-text"));
    await page.keyboard.press("ControlOrMeta+V");
    await hand.press(page.getByTestId("import-replace"));
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await page.locator('[data-node="worker-a"]').waitFor();
  },
};

const FOUND = {
  sample: true,
  closed: true,
  context: { permissions: ["clipboard-read", "clipboard-write"] },
};

/** What the tour leaves out: pictures to take along, an embed, a search, and the sessions. */
async function rest(page) {
  const close = async () => {
    await page.keyboard.press("Escape");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  };
  await page.keyboard.press("x");
  for (const format of ["SVG", "PNG"]) {
    const board = page.locator('[data-export="Board"]');
    const downloaded = page.waitForEvent("download");
    await board.getByRole("button", { name: format }).click();
    await downloaded;
  }
  await page.locator('[data-export="Embed"]').getByRole("button", { name: "Show" }).click();
  await page.getByTestId("embed-preview").getByRole("img").waitFor();
  await close();
  await page.keyboard.press("s");
  await page.getByTestId("scenario-search").fill("345");
  await page.getByTestId("scenario-list").getByRole("img").first().waitFor();
  await page.getByTestId("scenario-list").locator("[data-scenario]").first().click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.getByTestId("sessions").click();
  await page.getByTestId("dialog").waitFor();
  await close();
}

/** The addresses of a build's files, which its service worker lists, and of the page. */
async function filesOf(url) {
  const worker = await (await fetch(new URL("sw.js", url))).text();
  const [, files] = /const FILES = (\{.*\});/.exec(worker);
  const names = ["", "sw.js", ...Object.keys(JSON.parse(files))];
  return new Set(names.map((name) => new URL(name, url).href));
}

for (const hand of [mouse, keyboard]) {
  const name = `the tour of the README is true, by ${hand.name}, and asks for nothing but the page`;
  playgroundTest(name, FOUND, async ({ page, url }) => {
    const asked = new Set();
    page.context().on("request", (request) => asked.add(request.url()));
    await page.goto(url);
    const written = steps();
    assert.deepEqual(written, Object.keys(TOUR), "what is written is what is done here");
    for (const step of written) {
      try {
        await TOUR[step](page, hand(page));
      } catch (error) {
        throw new Error(`step "${step}": ${error.message}`, { cause: error });
      }
    }
    await rest(page);
    const files = await filesOf(url);
    // Pictures and files that the page itself has made are asked of nobody.
    const others = [...asked].filter((address) => !/^(?:data|blob):/.test(address));
    assert.ok(others.some((address) => address.includes("engine_bg.wasm")), others.join("\n"));
    const foreign = others.filter((address) => !files.has(address.split(/[?#]/)[0]));
    assert.deepEqual(foreign, []);
  });
}
