/** `/me/{token}`: a reviewer's own record for whoever has the link, without a key. */
// First, since the modules below make schemas.
import "../shared/no_eval.ts";
import { render } from "preact";
import { OwnPageView } from "./own_page.tsx";

const token = location.pathname.split("/")[2] ?? "";
render(<OwnPageView token={token} />, document.querySelector("#app")!);
