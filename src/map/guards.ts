/** Removes the apostrophe that exporters put before what a spreadsheet would take for a formula. */
export const unguard = (text: string): string => (GUARDED.test(text) ? text.slice(1).trim() : text);
const GUARDED = /^'[=+\-@|%\t\r]/;
