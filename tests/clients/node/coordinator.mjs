// The coordinator of the test in which two SDK clients complete tasks together: creates, answers, reviews.
//
// Started by `run`, beside the implementer. They meet nowhere but in the server's answers. Each answer is compared
// with what the README promises; the first deviation ends the process with 1.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const { CLIENTS_BINARY: binary, CLIENTS_REPOSITORY: repository, CLIENTS_WORKTREE: worktree } = process.env;
const directory = join(repository, ".ai", "coordination");
const me = `node-coordinator@${basename(repository)}`;
const implementer = `python-implementer@${basename(worktree)}`;

const TOOLS = [
  "approve_task", "cancel_task", "claim_next_task", "claim_task", "complete_task", "create_task", "get_messages",
  "get_progress", "get_task", "list_tasks", "post_message", "reopen_task", "request_revision", "search_tasks",
  "update_progress", "wait_for_task",
];
const READ_ONLY = ["get_messages", "get_progress", "get_task", "list_tasks", "search_tasks", "wait_for_task"];

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SUMMARY = ["id", "title", "status", "version", "creator", "tags", "createdAt", "updatedAt", "idleSeconds"];
const SUMMARY_OPTIONAL = ["assignee", "holderGone", "blockedBy", "percent"];
const ORDER = [...SUMMARY, "files", "metadata", "after", "description"];
const ORDER_OPTIONAL = [...SUMMARY_OPTIONAL, "expectedOutput", "workingDirectory", "feedback", "submission"];

const client = new Client({ name: "node-coordinator", version: "1.0.0" });

function say(what) {
  console.log(`coordinator: ${what}`);
}

/** The keys that must be there, those that may, and no null anywhere but where it is asked for. */
function shape(object, required, optional = []) {
  assert.equal(typeof object, "object", JSON.stringify(object));
  const keys = Object.keys(object);
  for (const key of required) {
    assert.ok(keys.includes(key), `no ${key} in ${JSON.stringify(object)}`);
  }
  for (const key of keys) {
    assert.ok(required.includes(key) || optional.includes(key), `unexpected ${key} in ${JSON.stringify(object)}`);
    assert.notEqual(object[key], null, `${key} is null in ${JSON.stringify(object)}`);
  }
}

async function raw(name, args) {
  return await client.callTool({ name, arguments: args }, undefined, { timeout: 60_000 });
}

/** The result of a call that has to succeed. */
async function call(name, args = {}) {
  const result = await raw(name, args);
  assert.ok(!result.isError, `${name} failed: ${result.content[0]?.text}`);
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, "text");
  const { text } = result.content[0];
  assert.deepEqual(result.structuredContent, JSON.parse(text), `${name}: text and structured content differ`);
  assert.equal(JSON.stringify(result.structuredContent), text, `${name}: the text is not the compact form`);
  assert.ok(Buffer.byteLength(text) < 8_000, `${name}: ${Buffer.byteLength(text)} bytes`);
  return result.structuredContent;
}

/** The text of a call that has to fail with this code. */
async function fails(code, name, args) {
  const result = await raw(name, args);
  assert.equal(result.isError, true, `${name} should fail with ${code}: ${JSON.stringify(result)}`);
  assert.equal(result.structuredContent, undefined, `${name}: structured content beside an error`);
  assert.equal(result.content.length, 1);
  const { text } = result.content[0];
  assert.ok(text.startsWith(`${code}: `), `${name}: expected ${code}, got ${text}`);
  return text;
}

/** What a wait for whatever needs us ends with: one thing, and this one. */
async function attention(why, id, args = {}) {
  const result = await call("wait_for_task", { timeout_seconds: 45, ...args });
  shape(result, ["attention", "now", "timed_out"]);
  assert.equal(result.timed_out, false, `waited in vain for ${why} of ${id}`);
  assert.match(result.now, TIMESTAMP);
  assert.equal(result.attention.length, 1, JSON.stringify(result.attention));
  const [found] = result.attention;
  shape(found, ["task", "why"], ["message"]);
  shape(found.task, SUMMARY, SUMMARY_OPTIONAL);
  assert.deepEqual([found.why, found.task.id], [why, id]);
  assert.equal(found.task.assignee, implementer);
  return found;
}

function ref(task, id, status) {
  shape(task, ["id", "status", "version"]);
  assert.deepEqual([task.id, task.status], [id, status]);
  return task;
}

