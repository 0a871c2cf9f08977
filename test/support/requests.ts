/** Requests over real sockets, reported in full: what came back, or how the connection ended. */

import { request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As far as it came. */
  readonly text: string;
  /** Whether the body came to its end. */
  readonly whole: boolean;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Sends one request. Rejects with the socket's error when no answer begins; an answer that breaks off is given as far as it came. */
export function send(url: string, options: RequestOptions = {}): Promise<Answer> {
  const { method = "GET", headers = {}, body } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
  const request = httpRequest(url, { method, headers: { ...length, ...headers }, agent: false });
  request.on("error", reject);
  request.on("response", (response) => {
    const chunks: Buffer[] = [];
    const done = () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: Buffer.concat(chunks).toString(),
        whole: response.complete,
      });
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", () => {}); // "close" follows
    response.on("close", done);
  });
  request.end(body);
  return promise;
}
