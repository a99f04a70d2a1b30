// Everything by the keyboard alone: no test here moves a mouse.

import assert from "node:assert/strict";

import { playgroundTest } from "./support/browser.mjs";
import { keyboard } from "./support/hands.mjs";
import { log, now, pods, ready, seconds, until } from "./support/page.mjs";

/** More than there are things to reach on the page with the sample cluster. */
const MOST = 400;

/** Whether what has the focus matches a selector. */
const focused = (page, selector) =>
  page.evaluate((wanted) => document.activeElement.matches(wanted), selector);

/** What has the focus can be seen: in the window, with an outline or a ring. */
async function assertFocusShows(page) {
  const seen = await page.evaluate(() => {
    const element = document.activeElement;
    const shows = (part) => {
      const style = getComputedStyle(part);
      return style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) > 0;
    };
    const box = element.getBoundingClientRect();
    const inside = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
    // The frame around a text field may show the focus in its place.
    const ring = shows(element) || (element.parentElement && shows(element.parentElement));
    return { what: element.outerHTML.slice(0, 160), focus: element.matches(":focus-visible"), inside, ring };
  });
  assert.deepEqual(
    { focus: seen.focus, inside: seen.inside, ring: Boolean(seen.ring) },
    { focus: true, inside: true, ring: true },
    seen.what,
  );
}

/** Presses Tab until something has the focus; every stop on the way shows that it has it. */
async function tabTo(page, selector, key = "Tab") {
  for (let pressed = 0; pressed < MOST; pressed += 1) {
    await page.keyboard.press(key);
    if (await page.evaluate(() => document.activeElement !== document.body)) {
      await assertFocusShows(page);
    }
    if (await focused(page, selector)) {
      return;
    }
  }
  assert.fail(`Tab never reaches ${selector}`);
}

/** What has the focus, in words. */
const focusedWords = (page) => page.evaluate(() => {
  const element = document.activeElement;
  return element.getAttribute("aria-label") ?? element.textContent.trim();
});

/** The numbers of edits that are done. */
const edits = async (page) => (await log(page, ["change"])).length;

playgroundTest("the main job takes at most 15 keys: reach a node, taint it, play, read why",
  async ({ page }) => {
    await ready(page);
    let pressed = 0;
    const press = async (...keys) => {
      for (const key of keys) {
        await page.keyboard.press(key);
        pressed += 1;
      }
    };
    // The skip link, then the first zone, its first node, the one beside it.
    await press("Tab", "Enter", "ArrowDown", "ArrowRight", "Enter");
    await page.getByTestId("inspector").getByRole("heading", { name: "worker-1" }).waitFor();
    await until(page, async () => assert.equal(await focusedWords(page), "worker-1"));
    while ((await focusedWords(page)) !== "unreachable") {
      await press("Tab");
      await assertFocusShows(page);
    }
    await press("Enter");
    await until(page, async () => {
      assert.equal((await pods(page))["data/report-28930120-vq7x4"], "terminating");
    });
    await press("Space");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await press("ArrowDown", "Enter");
    const inspector = page.getByTestId("inspector");
    // While time runs the pod may be gone before it is looked at.
    await inspector.getByText(/not tolerated|Evicted at 0s/).first().waitFor();
    await inspector.getByText(/^Why/).first().waitFor();
    await until(page, async () => assert.ok((await now(page)) > 0n));
    assert.ok(pressed <= 15, `${pressed} keys`);
    console.log(`the main job took ${pressed} keys`);
  });

