"""The Python client: the same commands and the same answers as everywhere, from a program.

    from anydevice.client import connect

    with connect() as client:
        client.open(url="https://example.org", device="chromium")
        answer = client.press(target="More information", timeout_ms=5000)
        print(answer.device.name, answer.verified)

    async with AsyncClient() as client:                 # asyncio or trio
        await client.press(target="@e3")

Names are the catalogue's: hyphens become underscores (`client.trigger_app_event`), arguments in snake_case become
camelCase (`timeout_ms` is `timeoutMs`), a trailing underscore is dropped (`client.is_(...)`). A refusal is raised
as the typed error of `anydevice_schemas.errors`, with the whole answer in its `answer`.

One connection is one caller: its implicit sessions are its own and end with it. When none runs, a daemon is
started. Importing this costs the standard library only.
"""

from ._answer import Answer, Fields
from ._async import AsyncClient
from ._sync import Client, connect

__all__ = ["Answer", "AsyncClient", "Client", "Fields", "connect"]
