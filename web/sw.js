// Keeps the files of one build, so that the page opens without a network. `cargo xtask build` puts
// them in: each with its digest, by which a build that is being published is told from this one.

const FILES = {};
const PREFIX = "taintlab ";
const CACHE = PREFIX + Object.values(FILES).join(" ");

const addressOf = (file) => new URL(file, location).href;

// All files come, and all are those of this build, or none is kept.
const fetched = async ([file, digest]) => {
  // What the page has loaded is asked for again, but is not sent again.
  const response = await fetch(addressOf(file), { cache: "no-cache" });
  const bytes = new Uint8Array(
    await crypto.subtle.digest("SHA-256", await response.clone().arrayBuffer()),
  );
  if (btoa(String.fromCharCode(...bytes)) !== digest) throw new Error(`another build of ${file}`);
  return [file, response];
};

addEventListener("install", (event) => {
  const keep = async () => {
    const files = await Promise.all(Object.entries(FILES).map(fetched));
    const cache = await caches.open(CACHE);
    await Promise.all(files.map(([file, response]) => cache.put(addressOf(file), response)));
  };
  event.waitUntil(keep());
});

// It begins when no page of another build is open any more, which may still ask for its files.
addEventListener("activate", (event) => {
  const clear = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
  };
  event.waitUntil(clear());
});

addEventListener("fetch", (event) => {
  const { url, method } = event.request;
  const address = url.split(/[?#]/)[0];
  const file = address === addressOf("./") ? addressOf("index.html") : address;
  const known = Object.keys(FILES).some((name) => addressOf(name) === file);
  // The book and the demos below the page have files of their own.
  if (method !== "GET" || !known) return;
  const answer = async () => {
    const cache = await caches.open(CACHE);
    return (await cache.match(file)) ?? fetch(event.request);
  };
  event.respondWith(answer());
});