playgroundTest("a taint that is typed: the new row has the focus, Enter applies and leaves",
  async ({ page }) => {
    await ready(page);
    await keyboard(page).node("worker-1");
    await keyboard(page).press(page.getByTestId("add-taint"));
    await until(page, async () => assert.ok(await focused(page, '[data-testid="taint-form"] input')));
    // Among these are the letters of all shortcuts of one key.
    await page.keyboard.type("node.kubernetes.io/unreachable");
    await page.keyboard.press("Tab");
    await page.keyboard.type("exists-p+t b0 ");
    assert.equal(await now(page), 0n);
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.equal(await page.getByTestId("apply").isDisabled(), true, "that is no value");
    await page.keyboard.press("Enter");
    assert.equal(await edits(page), 0, "nothing wrong is applied");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    await page.keyboard.press("Enter");
    await page.getByTestId("apply").waitFor({ state: "detached" });
    await until(page, async () => {
      assert.equal((await pods(page))["data/report-28930120-vq7x4"], "terminating");
      assert.ok(await focused(page, '[data-node="worker-1"] > .name'), "what is applied is left");
    });
    await page.keyboard.press("n");
    await until(page, async () => assert.equal(await now(page), seconds(5)));
    await page.keyboard.press("n");
    await until(page, async () => assert.equal(await now(page), seconds(30)));
    assert.deepEqual((await log(page)).length, 2);
    await page.keyboard.press("b");
    await until(page, async () => assert.equal(await now(page), seconds(5)));
  });

playgroundTest("new rows of labels, tolerations and new nodes have the focus too",
  async ({ page }) => {
    await ready(page);
    const hand = keyboard(page);
    await hand.node("worker-1");
    await hand.tab("labels");
    await hand.press(page.getByRole("button", { name: "Add a label" }));
    await until(page, async () => {
      assert.ok(await focused(page, '[data-testid="label-form"] .items > :last-child input'));
    });
    await page.keyboard.type("example.com/tier");
    await page.keyboard.press("Tab");
    await page.keyboard.type("next");
    await page.keyboard.press("Enter");
    await until(page, async () => {
      assert.ok(await focused(page, '[data-node="worker-1"] > .name'));
    });

    await hand.pod("shop/search-0");
    await hand.tab("tolerations");
    await hand.press(page.getByTestId("add-toleration"));
    await until(page, async () => {
      assert.ok(await focused(page, '[data-toleration="2"] input'));
    });
    await page.keyboard.type("example.com/next");
    // A row that is taken away leaves the focus in the form.
    await hand.press(page.locator('[data-toleration="2"]').getByRole("button", { name: "Remove" }));
    await until(page, async () => assert.ok(await focused(page, ".inspector *")));

    await page.keyboard.press("Escape");
    await page.keyboard.press("a");
    const form = page.getByTestId("create-node");
    await form.getByLabel("Name").waitFor();
    await page.keyboard.type("worker-7");
    await hand.press(form.getByRole("button", { name: "Add a taint" }));
    await until(page, async () => {
      assert.ok(await focused(page, '[data-testid="create-node"] .items input'));
    });
    await page.keyboard.type("example.com/new");
    await page.keyboard.press("Enter");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    await until(page, async () => {
      assert.ok(await focused(page, '[data-node="worker-7"] > .name'));
    });
    assert.equal(await now(page), 0n);
  });

/** Every toggle and button of faults: where it is, and what it is called. */
const FAULTS = [
  ["taints", "unreachable"], ["taints", "not-ready"], ["taints", "out-of-service"],
  ["taints", "maintenance:NoSchedule"], ["health", "Cut network"], ["health", "Stop kubelet"],
  ["health", "Restart kubelet"], ["health", "Flap kubelet"], ["health", "Ready=False"],
  ["health", "MemoryPressure"], ["health", "DiskPressure"], ["health", "PIDPressure"],
  ["health", "NetworkUnavailable"], ["health", "Cordon"],
];

