/** The proxy that requests go through, decided once: for the connection, and for what people read about it. */

import { Failure } from "../failure.ts";

interface UsedProxy {
  readonly url: string;
  /** Without user and password. */
  readonly shown: string;
}

/**
 * The proxy for a base URL, by `HTTPS_PROXY` and `NO_PROXY` (also in small letters, which win); undefined where there is
 * none. `http:` is for this machine only, which no proxy can reach in our place.
 *
 * @throws Failure `usage` for what can't be the URL of a proxy.
 */
export function proxyFor(baseUrl: string, env: NodeJS.ProcessEnv): UsedProxy | undefined {
  const text = env.https_proxy || env.HTTPS_PROXY;
  const { protocol, hostname, port } = new URL(baseUrl);
  if (!text || protocol !== "https:") return undefined;
  if (isExcepted(hostname, port || "443", env.no_proxy || env.NO_PROXY || "")) return undefined;
  // A proxy without a scheme is an http one, as everywhere.
  const url = text.includes("://") ? text : `http://${text}`;
  // The text is not repeated: it may hold a password.
  const parsed = URL.parse(url);
  if (!/^https?:/i.test(url) || parsed === null)
    throw new Failure("usage", "HTTPS_PROXY is not the URL of an http or https proxy.", {
      nothingSent: true,
      hint: "Set it to something like http://proxy.example.com:3128, or bypass it with NO_PROXY.",
    });
  const login = parsed.username === "" && parsed.password === "" ? "" : "…@";
  return { url, shown: `${parsed.protocol}//${login}${parsed.host}` };
}

/** `NO_PROXY`: names with all that end in them, `*.name` for those below it only, `*` for all; a port where one is given. */
function isExcepted(hostname: string, port: string, exceptions: string): boolean {
  const host = bare(hostname);
  return exceptions
    .split(/[,\s]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, name = entry, only] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
      if (only !== undefined && only !== port) return false;
      if (name === "*") return true;
      const domain = bare(name).replace(/^\*?\./, "");
      return host.endsWith(`.${domain}`) || (!name.startsWith("*") && host === domain);
    });
}

const bare = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^\[(.+)\]$/, "$1")
    .replace(/\.$/, "");

/** Whether the proxy asks for a login: waiting does not help, and nothing of the request has left. */
export function isProxyAsking(detail: string): boolean {
  return /Proxy response \(407\)/.test(detail);
}

/** The proxy that requests to an environment go through, if any. */
export function proxyOf(
  { kind, baseUrl }: { readonly kind: "sandbox" | "service"; readonly baseUrl: string },
  env: NodeJS.ProcessEnv,
): UsedProxy | undefined {
  return kind === "sandbox" ? undefined : proxyFor(baseUrl, env);
}
