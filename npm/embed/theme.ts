// Whether a site is dark.

/** What sites say about their theme, on html or body: a class, or one of these attributes. */
const ATTRIBUTES = [
  "class",
  "data-theme",
  "data-bs-theme",
  "data-color-mode",
  "data-md-color-scheme",
];
const DARK = /^(dark|slate|night|coal|navy|ayu)$|(^|[-_])dark$/;
const LIGHT = /^(light|default|rust)$|(^|[-_])light$/;

/** Whether an element should be dark: by its own `theme`, by what the site says, else by the page's
 * text, which follows the system where the page does. */
export function isDark(element: Element): boolean {
  const own = element.getAttribute("theme");
  if (own === "dark" || own === "light") return own === "dark";
  for (const root of [document.documentElement, document.body]) {
    const words = ATTRIBUTES.flatMap((name) => root?.getAttribute(name)?.split(/\s+/) ?? []);
    if (words.some((word) => DARK.test(word))) return true;
    if (words.some((word) => LIGHT.test(word))) return false;
  }
  const numbers =
    getComputedStyle(element)
      .color.match(/[\d.]+/g)
      ?.map(Number) ?? [];
  const [red = 0, green = 0, blue = 0] = numbers;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140;
}

/** Calls when the theme of the site may have changed. */
export function watchTheme(changed: () => void, signal: AbortSignal): void {
  const observer = new MutationObserver(changed);
  for (const root of [document.documentElement, document.body]) {
    if (root) observer.observe(root, { attributeFilter: ATTRIBUTES });
  }
  signal.addEventListener("abort", () => observer.disconnect());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed, { signal });
}
