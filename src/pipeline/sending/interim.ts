/**
 * Interim responses (1xx), which a server may send before its answer, unasked (RFC 9110, 15.2). undici ends the connection
 * on `100 Continue`, and the request would be in doubt for nothing.
 */

import type { Socket } from "node:net";

/** Whether the next bytes of a connection begin a response. */
export interface Awaited {
  head: boolean;
}

/** Of `HTTP/1.1 100`. */
const STATUS_LENGTH = 12;
/** Not 101: what follows a change of the protocol is no HTTP. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d$/;
/** The first bytes of such a response, as few as there may be. */
const MAY_BECOME_INTERIM = /^H(T(T(P(\/(1(\.([01]( (1(\d)?)?)?)?)?)?)?)?)?)?$/;
/** A head that is longer is not waited for to its end. */
const LONGEST_HEAD = 16 * 1024;

/** Lets whoever reads from the socket see no interim response before the one that is awaited. */
export function withoutInterim(socket: Socket, awaited: Awaited): Socket {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null; // undici sets no encoding
  /** What may be the beginning of such a head. */
  let kept: Buffer | undefined;
  socket.read = (size?: number): Buffer | null => {
    const bytes = read(size);
    if (bytes === null || !awaited.head) return bytes;
    let rest = kept === undefined ? bytes : Buffer.concat([kept, bytes]);
    kept = undefined;
    for (;;) {
      const status = rest.toString("latin1", 0, STATUS_LENGTH);
      const isInterim = INTERIM.test(status);
      const end = isInterim ? rest.indexOf("\r\n\r\n") : -1;
      const isUnfinished = isInterim && end === -1 && rest.length < LONGEST_HEAD;
      if (isUnfinished || status === "" || MAY_BECOME_INTERIM.test(status)) {
        if (rest.length > 0) kept = rest;
        return null;
      }
      if (end === -1) {
        awaited.head = false;
        return rest;
      }
      rest = rest.subarray(end + 4);
    }
  };
  return socket;
}
