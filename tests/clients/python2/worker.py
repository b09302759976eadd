"""One of the crowd that shares a directory, on version 2 of the Python SDK: a coordinator or an implementer.

    python worker.py coordinator|implementer legacy|modern CHANNEL

Started by `run`. Two workers with the same channel, a tag, do one task together; others are around all the time. The
legacy era begins with `initialize`; in the modern one the SDK asks the server itself which era it is. The first
deviation from what the README promises ends the process with 1.
"""

import asyncio
import json
import os
import sys
import traceback
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import Implementation

ROLE, ERA, CHANNEL = sys.argv[1:]
REPOSITORY = Path(os.environ["CLIENTS_REPOSITORY"])
WORKTREE = Path(os.environ["CLIENTS_WORKTREE"])
PLACE = REPOSITORY if ROLE == "coordinator" else WORKTREE
NAME = f"python2-{ROLE}-{ERA}"
ME = f"{NAME}@{PLACE.name}"
# Of a task that nobody does; not even the call that waited for it and was given up.
PARKED = f"parked-{NAME}"
MODES = {"legacy": ("legacy", "2025-11-25"), "modern": ("auto", "2026-07-28")}


def same(actual: object, expected: object) -> None:
    """Like assert, but not to be switched off."""
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


class Worker:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, on_progress=None, **arguments) -> dict:
        """The result of a call that has to succeed."""
        result = await self.client.call_tool(
            tool, arguments, read_timeout_seconds=60, progress_callback=on_progress
        )
        same((result.is_error or False, len(result.content)), (False, 1))
        text = result.content[0].text
        same(result.structured_content, json.loads(text))
        return result.structured_content

    async def fails(self, code: str, tool: str, **arguments) -> None:
        """A call that has to fail with this code."""
        result = await self.client.call_tool(tool, arguments, read_timeout_seconds=60)
        same((result.is_error, result.structured_content, len(result.content)), (True, None, 1))
        same(result.content[0].text.partition(": ")[0], code)

    async def introductions(self) -> None:
        same(self.client.protocol_version, MODES[ERA][1])
        same(self.client.server_info.name, "ai-coord")
        same("claim_next_task" in self.client.instructions, True)
        golden = json.loads(Path(os.environ["CLIENTS_TOOLS"]).read_text())
        tools = (await self.client.list_tools()).tools
        same([tool.model_dump(by_alias=True, exclude_unset=True) for tool in tools], golden)

    async def nuisances(self) -> None:
        """Neither a refusal nor a call that is given up may harm the conversation."""
        await self.fails("not_found", "get_task", task_id="task-9999")
        await self.fails("invalid_arguments", "claim_task", task_id="9999")
        try:
            await self.client.call_tool("delete_task", {})
        except MCPError as error:
            same(error.error.code, -32602)
        else:
            raise AssertionError("an unknown tool was called")
        given_up = asyncio.create_task(self.call("claim_next_task", tag=PARKED, wait_seconds=45))
        # So that it is sent before it is given up.
        await self.call("list_tasks")
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        same(given_up.cancelled(), True)

    async def coordinator(self) -> None:
        created = await self.call("create_task", title="Parked", description="Not to be done.", tags=[PARKED])
        parked = created["task"]["id"]
        reports = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            reports.append(message)

        # All the while, beside the other calls.
        long = asyncio.create_task(
            self.call("wait_for_task", report, task_id=parked, known_status="pending", timeout_seconds=17)
        )
        created = await self.call("create_task", title=f"For {CHANNEL}", description="Do it.", tags=[CHANNEL])
        task_id = created["task"]["id"]
        same(created["task"], {"id": task_id, "status": "pending", "version": 1})
        found = await self.call("wait_for_task", timeout_seconds=45)
        same(found["timed_out"], False)
        told = [(it["why"], it["task"]["id"], it["task"]["percent"]) for it in found["attention"]]
        same(told, [("review", task_id, 50)])
        whole = (await self.call("get_task", task_id=task_id))["task"]
        same([entry["action"] for entry in whole["history"]], ["create", "claim", "start", "complete"])
        same(whole["submission"]["directory"], str(WORKTREE))
        await self.fails("conflict", "approve_task", task_id=task_id, expected_version=1)
        approved = await self.call("approve_task", task_id=task_id, expected_version=4)
        same(approved["task"], {"id": task_id, "status": "approved", "version": 5})

        same((await long)["timed_out"], True)
        same(len(reports) > 0, True)
        cancelled = await self.call("cancel_task", task_id=parked)
        same(cancelled["task"], {"id": parked, "status": "cancelled", "version": 2})

    async def implementer(self) -> None:
        claim = await self.call("claim_next_task", tag=CHANNEL, wait_seconds=45)
        task = claim["task"]
        same((claim["why"], task["status"], task["version"], task["assignee"]), ("new", "claimed", 2, ME))
        same(task["tags"], [CHANNEL])
        task_id = task["id"]
        progress = await self.call("update_progress", task_id=task_id, percent=50, current_step="Halfway")
        same(progress["task"], {"id": task_id, "status": "in_progress", "version": 3})
        await self.fails("invalid_transition", "approve_task", task_id=task_id)
        done = await self.call("complete_task", task_id=task_id, summary="Done", files=["a.txt"])
        same(done["task"], {"id": task_id, "status": "completed", "version": 4})
        over = await self.call("wait_for_task", task_id=task_id, known_status="completed", timeout_seconds=45)
        same((over["timed_out"], over["task"]["status"]), (False, "approved"))


async def main() -> None:
    server = StdioServerParameters(command=os.environ["CLIENTS_BINARY"], cwd=PLACE)
    about = Implementation(name=NAME, version="1.0.0")
    async with Client(server, mode=MODES[ERA][0], client_info=about) as client:
        worker = Worker(client)
        await worker.introductions()
        await worker.nuisances()
        await {"coordinator": worker.coordinator, "implementer": worker.implementer}[ROLE]()
        agents = (REPOSITORY / ".ai" / "coordination" / "agents").iterdir()
        same([it.name for it in agents if it.name.startswith(NAME)], [f"{ME}.json"])
    print(f"{NAME}: done, with {CHANNEL}", flush=True)


try:
    asyncio.run(asyncio.wait_for(main(), float(os.environ["CLIENTS_SECONDS"])))
except BaseException:
    traceback.print_exc()
    print(f"{NAME}: FAILED", file=sys.stderr)
    sys.exit(1)
