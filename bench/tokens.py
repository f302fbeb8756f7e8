"""What a list of tools costs a model: ours beside those of other MCP servers, in tokens (o200k), as they send it.

The peers come from npm into `out/peers` in the versions of the day and are not committed. Only their lists are asked
for.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out" / "peers"
DOC = ROOT / "docs" / "mcp.md"
BEGIN, END = "<!-- tokens: make bench-peers -->", "<!-- /tokens -->"
SECONDS = 60.0

NODE, NODE_LEAST = "24.21.0", (22, 19)
PEERS: list[tuple[str, str, list[str]]] = [
    ("agent-device", "agent-device", ["mcp"]),
    ("@playwright/mcp", "playwright-mcp", []),
    ("@mobilenext/mobile-mcp", "mcp-server-mobile", []),
    ("chrome-devtools-mcp", "chrome-devtools-mcp", []),
]
"""Package, its program, and how it is started."""

OURS: list[tuple[str, list[str]]] = [
    ("anydevice, default list", []),
    ("anydevice, every command (`--tools all`)", ["--tools", "all"]),
    ("anydevice, every command and selector (`--schemas full`)", ["--schemas", "full"]),
]
DISABLED = '[plugins]\ndisabled = ["android", "apple", "harmonyos", "linux", "vega", "web"]\n'


def fetch() -> Path:
    """Fetches what is not there yet; returns the folder of programs.

    Raises:
        SystemExit: There is no npm.
    """
    npm = shutil.which("npm")
    wanted = [package for package, _, _ in PEERS if not (OUT / "node_modules" / package).exists()]
    if old_node() and not (OUT / "node_modules" / _node_package()).exists():
        wanted.append(f"{_node_package()}@{NODE}")
    if wanted:
        if npm is None:
            raise SystemExit("npm is needed to fetch the peers; nothing was measured")
        OUT.mkdir(parents=True, exist_ok=True)
        argv = [npm, "install", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix", str(OUT), *wanted]
        subprocess.run(argv, check=True)
    return OUT / "node_modules" / ".bin"


def old_node() -> bool:
    """Whether the system's node is older than the peers want."""
    found = shutil.which("node")
    if found is None:
        return True
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2]) < NODE_LEAST


def _node_package() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"node-{platform.system().lower()}-{machine}"


def tools_of(argv: list[str], env: dict[str, str], cwd: str) -> list[dict[str, Any]]:
    """What a server lists, asked on the bare protocol."""
    found: list[dict[str, Any]] = []
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(argv, env=env, cwd=cwd, start_new_session=True, **pipes) as process:
        assert process.stdin is not None and process.stdout is not None
        alarm = threading.Timer(SECONDS, process.kill)
        alarm.start()
        try:
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }
            _ask(process, 1, "initialize", hello)
            process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
            params: dict[str, Any] = {}
            for number in range(2, 50):
                result = _ask(process, number, "tools/list", params)
                found += result["tools"]
                if not result.get("nextCursor"):
                    break
                params = {"cursor": result["nextCursor"]}
            process.stdin.close()
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        finally:
            alarm.cancel()
    return found


def _ask(process: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None and process.stdout is not None
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        try:
            reply = json.loads(line)
        except ValueError:
            continue  # some print to stdout what is none of the protocol's
        if isinstance(reply, dict) and reply.get("id") == number and "method" not in reply:
            result: dict[str, Any] = reply["result"]
            return result
    raise SystemExit(f"no answer to {method}")


def count(tools: list[dict[str, Any]]) -> tuple[int, int]:
    """Bytes and tokens of a list, minified."""
    from bpe_openai import get_encoding

    text = json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode()), len(get_encoding("o200k_base").encode(text))


def measured() -> list[tuple[str, int, int, int, int]]:
    """Name, tools, bytes, tokens, and tokens without output schemas, of each list."""
    programs = fetch()
    rows = []
    with tempfile.TemporaryDirectory(prefix="anydevice-tokens-") as home:
        Path(home, "config.toml").write_text(DISABLED)
        ours = str(Path(sys.executable).parent / "anydevice")
        mine = {**os.environ, "ANYDEVICE_HOME": home}
        node = OUT / "node_modules" / _node_package() / "bin" if old_node() else Path(str(shutil.which("node"))).parent
        # Peers see a home of their own, and no adb server that somebody else uses.
        theirs = {"HOME": home, "PATH": f"{node}:/usr/bin:/bin", "ANDROID_ADB_SERVER_PORT": "1", "CI": "1",
                  "AGENT_DEVICE_STATE_DIR": f"{home}/state"}  # fmt: skip
        try:
            for name, options in OURS:
                rows.append(_row(name, tools_of([ours, "mcp", *options], mine, home)))
            for package, program, words in PEERS:
                version = json.loads((OUT / "node_modules" / package / "package.json").read_text())["version"]
                rows.append(_row(f"{package} {version}", tools_of([str(programs / program), *words], theirs, home)))
        finally:
            subprocess.run([ours, "stop"], env=mine, capture_output=True, check=False)
    return rows


def _row(name: str, tools: list[dict[str, Any]]) -> tuple[str, int, int, int, int]:
    size, tokens = count(tools)
    bare = [{key: value for key, value in tool.items() if key != "outputSchema"} for tool in tools]
    print(f"{name:58} {len(tools):4} tools {size:8,} bytes {tokens:7,} tokens", flush=True)
    return name, len(tools), size, tokens, count(bare)[1]


def table() -> str:
    """The table for the documentation."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    lines = [
        f"Lists of tools as the servers send them, minified, in o200k tokens, on {day} (`make bench-peers`; peers as "
        "npm had them that day, asked for nothing but their list; ours in a handshake revision, so with `toolset`):",
        "",
        "| list | tools | bytes | tokens | tokens without output schemas |",
        "|---|---|---|---|---|",
        *(f"| {name} | {n} | {size:,} | {tokens:,} | {bare:,} |" for name, n, size, tokens, bare in measured()),
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures, and puts the table where the documentation has its marks."""
    text = table()
    whole = DOC.read_text("utf-8")
    if BEGIN in whole and END in whole:
        before, rest = whole.split(BEGIN, 1)
        DOC.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}", "utf-8")
    print(text)


if __name__ == "__main__":
    main()
