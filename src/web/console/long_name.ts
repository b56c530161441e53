/** Names that an application chose, up to 256 characters long: a link shows one line of them. */

/** Characters up to which a name is shown whole wherever it stands. */
const SHORT = 24;

/** The properties of a link with a name: if it is long, it is cut at its place's edge, and whole on hover and with the focus. */
export function longName(name: string): { readonly class?: string; readonly title?: string } {
  return name.length <= SHORT ? {} : { class: "cut", title: name };
}
