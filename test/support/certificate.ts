/** Certificates for tests, built here so that no tool of the machine is needed. */

import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface Certificate {
  /** PEM. */
  readonly key: string;
  /** PEM; vouches for itself, so it is its own authority too. */
  readonly cert: string;
}

/** A certificate for these host names and 127.0.0.1, valid for ten years around now. */
export function selfSigned(...hosts: readonly string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(tlv(0x31, sequence(oid(2, 5, 4, 3), tlv(0x0c, Buffer.from("tickets test")))));
  const algorithm = sequence(oid(1, 2, 840, 10045, 4, 3, 2)); // ecdsa-with-SHA256
  const year = new Date().getUTCFullYear();
  const validity = sequence(...[year - 5, year + 5].map((at) => tlv(0x18, Buffer.from(`${at}0101000000Z`))));
  const names = [...hosts.map((host) => tlv(0x82, Buffer.from(host))), tlv(0x87, Buffer.from([127, 0, 0, 1]))];
  const extensions = sequence(
    sequence(oid(2, 5, 29, 17), tlv(0x04, sequence(...names))),
    sequence(oid(2, 5, 29, 19), tlv(0x04, sequence(tlv(0x01, Buffer.from([0xff]))))), // an authority
  );
  const content = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))), // version 3
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, extensions),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", content, privateKey)]);
  const whole = sequence(content, algorithm, tlv(0x03, signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`,
  };
}

/** Tag, length, value: the one form of DER. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = rest.flatMap((part) => {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return tlv(0x06, Buffer.from([first * 40 + second, ...bytes]));
}
