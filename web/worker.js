// A worker of the page: the same engine once more. The page hands over its own module, which is
// compiled already; what comes before the engine listens waits here.

onmessage = async ({ data: { script, module } }) => {
  const early = [];
  onmessage = (event) => early.push(event);
  try {
    const { default: start } = await import(script);
    await start({ module_or_path: module });
    for (const event of early) onmessage(event);
  } catch (error) {
    // As any error of a worker, it is told to the page.
    setTimeout(() => {
      throw error;
    });
  }
};
