// Elements in few words.

type Attributes = Record<string, string | number | boolean | undefined | EventListener>;

/** Gives an element its attributes; what begins with `on` is a listener. */
function fill<E extends Element>(
  element: E,
  attributes: Attributes,
  children: (Node | string)[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children);
  return element;
}

export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[T] {
  return fill(document.createElement(tag), attributes, children);
}

export function s<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[T] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A sentence in which what stands in backticks is code. */
export function prose(text: string): (Node | string)[] {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, index) => (index % 2 ? h("code", {}, part) : part));
}
