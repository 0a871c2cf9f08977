/** The address of a database on one of several hosts. */

/** What stands before the hosts, the hosts, and what stands behind them. */
const PARTS = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;

/** `postgres://user@one:1,two:2/db`: the same for each host, in their order. */
export function urlsByHost(url: string): readonly string[] {
  const [, before = "", hosts = "", behind = ""] = PARTS.exec(url) ?? [];
  return hosts.split(",").map((host) => `${before}${host}${behind}`);
}

/** Nothing but a host may be shown where one stands: what has another form may be part of a password. */
const SHOWN =
  /^[a-z]+:\/\/(?:[^@/?#]*@)?((?:(?:[\w.-]*|\[[\da-f:.]+\])(?::\d+)?(?:,(?!\/)|(?=\/)))+)\/([^@/?#]*)(?:\?[^@#]*)?$/i;

/** Without who asks, and with which password. */
export function withoutUser(url: string): string {
  const [, hosts, database] = SHOWN.exec(url) ?? [];
  return hosts === undefined ? "postgres://…" : `postgres://${hosts}/${database}`;
}
