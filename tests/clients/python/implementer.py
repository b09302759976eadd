"""The implementer of the test in which two SDK clients complete tasks together: claims, asks, hands in.

Started by `run`, beside the coordinator. They meet nowhere but in the server's answers. Each answer is compared with
what the README promises; the first deviation ends the process with 1.
"""

import asyncio
import json
import os
import re
import sys
import traceback
from datetime import timedelta
from pathlib import Path

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Implementation

REPOSITORY = Path(os.environ["CLIENTS_REPOSITORY"])
WORKTREE = Path(os.environ["CLIENTS_WORKTREE"])
ME = f"python-implementer@{WORKTREE.name}"
COORDINATOR = f"node-coordinator@{REPOSITORY.name}"

TOOLS = {
    "approve_task", "cancel_task", "claim_next_task", "claim_task", "complete_task", "create_task", "get_messages",
    "get_progress", "get_task", "list_tasks", "post_message", "reopen_task", "request_revision", "search_tasks",
    "update_progress", "wait_for_task",
}
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SUMMARY = {"id", "title", "status", "version", "creator", "tags", "createdAt", "updatedAt", "idleSeconds"}
ORDER = SUMMARY | {"assignee", "files", "metadata", "after", "description"}
ORDER_OPTIONAL = {"percent", "expectedOutput", "workingDirectory", "feedback", "submission"}
MESSAGE = {"id", "taskId", "author", "timestamp", "content"}


def check(condition: object, what: object) -> None:
    """Like assert, but not to be switched off."""
    if not condition:
        raise AssertionError(what)


def same(actual: object, expected: object) -> None:
    check(actual == expected, f"expected {expected!r}, got {actual!r}")


def shape(value: dict, required: set, optional: set = frozenset()) -> None:
    """The keys that must be there, those that may, and no null."""
    check(required <= value.keys(), f"{required - value.keys()} missing in {value}")
    check(value.keys() <= required | optional, f"unexpected {value.keys() - required - optional} in {value}")
    check(None not in value.values(), f"a null in {value}")


def say(what: str) -> None:
    print(f"implementer: {what}", flush=True)


