/** What is likely a mistake in a URL that is one by its form, and what nobody means to publish. */

import { BlockList, isIP } from "node:net";
import type { FieldName } from "../actions/fields.ts";
import { isFormulaError } from "../actions/mangled-ids.ts";
import type { Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";

const NONE: readonly Finding[] = Object.freeze([]);

/** What is to be said of the URL in `field`, which the service's formats allow. */
export function mistakesOfUrl(field: FieldName, value: string): readonly Finding[] {
  const parsed = URL.parse(value);
  if (parsed === null) return NONE;
  const { username, password, hostname } = parsed;
  const about = { field, pointer: `/data/${field}`, value };
  const findings: Finding[] = [];
  if (username !== "" || password !== "") findings.push({ ...about, ...LOGIN, message: `${field} ${LOGIN.message}` });
  const oddity = oddityOf(value, hostname);
  if (oddity !== undefined)
    findings.push({ ...about, rule: "url-unusual", message: `${field} ${oddity.message}.`, hint: oddity.hint });
  else if (field === "callbackUrl" && isPrivate(hostname))
    findings.push({
      ...about,
      rule: "callback-not-public",
      message: `${field} leads to ${hostname}, which only your own machine or network can reach.`,
      hint: "The service calls it from outside: give a public address, or leave it out.",
    });
  return findings;
}

interface Oddity {
  readonly message: string;
  readonly hint: string;
}

const LOOK = "Open it in a browser to check it; a % itself is written %25.";

function oddityOf(value: string, hostname: string): Oddity | undefined {
  const [open] = PLACEHOLDER.exec(value) ?? [];
  if (open !== undefined)
    return {
      message: `holds ${cleanText(open, 40)}, which a script should have replaced`,
      hint: "Check why the export left the placeholder.",
    };
  const formula = failedFormula(value);
  if (formula !== undefined)
    return {
      message: `ends in ${formula}, which a spreadsheet writes for a failed formula`,
      hint: "Mend the formula in the spreadsheet, and export again.",
    };
  if (/%(?![0-9a-f]{2})/i.test(value))
    return { message: "has a % without two hexadecimal digits after it", hint: LOOK };
  const [forbidden] = FORBIDDEN.exec(value) ?? [];
  if (forbidden !== undefined) {
    const code = `%${forbidden.charCodeAt(0).toString(16).toUpperCase()}`;
    return { message: `has a ${forbidden}, which no URL may hold`, hint: `If it belongs there, write it ${code}.` };
  }
  return isHost(hostname)
    ? undefined
    : { message: `names the host ${JSON.stringify(hostname)}, which no name server knows`, hint: LOOK };
}

/** What stands in no URL but encoded (RFC 3986, section 2). Letters beyond ASCII are left to the browser, which encodes them. */
const FORBIDDEN = /[<>{}|^`\\"]/;
const PLACEHOLDER = /\{\{[^{}]*\}\}|\$\{[^{}]*\}|\{[A-Za-z_][\w.]*\}/;

/** What would be the fragment of a URL. `#NV` may be one. */
function failedFormula(value: string): string | undefined {
  const at = value.indexOf("#");
  const fragment = at === -1 ? "" : value.slice(at);
  return fragment !== "#NV" && isFormulaError(fragment) ? fragment : undefined;
}

/** Words that hold a URL with a login, such as a description or a trait. */
export function mistakesOfText(field: FieldName, pointer: string, text: string): readonly Finding[] {
  return holdsLogin(text)
    ? [{ field, pointer, value: text, ...LOGIN, message: `${field} holds a URL that ${LOGIN.message}` }]
    : NONE;
}

export const holdsLogin = (text: string): boolean => text.includes("@") && URL_WITH_LOGIN.test(text);

const URL_WITH_LOGIN = /\bhttps?:\/\/[^\s/?#@:]*:[^\s/?#@]*@/i;

const LOGIN = {
  rule: "url-with-login",
  message: "has a user name or password, which would be published with it.",
  hint: "Give the URL without the part before the @, and change that password if it was sent anywhere.",
} as const;

const LOCAL_ENDING = /\.(?:localhost|local|internal|intranet|private|corp|home|lan)(?:[/?#]|$)/i;

/** Whether a host, as the URL parser gives it, is an address or made of labels as RFC 1123 has them; many have a `_`. */
function isHost(hostname: string): boolean {
  if (hostname.startsWith("[")) return true;
  return hostname
    .replace(/\.$/, "")
    .split(".")
    .every((label) => /^(?!-)[a-z0-9_-]{1,63}$/.test(label) && !label.endsWith("-"));
}

const PRIVATE = new BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  PRIVATE.addSubnet(address, bits, "ipv4");
for (const [address, bits] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  PRIVATE.addSubnet(address, bits, "ipv6");

function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const version = isIP(host);
  if (version !== 0) return PRIVATE.check(host, version === 4 ? "ipv4" : "ipv6");
  return !host.includes(".") || LOCAL_ENDING.test(host);
}
