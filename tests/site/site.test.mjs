// The folder that is published, under a path of its own: the playground, every page of the book,
// and the page for iframes, in Chromium.
//
// Environment: TAINTLAB_SITE, the folder that `cargo xtask site` built; CHROMIUM, a browser;
// TAINTLAB_SHOTS, a folder for pictures of what is tested.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, inflateRawSync } from "node:zlib";

import { chromium } from "playwright-core";
import sirv from "sirv";

import { FLAGS } from "../e2e/support/flags.mjs";
import { now, ready, seconds } from "../e2e/support/page.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const AXE = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");
const SITE = process.env.TAINTLAB_SITE ?? join(ROOT, "target/site");
const SHOTS = process.env.TAINTLAB_SHOTS;
/** Where the site is on its server. */
const PATH = "/some/path/";

/** The pages of the book: chapters, and all of them in one. */
const PAGES = readdirSync(join(SITE, "book"), { recursive: true, withFileTypes: true })
  .filter(({ name }) => name.endsWith(".html") && !["404.html", "toc.html"].includes(name))
  .map((file) => relative(join(SITE, "book"), join(file.parentPath ?? file.path, file.name)))
  .sort();

let browser;
let server;
let url;
before(async () => {
  assert.ok(process.env.CHROMIUM, "CHROMIUM is not set: run `cargo xtask test site`");
  const files = sirv(SITE, { dev: true });
  server = createServer((request, response) => {
    if (request.url.startsWith(PATH)) {
      request.url = request.url.slice(PATH.length - 1);
      return files(request, response);
    }
    // Another site, with whatever a test puts on it.
    const host = /^\/host\/(.+)$/.exec(request.url);
    response.writeHead(host ? 200 : 404, { "content-type": "text/html" });
    response.end(host ? decodeURIComponent(host[1]) : "");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}${PATH}`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page of the site for a test, which fails on whatever goes wrong in it. */
async function open(path, options, body) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1200, height: 900 },
    colorScheme: options.colorScheme ?? "light",
    javaScriptEnabled: options.javaScriptEnabled ?? true,
  });
  context.setDefaultTimeout(30_000);
  const problems = [];
  const own = new URL(url).origin;
  context.on("page", (page) => {
    page.on("pageerror", (error) => problems.push(`threw: ${error}`));
    page.on("console", (message) => {
      const { url: from } = message.location();
      if (message.type() === "error") problems.push(`logged: ${message.text()} (${from})`);
    });
    page.on("request", (request) => {
      const { protocol, origin, pathname } = new URL(request.url());
      if (protocol !== "http:") return;
      const isInside = pathname.startsWith(PATH) || pathname.startsWith("/host/");
      if (origin !== (options.origin ?? own) && origin !== own) problems.push(request.url());
      else if (!isInside) problems.push(`outside the site: ${request.url()}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
    });
  });
  const page = await context.newPage();
  try {
    await page.goto(new URL(path, url).href);
    await body(page);
    if (SHOTS) {
      const name = [path, ...Object.values(options)].join("-").replaceAll(/[^\w]+/g, "-");
      await page.screenshot({ path: join(SHOTS, `${name.slice(0, 100)}.png`) });
    }
    assert.deepEqual(problems, [], path);
  } finally {
    await context.close();
  }
}

/** Waits for all demos of a page; how many there are. */
async function demos(page) {
  await page.waitForFunction(() =>
    [...document.querySelectorAll("taint-lab")].every(({ recording }) => recording),
  );
  return page.locator("taint-lab").count();
}

