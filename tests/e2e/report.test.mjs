// The report of an import: release and clock, every object and what becomes of it, and what adding
// would do.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { openImport, ready, replaceCluster, selectNode, until } from "./support/page.mjs";

const node = (name, version, more = "") => `- apiVersion: v1
  kind: Node
  metadata: {name: ${name}, creationTimestamp: "2024-02-01T10:00:00Z"}
  ${more}
  status:
    nodeInfo: {kubeletVersion: "${version}"}
    conditions: [{type: Ready, status: "True", lastHeartbeatTime: "2024-05-01T10:00:00Z"}]
`;
const pod = (name, more = "") => `- apiVersion: v1
  kind: Pod
  metadata: {name: ${name}, creationTimestamp: "2024-04-30T10:00:00Z"}
  spec: {nodeName: n-1, containers: [{name: c, image: i}]${more}}
`;
const list = (...items) => `apiVersion: v1\nkind: List\nitems:\n${items.join("")}`;

const report = (page) => page.getByTestId("objects");
const rows = (page) => report(page).locator("li").allInnerTexts();

playgroundTest(
  "the release that the nodes report and the newest time in the text are taken",
  async ({ page }) => {
    await ready(page);
    const text = list(node("n-1", "v1.21.1"), node("n-2", "v1.21.1"), pod("a"));
    await openImport(page, text);
    const about = page.getByTestId("import-cluster");
    await about.getByText("2 nodes report v1.21.1").waitFor();
    await about.getByText("The clock begins at 2024-05-01T10:00:00Z").waitFor();
    assert.equal(await page.getByTestId("own-release").isChecked(), true);
    await page.getByTestId("import-replace").click();
    await page.locator('[data-node="n-2"]').waitFor();
    assert.equal(await page.getByTestId("release").inputValue(), "1.21");
    await page.locator(".clockbar").getByText("2024-05-01T10:00:00Z").waitFor();

    // Without the tick the release stays as it is; the clock is that of the text all the same.
    await page.getByTestId("release").selectOption("1.33");
    await openImport(page, text);
    await page.getByTestId("own-release").uncheck();
    await page.getByTestId("import-replace").click();
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    assert.equal(await page.getByTestId("release").inputValue(), "1.33");
  },
);

playgroundTest("a text without versions and times is told, and begins now", async ({ page }) => {
  await ready(page);
  await openImport(page, "apiVersion: v1\nkind: Node\nmetadata: {name: plain}\n");
  const about = page.getByTestId("import-cluster");
  const release = await page.getByTestId("release").inputValue();
  await about.getByText(`No node reports a version: Kubernetes ${release} stays.`).waitFor();
  await about.getByText("There are no times in the text").waitFor();
  await page.getByTestId("import-replace").click();
  await page.locator('[data-node="plain"]').waitFor();
  await page.keyboard.press("k");
  await page.getByTestId("console-line").fill("kubectl get nodes");
  await page.keyboard.press("Enter");
  await page
    .getByTestId("output")
    .getByText(/plain\s+\w+\s+<none>\s+0s\s*$/m)
    .waitFor();
});

playgroundTest(
  "each object is told, with what was assumed and dropped, and a line to click",
  async ({ page }) => {
    await ready(page);
    const owned = pod("b", ", tolerations: [{key: k, operator: Exists, tolerationSeconds: 5m}]");
    const secret = pod("c").replace("image: i", "image: i, env: [{name: A, value: hunter2}]");
    await openImport(
      page,
      list(
        node("n-1", "v1.30.0"),
        pod("a"),
        owned,
        secret,
        "- {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}}\n",
      ),
    );
    assert.deepEqual(
      (await rows(page)).map((row) => row.replaceAll(/\s+/g, " ").trim()),
      [
        "n-1 line 4",
        "default/a namespace default assumed line 11",
        "default/b namespace default assumed left out line 15",
        "default/c namespace default assumed; dropped: 1 field line 19",
        "shop/web kept for export line 23",
      ],
    );
    await report(page).getByRole("button", { name: "left out 1" }).click();
    assert.equal((await rows(page)).length, 1);
    await report(page).getByRole("button", { name: "something dropped 1" }).click();
    assert.match((await rows(page))[0], /default\/c/);
    await report(page).getByRole("button", { name: "line 19" }).click();
    const selected = await page
      .getByTestId("import-text")
      .evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd));
    assert.equal(selected, "- apiVersion: v1");
  },
);

