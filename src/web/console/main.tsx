import { render } from "preact";

render(
  <main id="main" tabIndex={-1}>
    <h1>Page</h1>
  </main>,
  document.querySelector("#app")!,
);