async function checkLayout(page) {
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${wide} pixels too wide`);
}

async function checkAccessibility(page) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    // mdBook's own: its menu, search and arrows are not this book's to change.
    const where = { include: [["main"]] };
    const { violations } = await globalThis.axe.run(where);
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]);
  });
  assert.deepEqual(violations, []);
}

describe("the book, every page", { concurrency: 2 }, () => {
  for (const path of PAGES) {
    const whole = path === "print.html";
    test(path, async () => {
      let expected;
      await open(`book/${path}`, {}, async (page) => {
        expected = await demos(page);
        const ids = await page.evaluate(() => {
          const all = [...document.querySelectorAll("[id]")].map(({ id }) => id);
          return all.filter((id, index) => all.indexOf(id) !== index);
        });
        assert.deepEqual(ids, [], "ids that are there twice");
        // A page that is all pages is for paper; its parts are looked at one by one.
        if (whole) return;
        await checkAccessibility(page);
        await byKeyboard(page, expected);
        await page.emulateMedia({ media: "print" });
        const buttons = page.locator("taint-lab button");
        const shown = await buttons.evaluateAll((all) =>
          all.filter((one) => one.checkVisibility()).map(({ textContent }) => textContent),
        );
        assert.deepEqual(shown, [], "buttons on paper");
        await checkLayout(page);
      });
      if (whole) return;
      await open(`book/${path}`, { width: 360, colorScheme: "dark" }, async (page) => {
        await demos(page);
        const theme = await page.evaluate(() => document.documentElement.className);
        assert.match(theme, /ayu/);
        assert.equal(await page.locator("taint-lab .frame.dark").count(), expected);
        await checkLayout(page);
        await checkAccessibility(page);
      });
      await open(`book/${path}`, { width: 360, javaScriptEnabled: false }, async (page) => {
        const pictures = page.locator("taint-lab > figure svg[role=img]");
        assert.equal(await pictures.count(), expected);
        for (const picture of await pictures.all()) assert.ok(await picture.isVisible());
        assert.ok(await page.locator("main h1").first().isVisible());
        await checkLayout(page);
      });
    });
  }
});

/** Tab leads to every demo and out of it again; in it keys are the demo's, outside the book's. */
async function byKeyboard(page, expected) {
  const address = page.url();
  for (let index = 0; index < expected; index++) {
    const demo = page.locator("taint-lab").nth(index);
    const frame = demo.locator("[part=frame]");
    // From what stands before it.
    await demo.evaluate((one) => {
      const before = Object.assign(document.createElement("button"), { id: "before" });
      one.before(before);
      before.focus();
    });
    await page.keyboard.press("Tab");
    assert.ok(await frame.evaluate((one) => one.getRootNode().activeElement === one), `${index}`);
    const outline = await frame.evaluate((one) => getComputedStyle(one).outlineStyle);
    assert.notEqual(outline, "none", "the focus is not seen");
    const was = await demo.evaluate((one) => one.currentTime);
    await page.keyboard.press(was > 0 ? "Home" : "ArrowRight");
    assert.notEqual(await demo.evaluate((one) => one.currentTime), was);
    assert.equal(page.url(), address, "the chapter has changed");
    const within = () => demo.evaluate((one) => document.activeElement === one);
    let presses = 0;
    for (; await within(); presses++) {
      assert.ok(presses < 400, "there is no way out");
      await page.keyboard.press("Tab");
    }
    assert.ok(presses > 1);
    await page.evaluate(() => document.getElementById("before").remove());
  }
}

test("what is there compressed by brotli is the file beside it", () => {
  const compressed = readdirSync(SITE, { recursive: true }).filter((path) => path.endsWith(".br"));
  for (const path of compressed) {
    const bytes = brotliDecompressSync(readFileSync(join(SITE, path)));
    assert.ok(bytes.equals(readFileSync(join(SITE, path.slice(0, -3)))), path);
  }
  for (const name of ["index.html.br", "engine_bg.wasm.br", "embed/taintlab_bg.wasm.br"]) {
    assert.ok(compressed.includes(name), name);
  }
});

test("a demo of the book leads to the playground, and loads the engine of the site", async () => {
  await open("book/explanation/345-seconds.html", {}, async (page) => {
    await demos(page);
    const first = page.locator("taint-lab").first();
    const changed = await first.evaluate(async (one) => {
      await one.load(one.recording.yaml.replace("at: 3s", "at: 4s"));
      return one.recording.runs[0].events[1].at;
    });
    assert.equal(changed, 4000);
    await page.reload();
    await demos(page);
    await page.getByRole("link", { name: "Open in the playground" }).first().click();
    await ready(page);
    assert.equal(page.url(), `${url}#s=why-345-seconds&release=1.31&t=40s`);
    const pod = page.getByTestId("board").locator('[data-pod="default/web-0"]');
    await pod.waitFor({ state: "attached" });
  });
});

test("in the whole book as one page, demos lead to the playground too", async () => {
  await open("book/print.html", {}, async (page) => {
    await demos(page);
    const places = await page
      .locator("taint-lab[playground]")
      .evaluateAll(async (all) => {
        const links = await Promise.all(all.map((one) => one.share()));
        return [...new Set(links.map((link) => link.split("#")[0]))];
      });
    assert.deepEqual(places, [url]);
  });
});

for (const options of [{}, { width: 360, colorScheme: "dark" }]) {
  test(`the playground under a path: ${JSON.stringify(options)}`, async () => {
    await open("#s=why-345-seconds&release=1.31&t=40s", options, async (page) => {
      await ready(page);
      await checkLayout(page);
      const inspector = await page
        .locator(".inspector > .body")
        .evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth);
      assert.equal(inspector, 0, "long names do not widen the inspector");
      // Its worker is a file of its own.
      await page.keyboard.press("r");
      const worker = page.waitForEvent("worker");
      await page.getByRole("button", { name: "Run the report" }).click();
      assert.equal(new URL((await worker).url()).pathname, `${PATH}worker.js`);
    });
  });
}

