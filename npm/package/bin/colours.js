// Colours for a terminal, and only there.

const on = () =>
  Boolean(process.stdout.isTTY) && !process.env.NO_COLOR && process.env.TERM !== "dumb";
const paint = (code) => (text) => (on() ? `\x1b[${code}m${text}\x1b[0m` : text);

export const [bold, red, green, dim] = [1, 31, 32, 2].map(paint);
