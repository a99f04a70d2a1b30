// Writes `FILE.br` beside each file of a folder that is worth it, for servers that send such files, such
// as nginx with `brotli_static` or Caddy with `precompressed`. The argument is the folder.

const { readFileSync, readdirSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { brotliCompressSync, constants } = require("node:zlib");

const [root] = process.argv.slice(1);
const texts = /\.(?:css|html|js|json|mjs|svg|txt|wasm|xml|yaml)$/;
let written = 0;
for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath ?? entry.path, entry.name);
  if (!entry.isFile() || !texts.test(entry.name)) continue;
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const compressed = brotliCompressSync(bytes, { params });
  // Less than a packet saves nothing.
  if (bytes.length - compressed.length < 1400) continue;
  writeFileSync(`${path}.br`, compressed);
  written += 1;
}
console.log(written);
