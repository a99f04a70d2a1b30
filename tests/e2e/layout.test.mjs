// From a telephone to a wall: nothing is cut off, and everything can be reached.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import {
  legend,
  loadScenario,
  pods,
  ready,
  replaceCluster,
  runToEnd,
  scrubTo,
  seconds,
  selectNode,
  selectPod,
  showView,
  tab,
  taint,
  until,
} from "./support/page.mjs";

const WINDOWS = {
  "320 px wide, as at 400 % zoom": { viewport: { width: 320, height: 640 }, hasTouch: true },
  "360 px wide": { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
  "360 px wide and dark": { viewport: { width: 360, height: 740 }, colorScheme: "dark" },
  "390 px wide": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  "768 px wide": { viewport: { width: 768, height: 1024 } },
  "at 200 % zoom": { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  "1280 px wide and dark": { viewport: { width: 1280, height: 720 }, colorScheme: "dark" },
  "1440 px wide": { viewport: { width: 1440, height: 900 } },
  "2560 px wide": { viewport: { width: 2560, height: 1440 } },
};

/** No part of the page is wider than the window, apart from what scrolls by itself. */
async function assertFits(page, what) {
  const { wide, window: width } = await page.evaluate(() => ({
    wide: document.scrollingElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= width, `${what}: the page is ${wide} px wide in a window of ${width} px`);
}

/** An element is in the window, and nothing lies over it. */
async function assertReachable(locator) {
  await locator.scrollIntoViewIfNeeded();
  const found = await locator.evaluate((element) => {
    const box = element.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return { hit: element.contains(at), over: at?.outerHTML.slice(0, 120) };
  });
  assert.ok(found.hit, `${locator} lies under ${found.over}`);
}

for (const [name, context] of Object.entries(WINDOWS)) {
  playgroundTest(
    `${name}: no sideways scrolling, and all is within reach`,
    { context },
    async ({ page }) => {
      await ready(page);
      await assertFits(page, "the board");
      // The number of a release is not cut off.
      const { has, needs } = await page.getByTestId("release").evaluate((select) => {
        const copy = select.cloneNode(true);
        copy.style.width = "max-content";
        select.after(copy);
        const widths = { has: select.offsetWidth, needs: copy.offsetWidth };
        copy.remove();
        return widths;
      });
      assert.ok(has >= needs, `the release has ${has} px of ${needs}`);
      for (const control of [
        "play",
        "step",
        "end",
        "timeline",
        "speed",
        "palette-open",
        "import",
        "release",
        "theme",
      ]) {
        await assertReachable(page.getByTestId(control));
      }

      // What is shown of the clock bar is whole.
      const cut = await page.locator(".clockright .btn:visible").evaluateAll((buttons) => {
        const edge = document.querySelector(".clockbar").getBoundingClientRect();
        return buttons
          .filter((button) => {
            const box = button.getBoundingClientRect();
            const over = button.scrollWidth > button.clientWidth + 1;
            return over || box.left < edge.left || box.right > edge.right + 0.5;
          })
          .map((button) => button.textContent);
      });
      assert.deepEqual(cut, []);
      if (context.viewport.width >= 1280) await assertReachable(page.getByTestId("bookmarks-open"));
      for (const [key, what] of [
        ["ControlOrMeta+Shift+P", "all commands"],
        ["c", "a comparison"],
      ]) {
        await page.keyboard.press(key);
        await page.getByTestId("dialog").waitFor();
        await assertFits(page, what);
        await page.keyboard.press("Escape");
        await page.getByTestId("dialog").waitFor({ state: "detached" });
      }

      await taint(page, "worker-1", {
        key: "node.kubernetes.io/unreachable",
        value: "x".repeat(60),
      });
      for (const part of ["taints", "pods", "labels", "yaml"]) {
        await tab(page, part).click();
        await assertFits(page, `the inspector, ${part}`);
      }
      await page.getByTestId("inspector").getByRole("button", { name: "Close" }).click();
      await selectPod(page, "shop/web-7d4b9c6f5-x2x8p");
      for (const part of ["why", "tolerations", "labels", "yaml"]) {
        await tab(page, part).click();
        await assertFits(page, `a pod, ${part}`);
      }
      await page.getByTestId("inspector").getByRole("button", { name: "Close" }).click();

      for (const dialog of ["scenarios", "import", "export", "help", "warnings-open"]) {
        await page.getByTestId(dialog).click();
        await page.getByTestId("dialog").waitFor();
        await assertFits(page, dialog);
        const close = page.getByTestId("dialog").getByRole("button", { name: "Close" });
        await assertReachable(close);
        await close.click();
        await page.getByTestId("dialog").waitFor({ state: "detached" });
      }

      await page.getByTestId("console-open").click();
      await page.getByTestId("console-line").fill("kubectl get pods -A -o wide");
      await page.keyboard.press("Enter");
      await page.getByTestId("output").waitFor();
      await assertFits(page, "the console");
      await page.getByTestId("console-line").press("Escape");

      await page.getByTestId("step").click();
      await until(page, async () => {
        assert.equal((await pods(page))["data/report-28930120-vq7x4"], "gone");
      });
      await assertFits(page, "the log");
    },
  );
}

/** Parts of a selector that lie over a part of another one, in words. */
const overlaps = (page, one, other) =>
  page.evaluate(
    ([one, other]) => {
      const boxes = (selector) =>
        [...document.querySelectorAll(selector)]
          .filter((part) => part.getClientRects().length > 0)
          .map((part) => ({ words: part.innerText, box: part.getBoundingClientRect() }));
      const beside = (a, b) => a.right - 1 <= b.left || a.bottom - 1 <= b.top;
      const crosses = (a, b) => !beside(a, b) && !beside(b, a);
      return boxes(one).flatMap((a) =>
        boxes(other)
          .filter((b) => crosses(a.box, b.box))
          .map((b) => `${a.words} and ${b.words}`),
      );
    },
    [one, other],
  );

playgroundTest(
  "between the usual widths the header is whole, and no control lies over the legend",
  { sample: true, context: { viewport: { width: 1366, height: 768 } } },
  async ({ page }) => {
    await ready(page);
    // An outage puts all there is to say into the legend.
    await page.locator('[data-zone$="eu-1b"] .zonename').click();
    await page.getByRole("button", { name: "Cut the zone's network" }).click();
    await runToEnd(page);
    await until(page, async () => assert.ok(Object.keys(await legend(page)).length > 5));
    for (const width of [1366, 1280, 1199, 1101, 960, 912, 860, 820, 805, 640, 600, 540, 481]) {
      await page.setViewportSize({ width, height: 720 });
      await assertFits(page, `${width} px`);
      const cut = await page
        .locator(".top :is(button, select):visible")
        .evaluateAll((all) =>
          all
            .filter((it) => {
              const over = it.scrollWidth > it.clientWidth + 1;
              return over || it.getBoundingClientRect().right > innerWidth;
            })
            .map((it) => it.dataset.testid),
        );
      assert.deepEqual(cut, [], `${width} px: the header`);
      const over = await overlaps(
        page,
        '[data-testid="legend"] button',
        ".board > .bar > :is(button, select, form)",
      );
      assert.deepEqual(over, [], `${width} px: the legend`);
    }
    // The kind of an object is a word on a phone, too.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByTestId("warnings-open").click();
    const kinds = page.getByTestId("warnings").locator(".subjects button > .muted");
    await kinds.first().waitFor();
    const broken = await kinds.evaluateAll((all) =>
      all.filter((it) => it.offsetHeight > 1.9 * Number.parseFloat(getComputedStyle(it).fontSize)),
    );
    assert.equal(broken.length, 0, "a kind is broken into two lines");
  },
);

playgroundTest(
  "on a laptop the pane's toolbars are one row, and a story leaves the board in sight",
  { sample: true, context: { viewport: { width: 1280, height: 720 } } },
  async ({ page }) => {
    await ready(page);
    const sizes = [
      { width: 1280, height: 720 },
      { width: 1366, height: 768 },
    ];
    for (const name of ["lanes", "workloads", "events", "console"]) {
      await showView(page, name);
      const body = page.locator(".view:not([hidden]) > .viewbody");
      await body.waitFor();
      for (const size of sizes) {
        await page.setViewportSize(size);
        const head = await body.evaluate(
          (body) =>
            body.getBoundingClientRect().top - body.closest(".pane").getBoundingClientRect().top,
        );
        assert.ok(head <= 40, `${name} at ${size.width} px: a head of ${head} px`);
      }
    }
    await page.getByTestId("question-why").click();
    await page.getByTestId("story-answer").waitFor();
    for (const size of sizes) {
      await page.setViewportSize(size);
      const { board, pod } = await page.evaluate(() => {
        const bottom = (part) => part.getBoundingClientRect().bottom;
        const board = document.querySelector(".board");
        return { board: bottom(board), pod: bottom(board.querySelector("[data-pod]")) };
      });
      assert.ok(pod <= board, `${size.width} px: the pod ends at ${pod} px, the board at ${board}`);
    }
  },
);

playgroundTest(
  "on a phone the inspector does not hide what is selected",
  { context: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } },
  async ({ page }) => {
    await ready(page);
    const inSight = (locator) =>
      until(page, async () => {
        const box = await locator.boundingBox();
        const sheet = await page.getByTestId("inspector").boundingBox();
        const head = await page.locator(".top").boundingBox();
        assert.ok(box.y >= head.y + head.height - 1, `${box.y} is below the head`);
        assert.ok(
          box.y + box.height <= sheet.y + 1,
          `${box.y} is above the inspector at ${sheet.y}`,
        );
      });
    for (const node of ["worker-1", "worker-6", "control-plane-1"]) {
      const name = page.locator(`[data-node="${node}"] > .name`);
      await name.tap();
      await page.getByTestId("inspector").getByRole("heading", { name: node }).waitFor();
      await inSight(name);
    }
    const pod = page.getByTestId("board").locator('[data-pod="shop/checkout-5b8f7d9c4-k8n2s"]');
    await pod.tap();
    await page.getByTestId("verdict").waitFor();
    await inSight(pod);
  },
);

playgroundTest(
  "at 200 % zoom the board is in sight beside what is selected",
  { context: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 } },
  async ({ page }) => {
    await ready(page);
    for (const node of ["worker-1", "worker-6"]) {
      await selectNode(page, node);
      await until(page, async () => {
        const found = await page.locator(`[data-node="${node}"] > .name`).evaluate((name) => {
          const box = name.getBoundingClientRect();
          const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return { hit: name.contains(at), over: at?.className };
        });
        assert.ok(found.hit, `${node} lies under ${found.over}`);
      });
      // A strip of the board that is worth its name.
      const rows = await page.evaluate(() => {
        let rows = 0;
        for (let y = 0; y < innerHeight; y += 1) {
          rows += Number(Boolean(document.elementFromPoint(60, y)?.closest(".board")));
        }
        return rows;
      });
      assert.ok(rows >= 90, `${rows} px of the board`);
    }
  },
);

playgroundTest(
  "the page does not jump while time passes or something is selected",
  { context: { viewport: { width: 1280, height: 800 } } },
  async ({ page }) => {
    await ready(page);
    const places = () =>
      page.evaluate(() =>
        ["board", "inspector", "pane", "clockbar", "play"].map((id) => {
          const { x, y, width, height } = document
            .querySelector(`[data-testid="${id}"]`)
            .getBoundingClientRect();
          return `${id} ${x} ${y} ${width} ${height}`;
        }),
      );
    const before = await places();
    await selectNode(page, "worker-1");
    assert.deepEqual(await places(), before, "a node");
    await page.getByTestId("taint-form").getByRole("button", { name: "unreachable" }).click();
    assert.deepEqual(await places(), before, "a taint");
    for (let steps = 0; steps < 4; steps += 1) {
      await page.getByTestId("step").click();
      assert.deepEqual(await places(), before, "a step");
    }
  },
);

playgroundTest(
  "the colours follow the system until one is chosen",
  { context: { colorScheme: "dark" } },
  async ({ page }) => {
    await ready(page);
    const light = () =>
      page.evaluate(() => {
        const [red] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g);
        return Number(red) > 128;
      });
    assert.equal(await light(), false);
    await page.emulateMedia({ colorScheme: "light" });
    await until(page, async () => assert.equal(await light(), true));
    await page.getByTestId("theme").click();
    await page.getByTestId("theme").click();
    await until(page, async () => assert.equal(await light(), false, "dark was chosen"));
  },
);

/** What lies outside the box of its scrolling parent, or is cut short. */
const cutOff = (page) =>
  page.evaluate(() => {
    const board = document.querySelector('[data-testid="board"]');
    const edge = board.getBoundingClientRect();
    const below = [...board.querySelectorAll("[data-node]")]
      .filter((node) => node.getBoundingClientRect().bottom > edge.bottom)
      .map((node) => node.dataset.node);
    const short = [...board.querySelectorAll("[data-zone] > header > *")]
      .filter(
        (part) =>
          (part.scrollWidth > part.clientWidth + 1 &&
            getComputedStyle(part).overflow !== "visible") ||
          part.getBoundingClientRect().right >
            part.closest("[data-zone]").getBoundingClientRect().right,
      )
      .map((part) => part.textContent);
    return { below, short };
  });

playgroundTest(
  "at 2560×1440 nothing of the first screen is cut off",
  { context: { viewport: { width: 2560, height: 1440 } } },
  async ({ page }) => {
    await ready(page);
    assert.deepEqual(await cutOff(page), { below: [], short: [] });
  },
);

playgroundTest(
  "at 1280 px captions of zones are whole, and so is the log",
  { context: { viewport: { width: 1280, height: 720 } } },
  async ({ page }) => {
    await ready(page);
    assert.deepEqual((await cutOff(page)).short, []);
    await showView(page, "events");
    await page.getByRole("button", { name: "Decisions" }).click();
    await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
    const rows = page.getByTestId("log").locator('.ev[data-category="event"]');
    await rows.first().waitFor();
    const cut = await rows
      .locator(".t, .ty, .r, .o, .m")
      .evaluateAll((cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
      );
    assert.deepEqual(cut, []);
    // What is longer than its column is read in full at the foot.
    await rows.first().click();
    const message = await rows.first().locator(".m").innerText();
    assert.ok((await page.getByTestId("log-message").innerText()).includes(message));
  },
);

playgroundTest(
  "columns of the log and the pane's height are changed by keyboard, and stay so",
  async ({ page }) => {
    await ready(page);
    await taint(page, "worker-1", { key: "node.kubernetes.io/unreachable" });
    await showView(page, "events");
    const width = () =>
      page
        .getByTestId("log")
        .locator(".ev .o")
        .first()
        .evaluate((cell) => cell.getBoundingClientRect().width);
    const height = () => page.getByTestId("pane").evaluate((pane) => pane.clientHeight);
    const before = { width: await width(), height: await height() };
    const objects = page.getByRole("separator", { name: "Width of objects" });
    await objects.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await until(page, async () => assert.equal(await width(), before.width + 32));
    const log = page.getByRole("separator", { name: "Height of the pane" });
    await log.focus();
    await page.keyboard.press("ArrowUp");
    await until(page, async () => assert.ok((await height()) > before.height));
    const changed = { width: await width(), height: await height() };
    // With the pointer, too.
    const edge = await objects.boundingBox();
    await page.mouse.move(edge.x + 5, edge.y + 5);
    await page.mouse.down();
    await page.mouse.move(edge.x - 35, edge.y + 5);
    await page.mouse.up();
    await until(page, async () => assert.equal(await width(), changed.width - 40));
    await page.reload();
    await ready(page);
    await page.getByTestId("log").locator(".ev").first().waitFor();
    assert.deepEqual(
      { width: await width(), height: await height() },
      { width: changed.width - 40, height: changed.height },
    );
  },
);

for (const viewport of [
  { width: 1280, height: 720 },
  { width: 360, height: 740 },
]) {
  playgroundTest(
    `a message covers nothing at ${viewport.width} px`,
    { context: { viewport } },
    async ({ page }) => {
      await ready(page);
      await page.locator('[data-zone$="eu-1b"] .zonename').click();
      await page.getByRole("button", { name: "Cut the zone's network" }).click();
      const notice = page.getByTestId("notice").first();
      await notice.waitFor();
      const covered = await notice.evaluate((notice) => {
        const box = notice.getBoundingClientRect();
        const board = innerWidth > 800 ? ["board"] : [];
        // On a phone the board scrolls away under the message, as under the header.
        return ["pane", "inspector", "clockbar", ...board].filter((id) => {
          const other = document.querySelector(`[data-testid="${id}"]`)?.getBoundingClientRect();
          return (
            other &&
            box.left < other.right &&
            other.left < box.right &&
            box.top < other.bottom - 1 &&
            other.top < box.bottom - 1
          );
        });
      });
      assert.deepEqual(covered, []);
    },
  );
}

playgroundTest("a long name of a zone stays in its card", async ({ page }) => {
  await ready(page);
  const zone = "a-zone-with-a-name-that-is-as-long-as-a-label-of-kubernetes-may".slice(0, 63);
  await replaceCluster(
    page,
    ["a", "b", "c"]
      .map(
        (name) => `
apiVersion: v1
kind: Node
metadata: {name: ${name}, labels: {topology.kubernetes.io/zone: ${zone.slice(0, 62)}${name}}}
status: {conditions: [{type: Ready, status: "True"}]}
`,
      )
      .join("---"),
  );
  await until(page, async () => assert.equal(await page.locator("[data-zone]").count(), 3));
  const names = page.locator("[data-zone] .zonename");
  const over = await names.evaluateAll(
    (all) =>
      all.filter(
        (name) =>
          name.getBoundingClientRect().right > name.parentElement.getBoundingClientRect().right,
      ).length,
  );
  assert.equal(over, 0);
  assert.ok((await names.first().getAttribute("title")).startsWith(zone.slice(0, 62)));
});

playgroundTest("what never comes is not waited for", async ({ page }) => {
  await ready(page);
  await replaceCluster(
    page,
    `
apiVersion: v1
kind: Node
metadata: {name: worker}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  nodeName: worker
  tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 9223372036}]
`,
  );
  // Five seconds and 292 years are more than the clock has.
  await scrubTo(page, seconds(5));
  await taint(page, "worker", { key: "k" });
  await until(page, async () => assert.equal((await pods(page))["default/p"], "counting"));
  await page.locator('[data-testid="end"]:disabled').waitFor();
  assert.match(await page.getByTestId("clock").innerText(), /^5s$/);
  const row = page.locator('[data-pod="default/p"]').first();
  assert.match(await row.innerText(), /never/);
  assert.match(await row.getAttribute("title"), /tolerated forever/);
});

playgroundTest(
  "why pods are pending stands in a row of its own, and bars have the colour of their number",
  { context: { viewport: { width: 1280, height: 720 } } },
  async ({ page }) => {
    await ready(page);
    await loadScenario(page, "nowhere-to-go");
    await page.getByTestId("end").click();
    await scrubTo(page, seconds(300));
    await showView(page, "workloads");
    const workloads = page.getByTestId("workloads");
    await workloads.locator(".whypending").first().waitFor();
    const overlaps = await workloads.evaluate((workloads) => {
      const tracks = [...workloads.querySelectorAll(".track")].map((track) =>
        track.getBoundingClientRect(),
      );
      return [...workloads.querySelectorAll(".whypending")].filter((why) => {
        const box = why.getBoundingClientRect();
        const own = why.closest(".track").getBoundingClientRect();
        return (
          box.bottom > own.bottom + 1 ||
          tracks.some((other) => other.top > own.top && box.bottom > other.top + 1)
        );
      }).length;
    });
    assert.equal(overlaps, 0);
    const legend = await workloads.locator(".legend > span").allInnerTexts();
    assert.deepEqual(legend, ["all ready", "some missing", "none ready", "not ready yet"]);
    const pairs = await workloads.locator(".track").evaluateAll((tracks) =>
      tracks.map((track) => {
        const bars = [...track.querySelectorAll(".curve rect")];
        return [track.querySelector(".ready").classList[2], bars.at(-1).getAttribute("class")];
      }),
    );
    for (const [number, bar] of pairs) {
      assert.equal(number, bar);
    }
    // The classes of bars are those of the legend.
    const classes = await workloads
      .locator(".legend .sample")
      .evaluateAll((all) => all.map((sample) => sample.classList[1]));
    for (const [, bar] of pairs) {
      assert.ok(classes.includes(bar), bar);
    }
  },
);
