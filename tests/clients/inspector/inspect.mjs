// What the MCP inspector's command line thinks of the server, and one task done with nothing but it.
//
//   node inspect.mjs
//
// Started by `run`. Each call is a process of its own, with a server of its own, in alternating eras of the protocol:
// an assistant that is restarted all the time, and has to remain itself.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

const { CLIENTS_BINARY: binary, CLIENTS_REPOSITORY: repository, CLIENTS_CACHE: cache } = process.env;
const program = join(cache, "inspector", "node_modules", ".bin", "mcp-inspector");
// Its own codes.
const TOOL_IS_ERROR = 5;

/** Runs it to its end: the exit code, and what it wrote. */
function inspector(era, ...rest) {
  const args = ["--cli", "--format", "json", "--protocol-era", era, "--cwd", repository, binary, ...rest];
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: Number(process.env.CLIENTS_SECONDS) * 1_000,
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => (stdout += data));
  child.stderr.on("data", (data) => (stderr += data));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

async function lint(era) {
  const { code, stdout, stderr } = await inspector(era, "--method", "tools/list", "--strict");
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "", "the inspector has something to say about the schemas");
  const golden = JSON.parse(readFileSync(process.env.CLIENTS_TOOLS, "utf8"));
  assert.deepEqual(JSON.parse(stdout).result.tools, golden);
}

async function raw(era, tool, args) {
  const pairs = ["--tool-args-json", JSON.stringify(args)];
  const { code, stdout, stderr } = await inspector(era, "--method", "tools/call", "--tool-name", tool, ...pairs);
  assert.ok([0, TOOL_IS_ERROR].includes(code), `${tool} ended with ${code}: ${stderr}`);
  return { code, result: JSON.parse(stdout).result };
}

async function call(era, tool, args) {
  const { code, result } = await raw(era, tool, args);
  assert.equal(code, 0, `${tool}: ${result.content[0].text}`);
  assert.equal(JSON.stringify(result.structuredContent), result.content[0].text);
  return result.structuredContent;
}

async function fails(code, era, tool, args) {
  const { code: ended, result } = await raw(era, tool, args);
  assert.equal(ended, TOOL_IS_ERROR, JSON.stringify(result));
  assert.equal(result.isError, true);
  assert.ok(result.content[0].text.startsWith(`${code}: `), result.content[0].text);
}

async function work() {
  const created = await call("legacy", "create_task", { title: "Inspect", description: "Look.", tags: ["inspected"] });
  const { id } = created.task;
  await fails("not_found", "modern", "get_task", { task_id: "task-9999" });
  const { task } = await call("modern", "claim_next_task", { tag: "inspected", wait_seconds: 5 });
  assert.deepEqual([task.id, task.status, task.version], [id, "claimed", 2]);
  assert.equal(task.assignee, task.creator, "two inspectors are not the same assistant");
  assert.ok(task.assignee.endsWith(`@${basename(repository)}`), task.assignee);
  const started = await call("legacy", "update_progress", { task_id: id, percent: 50 });
  assert.deepEqual(started.task, { id, status: "in_progress", version: 3 });
  const done = await call("modern", "complete_task", { task_id: id, summary: "Looked" });
  assert.deepEqual(done.task, { id, status: "completed", version: 4 });
  const approved = await call("legacy", "approve_task", { task_id: id });
  assert.deepEqual(approved.task, { id, status: "approved", version: 5 });
  const nothing = await call("modern", "wait_for_task", { task_id: id, known_status: "approved", timeout_seconds: 1 });
  assert.deepEqual([nothing.task.status, nothing.timed_out], ["approved", true]);
}

try {
  await lint("legacy");
  await lint("modern");
  console.log("inspector: nothing to say about the schemas");
  await work();
  console.log("inspector: one task done by seven inspectors");
} catch (error) {
  console.error("inspector: FAILED:", error);
  process.exit(1);
}
