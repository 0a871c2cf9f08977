/**
 * What undici does not tell about a connection: how far connecting came, whether an answer came before its request had
 * left, and which alert ended it.
 */

import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { buildConnector } from "undici";

export type Connections = ReturnType<typeof openConnections>;

/** The connections of one client, which has one request at a time. */
export function openConnections() {
  const awaited: Awaited = { head: false };
  let connecting: Socket | undefined;
  /** The latest connection to a proxy, over which that to the service goes. */
  let toProxy: Socket | undefined;
  let latest: Opened = {};

  return {
    /** Connects as `open` would; what comes back is watched. */
    watched:
      (open: buildConnector.connector): buildConnector.connector =>
      (options, callback) => {
        const opened: unknown = open(options, (...[error, socket]) => {
          connecting = undefined;
          if (error !== null) return callback(error, null);
          const opened: Opened = {};
          socket.once("error", (fault) => {
            opened.fault = fault;
          });
          latest = opened;
          callback(null, watchHead(socket, awaited));
        });
        // undici's own connector returns the socket; that of a proxy does not.
        if (opened instanceof Socket) connecting = opened;
      },
    /** Connects to a proxy as `open` would. */
    ofProxy:
      (open: buildConnector.connector): buildConnector.connector =>
      (options, callback) => {
        const opened: unknown = open(options, callback);
        if (opened instanceof Socket) toProxy = opened;
      },
    /** Call when a request begins to be written: the next bytes begin its answer. */
    awaitAnswer(): void {
      awaited.head = true;
      awaited.early = undefined;
    },
    /**
     * Whether the answer began before the whole request was handed to the system: such an answer can't be about all of it.
     * Resolves false for one that only seemed to.
     */
    isEarly(): boolean | Promise<boolean> {
      const socket = awaited.early;
      if (socket === undefined) return false;
      // TLS reports what it has handed over some turns of the event loop later.
      return socket instanceof TLSSocket ? isUnsentAfterTls(socket) : true;
    },
    /** The first error of the latest connection. An alert of TLS closes it too, and undici tells of the closing only. */
    fault: (): Error | undefined => latest.fault,
    /** Gives up connecting. Returns how far it had come, undefined where it goes through a proxy. */
    stopConnecting(): "no connection" | "no handshake" | undefined {
      toProxy?.destroy();
      const socket = connecting;
      connecting = undefined;
      if (socket === undefined) return undefined;
      const how = socket.connecting ? "no connection" : "no handshake";
      socket.destroy();
      return how;
    },
  };
}

/** Turns of the event loop within which TLS reports all that it has handed over; TLS within TLS too. */
const TLS_TURNS = 2;

async function isUnsentAfterTls(socket: Socket): Promise<boolean> {
  for (let passed = 0; passed < TLS_TURNS; passed += 1) await turn();
  return socket.destroyed || isUnsent(socket);
}

/** Node counts bytes until the system has taken all of them; it reads an answer before it writes on. */
const isUnsent = ({ writableLength }: Socket): boolean => writableLength > 0;

interface Awaited {
  /** Whether the next bytes begin a response. */
  head: boolean;
  /** The connection on which it began before the request had left. */
  early?: Socket | undefined;
}

interface Opened {
  fault?: Error;
}

/** Of `HTTP/1.1 100`. */
const STATUS_LENGTH = 12;
/** Not 101: after a change of protocol nothing is HTTP. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d$/;
/** Any beginning of such a response. */
const MAY_BECOME_INTERIM = /^H(T(T(P(\/(1(\.([01]( (1(\d)?)?)?)?)?)?)?)?)?)?$/;
/** The longest head, in bytes, whose end is waited for. */
const LONGEST_HEAD = 16 * 1024;

/**
 * Hides interim responses (1xx) from the reader of the socket; a server may send them unasked (RFC 9110, 15.2). undici ends
 * the connection on `100 Continue`, and the request would be in doubt for nothing.
 */
function watchHead(socket: Socket, awaited: Awaited): Socket {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null; // undici sets no encoding
  /** What may be the beginning of an interim head, and whether it came before the request had left. */
  let kept: { readonly bytes: Buffer; readonly early: boolean } | undefined;
  socket.read = (size?: number): Buffer | null => {
    const bytes = read(size);
    if (bytes === null || !awaited.head) return bytes;
    let rest = kept === undefined ? bytes : Buffer.concat([kept.bytes, bytes]);
    let early = kept?.early ?? isUnsent(socket);
    kept = undefined;
    for (;;) {
      const status = rest.toString("latin1", 0, STATUS_LENGTH);
      const isInterim = INTERIM.test(status);
      const end = isInterim ? rest.indexOf("\r\n\r\n") : -1;
      const isUnfinished = isInterim && end === -1 && rest.length < LONGEST_HEAD;
      if (isUnfinished || status === "" || MAY_BECOME_INTERIM.test(status)) {
        if (rest.length > 0) kept = { bytes: rest, early };
        return null;
      }
      if (end === -1) {
        awaited.head = false;
        if (early) awaited.early = socket;
        return rest;
      }
      rest = rest.subarray(end + 4);
      early = isUnsent(socket);
    }
  };
  return socket;
}
