// How Chromium is started.

/** What Debian's Chromium needs to run as root without a display, and to leave the network alone. */
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