for (const [by, act] of [
  ["keyboard", async (button) => {
    await button.focus();
    await button.press("Enter");
  }],
  ["mouse", (button) => button.click()],
]) {
  playgroundTest(`after a fault by ${by} the space bar plays, and takes nothing back`,
    async ({ page }) => {
      await ready(page);
      await page.locator('[data-node="worker-2"] > .name').click();
      for (const [tab, name] of FAULTS) {
        await page.locator(`[data-tab="${tab}"]`).click();
        const before = await edits(page);
        await act(page.getByTestId("inspector").getByRole("button", { name, exact: true }));
        await until(page, async () => {
          assert.ok((await edits(page)) > before, name);
          assert.ok(await focused(page, '[data-node="worker-2"] > .name'), `${name} is left`);
        });
        const done = await edits(page);
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: "Pause" }).waitFor();
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: "Play" }).waitFor();
        assert.equal(await edits(page), done, `${name} stays`);
        await page.keyboard.press("0");
        await page.keyboard.press("ControlOrMeta+Z");
        await until(page, async () => assert.ok((await edits(page)) <= before));
      }
      await page.locator(".zonename", { hasText: "eu-1b" }).click();
      for (const name of ["Cut the zone's network", /^Taint \d nodes$/]) {
        await act(page.getByTestId("zone-panel").getByRole("button", { name }));
        await until(page, async () => {
          assert.match(await focusedWords(page), /^zone eu-1b/, "the zone has the focus");
        });
        const done = await edits(page);
        await page.keyboard.press("Space");
        await page.getByRole("button", { name: "Pause" }).waitFor();
        await page.keyboard.press("Space");
        assert.equal(await edits(page), done);
      }
    });
}

