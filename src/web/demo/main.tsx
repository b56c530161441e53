/** `/demo`: four short cases for a visitor, or twelve, measured, scored by the service, and explained. */
// First, since the modules below make schemas.
import "../shared/no_eval.ts";
import { render } from "preact";
import { Demo } from "./demo.tsx";

const app = document.querySelector<HTMLElement>("#app")!;
const { collector, keptDays } = app.dataset;
render(<Demo collector={collector!} keptDays={Number(keptDays)} />, app);
