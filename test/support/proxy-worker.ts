/** The thread of a proxy before PostgreSQL (proxy.ts). It reads the messages that pass (PostgreSQL, Frontend/Backend Protocol). */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type MessagePort, workerData } from "node:worker_threads";
import type { Moment, Order } from "./proxy.ts";

const setup = workerData as { readonly orders: MessagePort; readonly state: Int32Array; readonly to: number };
const { orders, state } = setup;
let { to } = setup;

interface Rule {
  readonly statement: RegExp;
  left: number;
  readonly moment: Moment;
}

interface Late {
  readonly server: Socket;
  readonly request: Buffer;
}

const rules: Rule[] = [];
const links = new Set<Link>();
/** What the server is still to get, each over a connection that the program has lost. */
const late: Late[] = [];
const seen: string[] = [];
let holdsBack = false;

/** One connection of the program, and the one to the server in its name. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #requests: Messages;
  readonly #replies = new Messages(false);
  readonly #prepared = new Map<string, string>();
  /** Of the request that is on its way. */
  #moment: Moment | undefined;
  #request: Buffer[] = [];
  #reply: Buffer[] = [];
  #statement: string | undefined;

  constructor(client: Socket) {
    this.#client = client;
    this.#server = connect(to, "127.0.0.1");
    this.#requests = new Messages(true);
    for (const socket of [client, this.#server]) {
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
    }
    client.on("data", (bytes) => {
      for (const message of this.#requests.take(bytes)) this.#toServer(message);
    });
    this.#server.on("data", (bytes) => {
      for (const message of this.#replies.take(bytes)) this.#toClient(message);
    });
    client.on("close", () => {
      if (!late.some(({ server }) => server === this.#server) && this.#moment !== "in the reply")
        this.#server.destroy();
    });
    this.#server.on("close", () => {
      links.delete(this);
      client.destroy();
    });
    this.holdBack(holdsBack);
  }

  holdBack(holds: boolean): void {
    for (const socket of [this.#client, this.#server]) {
      if (holds) socket.pause();
      else socket.resume();
    }
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #toServer(message: Message): void {
    const { kind, bytes } = message;
    if (!REQUESTS.has(kind)) {
      this.#server.write(bytes);
      return;
    }
    this.#request.push(bytes);
    this.#statement ??= this.#statementOf(message);
    if (kind !== "Q" && kind !== "S") return;
    const request = Buffer.concat(this.#request);
    this.#request = [];
    const statement = this.#statement ?? "";
    this.#statement = undefined;
    seen.push(statement);
    this.#moment = momentFor(statement);
    switch (this.#moment) {
      case "before":
        this.cut();
        return;
      case "in the request":
        this.#server.write(request.subarray(0, request.length >> 1), () => this.cut());
        return;
      case "held back":
        return;
      case "late":
        late.push({ server: this.#server, request });
        this.#client.destroy();
        return;
      default:
        this.#server.write(request);
    }
  }

  #statementOf({ kind, bytes }: Message): string | undefined {
    const texts = bytes.subarray(5).toString("latin1").split("\0");
    const text = (at: number): string => Buffer.from(texts[at] ?? "", "latin1").toString();
    switch (kind) {
      case "Q":
        return text(0);
      case "P":
        this.#prepared.set(text(0), text(1));
        return text(1);
      case "B":
        return this.#prepared.get(text(1));
      default:
        return undefined;
    }
  }

  #toClient({ kind, bytes }: Message): void {
    const moment = this.#moment;
    if (moment === undefined || moment === "held back" || moment === "late") {
      this.#client.write(bytes);
      return;
    }
    this.#reply.push(bytes);
    if (kind !== READY) return;
    const reply = Buffer.concat(this.#reply);
    if (moment === "in the reply") this.cut();
    else this.#client.write(moment === "after" ? reply : reply.subarray(0, reply.length >> 1), () => this.cut());
  }
}

/** What belongs to a statement: a query, or what prepares one, binds, describes, executes and ends it. */
const REQUESTS = new Set(["Q", "P", "B", "D", "E", "C", "H", "S"]);
/** The server is ready for the next statement. */
const READY = "Z";

interface Message {
  readonly kind: string;
  readonly bytes: Buffer;
}

/** Bytes as messages: a letter, a length with itself, the rest. What a program says first has no letter. */
class Messages {
  #bytes: Buffer = Buffer.alloc(0);
  #isFirst: boolean;

  constructor(isFirst: boolean) {
    this.#isFirst = isFirst;
  }

  *take(bytes: string | Buffer): Generator<Message> {
    this.#bytes = Buffer.concat([this.#bytes, typeof bytes === "string" ? Buffer.from(bytes) : bytes]);
    for (;;) {
      const letters = this.#isFirst ? 0 : 1;
      if (this.#bytes.length < letters + 4) return;
      const length = letters + this.#bytes.readInt32BE(letters);
      if (this.#bytes.length < length) return;
      const message = this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
      this.#isFirst = false;
      yield { kind: letters === 0 ? "" : message.toString("latin1", 0, 1), bytes: message };
    }
  }
}

function momentFor(statement: string): Moment | undefined {
  const at = rules.findIndex((rule) => {
    if (!rule.statement.test(statement)) return false;
    rule.left -= 1;
    return rule.left === 0;
  });
  return at === -1 ? undefined : rules.splice(at, 1)[0]?.moment;
}

const server = createServer((client) => void links.add(new Link(client)));

/** @returns what is answered. */
async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case "cut":
      rules.push({ statement: new RegExp(order.statement ?? ""), left: order.nth, moment: order.moment });
      return;
    case "cut all":
      for (const link of links) link.cut();
      return;
    case "refuse":
      if (order.isSo) server.close();
      else await listen(port);
      return;
    case "hold back":
      holdsBack = order.isSo;
      for (const link of links) link.holdBack(holdsBack);
      return;
    case "lead":
      to = order.port;
      return;
    case "deliver":
      for (const each of late.splice(0)) await deliver(each);
      return;
    case "statements":
      return seen.splice(0);
    case "end":
      server.close();
      for (const link of links) link.cut();
      return;
  }
}

/** Resolves once the server has answered; one that has ended the connection meanwhile answers nothing. */
async function deliver({ server: socket, request }: Late): Promise<void> {
  if (socket.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  socket.once("data", () => resolve());
  socket.write(request);
  await promise;
  socket.destroy();
}

function listen(on: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(on, "127.0.0.1", () => resolve());
  return promise;
}

function say(answer: unknown): void {
  orders.postMessage(answer);
  Atomics.store(state, 0, 1);
  Atomics.notify(state, 0);
}

await listen(0);
const { port } = server.address() as AddressInfo; // of a socket that listens on a port
orders.on("message", (order: Order) => void obey(order).then(say));
say(port);
