/** What the base address of an environment may look like. */

/** Names of this machine. */
export const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Normalises a base URL: lower-case host in ASCII without a dot at its end, no default port, no slash at the end, nothing
 * percent-encoded that need not be, so that equal addresses are equal text (RFC 3986, 6.2).
 * Returns `{problem}` for what can't be one. The problem never repeats the text, which may be a key in the wrong place.
 *
 * All requests must use HTTPS (specification, Authentication); plain http is for this machine only.
 */
export function parseBaseUrl(text: string): { readonly url: string } | { readonly problem: string } {
  const url = URL.parse(text);
  if (!/^https?:\/\/[^/\\]/i.test(text) || /[\s\\\p{Cc}]/u.test(text) || url === null) {
    return { problem: "is not a complete URL such as https://api.example.com/v1" };
  }
  if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return { problem: "has a user name or password in it; the key is named by apiKey, never written into the URL" };
  }
  if (/[?#]/.test(text))
    return { problem: "has a query or fragment; /stream is added to its end, so it must be plain" };
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    return {
      problem: `is http: to ${url.host}; without https, only this machine (localhost, 127.0.0.1, [::1]) is allowed`,
    };
  }
  const host = url.hostname.replace(/\.$/, "") + (url.port === "" ? "" : `:${url.port}`);
  return { url: `${url.protocol}//${host}${withoutNeedlessEscapes(url.pathname).replace(/\/+$/, "")}` };
}

/** `%7e` as `~`, and what must stay encoded in capitals: both forms are one address. */
function withoutNeedlessEscapes(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : triplet.toUpperCase();
  });
}
