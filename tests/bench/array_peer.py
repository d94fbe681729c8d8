#!/usr/bin/env python3
"""Hands frames from one spawned process to another by a multiprocessing.Array under its lock, as the
original question does. Prints the median time from before the copy into the array to after the copy
out of it, in nanoseconds, the first 20 frames left out.

Usage: array_peer.py TYPECODE WIDTH HEIGHT FRAMES FPS
"""
import multiprocessing
import statistics
import sys
import time

import numpy


def write(array, typecode, stamp, filled, frames, fps, ready):
    view = numpy.frombuffer(array.get_obj(), dtype=typecode)
    picture = (numpy.arange(view.size) % 251).astype(typecode)
    ready.acquire()
    start = time.monotonic_ns()
    for number in range(frames):
        pause = start + number * 1_000_000_000 // fps - time.monotonic_ns()
        if pause > 0:
            time.sleep(pause / 1e9)
        begun = time.monotonic_ns()
        with array.get_lock():
            stamp.value = begun
            view[:] = picture
        filled.release()


def read(array, typecode, stamp, filled, frames, ready, result):
    view = numpy.frombuffer(array.get_obj(), dtype=typecode)
    private = numpy.zeros_like(view)
    ready.release()
    times = []
    for _ in range(frames):
        filled.acquire()
        with array.get_lock():
            begun = stamp.value
            private[:] = view
        times.append(time.monotonic_ns() - begun)
    result.value = int(statistics.median(times[20:]))


def main():
    typecode, width, height, frames, fps = sys.argv[1:]
    width, height, frames, fps = int(width), int(height), int(frames), int(fps)
    context = multiprocessing.get_context("spawn")
    array = context.Array(typecode, width * height * 3)
    stamp, result = context.Value("q", 0, lock=False), context.Value("q", 0)
    filled, ready = context.Semaphore(0), context.Semaphore(0)
    writer = context.Process(target=write, args=(array, typecode, stamp, filled, frames, fps, ready))
    reader = context.Process(target=read, args=(array, typecode, stamp, filled, frames, ready, result))
    reader.start()
    writer.start()
    writer.join()
    reader.join()
    if writer.exitcode or reader.exitcode:
        sys.exit("a process failed")
    print(result.value)


if __name__ == "__main__":
    main()
