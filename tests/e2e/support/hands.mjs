// The three ways to use the page: by mouse, by keyboard alone, and by touch.

import assert from "node:assert/strict";

import { until } from "./page.mjs";

/** More stops than the page has with a small cluster. */
const MOST = 200;

/**
 * @typedef {object} Hand what a user does, in one of these ways
 * @property {string} name
 * @property {(name: string) => Promise<void>} zone selects a zone
 * @property {(name: string) => Promise<void>} node selects a node
 * @property {(key: string) => Promise<void>} pod selects a pod, `namespace/name`
 * @property {(control: import("playwright-core").Locator) => Promise<void>} press a control
 * @property {(entry: import("playwright-core").Locator) => Promise<void>} pick an entry of a list
 * @property {(name: string) => Promise<void>} tab shows a tab of the inspector
 * @property {(list: import("playwright-core").Locator, value: string) => Promise<void>} choose
 * @property {(field: import("playwright-core").Locator) => Promise<void>} enter a field
 */

const board = (page) => page.getByTestId("board");

const items = {
  zone: (page, name) => board(page).locator(".zonename", { hasText: new RegExp(`^${name}$`) }),
  node: (page, name) => board(page).locator(`[data-node="${name}"] > .name`),
  pod: (page, key) => board(page).locator(`[data-pod="${key}"]`),
};

const inspects = (page, name) =>
  page.getByTestId("inspector").getByRole("heading", { name, level: 2 }).waitFor();

/** A hand that points at what it means. */
function pointing(page, name, press) {
  const select = (kind) => async (name) => {
    await press(items[kind](page, name));
    await inspects(page, name.split("/").at(-1));
  };
  return {
    name,
    zone: select("zone"),
    node: select("node"),
    pod: select("pod"),
    press,
    pick: press,
    tab: (name) => press(page.getByTestId("inspector").locator(`[data-tab="${name}"]`)),
    choose: (list, value) => list.selectOption(value),
    enter: press,
  };
}

/** @returns {Hand} */
export const mouse = (page) => pointing(page, "mouse", (control) => control.click());

/** Of a page with this context. @returns {Hand} */
export const touch = (page) => pointing(page, "touch", (control) => control.tap());
touch.context = { hasTouch: true, viewport: { width: 1024, height: 768 } };

/** Whether an element has the focus. */
export const hasFocus = (locator) =>
  locator.evaluate((element) => element === document.activeElement);

/** Types a text once a field has the focus. */
export async function typeInto(page, field, text) {
  await until(page, async () => assert.ok(await hasFocus(field), `the focus is in ${field}`));
  await page.keyboard.type(text);
}

/** Presses a key until an element has the focus. */
async function untilFocused(page, key, locator) {
  for (let pressed = 0; pressed < MOST; pressed += 1) {
    if (await hasFocus(locator)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`${key} never reaches ${locator}`);
}

/** Leaves whatever has the focus for the board. */
async function toBoard(page) {
  const there = () => page.evaluate(() => document.activeElement.matches("[role=treeitem]"));
  if (!(await there())) {
    await page.keyboard.press("Escape");
  }
  // A dialog that was just closed gives the focus back first.
  if (!(await there())) {
    await page.keyboard.press("Escape");
  }
  await until(page, async () => assert.ok(await there(), "the focus is on the board"));
}

/** @returns {Hand} */
export function keyboard(page) {
  const reach = async (kind, name) => {
    const item = items[kind](page, name);
    await toBoard(page);
    await page.keyboard.press("Home");
    if (kind === "zone") {
      await untilFocused(page, "ArrowRight", item);
    } else if (kind === "node") {
      await page.keyboard.press("ArrowDown");
      await untilFocused(page, "ArrowRight", item);
    } else {
      await page.keyboard.press("ArrowDown");
      const card = item.locator("xpath=ancestor::*[@data-node]").locator("> .name");
      await untilFocused(page, "ArrowRight", card);
      await untilFocused(page, "ArrowDown", item);
    }
  };
  const select = (kind) => async (name) => {
    await reach(kind, name);
    await page.keyboard.press("Enter");
    await inspects(page, name.split("/").at(-1));
  };
  return {
    name: "keyboard",
    zone: select("zone"),
    node: select("node"),
    pod: select("pod"),
    async press(control) {
      // Tabs, and the rows of the log, are one stop each: the arrow keys lead on from there.
      const group = await control.evaluate((element) => {
        if (element.closest("[role=tablist]")) return "tabs";
        return element.closest("[data-testid=log] .rows") ? "rows" : undefined;
      });
      if (group === "tabs") {
        const stop = control.locator("xpath=..").locator('[role="tab"][tabindex="0"]');
        await untilFocused(page, "Tab", stop);
        await untilFocused(page, "ArrowRight", control);
      } else if (group === "rows") {
        const rows = page.getByTestId("log").locator(".rows");
        await untilFocused(page, "Tab", rows.locator('.ev[tabindex="0"]'));
        await page.keyboard.press("Home");
        await untilFocused(page, "ArrowDown", control);
      } else {
        await untilFocused(page, "Tab", control);
      }
      await page.keyboard.press("Enter");
    },
    async pick(entry) {
      await untilFocused(page, "ArrowDown", entry);
      await page.keyboard.press("Enter");
    },
    async tab(name) {
      const tabs = page.getByTestId("inspector").getByRole("tablist");
      await untilFocused(page, "Tab", tabs.locator('[aria-selected="true"]'));
      await untilFocused(page, "ArrowRight", tabs.locator(`[data-tab="${name}"]`));
    },
    async choose(list, value) {
      await untilFocused(page, "Tab", list);
      // As the browser has it: letters choose what begins with them.
      await page.keyboard.type(value);
      await until(page, async () => assert.equal(await list.inputValue(), value));
    },
    enter: (field) => untilFocused(page, "Tab", field),
  };
}
