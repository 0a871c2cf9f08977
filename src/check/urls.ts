/** Likely mistakes in URLs of a correct form, and what nobody means to publish. */

import { BlockList, isIP } from "node:net";
import type { FieldName } from "../actions/fields.ts";
import { isFormulaError } from "../actions/mangled-ids.ts";
import { about, type Finding } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { NONE } from "../actions/validate.ts";

/** The findings about the URL in `field`, which the service's formats allow. */
export function mistakesOfUrl(field: FieldName, value: string): readonly Finding[] {
  const parsed = URL.parse(value);
  if (parsed === null) return NONE;
  const { username, password, hostname } = parsed;
  const ofField = about(field, withoutLogin(value));
  const findings: Finding[] = [];
  if (username !== "" || password !== "") findings.push({ ...ofField, ...LOGIN, message: `${field} ${LOGIN.message}` });
  const oddity = oddityOf(value, hostname);
  if (oddity !== undefined)
    findings.push({ ...ofField, rule: "url-unusual", message: `${field} ${oddity.message}.`, hint: oddity.hint });
  else if (field === "callbackUrl" && isPrivate(hostname))
    findings.push({
      ...ofField,
      rule: "callback-not-public",
      message: `${field} leads to ${hostname}, which only your own machine or network can reach.`,
      hint: "The service calls it from outside: give a public address, or leave it out.",
    });
  return findings;
}

const LOOK = "Open it in a browser to check it; a % itself is written %25.";

function oddityOf(value: string, hostname: string): Required<Pick<Finding, "message" | "hint">> | undefined {
  const [open] = PLACEHOLDER.exec(value) ?? [];
  if (open !== undefined) {
    const message = `holds ${cleanText(open, 40)}, which a script should have replaced`;
    return { message, hint: "Check why the export left the placeholder." };
  }
  const formula = failedFormula(value);
  if (formula !== undefined)
    return {
      message: `ends in ${formula}, which a spreadsheet writes for a failed formula`,
      hint: "Fix the formula in the spreadsheet, and export again.",
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
export function mistakesOfText(field: FieldName, text: string): readonly Finding[] {
  if (!holdsLogin(text)) return NONE;
  return [{ ...about(field, withoutLogin(text)), ...LOGIN, message: `${field} holds a URL that ${LOGIN.message}` }];
}

export const holdsLogin = (text: string): boolean => text.includes("@") && URL_WITH_LOGIN.test(text);

const URL_WITH_LOGIN = /\bhttps?:\/\/[^\s/?#@:]*:[^\s/?#@]*@/i;

/** A password is shown nowhere, and kept in no log. */
const withoutLogin = (text: string): string => text.replace(/(\bhttps?:\/\/)[^\s/?#]*@/gi, "$1…@");

const LOGIN = {
  rule: "url-with-login",
  message: "has a user name or password, which would be published with it.",
  hint: "Give the URL without the part before the @, and change that password if it was sent anywhere.",
} as const;

const LOCAL_ENDING =
  /\.(?:localhost|local|internal|intranet|private|corp|home|home\.arpa|lan|localdomain|test)(?:[/?#]|$)/i;

/** Whether a host, as the URL parser gives it, is an address or made of labels as RFC 1123 has them; many have a `_`. */
function isHost(hostname: string): boolean {
  if (hostname.startsWith("[")) return true;
  return hostname
    .replace(/\.$/, "")
    .split(".")
    .every((label) => /^(?!-)[a-z0-9_-]{1,63}$/.test(label) && !label.endsWith("-"));
}

const PRIVATE_SUBNETS =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3 ::/127 fc00::/7 fe80::/10 ff00::/8";
const PRIVATE = new BlockList();
for (const subnet of PRIVATE_SUBNETS.split(" ")) {
  const [address = "", bits] = subnet.split("/");
  PRIVATE.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4");
}

function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const version = isIP(host);
  if (version !== 0) return PRIVATE.check(host, version === 4 ? "ipv4" : "ipv6");
  return !host.includes(".") || LOCAL_ENDING.test(host);
}
