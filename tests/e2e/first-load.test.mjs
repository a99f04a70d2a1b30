// What is seen before the engine is there, and what happens if it does not come.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { atOnce } from "./support/idle.mjs";
import { evictions, loadScenario, now, ready, runToEnd, until } from "./support/page.mjs";

const ENGINE = "**/*_bg.wasm";

playgroundTest("the page says that the engine is loaded until it is there", { alone: true }, async ({ page }) => {
  let arrives;
  const held = new Promise((release) => (arrives = release));
  await page.route(ENGINE, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload({ waitUntil: "commit" });
  await page.getByRole("status").getByText("Loading the engine…").waitFor();
  const place = async () => (await page.locator(".clockbar").boundingBox()).y;
  const before = await place();
  assert.ok(before > page.viewportSize().height / 2, "the frame of the page stands");
  arrives();
  await ready(page);
  assert.equal(await page.getByText("Loading the engine…").count(), 0);
});

/** The program behind the page, without the page's own. */
const BEHIND = "**/engine_bg.wasm*";

playgroundTest(
  "the sample stands before the engine, and what is done waits for it",
  { alone: true },
  async ({ page, url }) => {
    let arrives;
    const held = new Promise((release) => (arrives = release));
    await page.route(BEHIND, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${url}?new`, { waitUntil: "commit" });
    await ready(page);
    assert.ok((await page.getByTestId("board").locator("[data-pod]").count()) > 10);
    await atOnce(page, () => page.keyboard.press("e"));
    await page.getByTestId("busy").getByText("Loading the engine").waitFor();
    assert.equal(await now(page), 0n);
    arrives();
    await until(page, async () => assert.ok((await now(page)) > 0n));
  },
);

playgroundTest(
  "a page that stands says that its engine is missing",
  { alone: true },
  async ({ page, url, problems }) => {
    await page.route(BEHIND, (route) => route.abort());
    await page.goto(`${url}?new`, { waitUntil: "commit" });
    await ready(page);
    const alert = page.getByRole("alert").filter({ hasText: "The engine could not be loaded" });
    await alert.waitFor();
    await page.unroute(BEHIND);
    await atOnce(page, () => alert.getByRole("button", { name: "Try again" }).click());
    await alert.waitFor({ state: "detached" });
    await ready(page);
    await atOnce(page, () => page.keyboard.press("e"));
    await until(page, async () => assert.ok((await now(page)) > 0n));
    // The browser says on its console that a request failed.
    problems.length = 0;
  },
);

playgroundTest(
  "without the engine the page says so, and tries again",
  { alone: true },
  async ({ page, problems }) => {
    let reachable = false;
    await page.route(ENGINE, (route) => (reachable ? route.continue() : route.abort()));
    await page.reload({ waitUntil: "commit" });
    await page.getByRole("alert").getByText("The engine could not be loaded").waitFor();
    reachable = true;
    await page.getByRole("button", { name: "Try again" }).click();
    await ready(page);
    // The browser says on its console that a request failed.
    problems.length = 0;
  },
);

/** Lets half of the page come; the rest comes, or does not, when the test calls `end`. */
async function halve(page) {
  await page.addInitScript(() => {
    const { fetch } = globalThis;
    globalThis.ending = new Promise((end) => (globalThis.end = end));
    globalThis.fetch = async (address) => {
      const response = await fetch(address);
      if (!String(address).endsWith("_bg.wasm")) return response;
      const bytes = await response.arrayBuffer();
      const half = Math.floor(bytes.byteLength / 2);
      globalThis.half = half;
      const body = new ReadableStream({
        async start(stream) {
          stream.enqueue(new Uint8Array(bytes, 0, half));
          if (await globalThis.ending) {
            stream.enqueue(new Uint8Array(bytes, half));
            stream.close();
          } else {
            stream.error(new TypeError("network error"));
          }
        },
      });
      return new Response(body, { headers: { "content-type": "application/wasm" } });
    };
  });
}

/** Loads the page again, and half of it. */
async function loadHalf(page) {
  await halve(page);
  await page.reload({ waitUntil: "commit" });
  await page.locator("#loading").getByText(/MB$/).waitFor();
}

playgroundTest("how much of the engine is there is said", { alone: true }, async ({ page }) => {
  await halve(page);
  await page.reload({ waitUntil: "commit" });
  const bar = page.getByRole("progressbar", { name: "The engine" });
  const part = () => bar.evaluate(({ value, max }) => value / max);
  const bytes = Number(await page.locator("#loading").getAttribute("data-bytes"));
  // The number is known once the bytes have come.
  const waited = await page.waitForFunction(() => globalThis.half);
  const half = await waited.jsonValue();
  await until(page, async () => assert.ok(Math.abs((await part()) - half / bytes) < 0.01));
  const amount = await page.locator("#loading").innerText();
  const [, read, total] = /(\d+\.\d) of (\d+\.\d) MB/.exec(amount).map(Number);
  assert.ok(total > 1 && Math.abs(read - half / 1e6) <= 0.1, amount);
  await page.evaluate(() => globalThis.end(true));
  await ready(page);
  assert.equal(await page.locator("#loading").count(), 0);
});

playgroundTest(
  "where nobody knows how much is to come, what came is said",
  { alone: true },
  async ({ page, url }) => {
    await halve(page);
    await page.route(url, async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      assert.match(html, /data-bytes="\d{6,}"/, "the build knows");
      await route.fulfill({ response, body: html.replace(/data-bytes="\d+"/, 'data-bytes="0"') });
    });
    await page.goto(url, { waitUntil: "commit" });
    await page.locator("#loading").getByText(/^\d+\.\d MB$/).waitFor();
    assert.equal(await page.getByRole("progressbar").evaluate((bar) => bar.position), -1);
    await page.evaluate(() => globalThis.end(true));
    await ready(page);
  },
);

playgroundTest(
  "an engine that stops coming half-way is said to be missing, and what to do",
  { alone: true },
  async ({ page }) => {
    await loadHalf(page);
    await page.evaluate(() => globalThis.end(false));
    const alert = page.getByRole("alert");
    await alert.getByText("could not be loaded").waitFor();
    await alert.getByText("Check the connection").waitFor();
    await alert.getByText(/network error.*\(after \d+\.\d MB\)/i).waitFor();
    await alert.getByRole("button", { name: "Try again" }).waitFor();
  },
);

playgroundTest(
  "without a network the page says so, and starts when there is one",
  { alone: true },
  async ({ page }) => {
    const network = page.context();
    await loadHalf(page);
    await network.setOffline(true);
    await page.evaluate(() => globalThis.end(false));
    const alert = page.getByRole("alert");
    await alert.getByText("This device is offline: connect it.").waitFor();
    await network.setOffline(false);
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.locator("#loading").getByText(/MB$/).waitFor();
    await page.evaluate(() => globalThis.end(true));
    await ready(page);
  },
);

playgroundTest(
  "a page that is there needs no network any more",
  { alone: true },
  async ({ page }) => {
    await ready(page);
    await page.context().setOffline(true);
    await loadScenario(page, "why-345-seconds");
    await runToEnd(page);
    assert.deepEqual(await evictions(page), [["5m45.1s", "default/web-0"]]);
    await page.keyboard.press("r");
    await page.getByTestId("report-form").getByRole("button", { name: "Run the report" }).click();
    await page.getByTestId("report-score").waitFor();
  },
);

for (const [what, file, answer, words] of [
  ["the engine", ENGINE, { status: 404, body: "" }, /is answered with status 404/],
  ["its script", "**/taintlab-web-*.js", { status: 503, body: "" }, /Its script did not come/],
]) {
  playgroundTest(
    `where ${what} is missing, the page says so`,
    { alone: true },
    async ({ page, problems }) => {
      await page.route(file, (route) => route.fulfill(answer));
      await page.reload({ waitUntil: "commit" });
      await page.getByRole("alert").getByText(words).waitFor();
      await page.unroute(file);
      await page.getByRole("button", { name: "Try again" }).click();
      await ready(page);
      // The browser says on its console that a request failed.
      problems.length = 0;
    },
  );
}

playgroundTest("loading the page draws no warning from the browser", { alone: true }, async ({ page, problems }) => {
  await ready(page);
  // A preload that is not used is found some seconds after the page was loaded.
  await page.reload({ waitUntil: "networkidle" });
  await ready(page);
  assert.deepEqual(problems, []);
  const preloaded = page.locator('link[rel="preload"], link[rel="modulepreload"]');
  assert.ok((await preloaded.count()) > 0);
  assert.equal(await page.locator('link[rel*="preload"][integrity]').count(), 0);
});

playgroundTest("the stored colours are there before the engine", { alone: true }, async ({ page }) => {
  await ready(page);
  await page.getByTestId("theme").click();
  await page.getByTestId("theme").click();
  await page.locator('html[data-theme="dark"]').waitFor();
  await page.route(ENGINE, () => {});
  await page.reload({ waitUntil: "commit" });
  await page.getByText("Loading the engine…").waitFor();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});
