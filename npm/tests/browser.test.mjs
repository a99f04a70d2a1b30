// Chromium: without a bundler, in a worker, and what bundlers make of the package.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { chromium } from "playwright-core";
import sirv from "sirv";

import { EXAMPLES, RESULT, ROOT, USE, install, project, succeed } from "./support.mjs";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const IMPORT = 'import * as taintlab from "taintlab";\n';
const SHOW = "document.title = result;\n";
const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">';

let folder;
let browser;
let server;
let url;
before(async () => {
  assert.ok(process.env.CHROMIUM, "CHROMIUM is not set: run `cargo xtask test`");
  folder = await install();
  server = createServer(sirv(folder, { dev: true, dotfiles: true }));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page and waits for the result in its title. */
async function open(path) {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  try {
    await page.goto(url + path);
    await page.waitForFunction(() => document.title !== "", undefined, { timeout: 20_000 });
    assert.equal(await page.title(), RESULT);
    assert.deepEqual(problems, []);
  } catch (error) {
    throw new Error(`${error.message}\n${problems.join("\n")}`);
  } finally {
    await page.close();
  }
}

test("a bare page", async () => {
  const script = `import * as taintlab from "/node_modules/taintlab/dist/web.js";\n${USE}${SHOW}`;
  project(folder, "bare", { "index.html": `${HTML}<script type="module">${script}</script>` });
  await open("bare/index.html");
});

test("a web worker", async () => {
  const module = "/node_modules/taintlab/dist/web.js";
  project(folder, "worker", {
    "worker.js": `import * as taintlab from "${module}";\n${USE}postMessage(result);\n`,
    "index.html": `${HTML}<script type="module">
new Worker("worker.js", { type: "module" }).onmessage = ({ data }) => { document.title = data; };
</script>`,
  });
  await open("worker/index.html");
});

test("Vite", async () => {
  const { build } = await import("vite");
  const at = project(folder, "vite", {
    "index.html": `${HTML}<script type="module" src="/main.js"></script>`,
    "main.js": IMPORT + USE + SHOW,
  });
  await build({ root: at, base: "./", logLevel: "error", configFile: false });
  await open("vite/dist/index.html");
});

test("webpack", async () => {
  const webpack = createRequire(import.meta.url)("webpack");
  const at = project(folder, "webpack", { "main.js": IMPORT + USE + SHOW });
  const stats = await promisify(webpack)({
    mode: "production",
    context: at,
    entry: "./main.js",
    output: { path: join(at, "dist"), filename: "main.js" },
  });
  assert.deepEqual(stats.toJson({ errors: true }).errors, []);
  project(folder, "webpack", { "dist/index.html": `${HTML}<script src="main.js"></script>` });
  await open("webpack/dist/index.html");
  assert.ok(existsSync(join(at, "dist")));
});

test("esbuild with taintlab/inline, as a classic script", async () => {
  const at = project(folder, "esbuild", {
    "main.js": IMPORT.replace("taintlab\";", "taintlab/inline\";") + USE + SHOW,
    "index.html": `${HTML}<script src="out.js"></script>`,
  });
  const args = ["main.js", "--bundle", "--outfile=out.js", "--log-level=error"];
  await succeed(join(ROOT, "node_modules/.bin/esbuild"), args, { cwd: at });
  await open("esbuild/index.html");
});

test("events are the same bytes natively, in Node and in Chromium", async () => {
  const native = process.env.TAINTLAB_EVENTS;
  assert.ok(native, "TAINTLAB_EVENTS is not set: run `cargo xtask test`");
  const taintlab = createRequire(join(folder, "main.cjs"))("taintlab");
  const page = await browser.newPage();
  await page.goto(`${url}bare/index.html`);
  await page.evaluate(async (module) => {
    globalThis.taintlab = await import(module);
  }, `${url}node_modules/taintlab/dist/web.js`);
  /** Runs here and there. */
  const eventsOf = (text) => {
    const { simulator } = globalThis.taintlab.Simulator.fromScenario(text);
    simulator.runToEnd();
    const events = [];
    for (;;) {
      const batch = simulator.events();
      if (batch.length === 0) break;
      events.push(...batch);
    }
    simulator.free();
    return JSON.stringify(events);
  };
  globalThis.taintlab = taintlab;
  for (const file of EXAMPLES) {
    const name = file.split("/").at(-1).replace(".yaml", "");
    const text = readFileSync(file, "utf8");
    const here = eventsOf(text);
    const there = await page.evaluate(eventsOf, text);
    assert.ok(here === there, `${name}: Node and Chromium differ`);
    const natively = readFileSync(join(native, `${name}.json`), "utf8");
    const again = JSON.stringify(JSON.parse(natively));
    assert.ok(here === again, `${name}: Node differs from what the engine says natively`);
  }
  await page.close();
});
