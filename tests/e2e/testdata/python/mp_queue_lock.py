# says: 20 ['a', 'b']
import multiprocessing


def add(counter, lock, queue, name):
    for _ in range(10):
        with lock:
            counter.value += 1
    queue.put(name)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    counter, lock, queue = context.Value("i", 0, lock=False), context.Lock(), context.Queue()
    workers = [context.Process(target=add, args=(counter, lock, queue, name)) for name in "ab"]
    for worker in workers:
        worker.start()
    names = sorted(queue.get(timeout=20) for _ in workers)
    for worker in workers:
        worker.join()
    print(counter.value, names, [worker.exitcode for worker in workers])
    with context.Semaphore(2), context.RLock():
        event, barrier, condition = context.Event(), context.Barrier(1), context.Condition()
        event.set()
        print(event.is_set(), barrier.wait(), context.SimpleQueue().empty())
