/** Shows the chosen theme before the page is painted, and offers the choice in the header of pages that have one there. */
import { chooseTheme, chosenTheme, showTheme, THEME_CHOICES } from "../shared/theme.ts";

showTheme(chosenTheme());
addEventListener("storage", () => showTheme(chosenTheme()));
addEventListener("DOMContentLoaded", () => {
  const field = document.querySelector<HTMLElement>(".theme");
  const choice = field?.querySelector("select");
  if (!field || !choice) return;
  choice.value = chosenTheme();
  choice.addEventListener("change", () => {
    const chosen = THEME_CHOICES.find((theme) => theme === choice.value);
    if (chosen !== undefined) chooseTheme(chosen);
  });
  field.hidden = false;
});
