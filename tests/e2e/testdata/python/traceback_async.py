# exit: 1
# says: in inner
# says: ZeroDivisionError
import asyncio


async def inner():
    await asyncio.sleep(0)
    return 1 / 0


async def main():
    await asyncio.gather(inner(), asyncio.sleep(0.01))


asyncio.run(main())