class Implementer:
    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def raw(self, name: str, arguments: dict):
        return await self.session.call_tool(name, arguments, read_timeout_seconds=timedelta(seconds=60))

    async def call(self, name: str, **arguments) -> dict:
        """The result of a call that has to succeed."""
        result = await self.raw(name, arguments)
        check(not result.isError, f"{name} failed: {result.content}")
        same(len(result.content), 1)
        text = result.content[0].text
        same(result.structuredContent, json.loads(text))
        same(json.dumps(result.structuredContent, ensure_ascii=False, separators=(",", ":")), text)
        check(len(text.encode()) < 8_000, f"{name}: {len(text.encode())} bytes")
        return result.structuredContent

    async def fails(self, code: str, name: str, **arguments) -> str:
        """The text of a call that has to fail with this code."""
        result = await self.raw(name, arguments)
        check(result.isError, f"{name} should fail with {code}: {result}")
        check(result.structuredContent is None, f"{name}: structured content beside an error")
        same(len(result.content), 1)
        text = result.content[0].text
        check(text.startswith(f"{code}: "), f"{name}: expected {code}, got {text}")
        return text

    async def introductions(self) -> None:
        tools = (await self.session.list_tools()).tools
        same(len(tools), 16)
        same({tool.name for tool in tools}, TOOLS)
        for tool in tools:
            hints = tool.annotations
            check(hints is not None, f"{tool.name} is not annotated")
            given = (hints.readOnlyHint, hints.destructiveHint, hints.idempotentHint, hints.openWorldHint)
            check(None not in given, f"{tool.name}: {given}")
            check(tool.outputSchema is None, f"{tool.name} has an output schema")
            check(tool.inputSchema["type"] == "object" and "properties" in tool.inputSchema, tool.inputSchema)
        try:
            await self.raw("delete_task", {})
        except McpError as error:
            same(error.error.code, -32602)
        else:
            raise AssertionError("an unknown tool was called")

    async def claim(self, task_id: str, why: str, status: str, **arguments) -> dict:
        """Waits for work, which has to be this."""
        claim = await self.call("claim_next_task", wait_seconds=45, **arguments)
        check(claim["task"] is not None, f"waited in vain for {task_id}: {claim}")
        shape(claim, {"task", "why"}, {"messages", "progress"})
        order = claim["task"]
        shape(order, ORDER, ORDER_OPTIONAL)
        same((order["id"], claim["why"], order["status"]), (task_id, why, status))
        same((order["assignee"], order["creator"]), (ME, COORDINATOR))
        check(TIMESTAMP.fullmatch(order["createdAt"]), order["createdAt"])
        same(list(order)[-1], "description")
        return claim

    async def first_task(self) -> None:
        claim = await self.claim("task-0001", "new", "claimed")
        order = claim["task"]
        same((order["version"], order["tags"], order["files"]), (2, ["inventory"], ["src/inventory.ts"]))
        same((order["metadata"], order["after"]), ({"baseCommit": "0123abc"}, []))
        same(order["expectedOutput"], "The tests pass")
        check("progress" not in claim and "messages" not in claim, claim)
        say("the first task claimed")

        started = await self.call("update_progress", task_id="task-0001", percent=40, current_step="Comparing")
        shape(started, {"task", "progress"})
        same(started["task"], {"id": "task-0001", "status": "in_progress", "version": 3})
        shape(started["progress"], {"timestamp", "author", "percent", "currentStep"})
        same((started["progress"]["author"], started["progress"]["percent"]), (ME, 40))

    async def question(self) -> None:
        asked = await self.call("post_message", task_id="task-0001", content="Sort ascending?", wait_seconds=45)
        shape(asked, {"message", "timed_out", "reply"})
        same(asked["timed_out"], False)
        shape(asked["reply"], MESSAGE)
        same((asked["reply"]["author"], asked["reply"]["content"]), (COORDINATOR, "Ascending."))
        say("a question asked and answered")

        # By now both tasks exist, and neither is to be had.
        nothing = await self.call("claim_next_task")
        check(nothing["task"] is None, nothing)
        same(nothing.keys(), {"task", "held", "next"})
        same(nothing["held"], [{"id": "task-0001", "status": "in_progress", "version": 3}])
        check("task-0002" in nothing["next"] and "task-0001" in nothing["next"], nothing["next"])
        again = await self.call("claim_task", task_id="task-0001")
        same(again["already"], True)

    async def hand_in(self) -> None:
        # Models spell numbers and add arguments like this.
        sloppy = await self.call("update_progress", task_id="task-0001", percent="60", notes=None, reasoning="x")
        same((sloppy["progress"]["percent"], sloppy["ignored"]), (60, ["reasoning"]))
        same(sloppy["task"]["version"], 3)
        await self.call("update_progress", task_id="task-0001")
        done = await self.call(
            "complete_task",
            task_id="task-0001",
            summary="Sorted by SKU",
            files='["src/inventory.ts"]',
            commit="4567def",
            expected_version=3,
        )
        shape(done, {"task", "next"})
        same(done["task"], {"id": "task-0001", "status": "completed", "version": 4})

    async def revision(self) -> None:
        claim = await self.claim("task-0001", "revision", "in_progress")
        same(claim["task"]["feedback"], "Cover the empty list.")
        same(claim["task"]["submission"]["commit"], "4567def")
        for message in claim["messages"]:
            shape(message, MESSAGE)
            same(message["author"], COORDINATOR)
        same(claim["messages"][-1]["content"], "Cover the empty list.")
        shape(claim["progress"], {"timestamp", "author"}, {"percent", "currentStep", "notes"})
        say("the revision picked up")
        await self.call("complete_task", task_id="task-0001", summary="The empty list, too")

    async def second_task(self) -> None:
        claim = await self.claim("task-0002", "new", "claimed")
        same(claim["task"]["after"], ["task-0001"])
        over = await self.fails("invalid_transition", "complete_task", task_id="task-0001")
        check("approved" in over and "reopen_task" not in over, over)
        await self.call("complete_task", task_id="task-0002")
        await self.fails("not_reviewer", "approve_task", task_id="task-0002")
        await self.fails("not_reviewer", "request_revision", task_id="task-0002", feedback="x")
        waiting = await self.fails("invalid_transition", "update_progress", task_id="task-0002")
        check(COORDINATOR in waiting, waiting)
        await self.call("post_message", task_id="task-0002", content="Over to you.")

        approved = await self.call("wait_for_task", task_id="task-0002", known_status="completed", timeout_seconds=45)
        shape(approved, {"task", "timed_out"}, {"messages"})
        same((approved["task"]["status"], approved["timed_out"]), ("approved", False))
        nothing = await self.call("claim_next_task")
        same(nothing.keys(), {"task", "next"})


async def main() -> None:
    server = StdioServerParameters(command=os.environ["CLIENTS_BINARY"], cwd=WORKTREE)
    client = Implementation(name="python-implementer", version="1.0.0")
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write, client_info=client) as session:
            initialized = await session.initialize()
            same(initialized.serverInfo.name, "ai-coord")
            check("claim_next_task" in initialized.instructions[:250], initialized.instructions)
            implementer = Implementer(session)
            await implementer.introductions()
            await implementer.first_task()
            await implementer.question()
            await implementer.hand_in()
            await implementer.revision()
            await implementer.second_task()
            say("both tasks done")


try:
    asyncio.run(asyncio.wait_for(main(), float(os.environ["CLIENTS_SECONDS"])))
except BaseException:
    traceback.print_exc()
    print("implementer: FAILED", file=sys.stderr)
    sys.exit(1)
