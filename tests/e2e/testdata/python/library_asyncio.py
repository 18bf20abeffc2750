# says: [0, 1, 2] hello
import asyncio


async def f(n):
    await asyncio.sleep(0.01 * (3 - n))
    return n


async def main():
    process = await asyncio.create_subprocess_exec("echo", "hello", stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    print(await asyncio.gather(*map(f, range(3))), out.decode().strip())
    print(await asyncio.to_thread(sum, [1, 2]), await asyncio.wait_for(f(2), 5))
    try:
        async with asyncio.timeout(0.01) if hasattr(asyncio, "timeout") else asyncio.Lock():
            await asyncio.sleep(5 if hasattr(asyncio, "timeout") else 0)
        print("no timeout here")
    except TimeoutError:
        print("timeout")


asyncio.run(main())
