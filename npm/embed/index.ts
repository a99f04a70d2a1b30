// `taintlab/embed`: defines the element `<taint-lab>`. The engine is the package itself, which a
// bundler keeps in a file of its own until the first edit.

import { TaintLab, define } from "./element.js";
import { setLoader } from "./engine.js";

setLoader(() => import("taintlab"));
define();

export type { EditDetail, TaintLabEventMap, View } from "./element.js";
export type { Engine } from "./engine.js";
export type * from "./recording.js";
export { TaintLab };

/** The attributes of the element in JSX. */
export interface TaintLabAttributes {
  scenario?: string;
  src?: string;
  release?: string;
  "start-at"?: string;
  until?: string;
  speed?: number | string;
  select?: string;
  view?: "lanes" | "log" | "budget";
  controls?: "all" | "none";
  editable?: boolean | "" | "false";
  loading?: "lazy" | "eager";
  theme?: "auto" | "light" | "dark";
  compare?: string;
  playground?: string;
  id?: string;
  class?: string;
  className?: string;
  slot?: string;
  hidden?: boolean;
  children?: unknown;
  ref?: unknown;
  key?: string | number | null;
  dangerouslySetInnerHTML?: { __html: string };
}

declare global {
  interface HTMLElementTagNameMap {
    "taint-lab": TaintLab;
  }
  namespace JSX {
    interface IntrinsicElements {
      "taint-lab": TaintLabAttributes;
    }
  }
}
