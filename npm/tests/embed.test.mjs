// The element `<taint-lab>` in Chromium: what its page holds is made by the installed package, as
// the preprocessor of books makes it.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { deflateRawSync, gzipSync } from "node:zlib";

import { chromium } from "playwright-core";
import sirv from "sirv";

import { ROOT, install, project } from "./support.mjs";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const DIST = "/node_modules/taintlab/dist";
const AXE = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");
const SHOTS = process.env.TAINTLAB_SHOTS;

let folder;
let browser;
let server;
let url;
let taintlab;
before(async () => {
  assert.ok(process.env.CHROMIUM, "CHROMIUM is not set: run `cargo xtask test`");
  folder = await install();
  taintlab = createRequire(join(folder, "main.cjs"))("taintlab");
  const files = sirv(folder, { dev: true, dotfiles: true });
  server = createServer((request, response) => {
    // A page that forbids wasm, and styles and scripts that stand in it.
    if (request.url.includes("strict")) {
      const policy = "default-src 'self'; img-src 'self' data:";
      response.setHeader("content-security-policy", policy);
    }
    files(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
});
after(async () => {
  await browser?.close();
  server?.close();
});

const example = (name) => readFileSync(join(ROOT, "examples", `${name}.yaml`), "utf8");

/** The HTML of a demo. */
function demo(name, words = "", id = name) {
  const fence = `scenario=${name} ${words}`;
  const answer = taintlab.makeDemo(example(name), {}, { fence, id, playground: "/play/" });
  assert.ok(answer.ok, JSON.stringify(answer.errors));
  assert.ok(answer.passed);
  return answer.html;
}

const page = (body, { head = "", html = "", script = true } = {}) =>
  `<!doctype html><html lang="en" ${html}><head><meta charset="utf-8"><title>Demos</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="${DIST}/taint-lab.css">${head}
${script ? `<script src="${DIST}/taint-lab.js" defer></script>` : ""}</head>
<body><main><h1>Demos</h1>${body}<p id="after">after</p></main></body></html>`;

/** Opens a page; what goes wrong in it is an error, but for what `expected` matches. */
async function open(name, body, options = {}) {
  project(folder, "pages", { [`${name}.html`]: page(body, options) });
  const context = await browser.newContext({
    viewport: { width: options.width ?? 900, height: 900 },
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: options.reducedMotion ?? "no-preference",
    javaScriptEnabled: options.javaScriptEnabled ?? true,
  });
  const tab = await context.newPage();
  const problems = [];
  const requests = [];
  const note = (text) => {
    if (!options.expected?.test(text)) problems.push(text);
  };
  tab.on("pageerror", (error) => note(String(error)));
  tab.on("console", (message) => message.type() === "error" && note(message.text()));
  tab.on("request", (request) => requests.push(request.url()));
  await tab.goto(`${url}pages/${name}.html`);
  if (options.javaScriptEnabled !== false && options.script !== false && options.waits !== false)
    await ready(tab);
  return {
    tab,
    requests,
    async close() {
      if (SHOTS) await tab.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
      await context.close();
      assert.deepEqual(problems, [], name);
    },
  };
}

const ready = (tab) =>
  tab.waitForFunction(() =>
    [...document.querySelectorAll("taint-lab")].every((one) => one.recording || one.shadowRoot),
  );

/** The first demo of a page. */
const element = (tab) => tab.locator("taint-lab").first();
/** What the first demo says is wrong. */
async function said(tab) {
  const wrong = await tab.waitForFunction(() => {
    const alert = document.querySelector("taint-lab").shadowRoot.querySelector("[role=alert]");
    return alert.textContent.startsWith("This") && alert.textContent;
  });
  return wrong.jsonValue();
}
const now = (tab) => element(tab).evaluate((one) => one.currentTime);
const WASM = /taintlab_bg\.wasm/;

test("the element takes the room of the still picture, and fills it", async () => {
  const body =
    demo("why-345-seconds", "start-at=40s") +
    demo("why-345-seconds", "budget=default/web-0 editable=true", "budget") +
    demo("same-outage-1.35", "knob=release:1.20,1.35 knob=node-monitor-grace-period:20s,50s") +
    demo("service-in-an-outage", "view=log") +
    taintlab.makeDemo(example("three-effects"), {}, { id: "own" }).html;
  for (const width of [1280, 900, 600, 360]) {
    const places = [];
    for (const script of [false, true]) {
      const { tab, close } = await open(`room-${width}`, body, { width, script });
      const after = tab.locator("taint-lab, #after");
      const tops = [];
      for (const one of await after.all()) tops.push((await one.boundingBox()).y);
      places.push(tops.map(Math.round));
      if (script) {
        const empty = await tab.locator("taint-lab").evaluateAll((all) =>
          all.map(({ shadowRoot }) => {
            const frame = shadowRoot.querySelector(".frame");
            const shown = [...frame.children].filter((one) => one.offsetHeight > 0);
            const bottom = (one) => one.getBoundingClientRect().bottom;
            return bottom(frame) - bottom(shown.at(-1));
          }),
        );
        // Its padding, and a row of buttons.
        for (const pixels of empty) assert.ok(pixels <= 65, `${width}: ${empty} empty pixels`);
      }
      await close();
    }
    assert.deepEqual(places[1], places[0], `${width} pixels wide`);
  }
});

test("the answer is folded until the run was played or the reader asks", async () => {
  const body = demo("why-345-seconds", "budget=default/web-0");
  // In a feed and on paper, and without scripts, it is open.
  assert.match(body, /<details class="answer" open>/);
  const inFigure = (tab) => tab.locator("figure .answer");
  const still = await open("answer-still", body, { javaScriptEnabled: false });
  assert.ok(await inFigure(still.tab).locator("p").isVisible());
  await still.close();
  // Before the element is there it is closed already; it can be opened if that never comes.
  const waiting = await open("answer-waiting", body, { script: false });
  const before = inFigure(waiting.tab);
  assert.ok(!(await before.locator("p").isVisible()));
  await before.locator("summary").click();
  await before.locator("summary").click();
  assert.ok(await before.locator("p").isVisible());
  await waiting.tab.evaluate(() => document.activeElement.blur());
  await waiting.tab.emulateMedia({ media: "print" });
  assert.ok(await before.locator("p").isVisible());
  await waiting.close();

  const { tab, close } = await open("answer", body);
  const summary = tab.locator("[part=answer] summary");
  const isShown = () => tab.locator("[part=answer] p").evaluate((one) => one.checkVisibility());
  assert.ok(!(await isShown()));
  await summary.click();
  assert.ok(await isShown());
  await summary.click();
  await tab.emulateMedia({ media: "print" });
  assert.ok(await isShown());
  await tab.emulateMedia({ media: "screen" });
  assert.ok(!(await isShown()));
  await element(tab).evaluate((one) => one.seek(60));
  assert.ok(!(await isShown()));
  await element(tab).evaluate((one) => {
    one.setAttribute("speed", "100000");
    const ended = new Promise((resolve) => one.addEventListener("ended", resolve));
    one.play();
    return ended;
  });
  await tab.locator("[part=answer][open]").waitFor();
  // What is open stays so, and can be closed at the end.
  await tab.getByRole("button", { name: "What happens" }).click();
  assert.ok(await isShown());
  await summary.click();
  await element(tab).evaluate((one) => one.seek(one.duration));
  assert.ok(!(await isShown()));
  await close();
});

test("words that do not fit into their segment are left out", async () => {
  const body = demo("service-in-an-outage") + demo("same-outage-1.35");
  for (const width of [1280, 600, 360]) {
    for (const script of [false, true]) {
      const { tab, close } = await open(`words-${width}-${script}`, body, { width, script });
      const drawn = (resolve) => requestAnimationFrame(() => setTimeout(resolve));
      await tab.evaluate(`new Promise(${drawn})`);
      const [shown, cut] = await tab.locator("taint-lab .lanes svg svg svg").evaluateAll((all) => {
        const labels = all.flatMap((box) => box.querySelector("text") ?? []);
        const seen = labels.filter(
          (text) => text.checkVisibility({ visibilityProperty: true }) && text.getBBox().width,
        );
        const isCut = (text) => {
          const { x, width } = text.getBBox();
          return x + width > text.parentNode.width.baseVal.value;
        };
        return [seen.length, seen.filter(isCut).map((text) => text.textContent)];
      });
      assert.deepEqual(cut, [], `${width} pixels, script ${script}`);
      assert.ok(shown > 3, `${shown} words at ${width} pixels, script ${script}`);
      await close();
    }
  }
});

test("the still picture has its colours under a strict policy and in a feed, too", async () => {
  const body = demo("why-345-seconds", "start-at=40s");
  assert.doesNotMatch(body.split("<script")[0], /<style|style=/);
  assert.match(body, /<rect class="g" fill="#cfe8da"/);
  const colours = (tab) =>
    tab.locator("figure svg").first().evaluate((svg) => {
      const of = (what) => getComputedStyle(svg.querySelector(what)).fill;
      return [of(".g"), of("text"), of(".b")];
    });
  const strict = await open("strict-still", body, { javaScriptEnabled: false });
  const [green, ink] = ["rgb(207, 232, 218)", "rgb(23, 32, 43)"];
  assert.deepEqual(await colours(strict.tab), [green, ink, "none"]);
  await strict.close();
  const dark = await open("dark-still", body, { html: 'data-theme="dark"', script: false });
  assert.deepEqual(await colours(dark.tab), ["rgb(29, 74, 48)", "rgb(228, 233, 240)", "none"]);
  await dark.close();
  // A reader of feeds takes the HTML alone.
  project(folder, "pages", { "feed.html": `<!doctype html>${body.split("<script")[0]}` });
  const tab = await browser.newPage();
  await tab.goto(`${url}pages/feed.html`);
  assert.deepEqual(await colours(tab), [green, ink, "rgb(255, 255, 255)"]);
  await tab.close();
});

test("what is fallback without JavaScript is played with it, and nothing moves", async () => {
  const body = demo("why-345-seconds", "start-at=40s") + demo("three-effects");
  const still = await open("still", body, { script: false });
  const before = await still.tab.locator("#after").boundingBox();
  await still.close();
  const without = await open("plain", body, { javaScriptEnabled: false });
  const place = (tab) =>
    tab.locator("#after").evaluate((one) => one.getBoundingClientRect().top + scrollY);
  const link = without.tab.getByRole("link", { name: "Open this moment in the playground" });
  assert.equal(
    await link.first().getAttribute("href"),
    "/play/#s=why-345-seconds&release=1.31&t=40s",
  );
  assert.equal(await without.tab.locator("figure svg[role=img]").count(), 2);
  await without.close();

  const { tab, close, requests } = await open("played", body);
  assert.ok(Math.abs((await place(tab)) - before.y) <= 1, "the page has jumped");
  assert.deepEqual(
    await element(tab).evaluate((one) => [one.currentTime, one.duration]),
    [40, 345.1],
  );
  const told = await element(tab).evaluate(async (one) => {
    const events = [];
    for (const name of ["timechange", "event", "ended"]) {
      one.addEventListener(name, ({ detail }) => events.push([name, detail]));
    }
    one.setAttribute("speed", "2000");
    const ended = new Promise((resolve) => one.addEventListener("ended", resolve));
    one.play();
    if (one.paused) throw new Error("paused");
    await ended;
    return { events, time: one.currentTime, paused: one.paused };
  });
  assert.equal(told.time, 345.1);
  assert.ok(told.paused);
  const happened = told.events.filter(([name]) => name === "event").map(([, { at }]) => at);
  assert.deepEqual(happened, [40_008, 40_008, 40_033, 40_033, 45_100, 345_100]);
  assert.ok(told.events.some(([name]) => name === "timechange"));
  assert.ok(!requests.some((request) => WASM.test(request)), "no engine before an edit");
  assert.ok(requests.every((request) => request.startsWith(url) || request === "data:,"));
  await close();
});

test("buttons, slider, lanes, log, budget and link follow the clock", async () => {
  const { tab, close } = await open("controls", demo("why-345-seconds", "start-at=3s"));
  const press = (name) => tab.getByRole("button", { name, exact: true }).click();
  await press("Next event");
  assert.equal(await now(tab), 40.008);
  await press("Next event");
  assert.equal(await now(tab), 40.033);
  await press("Next event");
  assert.equal(await now(tab), 45.1);
  await press("Previous event");
  assert.equal(await now(tab), 40.033);
  await tab.getByRole("slider", { name: "Time" }).fill("60000");
  assert.equal(await now(tab), 60);
  assert.match(await tab.locator("taint-lab output").textContent(), /^1m0s \/ 5m45\.1s$/);
  const box = await tab.locator("taint-lab [part=lanes] svg.tl").first().boundingBox();
  // The second row is the pod; 28 per cent are names.
  await tab.mouse.click(box.x + box.width * 0.28 + 200, box.y + 20 + 20 + 8);
  assert.match(await tab.locator("taint-lab [part=status]").textContent(), /^web-0: counting down/);
  await press("What happens");
  const row = tab.getByRole("row", { name: "5m45.1s taint-eviction-controller: Marking" });
  await row.getByRole("button").click();
  assert.equal(await now(tab), 345.1);
  await press("Time budget");
  await tab.getByText("default/web-0: 5m45.1s after the last heartbeat").first().waitFor();
  const link = tab.getByRole("link", { name: "Open in the playground" });
  assert.equal(await link.getAttribute("href"), "/play/#s=why-345-seconds&release=1.31&t=345.1s");
  const shared = await element(tab).evaluate((one) => one.share());
  assert.equal(shared, `${url}play/#s=why-345-seconds&release=1.31&t=345.1s`);
  await close();
});

test("a scenario that the playground does not know is in the link", async () => {
  const text = example("why-345-seconds");
  const pack = (yaml) => deflateRawSync(yaml).toString("base64url");
  const options = { fence: "start-at=40s", playground: "/play/" };
  const { html } = taintlab.makeDemo(text, {}, options, pack);
  const packed = `/play/#d=${pack(text)}&t=`;
  assert.ok(html.includes(`<p class="open"><a href="${packed.replace("&", "&amp;")}40s">`));
  assert.ok(!taintlab.makeDemo(text, {}, options).html.includes("/play/"), "none unless packed");
  const { tab, close } = await open("own", html);
  const link = tab.getByRole("link", { name: "Open in the playground" });
  assert.equal(await link.getAttribute("href"), `${packed}40s`);
  const shared = await element(tab).evaluate((one) => {
    one.seek(50);
    return one.share();
  });
  assert.equal(shared, new URL(`${packed}50s`, url).href);
  await close();
});

test("what packs must be a function that answers with a text", () => {
  for (const [pack, message] of [
    ["x", /pack: expected a function/],
    [() => 1, /pack: expected that it returns a text/],
  ]) {
    assert.throws(() => taintlab.makeDemo(example("three-effects"), {}, {}, pack), message);
  }
});

test("keys count only while it has the focus, and only those that it uses", async () => {
  const body = demo("why-345-seconds");
  const { tab, close } = await open("keys", body);
  await tab.evaluate(() => {
    globalThis.seen = [];
    document.addEventListener("keydown", (event) => globalThis.seen.push(event.key));
  });
  const seen = () => tab.evaluate(() => globalThis.seen.splice(0));
  for (const key of ["ArrowRight", " ", "."]) await tab.keyboard.press(key);
  assert.equal(await now(tab), 0);
  assert.deepEqual(await seen(), ["ArrowRight", " ", "."]);
  await tab.locator("taint-lab [part=frame]").focus();
  await tab.keyboard.press("ArrowRight");
  assert.equal(await now(tab), 6.902);
  await tab.keyboard.press(".");
  assert.equal(await now(tab), 40.008);
  await tab.keyboard.press(",");
  assert.equal(await now(tab), 3);
  await tab.keyboard.press("End");
  assert.equal(await now(tab), 345.1);
  await tab.keyboard.press("Home");
  assert.equal(await now(tab), 0);
  await tab.keyboard.press("ArrowDown");
  assert.match(await tab.locator("taint-lab [part=status]").textContent(), /^worker-1: ready/);
  assert.deepEqual(await seen(), []);
  for (const key of ["s", "/", "Escape"]) await tab.keyboard.press(key);
  await tab.keyboard.press("Control+ArrowRight");
  assert.deepEqual(await seen(), ["s", "/", "Escape", "Control", "ArrowRight"]);
  await tab.keyboard.press(" ");
  assert.equal(await element(tab).evaluate((one) => one.paused), false);
  await tab.keyboard.press(" ");
  assert.equal(await element(tab).evaluate((one) => one.paused), true);
  // In a text every key is the text's.
  await tab.getByRole("button", { name: "Change something" }).click();
  await tab.getByRole("textbox").focus();
  await seen();
  await tab.keyboard.press("ArrowLeft");
  await tab.keyboard.press("s");
  assert.deepEqual(await seen(), []);
  await close();
});

test("knobs are exact, at once and without the engine", async () => {
  const words = "knob=tolerationSeconds:0,30,300 knob=release:1.20,1.31 compare=release:1.20";
  const { tab, close, requests } = await open("knobs", demo("why-345-seconds", words));
  await element(tab).evaluate((one) => {
    one.addEventListener("edit", ({ detail }) => (globalThis.edited = detail));
  });
  await tab.locator("[data-key=knob-tolerationSeconds]").selectOption("30");
  assert.equal(await element(tab).evaluate((one) => one.duration), 75.1);
  const edited = await tab.evaluate(() => globalThis.edited);
  assert.equal(edited.kind, "knob");
  assert.deepEqual(edited.knobs, { tolerationSeconds: "30", release: "1.31" });
  await tab.locator("[data-key=knob-release]").selectOption("1.20");
  await tab.getByText("Kubernetes 1.20", { exact: true }).first().waitFor();
  const recorded = await element(tab).evaluate((one) => [
    one.recording.runs.find(({ knobs }) => knobs.join() === "30,1.20").outcome,
    one.shadowRoot.querySelector("[part=outcome]").textContent,
  ]);
  assert.equal(recorded[0], recorded[1]);
  await element(tab).evaluate((one) => one.setAttribute("release", "1.31"));
  await tab.getByText(/With release 1\.20, the lower bars:/).waitFor();
  assert.ok(!requests.some((request) => WASM.test(request)));
  await close();
});

test("ten demos load one engine, at the first edit, and it is one module", async () => {
  const body = Array.from({ length: 10 }, (_, index) => demo("why-345-seconds", "", `d${index}`));
  const head = `<script>
    globalThis.compiled = 0;
    const compile = WebAssembly.compile;
    WebAssembly.compile = (bytes) => (globalThis.compiled++, compile.call(WebAssembly, bytes));
  </script>`;
  const { tab, close, requests } = await open("ten", body.join("\n"), { head });
  await tab.mouse.wheel(0, 20_000);
  await tab.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  assert.ok(!requests.some((request) => WASM.test(request)), "never on scroll");
  const edits = await tab.evaluate(() =>
    Promise.all(
      [...document.querySelectorAll("taint-lab")].map(async (one, index) => {
        const yaml = one.recording.yaml.replace("at: 3s, do", `at: ${index + 1}s, do`);
        await one.load(yaml);
        return one.recording.runs[0].events.find(({ step }) => step).at;
      }),
    ),
  );
  assert.deepEqual(
    edits,
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((second) => second * 1000),
  );
  assert.equal(requests.filter((request) => WASM.test(request)).length, 1);
  assert.equal(await tab.evaluate(() => globalThis.compiled), 1);
  await close();
});

test("a reader taints a node at a moment, changes the text, and goes back", async () => {
  const { tab, close } = await open("edit", demo("why-345-seconds", "start-at=20s"));
  await tab.getByRole("button", { name: "Change something" }).click();
  await tab.locator("[data-key=edit-node]").selectOption("worker-1");
  await tab.locator("[data-key=edit-action]").selectOption("taint");
  await tab.getByRole("button", { name: "At 20s" }).click();
  await tab.getByRole("button", { name: "Undo the changes" }).waitFor({ timeout: 30_000 });
  const first = await element(tab).evaluate((one) => one.recording.runs[0].events);
  const deleted = first.find(({ text }) => text.includes("Marking for deletion"));
  assert.equal(deleted.at, 20_000);
  assert.ok((await tab.getByRole("textbox").inputValue()).includes("example.com/demo"));
  // A text that is wrong is said with its line, and stays.
  await tab.getByRole("textbox").fill("kind: Scenario\nobjects: 5\n");
  await tab.getByRole("button", { name: "Run", exact: true }).click();
  assert.match(
    await said(tab),
    /^This cannot be run: .*line 2: .*The recorded run can still be played\.$/,
  );
  assert.equal(await tab.getByRole("textbox").inputValue(), "kind: Scenario\nobjects: 5\n");
  const shared = await element(tab).evaluate((one) => one.share());
  assert.match(shared, /\/play\/#d=[\w-]+&t=20s$/, "in the playground, which can be edited");
  await tab.getByRole("button", { name: "Undo the changes" }).click();
  assert.equal(await element(tab).evaluate((one) => one.recording.runs[0].end), 345_100);
  // A frame reads the same.
  await tab.goto(shared.replace("/play/", `${DIST}/frame.html`));
  await tab.getByRole("button", { name: "Run it here" }).click();
  await tab.getByText("Why 345 seconds and not 300?").waitFor({ timeout: 30_000 });
  await close();
});

test("a page that forbids wasm and inline styles: it plays, and says why it cannot do more", async () => {
  const { tab, close } = await open("strict", demo("why-345-seconds"), {
    // Of wasm.
    expected: /Content Security Policy/,
  });
  await element(tab).evaluate((one) => one.seek(60));
  assert.equal(await now(tab), 60);
  const styled = await element(tab).evaluate((one) => [
    one.shadowRoot.querySelectorAll("[style], style").length,
    getComputedStyle(one.shadowRoot.querySelector("rect.g")).fill,
  ]);
  assert.deepEqual(styled, [0, "rgb(207, 232, 218)"]);
  await tab.getByRole("button", { name: "Change something" }).click();
  await tab.getByRole("button", { name: "Run", exact: true }).click();
  assert.match(
    await said(tab),
    /Content-Security-Policy forbids WebAssembly .*The recorded run can still be played\.$/,
  );
  await element(tab).evaluate((one) => one.next());
  assert.equal(await now(tab), 345.1);
  await close();
});

test("the theme is the site's: class, data-theme, its text; and it follows a change", async () => {
  const dark = (tab) => tab.locator("taint-lab .frame.dark").count();
  for (const [name, options, expected] of [
    ["class", { html: 'class="navy js"' }, 1],
    ["attribute", { html: 'data-theme="dark"' }, 1],
    ["light-class", { html: 'class="light"', colorScheme: "dark" }, 0],
    ["system", { head: '<meta name="color-scheme" content="light dark">', colorScheme: "dark" }, 1],
    ["light-site", { colorScheme: "dark" }, 0],
  ]) {
    const { tab, close } = await open(`theme-${name}`, demo("three-effects"), options);
    assert.equal(await dark(tab), expected, name);
    await tab.evaluate(() => (document.documentElement.dataset.theme = "light"));
    await tab.evaluate(() => (document.documentElement.className = "light"));
    await tab.waitForFunction(
      () => !document.querySelector("taint-lab").shadowRoot.querySelector(".dark"),
    );
    await close();
  }
});

test("no style leaks in or out", async () => {
  const head = "<style>p{color:red!important} button{display:none} svg{width:9px}</style>";
  const { tab, close } = await open("styles", demo("three-effects"), { head });
  const colour = (selector) =>
    element(tab).evaluate((one, what) => {
      return getComputedStyle(one.shadowRoot.querySelector(what)).color;
    }, selector);
  assert.equal(await colour(".question"), "rgb(23, 32, 43)");
  await tab.getByRole("button", { name: "Play" }).waitFor();
  assert.equal(
    await tab.locator("#after").evaluate((one) => getComputedStyle(one).minHeight),
    "0px",
  );
  await close();
});

for (const [name, options] of [
  ["wide", { width: 900 }],
  ["narrow", { width: 360 }],
  [
    "dark",
    { html: 'data-theme="dark"', head: "<style>body{background:#171c24;color:#eee}</style>" },
  ],
]) {
  test(`axe finds nothing, and nothing is wider than the page: ${name}`, async () => {
    const words = "knob=release:1.20,1.31 start-at=50s select=pod/default/web-0";
    const body = demo("why-345-seconds", words) + demo("service-in-an-outage", "view=log");
    const { tab, close } = await open(`axe-${name}`, body, options);
    for (const button of ["Time budget", "Change something"]) {
      await tab.getByRole("button", { name: button }).first().click();
      await tab.evaluate(AXE);
      const violations = await tab.evaluate(async () => {
        const { violations } = await globalThis.axe.run(document);
        return violations.map(({ id, nodes }) => [
          id,
          nodes.map(({ html, target }) => [String(target), html]),
        ]);
      });
      assert.deepEqual(violations, [], button);
    }
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await close();
  });
}

test("reduced motion: time jumps from event to event", async () => {
  const options = {
    reducedMotion: "reduce",
    head: "<script>setInterval = (act) => ((globalThis.tick = act), 1);</script>",
  };
  const { tab, close } = await open("reduced", demo("why-345-seconds"), options);
  await element(tab).evaluate((one) => one.play());
  const times = [];
  for (let index = 0; index < 5; index++) {
    await tab.evaluate(() => globalThis.tick());
    times.push(await now(tab));
  }
  assert.deepEqual(times, [3, 40.008, 40.033, 45.1, 345.1]);
  await close();
});

test("what is disconnected stands still, and goes on where it comes back", async () => {
  const { tab, close } = await open("moved", demo("why-345-seconds"));
  const found = await element(tab).evaluate(async (one) => {
    one.play();
    const parent = one.parentElement;
    one.remove();
    const paused = one.paused;
    one.seek(42);
    document.documentElement.dataset.theme = "dark";
    // Observers are told before this goes on.
    await Promise.resolve();
    const light = !one.shadowRoot.querySelector(".dark");
    parent.append(one);
    return [paused, light, !!one.shadowRoot.querySelector(".dark"), one.currentTime];
  });
  assert.deepEqual(found, [true, true, true, 42]);
  await close();
});

test("two scripts on one page do not throw; the script may come before or after", async () => {
  const script = `<script src="${DIST}/taint-lab.js"></script>`;
  const { tab, close } = await open("twice", `${demo("three-effects")}${script}`, {
    head: `${script}<script type="module">import "/node_modules/taintlab/dist/embed/index.js";</script>`,
    // The module names the package, which only a bundler resolves; here it need not.
    script: true,
  });
  assert.equal(await tab.locator("taint-lab [part=frame]").count(), 1);
  await close();
});

test("what comes from an address: a recording, a scenario, and what is not there", async () => {
  const answer = taintlab.makeDemo(example("three-effects"));
  project(folder, "pages", {
    "three.json": JSON.stringify(answer.recording),
    "three.yaml": example("three-effects"),
  });
  writeFileSync(join(folder, "pages", "wrong.json"), '{"taintlab": 2}');
  const body = `
    <taint-lab src="three.json"></taint-lab>
    <taint-lab src="three.yaml" editable><p>See the file.</p></taint-lab>
    <taint-lab src="wrong.json"><p>Fallback</p></taint-lab>`;
  const head = `<script>
    globalThis.errors = [];
    addEventListener("error", ({ target, detail }) => {
      if (target.localName === "taint-lab") globalThis.errors.push(detail.message);
    }, true);
  </script>`;
  const { tab, close } = await open("addresses", body, { head, script: true, waits: false });
  await tab.getByText("Never scheduled, or never evicted?").waitFor();
  await tab.getByRole("button", { name: "Run it here" }).click();
  await tab.waitForFunction(() => document.querySelectorAll("taint-lab")[1].recording);
  const names = await tab.evaluate(() =>
    [...document.querySelectorAll("taint-lab")].map((one) => one.recording?.name),
  );
  assert.deepEqual(names, ["three-effects", "three-effects", undefined]);
  assert.ok(await tab.getByText("Fallback").isVisible());
  assert.deepEqual(await tab.evaluate(() => globalThis.errors), [
    "this is no recording of format 1",
  ]);
  await close();
});

test("the frame tells its height to the page around it", async () => {
  const { recording } = taintlab.makeDemo(example("three-effects"));
  writeFileSync(join(folder, "node_modules/taintlab/dist/three.json"), JSON.stringify(recording));
  const body = `<iframe src="${DIST}/frame.html?src=three.json&t=5" title="A demo" width="600" height="50"></iframe>`;
  const head = `<script>addEventListener("message", ({ data, source }) => {
    if (data?.type !== "taintlab:height") return;
    for (const frame of document.querySelectorAll("iframe"))
      if (frame.contentWindow === source) frame.height = data.height;
  });</script>`;
  const { tab, close } = await open("framed", body, { head, script: false });
  const inside = tab.frameLocator("iframe");
  await inside.getByText("Never scheduled, or never evicted?").first().waitFor();
  await tab.waitForFunction(() => document.querySelector("iframe").clientHeight > 250);
  await close();
});

test("sizes: the script, and a page with five demos before an edit", async () => {
  const size = (text) => gzipSync(text, { level: 9 }).length;
  const script = size(readFileSync(join(folder, "node_modules/taintlab/dist/taint-lab.js")));
  const css = size(readFileSync(join(folder, "node_modules/taintlab/dist/taint-lab.css")));
  assert.ok(script + css <= 17_000, `${script} + ${css} bytes`);
  const words = "knob=release:1.20,1.31,1.35";
  const names = [
    "why-345-seconds",
    "same-outage-1.35",
    "recovery-storm",
    "zero-and-negative-seconds",
    "service-in-an-outage",
  ];
  const html = size(page(names.map((name) => demo(name, words)).join("\n")));
  assert.ok(html + script + css <= 45_000, `${html} + ${script} + ${css} bytes`);
  console.log(`script ${script}, styles ${css}, the HTML of five demos ${html} bytes of gzip`);
});
