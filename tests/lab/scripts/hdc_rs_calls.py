"""What a script of hdc-rs-py, a client by other people, does with a device: `hdc_rs_calls.py ADDRESS KEY FOLDER`.

The folder holds `good.hap` (com.example.rust) and `bad.hap` (without a signature).
"""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

from hdc_rs_py import HdcClient


def script(address: str, key: str, folder: Path) -> None:
    def client(device: str = key) -> HdcClient:
        made = HdcClient(address)
        if device:
            made.connect_device(device)
        return made

    # what the server itself knows
    assert client("").check_server() == "Ver: 3.2.0f"
    assert key in client("").list_targets()
    assert f"{key}\t\tUSB\tConnected\t" in client("").list_targets_verbose()
    assert client("nope").shell("ls").startswith("[Fail]Not match target founded")

    # a shell: both outputs, no status
    assert client().shell("echo out; echo err >&2; exit 4") == "out\nerr\n"
    assert client().shell("param get const.product.model").strip() == "ALN-AL00"

    # files
    sent, got = folder / "sent.bin", folder / "got.bin"
    sent.write_bytes(bytes(range(256)) * 1000)
    assert "FileTransfer finish, Size:256000" in client().file_send(str(sent), "/data/local/tmp/rust.bin")
    assert "FileTransfer finish, Size:256000" in client().file_recv("/data/local/tmp/rust.bin", str(got))
    assert got.read_bytes() == sent.read_bytes()
    assert "no such file or directory" in client().file_recv("/data/local/tmp/nope", str(got))
    assert client().file_send(str(sent), "/system/rust.bin").startswith("[Fail]")

    # packages: a refusal ends in the same words as a success
    good, bad = str(folder / "good.hap"), str(folder / "bad.hap")
    for package, said in ((good, "install bundle successfully"), (bad, "no signature file")):
        answer = client().install([package], replace=True)
        assert said in answer and answer.endswith("AppMod finish\r\n"), answer
    assert "com.example.rust" in client().shell("bm dump -a")
    assert "uninstall bundle successfully" in client().uninstall("com.example.rust")
    assert "uninstall missing" in client().uninstall("com.example.rust")

    # forwards both ways
    spare = socket.create_server(("127.0.0.1", 0))
    port = spare.getsockname()[1]
    spare.close()
    assert "Forwardport result:OK" in client().fport(f"tcp:{port}", "tcp:8012")
    assert any(f"tcp:{port} tcp:8012" in row and "[Forward]" in row for row in client("").fport_list())
    assert "success" in client("").fport_remove(f"tcp:{port} tcp:8012")
    assert "Forwardport result:OK" in client().rport("tcp:7001", f"tcp:{port}")
    assert any("[Reverse]" in row for row in client("").fport_list())
    assert "success" in client("").fport_remove(f"tcp:7001 tcp:{port}")

    # the log, and devices that come: both until they are told to end
    lines: list[str] = []
    client().hilog_stream(lambda text: (lines.append(text), False)[1])
    assert any("lab/Lab" in line for line in lines), lines
    lists: list[list[str]] = []
    watching = threading.Thread(
        target=lambda: client("").monitor_devices(lambda keys: (lists.append(list(keys)), False)[1], 1), daemon=True
    )
    watching.start()
    watching.join(20)
    assert key in lists[0]

    # what is refused on a build for users
    assert client().smode(True).startswith("[Fail]Cannot set root run mode")
    assert client().target_mount().startswith("[Fail][E007100]")
    assert client().tmode_usb().startswith("[Fail][E001000]")


if __name__ == "__main__":
    script(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
