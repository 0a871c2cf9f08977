/** The source of a regular expression that matches `text` itself. (`RegExp.escape` needs Node 24.) */
export const literalPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
