/** What `tickets init` writes where only the user knows the value. The config's reader refuses it, so that no example is ever sent. */

/** `<FILL IN: the id of the event>` */
export function placeholder(what: string): string {
  return `<FILL IN: ${what.replace(/[<>]/g, "")}>`;
}

/** What the text still asks for; undefined where nothing is left open. */
export function askedIn(text: string): string | undefined {
  return /<FILL IN: ([^<>]*)>/.exec(text)?.[1];
}
