/**
 * Node's HTTP, asked for by name: an import of it makes Node load all that it exports, `fetch` and its WebSocket too, which takes
 * longer than everything else that a small run against the sandbox does.
 */

const http = process.getBuiltinModule("node:http");

export const { createServer, request: requestHttp, STATUS_CODES } = http;
export const { request: requestHttps } = process.getBuiltinModule("node:https");
