// The address bar is the state: links are made, opened and broken, Back and Forward lead through
// what was shown, and nobody's work is lost.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { keyboard, mouse, touch } from "./support/hands.mjs";
import { gkeCluster } from "./support/gke.mjs";
import {
  evictions,
  keptSessions,
  loadScenario,
  now,
  pods,
  ready,
  replaceCluster,
  runToEnd,
  scrubTo,
  seconds,
  showView,
  storedWith,
  taint,
  until,
} from "./support/page.mjs";

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

const fragment = (page) => page.evaluate(() => location.hash);

/** Waits until the address says so. */
const addressIs = (page, wanted) =>
  until(page, async () => assert.match(await fragment(page), wanted));

const title = (page) => page.locator(".top .title").textContent();

playgroundTest("the address follows the work", { sample: true }, async ({ page, url }) => {
  await ready(page);
  assert.equal(await fragment(page), "", "what everybody finds needs no address");
  await loadScenario(page, "why-345-seconds");
  await addressIs(page, /^#s=why-345-seconds&release=1\.31$/);
  await scrubTo(page, seconds(40));
  await addressIs(page, /^#s=why-345-seconds&release=1\.31&t=40s&h=[0-9a-f]{8}$/);
  await page.getByTestId("release").selectOption("1.34");
  await addressIs(page, /&release=1\.34&t=40s/);
  await taint(page, "worker-2", { key: "example.com/x" });
  await addressIs(page, /^#s=.*&x=node%20worker-2.*&e=[\w-]{40,}$/);
  assert.ok((await fragment(page)).length < 400);
  // Undone, there is nothing that could not be said in clear.
  await page.getByTestId("undo").click();
  await until(page, async () => assert.doesNotMatch(await fragment(page), /&e=/));
  assert.equal(page.url().split("#")[0], url);
});

for (const hand of [mouse, keyboard, touch]) {
  const context = { ...hand.context, ...CLIPBOARD };
  playgroundTest(`a link shows the same to somebody else, by ${hand.name}`, { context }, async ({
    page,
  }) => {
    await ready(page);
    await taint(page, "worker-1", { key: "example.com/maintenance" });
    await runToEnd(page);
    const [left, gone] = [await pods(page), await evictions(page)];
    const wanted = { pods: left, evictions: gone, at: await now(page) };
    await hand(page).press(page.getByTestId("share"));
    const dialog = page.getByRole("dialog", { name: "Share" });
    const link = dialog.getByTestId("share-link");
    await until(page, async () => assert.match(await link.inputValue(), /#s=sample-cluster&release=1\.35&control-plane=false&/));
    const text = await link.inputValue();
    const length = await dialog.getByTestId("share-length").innerText();
    assert.equal(length, `${text.length} characters`);
    const contents = await dialog.getByTestId("share-contents").innerText();
    for (const words of ["A small cluster to play with", "Kubernetes 1.35", "1 edit", "clock at"]) {
      assert.ok(contents.includes(words), `${words}: ${contents}`);
    }
    await hand(page).press(dialog.getByTestId("share-copy"));
    await until(page, async () =>
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text),
    );

    const other = await page.context().newPage();
    await other.goto(text);
    await ready(other);
    assert.deepEqual(await pods(other), wanted.pods);
    assert.deepEqual(await evictions(other), wanted.evictions);
    assert.equal(await now(other), wanted.at);
    // It stays over a reload, and can be undone.
    await other.reload();
    await ready(other);
    assert.deepEqual(await pods(other), wanted.pods);
    await other.getByTestId("undo").click();
    await until(other, async () =>
      assert.ok(!Object.values(await pods(other)).includes("terminating")),
    );
  });
}

playgroundTest("names are hidden on demand", async ({ page }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "acme.com/maintenance" });
  await page.keyboard.press("h");
  const link = page.getByTestId("share-link");
  await until(page, async () => assert.match(await link.inputValue(), /#s=sample-cluster/));
  await page.getByTestId("hide-names").check();
  await until(page, async () => assert.match(await link.inputValue(), /#2\./));
  const hidden = await link.inputValue();
  const other = await page.context().newPage();
  await other.goto(hidden);
  await ready(other);
  await other.locator('[data-node="node-2"]').waitFor();
  const text = await other.getByTestId("page").innerText();
  for (const name of ["worker-", "checkout", "postgres", "acme", "eu-1"]) {
    assert.ok(!text.includes(name), name);
  }
  const states = async (tab) => Object.values(await pods(tab)).toSorted();
  assert.deepEqual(await states(other), await states(page));
});

playgroundTest("a link never takes work away", async ({ page, url }) => {
  await ready(page);
  await taint(page, "worker-1", { key: "example.com/mine" });
  await storedWith(page, "example.com/mine");
  const mine = await pods(page);
  const link = "#s=three-effects&release=1.35";
  await addressIs(page, /^#s=sample-cluster/);
  const before = await fragment(page);

  await page.evaluate((to) => (location.hash = to), link);
  const dialog = page.getByRole("dialog", { name: "Open this link?" });
  await dialog.getByTestId("link-contents").getByText("Kubernetes 1.35").waitFor();
  await dialog.getByTestId("link-keep").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  assert.deepEqual(await pods(page), mine);
  await until(page, async () => assert.equal(await fragment(page), before));

  await page.evaluate((to) => (location.hash = to), link);
  await dialog.getByTestId("link-open").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await until(page, async () => assert.notEqual(await title(page), "A small cluster to play with"));
  const kept = await keptSessions(page);
  assert.ok(kept.some(({ edits }) => edits.includes("example.com/mine")));
  await addressIs(page, /^#s=three-effects/);

  // Back leads to it.
  await page.goBack();
  await until(page, async () => assert.deepEqual(await pods(page), mine));
  await addressIs(page, /^#s=sample-cluster/);

  // The same in a tab that is loaded anew.
  await page.goto(`${url}?again${link}`);
  await ready(page);
  await dialog.getByTestId("link-keep").click();
  await until(page, async () => assert.deepEqual(await pods(page), mine));
});

playgroundTest("Back and Forward lead through what was shown", async ({ page }) => {
  await ready(page);
  const first = await title(page);
  await taint(page, "worker-1", { key: "example.com/x" });
  await addressIs(page, /&e=/);
  await loadScenario(page, "three-effects");
  await addressIs(page, /^#s=three-effects/);
  const second = await title(page);
  await loadScenario(page, "why-345-seconds");
  await addressIs(page, /^#s=why-345-seconds/);
  await runToEnd(page);
  const at = await now(page);
  await addressIs(page, /&t=/);

  const titleIs = (wanted) => until(page, async () => assert.equal(await title(page), wanted));
  await page.goBack();
  await titleIs(second);
  await addressIs(page, /^#s=three-effects/);
  await page.goBack();
  await titleIs(first);
  await showView(page, "events");
  await page.getByTestId("log").getByText("example.com/x").first().waitFor();
  await page.goForward();
  await titleIs(second);
  await page.goForward();
  await titleIs("Why 345 seconds and not 300?");
  await until(page, async () => assert.equal(await now(page), at));
});

playgroundTest("a broken link says what is broken", { closed: true }, async ({ page, url }) => {
  for (const [link, words] of [
    ["#s=no-such-example", "no example is called `no-such-example`"],
    ["#s=three-effects&t=soon", "`t=soon`"],
    ["#3.abcd", "it has format 3"],
    ["#1.a*b", "character 2"],
    ["#1.%%%zzzz", "character 1, `%`"],
    ["#2.%%%zzzz", "character 1, `%`"],
    ["#2.", "nothing stands after"],
    ["#2.AAAA", "a piece of it is missing or was changed"],
    ["#d=%%%", "character 1, `%`"],
    ["#s=%%%", "is not escaped"],
    ["#1.AAAA", "a piece of it is missing or was changed"],
    [`#1.${"A".repeat(20_000)}`, "20000 characters, and 16384 is the most"],
  ]) {
    await page.goto("about:blank");
    await page.goto(`${url}${link}`);
    await ready(page);
    const notice = page.getByTestId("notice").filter({ hasText: "This link cannot be opened" });
    assert.ok((await notice.innerText()).includes(words), `${link}: ${await notice.innerText()}`);
    assert.equal(await title(page), "A small cluster to play with");
  }
  // One that inflates without end is stopped on the way.
  await page.goto("about:blank");
  await page.goto(url);
  await ready(page);
  const bomb = await page.evaluate(async () => {
    const bytes = new Uint8Array(8_000_000).fill(32);
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const packed = new Uint8Array(await new Response(stream).arrayBuffer());
    const text = btoa(String.fromCharCode(...packed));
    return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  });
  assert.ok(bomb.length < 16_384);
  await page.evaluate((to) => (location.hash = `#1.${to}`), bomb);
  await page.getByTestId("notice").getByText("it unpacks to more than 524288 bytes").waitFor();
});

playgroundTest("a broken link is told in a page that is open", { closed: true }, async ({
  page,
  url,
}) => {
  await page.goto(url);
  await ready(page);
  const notice = page.getByTestId("notice").filter({ hasText: "This link cannot be opened" });
  for (const link of ["#1.%%%zzzz", "#2.%%%zzzz", "#3.AAAA", "#s=%%%", "#2.AAAA"]) {
    await page.evaluate((to) => (location.hash = to), link);
    await notice.waitFor();
    await notice.getByRole("button").first().click();
    await notice.waitFor({ state: "detached" });
  }
});

playgroundTest("a cluster as GKE serves it fits into a link, and opens as it was", async ({ page }) => {
  await ready(page);
  await replaceCluster(page, JSON.stringify(gkeCluster()));
  await page.locator('[data-pod="data/kafka-0"]').waitFor();
  await page.keyboard.press("h");
  const field = page.getByTestId("share-link");
  await until(page, async () => assert.match(await field.inputValue(), /#2\./));
  const link = await field.inputValue();
  const length = link.length - link.indexOf("#");
  console.log(`GKE, 12 nodes and 75 pods: ${length} characters`);
  assert.ok(length <= 6 * 1024, `${length}`);
  assert.equal(await page.getByTestId("share-copy").count(), 1);
  const mine = await pods(page);
  assert.equal(Object.keys(mine).length, 75);
  const other = await page.context().newPage();
  await other.goto(link);
  await ready(other);
  await other.locator('[data-pod="data/kafka-0"]').waitFor();
  assert.deepEqual(await pods(other), mine);
  // Of a larger one the file is offered, and no link that nobody can open.
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await replaceCluster(page, JSON.stringify(gkeCluster({ nodes: 100, replicas: 20 })));
  await page.keyboard.press("h");
  await page.getByRole("alert").getByText("There is no link").waitFor();
  assert.equal(await page.getByTestId("share-copy").count(), 0);
  assert.equal(await page.getByTestId("share-file").count(), 1);
});

playgroundTest("another computation is told", { closed: true }, async ({ page, url }) => {
  await page.goto(`${url}#s=why-345-seconds&release=1.31&t=6m&h=00000000`);
  await ready(page);
  await page.getByTestId("notice").getByText("whose results differ").waitFor();
  assert.equal(await now(page), seconds(360));
});

playgroundTest("a cluster that is too large for a link becomes a file", async ({ page }) => {
  await ready(page);
  const item = (index) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: `node-${index}-${(index * 7919) % 104_729}`,
      labels: { [`example.com/l${(index * 31) % 977}`]: `v${(index * 104_729) % 7919}` },
    },
  });
  const items = Array.from({ length: 300 }, (_, i) => item(i));
  const list = { apiVersion: "v1", kind: "List", items };
  await page.keyboard.press("i");
  await page.getByTestId("import-text").fill(JSON.stringify(list));
  await page.getByTestId("import-replace").click();
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("h");
  const length = page.getByTestId("share-length");
  await length.getByText("send the file instead").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByTestId("share-file").click(),
  ]);
  assert.equal(download.suggestedFilename(), "scenario.yaml");
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await until(page, async () => assert.equal(await fragment(page), ""));
});
