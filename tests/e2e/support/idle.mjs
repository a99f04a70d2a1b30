// The page answers in a moment, and not at once: its session is in a worker. Whatever a test does,
// a user would see the answer before doing more.

/** Pages on which a test does not wait for answers. */
const impatient = new WeakSet();

/** The longest wait for an answer, in milliseconds; what comes later is for the test to wait for. */
const PATIENCE = 20_000;

/** Waits until the page has answered all that was done on it. */
export async function idle(page) {
  if (impatient.has(page) || page.isClosed()) {
    return;
  }
  const answered = () => !document.querySelector("[data-testid=page][data-busy]");
  try {
    // Not by frames, which a tab in the background has none of.
    await page.waitForFunction(answered, null, { polling: 15, timeout: PATIENCE });
  } catch {
    // It was left, or takes longer.
  }
}

/** Does something on a page without waiting for answers. */
export async function atOnce(page, work) {
  impatient.add(page);
  try {
    return await work();
  } finally {
    impatient.delete(page);
  }
}

const ACTIONS = {
  locator: [
    "blur",
    "check",
    "click",
    "dblclick",
    "dispatchEvent",
    "dragTo",
    "fill",
    "focus",
    "hover",
    "press",
    "pressSequentially",
    "selectOption",
    "setChecked",
    "setInputFiles",
    "tap",
    "uncheck",
  ],
  keyboard: ["down", "insertText", "press", "type", "up"],
  mouse: ["click", "dblclick", "down", "move", "up", "wheel"],
};

/** Lets actions of these names end when the page has answered them. */
function patch(thing, names, pageOf) {
  for (const name of names) {
    const action = thing[name];
    thing[name] = async function (...args) {
      const result = await action.apply(this, args);
      await idle(pageOf(this));
      return result;
    };
  }
}

/** All locators are of one kind. */
let locatorsWait = false;

/** From now on each action on a page ends when the page has answered it. */
export function waitForAnswers(page) {
  if (!locatorsWait) {
    const locators = Object.getPrototypeOf(page.locator("body"));
    patch(locators, ACTIONS.locator, (locator) => locator.page());
    locatorsWait = true;
  }
  patch(page.keyboard, ACTIONS.keyboard, () => page);
  patch(page.mouse, ACTIONS.mouse, () => page);
}
