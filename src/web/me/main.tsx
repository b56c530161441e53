/** `/me/{token}`: a reviewer's own record for whoever has the link, without a key. */
import { render } from "preact";
import { OwnPageView } from "./own_page.tsx";

const token = location.pathname.split("/")[2] ?? "";
render(<OwnPageView token={token} />, document.querySelector("#app")!);
