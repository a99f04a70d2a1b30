// For edge runtimes, which compile wasm when it is imported with this ending.
import module from "./taintlab_bg.wasm?module";
import { initSync } from "./glue.js";
// @exports ./glue.js
initSync({ module });
