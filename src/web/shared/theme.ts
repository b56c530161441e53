/** The theme of the pages: the system's, or the one that the reader chose in this browser. */

export const THEME_CHOICES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEME_CHOICES)[number];

export const THEME_WORDS: Readonly<Record<Theme, string>> = {
  system: "System",
  light: "Light",
  dark: "Dark",
};

/** The name under which this browser remembers the choice. */
const REMEMBERED = "jiss.theme";

/** The theme that was chosen in this browser; `system` if none was, or if the browser keeps nothing for pages. */
export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(REMEMBERED);
    return THEME_CHOICES.find((theme) => theme === kept) ?? "system";
  } catch {
    return "system";
  }
}

/** Shows a theme, and remembers it for all pages if the browser keeps anything for them. */
export function chooseTheme(theme: Theme): void {
  showTheme(theme);
  try {
    if (theme === "system") localStorage.removeItem(REMEMBERED);
    else localStorage.setItem(REMEMBERED, theme);
  } catch {
    // It lasts until the page is left.
  }
}

/** Shows a theme on this page. */
export function showTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
