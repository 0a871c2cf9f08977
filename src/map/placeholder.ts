/** What `tickets init` writes where only the user knows the value. The config's reader refuses it, so that no example is ever sent. */

/** `<FILL IN: the id of the event>` */
export const placeholder = (what: string): string => `<FILL IN: ${what.replace(/[<>]/g, "")}>`;

/** What the text still asks for; undefined where nothing is left open. */
export const askedIn = (text: string): string | undefined => /<FILL IN: ([^<>]*)>/.exec(text)?.[1];
