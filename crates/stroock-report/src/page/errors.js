// Keeps what goes wrong in the attribute `data-errors` of the document, where a check without a console finds it.
(() => {
  const root = document.documentElement;
  const keep = (text) => {
    root.dataset.errors = root.dataset.errors ? `${root.dataset.errors}\n${text}` : String(text);
  };
  addEventListener("error", (event) => keep(`${event.message || "resource"} (line ${event.lineno})`), true);
  addEventListener("unhandledrejection", (event) => keep(event.reason));
  document.addEventListener("securitypolicyviolation", (event) => {
    keep(`${event.violatedDirective} forbids ${event.blockedURI}`);
  });
  const write = console.error.bind(console);
  console.error = (...parts) => {
    keep(parts.join(" "));
    write(...parts);
  };
})();
