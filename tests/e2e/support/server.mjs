// A static server of the release build, for tests.

import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

import sirv from "sirv";

/** The release build. */
const DIST = fileURLToPath(new URL("../../../dist", import.meta.url));

/**
 * Serves a folder on a free port of 127.0.0.1.
 *
 * @param {string} [folder] the release build, unless another is given
 * @returns {Promise<{ url: string, close: () => Promise<void> }>} `url` ends with a slash
 */
export async function serve(folder = DIST) {
  if (!existsSync(`${folder}/index.html`)) {
    throw new Error(`${folder} has no index.html: build it with \`cargo xtask build\``);
  }
  // Another folder may change meanwhile.
  const server = createServer(sirv(folder, { dev: folder !== DIST }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
