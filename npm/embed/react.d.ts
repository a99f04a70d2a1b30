// `import "taintlab/embed/react"`: the element in the JSX of React 18 and newer. Types only.

import type { TaintLabAttributes } from "./index.js";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "taint-lab": TaintLabAttributes;
    }
  }
}