playgroundTest("arrows move over zones, nodes and pods; Enter goes into the inspector, Escape back",
  async ({ page }) => {
    await ready(page);
    await page.keyboard.press("Tab");
    assert.equal(await focusedWords(page), "Skip to the board");
    await page.keyboard.press("Enter");
    const at = (pattern) => until(page, async () => {
      assert.match(await focusedWords(page), pattern);
      await assertFocusShows(page);
    });
    await at(/^zone eu-1a, 3 nodes/);
    for (const [key, pattern] of [
      ["ArrowRight", /^zone eu-1b/], ["ArrowRight", /^zone eu-1c/], ["ArrowRight", /^zone eu-1c/],
      ["ArrowLeft", /^zone eu-1b/], ["ArrowDown", /^node worker-3, Ready, \d pods/],
      ["ArrowLeft", /^node worker-2/], ["ArrowRight", /^node worker-3/],
      ["ArrowDown", /^pod kube-system\/kube-proxy-r4tvz, stays/],
      ["ArrowRight", /^pod monitoring\/node-exporter/], ["ArrowUp", /^pod kube-system/],
      ["ArrowUp", /^node worker-3/], ["ArrowUp", /^zone eu-1b/],
      ["Home", /^zone eu-1a/], ["End", /^pod shop\//], ["Home", /^zone eu-1a/],
      ["ArrowDown", /^node control-plane-1.*taint node-role.kubernetes.io\/control-plane:NoSchedule/],
    ]) {
      await page.keyboard.press(key);
      await at(pattern);
    }
    assert.equal(await now(page), 0n, "no arrow moved the clock");

    // One stop of the tab key for the whole board.
    await page.keyboard.press("Tab");
    assert.equal(await focused(page, "[role=treeitem]"), false);
    await page.keyboard.press("Shift+Tab");
    await at(/^node control-plane-1/);
    assert.equal(await page.locator('[role=treeitem][tabindex="0"]').count(), 1);

    await page.keyboard.press("Enter");
    await at(/^control-plane-1$/);
    assert.ok(await focused(page, ".inspector h2"));
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await at(/^node control-plane-1/);
    assert.equal(await page.locator('[role=treeitem][aria-selected="true"]').count(), 1);
    await page.keyboard.press("Escape");
    await page.locator('[data-testid="inspector"][data-empty="true"]').waitFor();
    await at(/^node control-plane-1/);

    // From a field as well.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await at(/^worker-1$/);
    await keyboard(page).press(page.getByTestId("add-taint"));
    await until(page, async () => assert.ok(await focused(page, ".inspector input")));
    await page.keyboard.press("Escape");
    await at(/^node worker-1/);
  });

playgroundTest("the focus stays on the board when its pod goes, and in the inspector when it changes",
  async ({ page }) => {
    await ready(page);
    const hand = keyboard(page);
    await hand.node("worker-1");
    await hand.press(page.getByTestId("taint-form").getByRole("button", { name: "unreachable" }));
    await hand.pod("data/report-28930120-vq7x4");
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await until(page, async () => {
      assert.equal((await pods(page))["data/report-28930120-vq7x4"], "gone");
      assert.ok(await focused(page, "[role=treeitem]"), await focusedWords(page));
    });
    assert.equal(await now(page), seconds(5));

    await hand.node("worker-1");
    await hand.tab("pods");
    const row = page.getByTestId("inspector").locator('[data-pod="shop/search-0"]');
    await hand.press(row);
    await until(page, async () => {
      assert.equal(await focusedWords(page), "shop/search-0");
      assert.ok(await focused(page, ".inspector h2"));
    });
    // Closing it leads back to the board.
    await hand.press(page.getByTestId("inspector").getByRole("button", { name: "Close" }));
    await until(page, async () => {
      assert.match(await focusedWords(page), /^pod shop\/search-0/);
    });
  });

playgroundTest("what comes of an edit, a step and a line of kubectl is said", async ({ page }) => {
  await ready(page);
  const said = page.getByTestId("announcement");
  assert.equal(await said.getAttribute("aria-live"), "polite");
  await keyboard(page).node("worker-1");
  const preset = page.getByTestId("taint-form").getByRole("button", { name: "unreachable" });
  await keyboard(page).press(preset);
  await said.getByText("1 pod being deleted, 3 counting down, 2 stay", { exact: true }).waitFor();
  await page.keyboard.press("n");
  await said.getByText("report-28930120-vq7x4").waitFor();
  await page.keyboard.press("ControlOrMeta+Z");
  await said.getByText("Undone").waitFor();
  await keyboard(page).press(page.getByRole("button", { name: "Cordon" }));
  await said.getByText("cordon worker-1").waitFor();
});

playgroundTest("Back closes a dialog, and does not leave the page", async ({ page, url }) => {
  await ready(page);
  const dialog = page.getByTestId("dialog");
  for (const key of ["?", "i", "s"]) {
    await page.keyboard.press(key);
    await dialog.waitFor();
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
  }
  // Closed in another way, nothing is left behind.
  for (const key of ["?", "x"]) {
    await page.keyboard.press(key);
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  // One at once after the other.
  await page.keyboard.press("?");
  await dialog.waitFor();
  await page.evaluate(() => {
    document.querySelector("dialog [aria-label=Close]").click();
    document.querySelector("[data-testid=export]").click();
  });
  await page.getByRole("dialog", { name: "Export" }).waitFor();
  await until(page, async () => assert.equal(await page.evaluate(() => history.state), "dialog"));
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  assert.equal(page.url(), url);
  assert.equal(await page.evaluate(() => history.state), null);
});

/** A key of the help as the browser calls it. */
const called = (key) => ({
  "→": "ArrowRight", "←": "ArrowLeft", "↑": "ArrowUp", "↓": "ArrowDown", "−": "-", "Esc": "Escape",
  "Ctrl Z": "ControlOrMeta+z", "Ctrl Shift Z": "ControlOrMeta+Shift+z", "Ctrl Y": "ControlOrMeta+y",
  "Shift Enter": "Shift+Enter",
})[key] ?? (key.length === 1 ? key.toLowerCase() : key);

const opens = (title) => async (page, press) => {
  await press();
  await page.getByRole("dialog", { name: title }).waitFor();
  // Keys are the dialog's now.
  for (const key of ["ArrowRight", "Home", "n", "b"]) {
    await page.keyboard.press(key);
  }
  await page.keyboard.press("Escape");
  // The first one empties a search field into which those keys went.
  if ((await page.getByTestId("dialog").getByRole("searchbox").count()) > 0) {
    await page.keyboard.press("Escape");
  }
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  assert.equal(await now(page), 0n);
};

const clockIs = (page, time) =>
  until(page, async () => assert.equal(await now(page), seconds(time)));

/** On the board, at the node `worker-1`. */
async function atWorker(page) {
  await keyboard(page).node("worker-1");
  await page.keyboard.press("Escape");
  await until(page, async () => assert.match(await focusedWords(page), /^node worker-1/));
}

const moves = (pattern) => async (page, press) => {
  await atWorker(page);
  await press();
  await until(page, async () => assert.match(await focusedWords(page), pattern));
  assert.equal(await now(page), 0n);
};

/** Taints `worker-1`, so that something happens at 5 s. */
async function taintWorker(page) {
  await atWorker(page);
  await page.keyboard.press("Enter");
  await keyboard(page).press(page.getByRole("button", { name: "unreachable" }));
  await until(page, async () => assert.equal(await edits(page), 1));
  // From here on nothing has the focus, and arrows are the clock's.
  await page.evaluate(() => document.activeElement.blur());
}

const speed = (page) => page.getByTestId("speed").evaluate((list) => list.selectedIndex);

async function inConsole(page, line) {
  await page.keyboard.press("k");
  await until(page, async () => assert.ok(await focused(page, "[data-testid=console-line]")));
  await page.keyboard.type(line);
}

/** What each row of the help says is shown to be so, with each of its keys. */
const HELP = {
  "Everywhere but in a field": {
    "Play or pause": async (page, press) => {
      await press();
      await page.getByRole("button", { name: "Pause" }).waitFor();
      await press();
      await page.getByRole("button", { name: "Play" }).waitFor();
    },
    "Step to the next event": async (page, press) => {
      await taintWorker(page);
      await press();
      await clockIs(page, 5);
    },
    "Step back to the event before": async (page, press) => {
      await taintWorker(page);
      await page.keyboard.press("n");
      await page.keyboard.press("n");
      await clockIs(page, 30);
      await press();
      await clockIs(page, 5);
    },
    "Run until nothing more happens": async (page, press) => {
      await taintWorker(page);
      await press();
      await clockIs(page, 330);
    },
    "Back to the start": async (page, press) => {
      await taintWorker(page);
      await page.keyboard.press("n");
      await clockIs(page, 5);
      await press();
      await clockIs(page, 0);
    },
    "Faster": async (page, press) => {
      const before = await speed(page);
      await press();
      await until(page, async () => assert.equal(await speed(page), before + 1));
    },
    "Slower": async (page, press) => {
      const before = await speed(page);
      await press();
      await until(page, async () => assert.equal(await speed(page), before - 1));
    },
    "Undo": async (page, press) => {
      await taintWorker(page);
      await press();
      await until(page, async () => assert.equal(await edits(page), 0));
    },
    "Redo": async (page, press) => {
      await taintWorker(page);
      await page.keyboard.press("ControlOrMeta+z");
      await until(page, async () => assert.equal(await edits(page), 0));
      await press();
      await until(page, async () => assert.equal(await edits(page), 1));
    },
    "Import (or paste a manifest anywhere)": opens("Import"),
    "Export": opens("Export"),
    "Scenarios": opens("Scenarios"),
    "Create a node": opens("Create a node"),
    "Create a pod": opens("Create a pod"),
    "Warnings": opens("Warnings"),
    "kubectl": async (page, press) => {
      await press();
      await until(page, async () => assert.ok(await focused(page, "[data-testid=console-line]")));
    },
    "Light, dark or as the system": async (page, press) => {
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme ?? "auto");
      for (const expected of ["light", "dark", "auto"]) {
        await press();
        await until(page, async () => assert.equal(await theme(), expected));
      }
    },
    "To the board; from there, close the inspector": async (page, press) => {
      await page.getByTestId("help").focus();
      await press();
      await until(page, async () => assert.ok(await focused(page, "[role=treeitem]")));
      await page.keyboard.press("Enter");
      await page.getByTestId("zone-panel").waitFor();
      await press();
      await until(page, async () => assert.ok(await focused(page, "[role=treeitem]")));
      await press();
      await page.locator('[data-testid="inspector"][data-empty="true"]').waitFor();
    },
    "This help": opens("Help"),
  },
  "On the board": {
    "The next zone, node or pod": moves(/^node worker-2/),
    "The zone, node or pod before": moves(/^node control-plane-1/),
    "What is drawn below: from a zone to its nodes, from a node to its pods": moves(/^pod data/),
    "What is drawn above": moves(/^pod kube-system\/kube-proxy/),
    "The first zone": moves(/^zone eu-1a/),
    "The last of all": moves(/^pod /),
    "Select it and go into the inspector": moves(/^worker-1$/),
  },
  "In the inspector": {
    "Another tab, on the tabs": async (page, press, key) => {
      await keyboard(page).node("worker-1");
      await keyboard(page).tab("health");
      await press();
      const shown = { "←": "taints", "→": "resources", "Home": "taints", "End": "yaml" }[key];
      await page.locator(`[data-tab="${shown}"][aria-selected="true"]:focus`).waitFor();
      assert.equal(await now(page), 0n);
    },
    "Apply what is typed, and go back to the board": async (page, press) => {
      await keyboard(page).node("worker-1");
      await keyboard(page).press(page.getByTestId("add-taint"));
      await page.keyboard.type("example.com/new");
      await press();
      await until(page, async () => assert.match(await focusedWords(page), /^node worker-1/));
      assert.equal(await edits(page), 1);
    },
    "Back to the board, with nothing applied": async (page, press) => {
      await keyboard(page).node("worker-1");
      await keyboard(page).press(page.getByTestId("add-taint"));
      await page.keyboard.type("example.com/new");
      await press();
      await until(page, async () => assert.match(await focusedWords(page), /^node worker-1/));
      assert.equal(await edits(page), 0);
    },
  },
  "In the kubectl console": {
    "Run the line": async (page, press) => {
      await inConsole(page, "kubectl get nodes");
      await press();
      await page.getByTestId("output").waitFor();
    },
    "Complete the word": async (page, press) => {
      await inConsole(page, "kubectl get nod");
      await press();
      await until(page, async () =>
        assert.match(await page.getByTestId("console-line").inputValue(), /^kubectl get nodes?/));
    },
    "Earlier and later lines": async (page, press, key) => {
      await inConsole(page, "kubectl get nodes");
      await page.keyboard.press("Enter");
      await page.getByTestId("output").waitFor();
      const line = page.getByTestId("console-line");
      if (key === "↓") {
        await page.keyboard.press("ArrowUp");
        await until(page, async () => assert.equal(await line.inputValue(), "kubectl get nodes"));
      }
      await press();
      const expected = key === "↓" ? "" : "kubectl get nodes";
      await until(page, async () => assert.equal(await line.inputValue(), expected));
    },
    "Begin another line": async (page, press) => {
      await inConsole(page, "kubectl get nodes");
      await press();
      assert.equal(await page.getByTestId("console-line").inputValue(), "kubectl get nodes\n");
    },
    "Close the console": async (page, press) => {
      await inConsole(page, "");
      await press();
      await page.getByTestId("console-line").waitFor({ state: "detached" });
    },
  },
  "In a dialog": {
    "Close it, as the browser’s Back does": async (page, press) => {
      await page.keyboard.press("x");
      await page.getByTestId("dialog").waitFor();
      await press();
      await page.getByTestId("dialog").waitFor({ state: "detached" });
    },
  },
};

/** The rows of the help: `[place, [meaning, keys][]][]`. */
async function helpRows(page) {
  await page.keyboard.press("?");
  const rows = await page.getByTestId("dialog").locator("dl.keys").evaluateAll((lists) =>
    lists.map((list) => {
      const texts = (parent, part) => [...parent.querySelectorAll(part)].map((it) => it.textContent);
      const keys = [...list.querySelectorAll("dt")].map((dt) => texts(dt, "kbd"));
      const meanings = texts(list, "dd");
      return [list.previousElementSibling.textContent, meanings.map((it, i) => [it, keys[i]])];
    }));
  await page.keyboard.press("Escape");
  return rows;
}

playgroundTest("the help has the rows that are tested here, and no other", async ({ page }) => {
  await ready(page);
  const rows = await helpRows(page);
  assert.deepEqual(
    rows.map(([place, meanings]) => [place, meanings.map(([meaning]) => meaning)]),
    Object.entries(HELP).map(([place, meanings]) => [place, Object.keys(meanings)]),
  );
});

for (const [place, meanings] of Object.entries(HELP)) {
  playgroundTest(`every key of the help does what it says: ${place.toLowerCase()}`,
    async ({ page, url }) => {
      await ready(page);
      const rows = new Map((await helpRows(page)).find(([found]) => found === place)[1]);
      for (const [meaning, check] of Object.entries(meanings)) {
        for (const key of rows.get(meaning)) {
          const context = await page.context().browser().newContext();
          const own = await context.newPage();
          try {
            await own.goto(url);
            await ready(own);
            await check(own, () => own.keyboard.press(called(key)), key);
          } catch (error) {
            throw new Error(`${key}: ${meaning}: ${error.message}`, { cause: error });
          } finally {
            await context.close();
          }
        }
      }
    });
}

playgroundTest("letters are no shortcuts in fields and lists, nor with Ctrl, Alt or Shift",
  async ({ page }) => {
    await ready(page);
    const letters = "nbe0+-ixsapwkt?";
    for (const field of [page.getByLabel("Filter events"), page.getByTestId("release")]) {
      await field.focus();
      await page.keyboard.type(letters.replaceAll(/[0-9]/g, ""));
      assert.equal(await page.getByRole("dialog").count(), 0);
      assert.equal(await page.getByTestId("console-line").count(), 0);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), undefined);
    }
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Escape");
    for (const modifier of ["Alt", "Shift"]) {
      for (const letter of "ixsapkt") {
        await page.keyboard.press(`${modifier}+${letter}`);
      }
    }
    await page.keyboard.press("Control+i");
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.equal(await page.getByTestId("console-line").count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), undefined);
    assert.equal(await now(page), 0n);
  });

