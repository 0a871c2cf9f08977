/** What the base address of an environment may look like. */

/** Names of this machine. */
export const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Normalises a base URL, so that equal addresses are equal text: lower-case host in ASCII without a dot at its end, no default
 * port, no slash at the end.
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
  return { url: `${url.protocol}//${host}${url.pathname.replace(/\/+$/, "")}` };
}
