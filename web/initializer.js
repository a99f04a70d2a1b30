// What is shown while the engine is loaded; Trunk calls it (see index.html).

// As web/src/theme.rs stores it: a dark page is not bright until the engine is there.
try {
  const theme = localStorage.getItem("taintlab.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is forbidden here; the page is as the system has it.
}

const status = document.getElementById("loading");

/** Says that the engine did not come, and offers to try again. */
function failed(error) {
  const again = Object.assign(document.createElement("button"), {
    className: "btn",
    textContent: "Try again",
    onclick: () => location.reload(),
  });
  status.setAttribute("role", "alert");
  status.className = "error";
  status.replaceChildren(`The engine could not be loaded: ${error}`, again);
  status.closest(".app").removeAttribute("aria-busy");
}

export default () => ({
  onProgress({ current, total }) {
    if (total) status.textContent = `Loading the engine… ${Math.floor((100 * current) / total)} %`;
  },
  onFailure: failed,
});
