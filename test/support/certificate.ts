/** Certificates for tests. */

import { execFileSync } from "node:child_process";

export interface Certificate {
  /** PEM. */
  readonly key: string;
  /** PEM; vouches for itself, so it is its own authority too. */
  readonly cert: string;
}

/** A certificate for these host names and 127.0.0.1, valid for ten years from now. */
export function selfSigned(...hosts: readonly string[]): Certificate {
  const names = [...hosts.map((host) => `DNS:${host}`), "IP:127.0.0.1"];
  const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout - -out - -days 3650".split(" ");
  const subject = ["-subj", "/CN=tickets test", "-addext", `subjectAltName=${names.join()}`];
  const pem = execFileSync("openssl", [...request, ...subject], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [key = "", cert = ""] = pem.split(/(?=-----BEGIN CERTIFICATE)/);
  return { key, cert };
}
