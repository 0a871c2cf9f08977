/** The source of a regular expression that matches `text` itself. (`RegExp.escape` needs Node 24.) */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
