/**
 * The design's tokens, the one place for colours, sizes and widths: of the printable pages, and of the sheet that the console, the
 * reference and the demo load. Text has a contrast of at least 4.5 to 1 on each of its grounds, and lines of controls of 3 to 1
 * (WCAG 2.2, 1.4.3 and 1.4.11).
 */

/** Custom properties by their names without the dashes. */
type Tokens = Readonly<Record<string, string>>;

/** The colours of the printable pages. A page that was saved is verified to the letter: they must never change. */
const PAGE_COLOURS = {
  light: {
    paper: "#ffffff",
    ink: "#1b2733",
    muted: "#52606d",
    rule: "#7b8794",
    soft: "#eef2f6",
    grid: "#d5dce3",
    bar: "#1a5fb4",
    mark: "#9a4a00",
    good: "#0b6138",
    fair: "#7a4a00",
    bad: "#a11a1a",
  },
  dark: {
    paper: "#10161d",
    ink: "#e6edf3",
    muted: "#aab6c2",
    rule: "#7b8794",
    soft: "#1b242e",
    grid: "#33404c",
    bar: "#79b8ff",
    mark: "#ffb35c",
    good: "#7fd6a4",
    fair: "#ffc069",
    bad: "#ff9a94",
  },
  print: {
    paper: "#ffffff",
    ink: "#000000",
    muted: "#000000",
    rule: "#555555",
    soft: "#ffffff",
    grid: "#cccccc",
    bar: "#808080",
    mark: "#000000",
    good: "#000000",
    fair: "#000000",
    bad: "#000000",
  },
} as const satisfies Record<string, Tokens>;

/**
 * The colours that the sheet has besides: grounds behind what a verdict colours, the ground of the navigation, raised panels, and
 * shadows.
 */
const SHEET_COLOURS = {
  light: {
    sunk: "#f6f8fa",
    raised: "#ffffff",
    hairline: "#e3e8ed",
    "bar-soft": "#e8f0fa",
    "good-soft": "#e5f4eb",
    "fair-soft": "#fcf1de",
    "bad-soft": "#fdecea",
    "bar-strong": "#154c91",
    shade: "rgb(27 39 51/.06)",
    "shade-strong": "rgb(27 39 51/.16)",
  },
  dark: {
    sunk: "#0b1016",
    raised: "#161d26",
    hairline: "#25303b",
    "bar-soft": "#172a40",
    "good-soft": "#12291d",
    "fair-soft": "#2d2311",
    "bad-soft": "#361b1b",
    "bar-strong": "#a8d1ff",
    shade: "rgb(0 0 0/.3)",
    "shade-strong": "rgb(0 0 0/.6)",
  },
  print: {
    sunk: "#ffffff",
    raised: "#ffffff",
    hairline: "#cccccc",
    "bar-soft": "#ffffff",
    "good-soft": "#ffffff",
    "fair-soft": "#ffffff",
    "bad-soft": "#ffffff",
    "bar-strong": "#000000",
    shade: "transparent",
    "shade-strong": "transparent",
  },
} as const satisfies Record<string, Tokens>;

/** All colours of the sheet, by theme. */
export const SHEET_PALETTES = {
  light: { ...PAGE_COLOURS.light, ...SHEET_COLOURS.light },
  dark: { ...PAGE_COLOURS.dark, ...SHEET_COLOURS.dark },
  print: { ...PAGE_COLOURS.print, ...SHEET_COLOURS.print },
} as const satisfies Record<string, Tokens>;

/** Lengths and faces. A space is named for its pixels at the usual size of text. */
export const SIZES: Tokens = {
  "space-2": ".125rem",
  "space-4": ".25rem",
  "space-6": ".375rem",
  "space-8": ".5rem",
  "space-12": ".75rem",
  "space-16": "1rem",
  "space-24": "1.5rem",
  "space-32": "2rem",
  "space-40": "2.5rem",
  "space-64": "4rem",
  "text-xs": ".75rem",
  "text-s": ".8125rem",
  "text-m": ".875rem",
  "text-l": "1rem",
  "text-xl": "1.125rem",
  "text-2xl": "1.5rem",
  "text-hero": "3.25rem",
  // In the units of a picture, which is as wide as a telephone.
  "text-plot": "15px",
  face: 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif',
  mono: "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace",
  "radius-s": ".25rem",
  "radius-m": ".375rem",
  "radius-l": ".5rem",
  "radius-round": "99rem",
  shadow: "0 1px 2px var(--shade)",
  "shadow-raised": "0 8px 24px var(--shade-strong),0 1px 2px var(--shade)",
  "width-side": "14.5rem",
  "width-page": "76rem",
  "width-case": "68rem",
  "width-prose": "52rem",
  "width-text": "46rem",
  "width-plot": "40rem",
  "width-field": "32rem",
};

/** Declarations of custom properties, without a semicolon at their end. */
function declared(tokens: Tokens): string {
  return Object.entries(tokens).map(([name, value]) => `--${name}:${value}`).join(";");
}

/** The declarations of a printable page's colours. */
export const LIGHT = declared(PAGE_COLOURS.light);
export const DARK = declared(PAGE_COLOURS.dark);
export const PRINT = declared(PAGE_COLOURS.print);

/**
 * The declarations of the sheet besides the printable pages' style. The theme is the system's, or the one that `data-theme` of the root
 * names; paper is always black on white.
 */
export const SHEET_TOKENS = `
:root{${declared(SHEET_COLOURS.light)};${declared(SIZES)}}
@media screen and (prefers-color-scheme:dark){:root{${declared(SHEET_COLOURS.dark)}}}
@media screen{
:root[data-theme=light]{color-scheme:light;${LIGHT};${declared(SHEET_COLOURS.light)}}
:root[data-theme=dark]{color-scheme:dark;${DARK};${declared(SHEET_COLOURS.dark)}}
}
@media print{:root{${declared(SHEET_COLOURS.print)}}}
`;
