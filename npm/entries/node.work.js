// For Node, which reads the wasm from the file beside this one; written as one CommonJS file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { initSync } from "./glue.js";
// @exports ./glue.js
initSync({ module: readFileSync(join(__dirname, "taintlab_bg.wasm")) });