playgroundTest("a dialog keeps the focus, and gives it back", async ({ page }) => {
  await ready(page);
  for (const [opener, title] of [
    ["scenarios", "Scenarios"], ["import", "Import"], ["export", "Export"], ["help", "Help"],
  ]) {
    for (const close of ["Escape", "the button"]) {
      await tabTo(page, `[data-testid="${opener}"]`);
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: title }).waitFor();
      // Beyond its beginning, and from there on.
      for (const key of [...Array(4).fill("Shift+Tab"), ...Array(8).fill("Tab")]) {
        const inside = await page.evaluate(() => {
          const { activeElement, body } = document;
          // The browser's own buttons come after the last one of the dialog.
          return activeElement === body || activeElement.closest("dialog") !== null;
        });
        assert.ok(inside, `${title}: the focus is inside before ${key}`);
        await page.keyboard.press(key);
      }
      if (close === "Escape") {
        await page.keyboard.press("Escape");
      } else {
        await tabTo(page, 'dialog [aria-label="Close"]');
        await page.keyboard.press("Enter");
      }
      await page.getByTestId("dialog").waitFor({ state: "detached" });
      await until(page, async () => {
        assert.ok(await focused(page, `[data-testid="${opener}"]`), `${title}, ${close}`);
      });
      await page.evaluate(() => document.activeElement.blur());
    }
  }
});

