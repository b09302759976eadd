// Streamable HTTP in front of a stdio server, as far as the conformance suite needs it.
//
//   node bridge.mjs COMMAND [ARGUMENT…]
//
// Writes its address to stdout, one line, and runs until it is ended. Each legacy session has a server of its own;
// all requests that belong to none share one. Ids, of requests and so of subscriptions, and progress tokens are made unique on the way in and put back on
// the way out, for one server sees those of many clients. What HTTP itself asks for (headers, origins, streams that
// are taken up again) is left out: it would be the bridge that is tested.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [command, ...args] = process.argv.slice(2);
// What revision 2026-07-28 says about the status of an error; up to 2025-11-25 all of them come with 200.
const STATUS = { [-32601]: 404, [-32602]: 400, [-32020]: 400, [-32021]: 400, [-32022]: 400 };

// By what the notifications of a subscription are told from others.
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** One server process, and whoever waits for its answers. */
class Server {
  #child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  #waiting = new Map();
  #count = 0;

  constructor() {
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      const of = message.id ?? message.params?.progressToken ?? message.params?._meta?.[SUBSCRIPTION];
      this.#waiting.get(of)?.(message);
    });
  }

  notify(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Calls back with each report of progress, and at last with the answer. */
  request(message, back) {
    const id = `bridge-${++this.#count}`;
    const meta = message.params?._meta;
    const token = meta?.progressToken;
    const unique = structuredClone({ ...message, id });
    if (token !== undefined) {
      unique.params._meta.progressToken = id;
    }
    this.#waiting.set(id, (answer) => {
      const meta = answer.params?._meta ?? answer.result?._meta;
      if (meta?.[SUBSCRIPTION] !== undefined) {
        meta[SUBSCRIPTION] = message.id;
      }
      if (!("method" in answer)) {
        this.#waiting.delete(id);
        answer.id = message.id;
      } else if (answer.params.progressToken !== undefined) {
        answer.params.progressToken = token;
      }
      back(answer);
    });
    this.notify(unique);
    return () => this.notify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  }

  end() {
    this.#child.stdin.end();
  }
}

const stateless = new Server();
const sessions = new Map();

function post(message, request, response) {
  let session = request.headers["mcp-session-id"];
  if (message.method === "initialize") {
    session = randomUUID();
    sessions.set(session, new Server());
    response.setHeader("Mcp-Session-Id", session);
  }
  const server = session ? sessions.get(session) : stateless;
  if (!server) {
    return response.writeHead(404).end();
  }
  if (!("id" in message && "method" in message)) {
    server.notify(message);
    return response.writeHead(202).end();
  }
  const event = (it) => `event: message\ndata: ${JSON.stringify(it)}\n\n`;
  const cancel = server.request(message, (it) => {
    if ("method" in it) {
      if (!response.headersSent) {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
      }
      response.write(event(it));
    } else if (response.headersSent) {
      response.end(event(it));
    } else {
      const status = session ? 200 : (STATUS[it.error?.code] ?? 200);
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(it));
    }
  });
  response.on("close", () => response.writableFinished || cancel());
}

const http = createServer(async (request, response) => {
  const session = request.headers["mcp-session-id"];
  if (request.method === "DELETE" && sessions.has(session)) {
    sessions.get(session).end();
    sessions.delete(session);
    return response.writeHead(200).end();
  }
  if (request.method !== "POST") {
    return response.writeHead(405).end();
  }
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
  }
  post(JSON.parse(body), request, response);
});
http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
