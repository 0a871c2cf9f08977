/** Stands between a program and a PostgreSQL, reads the messages that pass (PostgreSQL, Frontend/Backend Protocol), and ends their connections where a test wants it. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Where in the exchange of a statement and its reply something happens. */
type Moment =
  /** The server gets none of it. */
  | "before"
  /** The server gets half of it. */
  | "in the request"
  /** The server carries it out, and the reply is lost. */
  | "in the reply"
  /** Half of the reply comes back. */
  | "half the reply"
  /** The reply comes back whole. */
  | "after"
  /** The connection stays, and the server gets none of it. */
  | "held back"
  /** The program loses its connection, and the server gets the statement when the test calls `deliver`. */
  | "late";

interface Cut {
  /** Statements that it fits, as PostgreSQL gets them; any. */
  readonly statement?: RegExp;
  /** Which of these, from 1 (1). */
  readonly nth?: number;
  readonly moment: Moment;
}

export interface CuttingProxy {
  readonly port: number;
  /** Once, over whichever connection the statement comes. */
  readonly cut: (cut: Cut) => void;
  /** Ends every connection now, and answers nothing that is under way. */
  readonly cutAll: () => void;
  /** Takes no connection until it should. */
  readonly refuse: (refuses: boolean) => void;
  /** Lets nothing pass, in either direction, until it should. */
  readonly holdBack: (holds: boolean) => void;
  /** To whom new connections go. */
  readonly lead: (port: number) => void;
  /** Has the server get what is late, and waits until it has answered. */
  readonly deliver: () => Promise<void>;
  /** The statements that came since this was asked last. */
  readonly statements: () => readonly string[];
}

/** What one proxy does, and what passed through it. */
interface Rules {
  /** To whom new connections go. */
  to: number;
  holdsBack: boolean;
  readonly cuts: { readonly statement: RegExp; left: number; readonly moment: Moment }[];
  readonly links: Set<Link>;
  /** What the server is still to get, each over a connection that the program has lost. */
  readonly late: { readonly server: Socket; readonly request: Buffer }[];
  readonly seen: string[];
}

/** The proxy ends with the test. */
export async function startProxy(to: number): Promise<CuttingProxy> {
  const at: Rules = { to, holdsBack: false, cuts: [], links: new Set(), late: [], seen: [] };
  const server = createServer((client) => void at.links.add(new Link(client, at)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // of a socket that listens on a port
  const cutAll = (): void => {
    for (const link of at.links) link.cut();
  };
  onTestFinished(() => {
    server.close();
    cutAll();
  });
  return {
    port,
    cut: ({ statement = /(?:)/, nth = 1, moment }) => void at.cuts.push({ statement, left: nth, moment }),
    cutAll,
    refuse: (refuses) => void (refuses ? server.close() : server.listen(port, "127.0.0.1")),
    holdBack(holds) {
      at.holdsBack = holds;
      for (const link of at.links) link.holdBack(holds);
    },
    lead(next) {
      at.to = next;
    },
    async deliver() {
      for (const { server: socket, request } of at.late.splice(0)) {
        if (socket.destroyed) continue;
        const isAnswered = new Promise<void>((resolve) => {
          socket.once("close", resolve).once("data", () => resolve());
        });
        socket.write(request);
        await isAnswered;
        socket.destroy();
      }
    },
    statements: () => at.seen.splice(0),
  };
}

function momentFor({ cuts }: Rules, statement: string): Moment | undefined {
  const at = cuts.findIndex((cut) => {
    if (!cut.statement.test(statement)) return false;
    cut.left -= 1;
    return cut.left === 0;
  });
  return at === -1 ? undefined : cuts.splice(at, 1)[0]?.moment;
}

/** One connection of the program, and the one to the server in its name. */
class Link {
  readonly #at: Rules;
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

  constructor(client: Socket, at: Rules) {
    this.#at = at;
    this.#client = client;
    this.#server = connect(at.to, "127.0.0.1");
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
      if (!at.late.some(({ server }) => server === this.#server) && this.#moment !== "in the reply")
        this.#server.destroy();
    });
    this.#server.on("close", () => {
      at.links.delete(this);
      client.destroy();
    });
    this.holdBack(at.holdsBack);
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
    this.#at.seen.push(statement);
    this.#moment = momentFor(this.#at, statement);
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
        this.#at.late.push({ server: this.#server, request });
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
