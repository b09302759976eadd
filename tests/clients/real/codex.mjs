// Asks Codex's app server which MCP servers it has, and says whether ai-coord is connected.
//
//   node codex.mjs path/to/golden/tools.json
//
// Codex has no command that connects to servers only to look; this is what its editor extensions use.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const LIST = 2;

const golden = JSON.parse(readFileSync(process.argv[2], "utf8"));
const codex = spawn("codex", ["app-server"], { stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => codex.stdin.write(`${JSON.stringify(message)}\n`);
// It must not hang whoever runs it.
const patience = setTimeout(() => codex.kill(), 60_000);

send({ id: 1, method: "initialize", params: { clientInfo: { name: "real", version: "1.0.0" } } });
send({ method: "initialized" });
send({ id: LIST, method: "mcpServerStatus/list", params: {} });

let answer;
for await (const line of createInterface({ input: codex.stdout })) {
  const message = JSON.parse(line);
  if (message.id === LIST) {
    answer = message;
    break;
  }
}
clearTimeout(patience);
codex.stdin.end();

assert.ok(answer?.result, `no list of servers: ${JSON.stringify(answer)}`);
const server = answer.result.data.find(({ name }) => name === "ai-coord");
assert.equal(server?.serverInfo?.name, "ai-coord", JSON.stringify(server));
const byName = (tools) => new Map(tools.map((tool) => [tool.name, tool]));
assert.deepEqual(byName(Object.values(server.tools)), byName(golden));
console.log("ai-coord: connected, with the tools of the golden file");
