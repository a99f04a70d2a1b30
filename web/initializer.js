// What is shown while the engine is loaded; Trunk calls it (see index.html).

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
