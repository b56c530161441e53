/** `/exercise/{token}`: an exercise for whoever has the link, case by case, without a key. */
import { render } from "preact";
import { Exercise } from "./exercise.tsx";

const app = document.querySelector<HTMLElement>("#app")!;
const token = location.pathname.split("/")[2] ?? "";
render(<Exercise token={token} collector={app.dataset.collector!} />, app);
