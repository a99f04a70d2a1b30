// How long the release build takes to be painted and to be used on a slow line. Run by
// `cargo xtask bench`; it measures, and fails on nothing.
//
// Environment: CHROMIUM, the browser's path; DIST, a build to measure in place of dist/.

import { createServer } from "node:http";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { once } from "node:events";
import { extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

import { chromium } from "playwright-core";

import { FLAGS } from "./support/flags.mjs";

const DIST = process.env.DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const RUNS = 5;
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};
/** Lines as Chromium's developer tools name them, and a line without limits. */
const LINES = {
  "slow 4G (1.6 Mbit/s, 150 ms)": { rate: 1.6e6, latency: 150 },
  "fast 4G (9 Mbit/s, 60 ms)": { rate: 9e6, latency: 60 },
  "no limit": undefined,
};

/** Serves a folder compressed, as every host of static pages does. */
async function serveCompressed(folder) {
  const files = new Map();
  const collect = (at) => {
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      if (statSync(path).isDirectory()) collect(path);
      else files.set(`/${relative(folder, path)}`, brotliCompressSync(readFileSync(path)));
    }
  };
  collect(folder);
  const server = createServer((request, response) => {
    const [address] = request.url.split("?");
    const path = address === "/" ? "/index.html" : address;
    const body = files.get(path);
    response.writeHead(body ? 200 : 404, {
      "content-type": TYPES[extname(path)] ?? "text/plain",
      "content-encoding": "br",
      "content-length": body?.length ?? 0,
    });
    response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** One load in a new profile: milliseconds until each of three things. */
async function load(browser, url, line) {
  const context = await browser.newContext();
  const page = await context.newPage();
  if (line) {
    const session = await context.newCDPSession(page);
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: line.latency,
      downloadThroughput: line.rate / 8,
      uploadThroughput: line.rate / 8,
    });
  }
  await page.addInitScript(() => {
    globalThis.marks = {};
    const mark = (name, selector) => {
      if (!marks[name] && document.querySelector(selector)) marks[name] = performance.now();
    };
    new MutationObserver(() => {
      mark("board", "[data-node]");
      mark("use", "[data-testid=page]");
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForFunction(() => marks.use, undefined, { timeout: 120_000 });
  const times = await page.evaluate(() => ({
    ...marks,
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  }));
  await context.close();
  return times;
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const server = await serveCompressed(DIST);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
for (const [name, line] of Object.entries(LINES)) {
  const runs = [];
  for (let run = 0; run < RUNS; run++) runs.push(await load(browser, server.url, line));
  const of = (what) => `${Math.round(median(runs.map((run) => run[what])))} ms`;
  console.log(`${name}: painted ${of("paint")}, board ${of("board")}, in use ${of("use")}`);
}
await browser.close();
server.close();