/** Another site. */
const another = () => new URL(url.replace("127.0.0.1", "localhost")).origin;

/** A page of another site with a frame that may be as high as it says. */
const host = (source) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<link rel="icon" href="data:,">
<iframe title="A demo" width="600" height="50" src="${source}"></iframe>
<script>addEventListener("message", ({ data, source }) => {
  const frame = document.querySelector("iframe");
  if (data?.type === "taintlab:height" && source === frame.contentWindow) {
    frame.height = data.height;
  }
});</script>`;

test("a frame in a page of another site has the height of its demo", async () => {
  const origin = another();
  const source = `${url}embed/frame.html?src=examples/why-345-seconds.json&t=5`;
  const address = `${origin}/host/${encodeURIComponent(host(source))}`;
  await open(address, { origin }, async (page) => {
    const inside = page.frameLocator("iframe");
    await inside.getByText("Why 345 seconds and not 300?").first().waitFor();
    const frame = page.locator("iframe");
    const fits = async () => {
      const [given, wanted] = await Promise.all([
        frame.evaluate((one) => one.clientHeight),
        inside.locator("html").evaluate((one) => one.scrollHeight),
      ]);
      return given > 250 && given === wanted;
    };
    while (!(await fits())) await page.evaluate(() => new Promise(requestAnimationFrame));
  });
});

/** What `taintlab embed` prints of a file: one form. */
const embed = (form, file, fence) =>
  execFileSync(process.execPath, [
    join(ROOT, "target/npm/taintlab/bin/taintlab.js"),
    ...["embed", file, "--only", form, "--fence", fence],
    ...["--base", `${url}embed/`, "--playground", url],
  ])
    .toString()
    .slice(0, -1);

/** A form with the scenario in it as text: two programs pack in different ways. */
const unpacked = (form) =>
  form.replaceAll(/#d=([\w-]+)/g, (_, data) => inflateRawSync(Buffer.from(data, "base64url")));

test("the playground and the command hand out the same embeds, which open", async () => {
  const forms = async (page) => {
    await page.keyboard.press("x");
    const dialog = page.locator('[data-export="Embed"]');
    await dialog.getByRole("button", { name: "Show" }).click();
    const text = dialog.getByTestId("embed-text");
    const texts = {};
    for (const [name, form] of [
      ["Fence", "fence"],
      ["HTML", "html"],
      ["Frame", "iframe"],
      ["Link", "link"],
    ]) {
      await dialog.getByRole("button", { name, exact: true }).click();
      await dialog.locator(`textarea[aria-label="${name}"]`).waitFor();
      texts[form] = await text.inputValue();
    }
    return texts;
  };
  let own;
  await open("#s=why-345-seconds&release=1.31&t=40s", {}, async (page) => {
    await ready(page);
    const file = join(ROOT, "examples/why-345-seconds.yaml");
    const fence = "scenario=why-345-seconds start-at=40s";
    for (const [form, text] of Object.entries(await forms(page)))
      assert.equal(text, embed(form, file, fence), form);
    // Something is changed: a scenario of its own.
    await page.keyboard.press("Escape");
    await page.locator(`[data-node="worker-1"] > .name`).click();
    await page.getByRole("button", { name: /^Cordon/ }).first().click();
    own = await forms(page);
    const written = join(mkdtempSync(join(tmpdir(), "taintlab-")), "own.yaml");
    const [first, ...lines] = own.fence.split("\n");
    writeFileSync(written, `${lines.slice(0, -1).join("\n")}\n`);
    const words = first.replace(/^`+taintlab ?/, "");
    for (const form of Object.keys(own))
      assert.equal(unpacked(own[form]), unpacked(embed(form, written, words)), form);
  });
  await open(new URL(own.link).hash, {}, async (page) => {
    await ready(page);
    assert.equal(await now(page), seconds(40));
    await page.getByText("SchedulingDisabled").first().waitFor();
  });
  const origin = another();
  const [, source] = /src="([^"]+)"/.exec(own.iframe);
  await open(`${origin}/host/${encodeURIComponent(host(source))}`, { origin }, async (page) => {
    const inside = page.frameLocator("iframe");
    await inside.getByRole("button", { name: "Run it here" }).click();
    await inside.getByText("Why 345 seconds and not 300?").first().waitFor();
  });
});

test("a frame without JavaScript says what is missing", async () => {
  const path = "embed/frame.html?src=examples/why-345-seconds.json";
  await open(path, { javaScriptEnabled: false }, async (page) => {
    // What is in it is no element to a locator; it is shown if it takes room.
    const missing = page.locator("noscript");
    assert.match(await missing.textContent(), /needs JavaScript/);
    assert.ok(await missing.evaluate((one) => one.getBoundingClientRect().height > 0));
  });
});
