/** Servers on loopback that say exactly the bytes a test wants, and know every byte that reached them. */

import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { onTestFinished } from "vitest";
import type { Certificate } from "./certificate.ts";

/** One connection as the server saw it. */
interface Seen {
  /** Plain text, after decryption. */
  received: string;
  closed: boolean;
}

export interface RawServer {
  readonly port: number;
  /** In the order in which they came. */
  readonly connections: readonly Seen[];
}

interface Service {
  /** When a connection is there: the n-th, from 1. */
  readonly onConnection?: (socket: Socket, number: number) => void;
  /** When a whole request is there: the n-th of its connection, from 1. */
  readonly onRequest?: (socket: Socket, request: number) => void;
  readonly tls?: Certificate;
}

/** Starts a server on a free port of 127.0.0.1; it ends with the test. */
export async function startRaw({ onConnection, onRequest, tls }: Service): Promise<RawServer> {
  const connections: Seen[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    const seen: Seen = { received: "", closed: false };
    const number = connections.push(seen);
    sockets.add(socket);
    let requests = 0;
    let handled = 0;
    /** Where the request that is coming ends, once its head is there. To look for it copies all that came, so it is kept. */
    let end: number | undefined;
    socket.on("error", () => {}); // clients that go away are part of the game
    socket.on("close", () => {
      seen.closed = true;
      sockets.delete(socket);
    });
    socket.on("data", (bytes: Buffer) => {
      seen.received += bytes.toString("latin1");
      for (;;) {
        end ??= requestEnd(seen.received, handled);
        if (end === undefined || seen.received.length < end) return;
        handled = end;
        end = undefined;
        requests += 1;
        onRequest?.(socket, requests);
      }
    });
    onConnection?.(socket, number);
  };
  const server: Server =
    tls === undefined
      ? createServer({ noDelay: true }, serve)
      : createTlsServer(tls, serve).on("tlsClientError", () => {}); // who does not trust us goes
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port, connections };
}

/** Where the request that starts at `from` will end, if its head is whole. */
function requestEnd(received: string, from: number): number | undefined {
  const head = received.indexOf("\r\n\r\n", from);
  if (head === -1) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(received.slice(from, head))?.[1] ?? 0);
  return head + 4 + length;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
    });
  });
}

/** A port on which nothing listens: one that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

export interface Proxy extends RawServer {
  /** The targets that were asked for, `host:port`. */
  readonly asked: readonly string[];
}

/** A proxy that knows CONNECT only and leads every target to `port`; or refuses with a status. */
export async function startProxy(options: { readonly leadsTo: number } | { readonly status: number }): Promise<Proxy> {
  const asked: string[] = [];
  const server = await startRaw({
    onConnection(socket) {
      socket.once("data", (bytes: Buffer) => {
        asked.push(/^CONNECT (\S+)/.exec(bytes.toString("latin1"))?.[1] ?? bytes.toString("latin1"));
        if ("status" in options) {
          socket.end(`HTTP/1.1 ${options.status} No\r\nContent-Length: 0\r\n\r\n`);
          return;
        }
        const onward = connect(options.leadsTo, "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
          socket.pipe(onward).pipe(socket);
        });
        onward.on("error", () => socket.destroy());
        socket.on("close", () => onward.destroy());
      });
    },
  });
  return { ...server, asked };
}
