// Reads paths, one per argument; prints `raw gzip brotli` of each. Node's own zlib is the reference
// implementation of both, which servers use too.

const { readFileSync } = require("node:fs");
const { gzipSync, brotliCompressSync, constants } = require("node:zlib");

for (const path of process.argv.slice(1)) {
  const bytes = readFileSync(path);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 22,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const gzip = gzipSync(bytes, { level: 9 }).length;
  console.log(bytes.length, gzip, brotliCompressSync(bytes, { params }).length);
}