async function introductions() {
  const instructions = client.getInstructions();
  assert.equal(client.getServerVersion().name, "ai-coord");
  assert.ok(instructions.length <= 600, `${instructions.length} characters of instructions`);
  assert.ok(instructions.endsWith(directory.slice(-20)), instructions);

  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
  for (const tool of tools) {
    assert.ok(tool.description.length > 20, `${tool.name} is not described`);
    assert.equal(tool.inputSchema.type, "object");
    assert.equal(typeof tool.inputSchema.properties, "object");
    assert.equal(tool.outputSchema, undefined);
    assert.equal(typeof (tool.title ?? tool.annotations?.title), "string", `${tool.name} has no title`);
    for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
      assert.equal(typeof tool.annotations?.[hint], "boolean", `${tool.name}: no ${hint}`);
    }
    assert.equal(tool.annotations.readOnlyHint, READ_ONLY.includes(tool.name), tool.name);
    assert.equal(tool.annotations.openWorldHint, false, tool.name);
  }
}

/** Until the implementer has taken its name, which the directory shows to people, too. */
async function implementerIsThere() {
  const present = () => {
    try {
      return readdirSync(join(directory, "agents")).includes(`${implementer}.json`);
    } catch {
      return false;
    }
  };
  while (!present()) {
    await sleep(50);
  }
}

async function badCalls() {
  const missing = await fails("not_found", "get_task", { task_id: "task-9999" });
  assert.ok(missing.includes(directory), missing);
  await fails("invalid_arguments", "get_task", { task_id: "../task-0001" });
  await fails("invalid_arguments", "create_task", { title: "  ", description: "x" });
  await fails("too_large", "create_task", { title: "x".repeat(201), description: "x" });
  await fails("not_found", "create_task", { title: "x", description: "x", after: ["task-9999"] });
  const misspelt = await fails("invalid_arguments", "approve_task", { task_id: "task-0001", expectedVersion: 1 });
  assert.ok(misspelt.includes("expected_version"), misspelt);
  await assert.rejects(raw("delete_task", {}), (error) => error.code === -32602);
}

async function createTasks() {
  const none = await call("list_tasks", { status: "all" });
  shape(none, ["tasks", "total", "counts"], ["you", "next"]);
  assert.deepEqual([none.tasks, none.total], [[], 0]);

  const first = await call("create_task", {
    title: "Sort the inventory",
    description: "Sort by SKU, stable — keep the filters working.",
    expected_output: "The tests pass",
    tags: ["inventory"],
    files: ["src/inventory.ts"],
    metadata: { baseCommit: "0123abc" },
  });
  shape(first, ["task"]);
  assert.equal(ref(first.task, "task-0001", "pending").version, 1);
  const second = await call("create_task", {
    title: "Document the order",
    description: "Say in the manual how the list is sorted.",
    after: ["task-0001"],
  });
  ref(second.task, "task-0002", "pending");

  const page = await call("list_tasks", { creator: "me" });
  shape(page, ["tasks", "total", "counts", "you"]);
  assert.equal(page.you, me);
  assert.equal(page.total, 2);
  page.tasks.forEach((task) => shape(task, SUMMARY, SUMMARY_OPTIONAL));
  assert.deepEqual(page.tasks.map((task) => task.id), ["task-0001", "task-0002"]);
  assert.deepEqual(page.tasks[1].blockedBy, ["task-0001"]);
  const found = await call("search_tasks", { query: "STABLE" });
  assert.deepEqual(found.tasks.map((task) => task.id), ["task-0001"]);
  await fails("blocked", "claim_task", { task_id: "task-0002" });
}

async function answerQuestion() {
  const { message, task } = await attention("message", "task-0001");
  shape(message, ["id", "taskId", "author", "timestamp", "content"]);
  assert.deepEqual([message.taskId, message.author], ["task-0001", implementer]);
  assert.match(message.timestamp, TIMESTAMP);
  assert.match(message.content, /ascending/);
  assert.equal(task.percent, 40);

  const thread = await call("get_messages", { task_id: "task-0001" });
  shape(thread, ["messages", "total", "more"]);
  assert.deepEqual(thread, { messages: [message], total: 1, more: false });
  const posted = await call("post_message", { task_id: "task-0001", content: "Ascending." });
  shape(posted, ["message"]);
  shape(posted.message, ["id", "taskId", "author", "timestamp"]);
  assert.equal(posted.message.author, me);
  assert.ok(posted.message.timestamp > message.timestamp);
}

