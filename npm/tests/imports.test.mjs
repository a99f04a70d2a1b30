// What the wasm imports: nothing of it can run code of a caller, or throw, without being caught.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { install } from "./support.mjs";

let folder;
before(async () => {
  folder = join(await install(), "node_modules/taintlab");
});

/** What may be imported uncaught, and why it can neither run code of a caller nor throw. */
const HARMLESS = {
  // They say what type a value has, by `typeof` or `===`.
  __wbg___wbindgen_boolean_get: /typeof/,
  __wbg___wbindgen_is_function: /typeof/,
  __wbg___wbindgen_is_null: /=== ?null/,
  __wbg___wbindgen_is_object: /typeof/,
  __wbg___wbindgen_is_string: /typeof/,
  __wbg___wbindgen_is_undefined: /=== ?(undefined|void 0)/,
  __wbg___wbindgen_number_get: /typeof/,
  // It copies what `typeof` says is a string.
  __wbg___wbindgen_string_get: /typeof/,
  // An element of an array that boundary.js has made.
  __wbg_get: /return [^;()]*\[[^;()]*\]/,
  __wbg_length: /\.length/,
  // Something empty; an error, out of a text of the module's own.
  __wbg_new: /new (Array|Object|Map|TypeError|Uint8Array)/,
  __wbg_Error: /Error\(/,
  // What serde-wasm-bindgen makes, by `own` of boundary.js (and a Map, which nobody asks for).
  __wbg_set: /\bown\(|return arg0\.set\(/,
  // What it reads: only the copies of `plain` in values.js, which have no getters, and no
  // iterators but those of arrays; and what it says of them.
  __wbg_String: /String\(/,
  __wbg___wbindgen_bigint_get_as_i64: /typeof/,
  __wbg___wbindgen_debug_string: /debugString\(/,
  __wbg___wbindgen_in: / in /,
  __wbg___wbindgen_is_bigint: /typeof/,
  __wbg___wbindgen_jsval_eq: /===/,
  __wbg___wbindgen_jsval_loose_eq: /==/,
  __wbg_done: /\.done/,
  __wbg_entries: /Object\.entries\(/,
  __wbg_get_unchecked: /return [^;()]*\[[^;()]*\]/,
  __wbg_instanceof_ArrayBuffer: /catch/,
  __wbg_instanceof_Map: /catch/,
  __wbg_instanceof_Uint8Array: /catch/,
  __wbg_isArray: /Array\.isArray\(/,
  __wbg_next: /\.next/,
  __wbg_isSafeInteger: /Number\.isSafeInteger\(/,
  __wbg_iterator: /Symbol\.iterator/,
  __wbg_prototypesetcall: /Uint8Array\.prototype\.set\.call\(/,
  __wbg_value: /\.value/,
  // What the module throws: by a panic, and by what `guarded` keeps from coming about.
  __wbg___wbindgen_throw: /throw new Error/,
  __wbg___wbindgen_rethrow: /throw/,
  // What the module is loaded with.
  __wbg___wbindgen_exports: /return/,
  __wbg___wbindgen_reinit: /=/,
  // A text or a number of the module as a value.
  __wbindgen_generic: /return/,
  __wbindgen_init_externref_table: /table\.set\(/,
};

for (const build of ["dist", "dist/lite"]) {
  test(`${build}: whatever runs code of a caller or throws is caught`, () => {
    const wasm = new WebAssembly.Module(readFileSync(join(folder, build, "taintlab_bg.wasm")));
    const glue = readFileSync(join(folder, build, "glue.js"), "utf8");
    const imports = WebAssembly.Module.imports(wasm);
    const direct = imports.filter(({ module }) => module !== "./taintlab_bg.js");
    // It keeps what it is given.
    assert.deepEqual(
      direct.map(({ module, name }) => `${module} ${name}`),
      ["./boundary.js attach"],
    );
    const generated = imports.filter(({ module }) => module === "./taintlab_bg.js");
    const uncaught = generated.filter(({ name }) => !bodyOf(glue, name).includes("handleError("));
    for (const { name } of uncaught) {
      const known = name.replace(/_[0-9a-f]{16}$/, "");
      assert.ok(known in HARMLESS, `\`${name}\` is imported uncaught: ${bodyOf(glue, name)}`);
      assert.match(bodyOf(glue, name), HARMLESS[known], name);
    }
    assert.ok(generated.length > uncaught.length, "some are caught");
  });
}

/** The code of an import in the generated code: up to the next one. */
function bodyOf(glue, name) {
  const at = glue.search(new RegExp(`\\b${name}[:(]`));
  assert.ok(at >= 0, `the glue has no \`${name}\``);
  const rest = glue.slice(at + name.length);
  const end = rest.search(/\b__wb(g|indgen)_\w+(: ?function)?\((\w+(, ?\w+)*)?\) ?\{/);
  return end < 0 ? rest.slice(0, 600) : rest.slice(0, end);
}
