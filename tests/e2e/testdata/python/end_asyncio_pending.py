# says: cancelled
import asyncio


async def never():
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        print("cancelled")
        raise


async def main():
    global task
    task = asyncio.create_task(never())
    await asyncio.sleep(0.01)
    print("main ends")


asyncio.run(main())