async function review() {
  const { task } = await attention("review", "task-0001");
  assert.equal(task.status, "completed");
  const whole = await call("get_task", { task_id: "task-0001" });
  shape(whole, ["task", "historyTotal"]);
  shape(whole.task, [...ORDER, "history"], ORDER_OPTIONAL);
  assert.deepEqual(whole.task.submission, {
    summary: "Sorted by SKU",
    files: ["src/inventory.ts"],
    commit: "4567def",
    branch: "feature",
    directory: worktree,
  });
  assert.deepEqual(whole.task.history.map((entry) => entry.action), ["create", "claim", "start", "complete"]);
  assert.equal(whole.historyTotal, 4);
  for (const entry of whole.task.history) {
    shape(entry, ["version", "timestamp", "actor", "action", "to"], ["from", "note"]);
  }
  const progress = await call("get_progress", { task_id: "task-0001" });
  shape(progress, ["latest", "history", "total"]);
  assert.equal(progress.latest.percent, 60, "a heartbeat keeps the percentage");
  assert.equal(progress.total, 3);
  return task.version;
}

async function sendBack(version) {
  const stale = { task_id: "task-0001", feedback: "x", expected_version: version - 1 };
  await fails("conflict", "request_revision", stale);
  const sent = await call("request_revision", {
    task_id: "task-0001",
    feedback: "Cover the empty list.",
    expected_version: version,
  });
  shape(sent, ["task", "message"]);
  ref(sent.task, "task-0001", "revision_requested");
  shape(sent.message, ["id", "taskId", "author", "timestamp"]);

  const taken = await call("wait_for_task", {
    task_id: "task-0001",
    known_status: "revision_requested",
    timeout_seconds: 45,
  });
  shape(taken, ["task", "timed_out"], ["messages"]);
  assert.equal(taken.timed_out, false);
  assert.ok(["in_progress", "completed"].includes(taken.task.status), taken.task.status);
}

async function approve() {
  await attention("review", "task-0001");
  const blocked = await call("list_tasks", { status: "pending" });
  assert.deepEqual(blocked.tasks.map((task) => [task.id, task.blockedBy]), [["task-0002", ["task-0001"]]]);
  const approved = await call("approve_task", { task_id: "task-0001", note: "Good." });
  shape(approved, ["task"]);
  ref(approved.task, "task-0001", "approved");
  await fails("invalid_transition", "approve_task", { task_id: "task-0001" });
}

async function secondTask() {
  await attention("review", "task-0002");
  // The implementer's word on it may come before or after.
  const said = await call("wait_for_task", {
    task_id: "task-0002",
    since: "2000-01-01T00:00:00Z",
    timeout_seconds: 45,
  });
  assert.deepEqual(said.messages.map((message) => [message.author, message.content]), [[implementer, "Over to you."]]);
  const approved = await call("approve_task", { task_id: "task-0002" });
  ref(approved.task, "task-0002", "approved");
}

async function nothingLeft() {
  const nothing = await call("wait_for_task", { timeout_seconds: 1 });
  assert.deepEqual([nothing.attention, nothing.timed_out], [[], true]);
  const page = await call("list_tasks");
  assert.deepEqual([page.tasks, page.total, page.counts], [[], 0, { approved: 2 }]);

  const text = readFileSync(join(directory, "tasks", "task-0001.json"), "utf8");
  const file = JSON.parse(text);
  assert.deepEqual(Object.keys(file)[0], "formatVersion");
  assert.deepEqual([file.id, file.status], ["task-0001", "approved"]);
  assert.ok(text.endsWith("}\n") && text.includes('\n  "id"'), "a task file is indented and ends with a newline");
  assert.equal(readFileSync(join(directory, ".gitignore"), "utf8").trim(), "*");
}

// A client that hangs must not hang whoever runs it.
setTimeout(() => {
  console.error("coordinator: FAILED: time is up");
  process.exit(1);
}, Number(process.env.CLIENTS_SECONDS) * 1_000).unref();

try {
  await client.connect(new StdioClientTransport({ command: binary, cwd: repository, stderr: "inherit" }));
  await introductions();
  say("16 tools, all annotated");
  await implementerIsThere();
  await badCalls();
  await createTasks();
  say("two tasks created, the second after the first");
  await answerQuestion();
  say("a question answered");
  await sendBack(await review());
  say("work reviewed and sent back");
  await approve();
  say("the revision approved, the second task unblocked");
  await secondTask();
  await nothingLeft();
  say("everything approved");
  await client.close();
  process.exit(0);
} catch (error) {
  console.error("coordinator: FAILED:", error);
  process.exit(1);
}
