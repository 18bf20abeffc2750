# want: exit 0
# want: stdout "ok\n"
import asyncio


async def echo(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def ask(opened):
    reader, writer = await opened
    writer.write(b"hello\n")
    assert await reader.readline() == b"HELLO\n"
    writer.close()


async def main():
    for server, connect in ((await asyncio.start_server(echo, "127.0.0.1", 18095), lambda: asyncio.open_connection("127.0.0.1", 18095)),
                            (await asyncio.start_server(echo, "::1", 18096), lambda: asyncio.open_connection("::1", 18096)),
                            (await asyncio.start_unix_server(echo, "a.sock"), lambda: asyncio.open_unix_connection("a.sock"))):
        async with server:
            await asyncio.gather(*(ask(connect()) for _ in range(50)))
    process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    assert (await process.communicate(b"child"))[0] == b"child"
    print("ok")


asyncio.run(main())
