// Light or dark, as the reader's system is.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  dom_id: "#api",
  // From this page's own address, so that a proxy may put the server below a path.
  url: new URL("../openapi.json", window.location.href).pathname,
  // The document must not be sent to a validator on the internet.
  validatorUrl: null,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // The list of all shapes is at the end; it need not be open.
  defaultModelsExpandDepth: 0,
});
