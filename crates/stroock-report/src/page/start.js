// Brings the page to life. If that fails, the still pictures stay.

function startCopy(button) {
  const text = document.getElementById("configuration-text").textContent;
  button.addEventListener("click", async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Pages from a file may not be allowed to use the clipboard: mark the text, so that the reader can.
      getSelection().selectAllChildren(document.getElementById("configuration-text"));
      copied = false;
    }
    button.textContent = copied ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2500);
  });
}

function start() {
  const { time, fits, curves, paths } = JSON.parse(document.getElementById("data").textContent);
  if (fits.length) startFits(fits, time);
  if (curves) startCurves(curves);
  if (paths) startSphere(paths, time);
  const button = document.getElementById("copy");
  if (button) startCopy(button);
  const folded = document.querySelectorAll("details");
  addEventListener("beforeprint", () => folded.forEach((details) => (details.open = true)));
}

const root = document.documentElement;
try {
  root.classList.add("scripted");
  start();
  root.dataset.ready = "true";
} catch (error) {
  root.classList.remove("scripted");
  throw error;
}
