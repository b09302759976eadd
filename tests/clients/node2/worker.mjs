// One of the crowd that shares a directory, on version 2 of the Node SDK: a coordinator or an implementer.
//
//   node worker.mjs coordinator|implementer legacy|modern CHANNEL
//
// Started by `run`. Two workers with the same channel, a tag, do one task together; others are around all the time.
// The legacy era begins with `initialize`; in the modern one the SDK first starts a second server, just to ask which
// era it is. The first deviation from what the README promises ends the process with 1.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

import { Client, ProtocolError } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const ERAS = {
  legacy: { mode: "legacy", version: "2025-11-25" },
  modern: { mode: "auto", version: "2026-07-28" },
};

const [role, era, channel] = process.argv.slice(2);
const { CLIENTS_BINARY: binary, CLIENTS_REPOSITORY: repository, CLIENTS_WORKTREE: worktree } = process.env;
const place = role === "coordinator" ? repository : worktree;
const name = `node2-${role}-${era}`;
const me = `${name}@${basename(place)}`;
// Of a task that nobody does; not even the call that waited for it and was given up.
const PARKED = `parked-${name}`;
const client = new Client({ name, version: "1.0.0" }, { versionNegotiation: { mode: ERAS[era].mode } });

function raw(tool, args, options) {
  return client.callTool({ name: tool, arguments: args }, { timeout: 60_000, ...options });
}

/** The result of a call that has to succeed. */
async function call(tool, args = {}, options = {}) {
  const result = await raw(tool, args, options);
  assert.ok(!result.isError, `${tool} failed: ${result.content[0]?.text}`);
  assert.equal(result.content.length, 1);
  assert.equal(JSON.stringify(result.structuredContent), result.content[0].text, tool);
  return result.structuredContent;
}

/** The text of a call that has to fail with this code. */
async function fails(code, tool, args) {
  const result = await raw(tool, args);
  assert.equal(result.isError, true, `${tool} should fail with ${code}: ${JSON.stringify(result)}`);
  assert.equal(result.structuredContent, undefined, `${tool}: structured content beside an error`);
  const [{ text }] = result.content;
  assert.ok(text.startsWith(`${code}: `), `${tool}: expected ${code}, got ${text}`);
  return text;
}

function is(task, id, status, version) {
  assert.deepEqual(task, { id, status, version });
}

async function introductions() {
  assert.equal(client.getNegotiatedProtocolVersion(), ERAS[era].version);
  assert.equal(client.getServerVersion().name, "ai-coord");
  assert.match(client.getInstructions(), /claim_next_task/);
  const golden = JSON.parse(readFileSync(process.env.CLIENTS_TOOLS, "utf8"));
  const { tools } = await client.listTools();
  assert.deepEqual(tools, golden, "what the SDK lists is not what tests/golden/tools.json says");
}

/** Neither a refusal nor a call that is given up may harm the conversation. */
async function nuisances() {
  await fails("not_found", "get_task", { task_id: "task-9999" });
  await fails("invalid_arguments", "claim_task", { task_id: "9999" });
  await assert.rejects(raw("delete_task", {}), (error) => error instanceof ProtocolError && error.code === -32602);
  const impatient = new AbortController();
  const givenUp = raw("claim_next_task", { tag: PARKED, wait_seconds: 45 }, { signal: impatient.signal });
  const rejected = assert.rejects(givenUp);
  // So that it is sent before it is given up.
  await call("list_tasks");
  impatient.abort();
  await rejected;
}

async function coordinate() {
  const parked = (await call("create_task", { title: "Parked", description: "Not to be done.", tags: [PARKED] })).task;
  is(parked, parked.id, "pending", 1);
  const reports = [];
  // All the while, beside the other calls.
  const long = call(
    "wait_for_task",
    { task_id: parked.id, known_status: "pending", timeout_seconds: 17 },
    { onprogress: (report) => reports.push(report) },
  );

  const { task } = await call("create_task", { title: `For ${channel}`, description: "Do it.", tags: [channel] });
  is(task, task.id, "pending", 1);
  const { attention, timed_out } = await call("wait_for_task", { timeout_seconds: 45 });
  assert.equal(timed_out, false, `nobody did ${task.id}`);
  assert.deepEqual(attention.map((it) => [it.why, it.task.id, it.task.percent]), [["review", task.id, 50]]);
  const { task: whole } = await call("get_task", { task_id: task.id });
  assert.deepEqual(whole.history.map((entry) => entry.action), ["create", "claim", "start", "complete"]);
  assert.equal(whole.submission.directory, worktree);
  await fails("conflict", "approve_task", { task_id: task.id, expected_version: 1 });
  const approved = await call("approve_task", { task_id: task.id, expected_version: 4 });
  is(approved.task, task.id, "approved", 5);

  assert.equal((await long).timed_out, true);
  assert.ok(reports.length > 0, "nobody said that the wait goes on");
  const cancelled = await call("cancel_task", { task_id: parked.id });
  is(cancelled.task, parked.id, "cancelled", 2);
}

async function implement() {
  const { task, why } = await call("claim_next_task", { tag: channel, wait_seconds: 45 });
  assert.ok(task, `waited in vain for a task of ${channel}`);
  assert.deepEqual([why, task.status, task.version, task.assignee], ["new", "claimed", 2, me]);
  assert.deepEqual(task.tags, [channel]);
  const progress = await call("update_progress", { task_id: task.id, percent: 50, current_step: "Halfway" });
  is(progress.task, task.id, "in_progress", 3);
  await fails("invalid_transition", "approve_task", { task_id: task.id });
  const done = await call("complete_task", { task_id: task.id, summary: "Done", files: ["a.txt"] });
  is(done.task, task.id, "completed", 4);
  const over = await call("wait_for_task", { task_id: task.id, known_status: "completed", timeout_seconds: 45 });
  assert.deepEqual([over.timed_out, over.task.status], [false, "approved"]);
}

// A client that hangs must not hang whoever runs it.
setTimeout(() => {
  console.error(`${name}: FAILED: time is up`);
  process.exit(1);
}, Number(process.env.CLIENTS_SECONDS) * 1_000).unref();

try {
  await client.connect(new StdioClientTransport({ command: binary, cwd: place, stderr: "inherit" }));
  await introductions();
  await nuisances();
  await { coordinator: coordinate, implementer: implement }[role]();
  // The server that was started to ask must not have taken a name.
  const agents = readdirSync(join(repository, ".ai", "coordination", "agents"));
  assert.deepEqual(agents.filter((it) => it.startsWith(name)), [`${me}.json`]);
  await client.close();
  console.log(`${name}: done, with ${channel}`);
  process.exit(0);
} catch (error) {
  console.error(`${name}: FAILED:`, error);
  process.exit(1);
}
