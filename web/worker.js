// A worker of the page, which hands over the engine: its script, and its module, which is compiled
// already. What comes before the engine listens waits here.

onmessage = async ({ data: { script, module } }) => {
  const early = [];
  onmessage = (event) => early.push(event);
  try {
    const { default: start, serve } = await import(script);
    await start({ module_or_path: module });
    serve(name, globalThis);
    for (const event of early) onmessage(event);
  } catch (error) {
    // As any error of a worker, it is told to the page.
    setTimeout(() => {
      throw error;
    });
  }
};
