/** `/demo`: four short cases for a visitor, or twelve, measured, scored by the service, and explained. */
import { render } from "preact";
import { Demo } from "./demo.tsx";

const app = document.querySelector<HTMLElement>("#app")!;
const { collector, keptDays } = app.dataset;
render(<Demo collector={collector!} keptDays={Number(keptDays)} />, app);
