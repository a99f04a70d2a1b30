// For those who load the wasm themselves.
// @exports ./glue.js
export { default, initSync } from "./glue.js";
