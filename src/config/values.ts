/** Base URLs and durations, as people write them. */

import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";

/** Names of this machine. */
export const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Normalises a base URL, so that equal addresses are equal text: lower-case host in ASCII without a dot at its end, no default
 * port, no slash at the end, escapes as RFC 3986 (6.2.2) writes them.
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
  if (/%(?![0-9a-f]{2})/i.test(text)) return { problem: "has a % that begins no escape; a percent sign itself is %25" };
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    return {
      problem: `is http: to ${url.host}; without https, only this machine (localhost, 127.0.0.1, [::1]) is allowed`,
    };
  }
  const host = url.hostname.replace(/\.$/, "") + (url.port === "" ? "" : `:${url.port}`);
  return { url: `${url.protocol}//${host}${withPlainEscapes(url.pathname).replace(/\/+$/, "")}` };
}

/** `%2f` → `%2F`, and `%7E` → `~`, which needs no escape. */
function withPlainEscapes(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}

const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const DURATION = /^(?:(?<d>\d+)d)?(?:(?<h>\d+)h)?(?:(?<m>\d+)m(?!s))?(?:(?<s>\d+)s)?(?:(?<ms>\d+)ms)?$/;

/** Timers of Node hold 31 bits of milliseconds; a longer wait would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A duration such as `500ms`, `90s`, `2m` or `1h30m` in milliseconds. Units are d, h, m, s and ms, largest first, each
 * at most once, whole numbers only; at most 24 days.
 *
 * Throws a `usage` failure for anything else, a bare number included: whether `90` means seconds is not guessed.
 */
export function parseDuration(text: string, longestMs = LONGEST_MS): number {
  const groups = text === "" ? undefined : DURATION.exec(text)?.groups;
  if (groups === undefined) {
    throw new Failure("usage", `"${cleanText(text, 40)}" is not a duration such as 500ms, 90s, 2m or 1h30m`);
  }
  let ms = 0;
  for (const [unit, factor] of Object.entries(UNITS_MS)) ms += Number(groups[unit] ?? 0) * factor;
  if (ms > longestMs)
    throw new Failure("usage", `"${cleanText(text, 40)}" is longer than ${Math.floor(longestMs / UNITS_MS.d)} days`);
  return ms;
}

/** An age, written as a duration; no timer waits for it, so it may be up to ten years. */
export const parseAge = (text: string): number => parseDuration(text, 3650 * UNITS_MS.d);

/** The shortest text that `parseDuration` reads as `ms`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, factor] of Object.entries(UNITS_MS)) {
    const count = Math.floor(rest / factor);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * factor;
  }
  return text === "" ? "0s" : text;
}
