/** The page /docs. */
import { render } from "preact";
import { Page } from "./reference.tsx";

render(<Page />, document.querySelector("#app")!);
