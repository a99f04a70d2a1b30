// For environments that compile wasm when it is imported.
import module from "./taintlab_bg.wasm";
import { initSync } from "./glue.js";
// @exports ./glue.js
initSync({ module });
