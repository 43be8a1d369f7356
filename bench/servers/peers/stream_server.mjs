// A stream server on the TypeScript SDK with a session for each client: node stream_server.mjs PORT MODULES
// Publishing sends a log message to each session.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [port, modules] = process.argv.slice(2);
const find = createRequire(pathToFileURL(`${modules}/`));
const load = async (name) => import(pathToFileURL(find.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Server } = await load("server/index.js");
const { StreamableHTTPServerTransport } = await load("server/streamableHttp.js");
const { ListToolsRequestSchema } = await load("types.js");

const sessions = new Map();

const body = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
};

const open = async () => {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, { transport, server }),
  });
  const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }));
  await server.connect(transport);
  return transport;
};

const respond = async (request, response) => {
  if (request.url === "/healthz") return response.setHeader("Content-Length", 2).end("ok");
  const text = request.method === "POST" ? await body(request) : "";
  if (request.url === "/publish") {
    for (const { server } of sessions.values()) await server.sendLoggingMessage({ level: "info", data: text });
    return response.setHeader("Content-Length", 0).end();
  }
  const known = sessions.get(request.headers["mcp-session-id"]);
  const transport = known ? known.transport : await open();
  await transport.handleRequest(request, response, text ? JSON.parse(text) : undefined);
};

createServer((request, response) => respond(request, response).catch(console.error)).listen(
  { port: Number(port), host: "127.0.0.1", backlog: 2048 },
);