playgroundTest(
  "thousands of objects are grouped, counted, filtered, and shown in parts",
  async ({ page }) => {
    await ready(page);
    const pods = Array.from({ length: 3_000 }, (_, number) => pod(`p-${number}`));
    const text = list(node("n-1", "v1.30.0"), ...pods);
    await page.getByTestId("import").click();
    await page.getByTestId("import-file").setInputFiles({
      name: "many.yaml",
      mimeType: "text/yaml",
      buffer: Buffer.from(text),
    });
    await page.getByTestId("found").getByText("1 node, 3000 pods").waitFor();
    const group = report(page).locator("details", { hasText: "Pod 3000" });
    assert.equal(await report(page).locator("li").count(), 0, "closed at first");
    await group.locator("summary").click();
    await until(page, async () => assert.equal(await group.locator("li").count(), 100));
    await group.getByRole("button", { name: "Show more (2900 objects left)" }).click();
    await until(page, async () => assert.equal(await group.locator("li").count(), 200));
    await report(page).getByLabel("Filter objects").fill("p-2999");
    await until(page, async () => assert.equal((await rows(page)).length, 1));
    // Of a text that is too long to be shown, the lines around are.
    await report(page)
      .getByRole("button", { name: /^line / })
      .click();
    const excerpt = page.getByTestId("excerpt");
    await excerpt.getByText("p-2999").waitFor();
    assert.equal(await excerpt.locator("span").count(), 9);
    assert.match(await excerpt.locator(".on").textContent(), /- apiVersion: v1/);
  },
);

playgroundTest(
  "adding says before what it would create, replace, leave and refuse",
  async ({ page }) => {
    await ready(page);
    await replaceCluster(page, list(node("n-1", "v1.30.0"), pod("changed")));
    const broken = pod(
      "broken",
      ", tolerations: [{key: k, operator: Exists, tolerationSeconds: 5m}]",
    );
    const other = node("n-1", "v1.30.0").replace('status: "True"', 'status: "False"');
    await openImport(
      page,
      list(
        other,
        pod("changed", ", priority: 7"),
        pod("new"),
        broken,
        "- {apiVersion: v1, kind: Service, metadata: {name: web}}\n",
      ),
    );
    await page.getByTestId("import-add").click();
    const plan = page.getByTestId("import-plan");
    await plan.waitFor();
    const said = (await rows(page)).map((row) => row.replaceAll(/\s+/g, " ").trim());
    assert.deepEqual(
      said.map((row) => row.replace(/ line \d+$/, "")),
      [
        "n-1 replaced",
        "default/changed namespace default assumed replaced",
        "default/new namespace default assumed created",
        "default/broken namespace default assumed left out",
        "web the simulation does not use objects of this kind left out",
      ],
    );
    assert.equal(
      await page.getByTestId("import-add-now").textContent(),
      "Add 3 objects, leaving out 2",
    );
    await plan.getByText("If you add them: 1 created, 2 replaced, 2 left out").waitFor();
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await page.getByTestId("found").waitFor();
    await page.getByTestId("import-add").click();
    await page.getByTestId("import-add-now").click();
    await page.locator('[data-pod="default/new"]').waitFor();
    await page.getByTestId("notice").getByText("2 objects left out").waitFor();
    await selectNode(page, "n-1");
  },
);

playgroundTest("the whole command can be copied", async ({ page }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await ready(page);
  await page.getByTestId("import").click();
  const dialog = page.getByRole("dialog", { name: "Import" });
  const command = "kubectl get nodes,pods,deploy,rs,sts,ds,jobs,pdb,pc,pvc,pv,sc -A -o yaml";
  await dialog.getByText(command, { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Copy" }).click();
  await until(page, async () =>
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command),
  );
});