playgroundTest("a scenario is chosen and run by keyboard", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("s");
  await page.getByRole("dialog", { name: "Scenarios" }).waitFor();
  await tabTo(page, '[data-scenario="two-taints-one-removed-1.18"]');
  await page.keyboard.press("Enter");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("e");
  await until(page, async () => {
    assert.deepEqual(await pods(page), { "default/cache-0": "gone" });
  });
});

playgroundTest("the slider and the tabs of the inspector take arrow keys or Tab", async ({ page }) => {
  await ready(page);
  await tabTo(page, '[data-testid="scrub"]');
  await page.keyboard.press("End");
  await until(page, async () => assert.equal(await now(page), seconds(60)));
  await page.keyboard.press("ArrowLeft");
  await until(page, async () => assert.ok((await now(page)) < seconds(60)));

  await page.evaluate(() => document.activeElement.blur());
  await keyboard(page).node("worker-2");
  await tabTo(page, '[data-tab="taints"]');
  for (const tab of ["health", "resources", "pods", "labels", "yaml", "taints"]) {
    await page.keyboard.press("ArrowRight");
    await page.locator(`[data-tab="${tab}"][aria-selected="true"]:focus`).waitFor();
  }
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.locator('[data-testid="inspector"][data-empty="true"]').waitFor();
});
