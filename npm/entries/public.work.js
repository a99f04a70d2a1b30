// The module of wasm-bindgen with the boundary around what it exports.
import * as raw from "./taintlab.js";
import { guarded, guardedClass, resetting } from "./boundary.js";
export { initSync, default } from "./taintlab.js";
