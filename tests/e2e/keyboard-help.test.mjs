// The keys that the help lists do what it says, and others do nothing.

import assert from "node:assert/strict";

import { afresh, playgroundTest } from "./support/browser.mjs";
import { edits, focused, focusedWords } from "./support/focus.mjs";
import { keyboard, typeInto } from "./support/hands.mjs";
import { loadScenario, now, ready, seconds, showView, until } from "./support/page.mjs";

/** A key of the help as the browser calls it. */
const called = (key) =>
  ({
    "→": "ArrowRight",
    "←": "ArrowLeft",
    "↑": "ArrowUp",
    "↓": "ArrowDown",
    "−": "-",
    Esc: "Escape",
    "Ctrl Z": "ControlOrMeta+z",
    "Ctrl Shift Z": "ControlOrMeta+Shift+z",
    "Ctrl Y": "ControlOrMeta+y",
    "Ctrl Shift P": "ControlOrMeta+Shift+p",
    "Shift Enter": "Shift+Enter",
    "Shift ←": "Shift+ArrowLeft",
    "Shift →": "Shift+ArrowRight",
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

/** Types a new taint of `worker-1`, which is not applied yet. */
async function typeTaint(page) {
  await keyboard(page).node("worker-1");
  await keyboard(page).press(page.getByTestId("add-taint"));
  await page.getByTestId("inspector").locator("input:focus").waitFor();
  await page.keyboard.type("example.com/new");
}

async function inConsole(page, line) {
  await page.keyboard.press("k");
  await typeInto(page, page.getByTestId("console-line"), line);
}

async function tellStory(page) {
  await loadScenario(page, "why-345-seconds");
  await page.keyboard.press("o");
  await page.getByTestId("story").waitFor();
}

/** Opens a dialog, which Escape closes. */
const opensOver = (title) => async (page, press) => {
  await press();
  await page.getByRole("dialog", { name: title }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
};

/** On the lanes of a run that has ended, at the second row. */
async function atLanes(page) {
  await taintWorker(page);
  await page.keyboard.press("e");
  await clockIs(page, 330);
  await page.keyboard.press("l");
  const rows = page.getByTestId("lanes-rows");
  await rows.locator(".lbar").first().waitFor();
  await rows.focus();
  const row = () =>
    rows.evaluate((grid) => Number(grid.getAttribute("aria-activedescendant").split("-")[1]));
  await page.keyboard.press("ArrowDown");
  await until(page, async () => assert.equal(await row(), 1));
  const last = () => page.getByTestId("lanes-axis").locator(".lscale > span").last().textContent();
  return { row, last };
}

const toRow = (wanted) => async (page, press) => {
  const { row } = await atLanes(page);
  await press();
  await until(page, async () => assert.ok(wanted(await row()), String(await row())));
};

const zooms = async (page, press) => {
  const { last } = await atLanes(page);
  const before = await last();
  await press();
  await until(page, async () => assert.notEqual(await last(), before));
};

const pans = async (page, press) => {
  await atLanes(page);
  await page.keyboard.press("+");
  const first = () =>
    page.getByTestId("lanes-axis").locator(".lscale > span").first().getAttribute("style");
  const before = await first();
  await press();
  await until(page, async () => assert.notEqual(await first(), before));
};

/** Goes down to a row that changed, and looks at its change before. */
async function atChange(page, press) {
  await atLanes(page);
  for (let row = 0; row < 20; row += 1) {
    await press();
    await page.evaluate(() => new Promise((next) => requestAnimationFrame(next)));
    if ((await page.locator('.app[data-peek="true"]').count()) > 0) return;
    await page.keyboard.press("ArrowDown");
  }
  assert.fail("no row has changed");
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
    "Step back to the previous event": async (page, press) => {
      await taintWorker(page);
      await page.keyboard.press("n");
      await page.keyboard.press("n");
      await clockIs(page, 30);
      await press();
      await clockIs(page, 5);
    },
    "Previous event of the selection": async (page, press) => {
      await taintWorker(page);
      await page.locator('[data-node="worker-1"] > .name').click();
      await page.keyboard.press("e");
      await clockIs(page, 330);
      await press();
      await until(page, async () => assert.ok((await now(page)) < seconds(330)));
    },
    "Next event of the selection": async (page, press) => {
      await taintWorker(page);
      await page
        .locator('[data-pod="kube-system/kube-proxy-2"], [data-node="worker-1"] [data-pod]')
        .last()
        .click();
      const selected = page.locator('[data-pod][data-selected="true"][data-state="counting"]');
      if ((await selected.count()) === 0) {
        await page.locator('[data-pod][data-state="counting"]').first().click();
      }
      await press();
      await until(page, async () => assert.ok((await now(page)) > 0n));
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
    Faster: async (page, press) => {
      const before = await speed(page);
      await press();
      await until(page, async () => assert.equal(await speed(page), before + 1));
    },
    Slower: async (page, press) => {
      const before = await speed(page);
      await press();
      await until(page, async () => assert.equal(await speed(page), before - 1));
    },
    Undo: async (page, press) => {
      await taintWorker(page);
      await press();
      await until(page, async () => assert.equal(await edits(page), 0));
    },
    Redo: async (page, press) => {
      await taintWorker(page);
      await page.keyboard.press("ControlOrMeta+z");
      await until(page, async () => assert.equal(await edits(page), 0));
      await press();
      await until(page, async () => assert.equal(await edits(page), 1));
    },
    "Import (or paste a manifest anywhere)": opens("Import"),
    Export: opens("Export"),
    Scenarios: opens("Scenarios"),
    "Create a node": opens("Create a node"),
    "Create a pod": opens("Create a pod"),
    Warnings: opens("Warnings"),
    "Lanes; again: fill the window, or not": async (page, press) => {
      await press();
      await page.locator('[data-testid="pane"][data-room="full"]').waitFor();
      await press();
      await page.locator('[data-testid="pane"][data-room="part"]').waitFor();
    },
    Workloads: async (page, press) => {
      await press();
      await page.getByTestId("workloads").getByText("No controller replaces pods").waitFor();
    },
    "Event log": async (page, press) => {
      await press();
      await page.getByTestId("log").locator(".columns").waitFor();
    },
    "Fit everything on the lanes": async (page, press) => {
      const { last } = await atLanes(page);
      const before = await last();
      await page.keyboard.press("+");
      await until(page, async () => assert.notEqual(await last(), before));
      await press();
      await until(page, async () => assert.equal(await last(), before));
    },
    "Run until a condition is met, or back to it": opensOver("Run until, or back to"),
    "Branches: fork here, switch": opensOver("Branches"),
    "Compare with a branch, a release or other flags": opensOver("Compare"),
    "Report: which failure hurts most, and what would help": opensOver("Resilience report"),
    kubectl: async (page, press) => {
      await press();
      await until(page, async () => assert.ok(await focused(page, "[data-testid=console-line]")));
    },
    "Share a link": opens("Share"),
    "Bookmarks: note this moment": opens("Bookmarks"),
    "Tell the bookmarks as a story": async (page, press) => {
      await loadScenario(page, "why-345-seconds");
      await press();
      await page.getByTestId("story").waitFor();
      await clockIs(page, 3);
    },
    "All commands, also from a field": opens("Commands"),
    "Board: cards, rows or cells": async (page, press) => {
      const detail = () => page.getByTestId("board").getAttribute("data-detail");
      for (const expected of ["full", "rows", "cells"]) {
        await press();
        await until(page, async () => assert.equal(await detail(), expected));
      }
    },
    "Find a node or a pod": async (page, press) => {
      await press();
      await page.locator("[data-testid=find]:focus").waitFor();
    },
    "Theme: light, dark, system": async (page, press) => {
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
  "On the lanes": {
    "The row above": toRow((row) => row === 0),
    "The row below": toRow((row) => row === 2),
    "A page up": toRow((row) => row === 0),
    "A page down": toRow((row) => row > 5),
    "The first row": toRow((row) => row === 0),
    "The last row": toRow((row) => row > 5),
    "Look at its change before": async (page, press) => {
      await atChange(page, press);
      await until(page, async () => assert.ok((await now(page)) < seconds(330)));
    },
    "Look at its next change": async (page, press) => {
      await atChange(page, () => page.keyboard.press("ArrowLeft"));
      const before = await now(page);
      await page.keyboard.press("ArrowLeft");
      await until(page, async () => assert.ok((await now(page)) <= before));
      const earlier = await now(page);
      await press();
      await until(page, async () => assert.ok((await now(page)) >= earlier));
    },
    "Select it and go to the moment that is shown": async (page, press) => {
      await atChange(page, () => page.keyboard.press("ArrowLeft"));
      const shown = await now(page);
      await press();
      await page.locator('.app:not([data-peek="true"])').waitFor();
      assert.equal(await now(page), shown);
    },
    "A shorter time": zooms,
    "A longer time": zooms,
    "An earlier time": pans,
    "A later time": pans,
    "Keep the row at the top, or no longer": async (page, press) => {
      await atLanes(page);
      await press();
      await page.getByTestId("lanes-rows").locator(".lpins [role=row]").waitFor();
    },
    "Begin an area here": async (page, press) => {
      await atLanes(page);
      await press();
      await page.keyboard.press("]");
      await page.getByTestId("lanes-area").waitFor();
    },
    "End the area here": async (page, press) => {
      await atLanes(page);
      await page.keyboard.press("[");
      await press();
      await page.getByTestId("lanes-area").waitFor();
    },
  },
  "While a story is told": {
    "The next bookmark": async (page, press) => {
      await tellStory(page);
      await press();
      await clockIs(page, 41);
    },
    "The bookmark before": async (page, press) => {
      await tellStory(page);
      await page.getByTestId("story-next").click();
      await clockIs(page, 41);
      await press();
      await clockIs(page, 3);
    },
    "End the story": async (page, press) => {
      await tellStory(page);
      await press();
      await page.getByTestId("story").waitFor({ state: "detached" });
    },
  },
  "In the inspector": {
    "Another tab, on the tabs": async (page, press, key) => {
      await keyboard(page).node("worker-1");
      await keyboard(page).tab("health");
      await press();
      const shown = { "←": "taints", "→": "resources", Home: "taints", End: "yaml" }[key];
      await page.locator(`[data-tab="${shown}"][aria-selected="true"]:focus`).waitFor();
      assert.equal(await now(page), 0n);
    },
    "Apply what is typed, and go back to the board": async (page, press) => {
      await typeTaint(page);
      await press();
      await until(page, async () => assert.match(await focusedWords(page), /^node worker-1/));
      await until(page, async () => assert.equal(await edits(page), 1));
    },
    "Back to the board, with nothing applied": async (page, press) => {
      await typeTaint(page);
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
        assert.match(await page.getByTestId("console-line").inputValue(), /^kubectl get nodes?/),
      );
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
    "Back to the tab before": async (page, press) => {
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
  const rows = await page
    .getByTestId("dialog")
    .locator("dl.keys")
    .evaluateAll((lists) =>
      lists.map((list) => {
        const texts = (parent, part) =>
          [...parent.querySelectorAll(part)].map((it) => it.textContent);
        const keys = [...list.querySelectorAll("dt")].map((dt) => texts(dt, "kbd"));
        const meanings = texts(list, "dd");
        return [list.previousElementSibling.textContent, meanings.map((it, i) => [it, keys[i]])];
      }),
    );
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
  playgroundTest(
    `every key of the help does what it says: ${place.toLowerCase()}`,
    async ({ page, url }) => {
      await ready(page);
      const rows = new Map((await helpRows(page)).find(([found]) => found === place)[1]);
      for (const [meaning, check] of Object.entries(meanings)) {
        for (const key of rows.get(meaning)) {
          await afresh(page, url);
          await ready(page);
          try {
            await check(page, () => page.keyboard.press(called(key)), key);
          } catch (error) {
            throw new Error(`${key}: ${meaning}: ${error.message}`, { cause: error });
          }
        }
      }
    },
  );
}

playgroundTest(
  "letters are no shortcuts in fields and lists, nor with Ctrl, Alt or Shift",
  async ({ page }) => {
    await ready(page);
    await showView(page, "events");
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
  },
);
