#!/usr/bin/env python3
"""Writes hostile files of other formats: Chrome JSON, plain and gzipped, and SQLite exports, each with far too much of one thing.

foreign_files.py FOLDER BYTES [NAME...]: each file is of at most about so many bytes.
"""
import gzip
import itertools
import os
import sqlite3
import sys


def array(event):
    """A JSON array of event(0), event(1), ... until the file is full."""

    def write(path, most):
        with open(path, "w") as out:
            size = out.write("[")
            for number in itertools.count():
                text = event(number)
                if size + len(text) + 2 > most:
                    break
                size += out.write(text + ",")
            out.write('{"ph":"M","name":"end"}]')

    return write


def document(head, event, tail):
    """The same within an object: head EVENTS tail."""

    def write(path, most):
        with open(path, "w") as out:
            size = out.write(head) + len(tail)
            for number in itertools.count():
                text = event(number)
                if size + len(text) + 1 > most:
                    break
                size += out.write(("," if number else "") + text)
            out.write(tail)

    return write


def gzipped(head, block, most_unpacked=4 << 30):
    """A gzip file of one block again and again, each a member of its own: as many as there is room for, at most 4 GB."""

    def write(path, most):
        member = gzip.compress(block.encode(), 6)
        times = min(most // len(member), most_unpacked // len(block))
        with open(path, "wb") as out:
            out.write(gzip.compress(head.encode()))
            for _ in range(max(1, times)):
                out.write(member)

    return write


def of(template):
    """Events of the template, in which N stands for a number of their own."""
    return lambda number: template.replace("N", str(number))


def nested(number_of_levels):
    def write(path, most):
        levels = min(number_of_levels, most // 12)
        with open(path, "w") as out:
            out.write('[{"ph":"X","ts":1,"dur":1,"name":"f","args":' + '{"a":' * levels + "1" + "}" * levels + "}]")

    return write


def counters(series):
    values = ",".join(f'"{i}":{i}' for i in range(series))
    return array(lambda number: f'{{"ph":"C","ts":{number},"pid":1,"name":"c{number}","args":{{{values}}}}}')


KERNEL = '{"ph":"X","cat":"kernel","ts":N,"dur":1,"pid":0,"tid":7,"name":"k","args":{"device":0,"stream":7,"correlation":N}}'

JSON = {
    "threads": array(of('{"ph":"X","ts":N,"dur":1,"pid":1,"tid":N,"name":"f"}')),
    "processes": array(of('{"ph":"X","ts":N,"dur":1,"pid":N,"tid":1,"name":"f"}')),
    "thread_names": array(of('{"ph":"M","name":"thread_name","pid":1,"tid":N,"args":{"name":"t"}}')),
    "process_names": array(of('{"ph":"M","name":"process_name","pid":N,"args":{"name":"p"}}')),
    "streams": array(of(KERNEL.replace('"stream":7', '"stream":N').replace('"tid":7', '"tid":N'))),
    "devices": array(of(KERNEL.replace('"device":0', '"device":N').replace('"pid":0', '"pid":N'))),
    "one_correlation": array(
        lambda n: of(KERNEL.replace('"correlation":N', '"correlation":1'))(n)
        if n % 2
        else f'{{"ph":"X","cat":"cuda_runtime","ts":{n},"dur":1,"pid":1,"tid":1,"name":"cudaLaunchKernel","args":{{"correlation":1}}}}'
    ),
    "counters": array(of('{"ph":"C","ts":N,"pid":1,"name":"cN","args":{"v":N}}')),
    "counter_series": counters(1000),
    "counter_ids": array(of('{"ph":"C","ts":N,"pid":1,"id":N,"name":"c","args":{"v":N}}')),
    "counters_of_one_time_each": array(lambda n: f'{{"ph":"C","ts":{n},"pid":1,"name":"c","args":{{"{n % 4000}":1}}}}'),
    "counters_that_end": array(
        lambda n: f'{{"ph":"C","ts":{n},"pid":1,"name":"c","args":{{"{n}":1}}}}' if n % 2 else f'{{"ph":"C","ts":{n},"pid":1,"name":"c","args":{{}}}}'
    ),
    "async_ids": array(of('{"ph":"b","ts":N,"pid":1,"id":N,"cat":"c","name":"a"}')),
    "async_open": array(of('{"ph":"b","ts":N,"pid":1,"id":1,"cat":"c","name":"aN"}')),
    "async_crossing": array(lambda n: f'{{"ph":"{"b" if n < 60000 else "e"}","ts":{n},"pid":1,"id":1,"cat":"c","name":"{n % 60000}"}}'),
    "async_categories": array(of('{"ph":"b","ts":N,"pid":1,"id":1,"cat":"cN","name":"a"}')),
    "flows": array(lambda n: f'{{"ph":"{"sf"[n % 2]}","ts":{n},"pid":1,"tid":1,"id":{n // 2},"cat":"ac2g","name":"f"}}'),
    "open_begins": array(of('{"ph":"B","ts":N,"pid":1,"tid":1,"name":"f"}')),
    "deep_begins": array(lambda n: f'{{"ph":"{"B" if n % 100000 < 50000 else "E"}","ts":{n},"pid":1,"tid":1,"name":"f"}}'),
    "ends_alone": array(of('{"ph":"E","ts":N,"pid":1,"tid":1}')),
    "overlapping": array(of('{"ph":"X","ts":N,"dur":1000000000,"pid":1,"tid":1,"name":"f"}')),
    "crossing": array(lambda n: f'{{"ph":"X","ts":{n},"dur":{1000 + n % 7},"pid":1,"tid":1,"name":"f"}}'),
    "falling": array(lambda n: f'{{"ph":"X","ts":{10**9 - n},"dur":1,"pid":1,"tid":1,"name":"f"}}'),
    "overlapping_kernels": array(of(KERNEL.replace('"dur":1', '"dur":1000000000'))),
    "names": array(of('{"ph":"i","ts":N,"name":"N"}')),
    "categories": array(of('{"ph":"i","ts":1,"cat":"N"}')),
    "instants": array(lambda n: '{"ph":"i","ts":1}'),
    "arguments": array(lambda n: '{"ph":"X","ts":%d,"dur":1,"name":"f","args":{%s}}' % (n, ",".join(f'"{n}_{i}":{i}' for i in range(200)))),
    "one_long_text": lambda path, most: open(path, "w").write('[{"ph":"i","ts":1,"name":"' + "x" * (most - 40) + '"}]'),
    "mangled_names": array(lambda n: KERNEL.replace("N", str(n)).replace('"k"', f'"_Z1f{"P" * 800}{len(str(n)) + 1}n{n}"')),
    "nested_values": nested(1_000_000),
    "elements_of_no_use": array(lambda n: "1"),
    "brackets": lambda path, most: open(path, "w").write("[" * (most - 1)),
    "stack_frames": document(
        '{"traceEvents":[{"ph":"P","ts":1,"pid":1,"tid":1,"sf":100000}],"stackFrames":{"0":{"name":"f"},',
        lambda n: f'"{n + 1}":{{"name":"f","parent":{n}}}',
        "}}",
    ),
    "samples_of_long_stacks": lambda path, most: samples_of_long_stacks(path, most),
    "times_far_apart": array(lambda n: f'{{"ph":"X","ts":{n * 10**11},"dur":{10**11 - 1},"pid":1,"tid":1,"name":"f{n % 10}"}}'),
}


def samples_of_long_stacks(path, most):
    frames = max(1, most // 80)
    samples = max(1, (most - frames * 34) // 45)
    with open(path, "w") as out:
        out.write('{"traceEvents":[],"stackFrames":{"0":{"name":"f"}')
        for i in range(1, frames):
            out.write(f',"{i}":{{"name":"f{i % 97}","parent":{i - 1}}}')
        out.write('},"samples":[')
        out.write(",".join(f'{{"ts":{i},"pid":1,"tid":1,"sf":{frames - 1 - i % 7}}}' for i in range(samples)))
        out.write("]}")


GZIP = {
    "gzip_instants": gzipped("[", '{"ph":"i","ts":1},' * 1000),
    "gzip_threads": gzipped("[", "".join(f'{{"ph":"i","ts":1,"tid":{i}}},' for i in range(1_000_000))),
    "gzip_names": gzipped("[", "".join(f'{{"ph":"i","ts":1,"name":"{i}"}},' for i in range(1_000_000))),
    "gzip_counters": gzipped("[", "".join(f'{{"ph":"C","ts":{i},"pid":1,"name":"c{i}","args":{{"v":1}}}},' for i in range(300_000))),
    "gzip_blanks": gzipped('[{"ph":"i","ts":1},', " " * 1_000_000),
    "gzip_brackets": gzipped("", "[" * 1_000_000),
}

SESSION = "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
STRINGS = "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1,'step');"
RANGES = 'CREATE TABLE NVTX_EVENTS(start INTEGER, "end" INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER, rangeId INTEGER);'
KERNELS = (
    'CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, "end" INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,'
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);"
)
CALLS = (
    'CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, "end" INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,'
    " returnValue INTEGER);"
)
THREAD = 1 << 24


def rows(schema, insert, row, bytes_of_row):
    """A table of row(0), row(1), ..., as many as the file has room for."""

    def write(path, most):
        with_database(path, schema, [(insert, (row(i) for i in range(max(1, most // bytes_of_row))))])

    return write


def with_database(path, schema, inserts=()):
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path)
    database.executescript(SESSION + schema)
    for insert, values in inserts:
        database.executemany(insert, values)
    database.commit()
    database.close()


def script(schema):
    return lambda path, most: with_database(path, schema)


def doubling(path, most):
    ids, last = [], 0
    for _ in range(24):
        ids.append((2 * last + 65_536, "x"))
        last = ids[-1][0] + 1
    with_database(path, "CREATE TABLE StringIds(id INTEGER, value TEXT);" + RANGES, [("INSERT INTO StringIds VALUES(?,?)", ids)])


INSERT_RANGE = "INSERT INTO NVTX_EVENTS VALUES(?,?,?,?,?,?,?,?)"
INSERT_KERNEL = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,?,?,?,?,?,?,?)"
INSERT_CALL = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,?,?,?,?)"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c) SELECT x, "

SQLITE = {
    "view_recursive": script(f"CREATE VIEW StringIds(id, value, rowid) AS {ENDLESS} 'aaaaaaaaaaaaaaaaaaaaaaaa' || x, x FROM c;"),
    "view_of_ranges": script(
        STRINGS + f'CREATE VIEW NVTX_EVENTS(start, "end", eventType, text, globalTid, textId) AS {ENDLESS} zeroblob(100000000), 59, \'t\', 1, 1 FROM c;'
    ),
    "doubling_ids": doubling,
    "open_ranges": rows(STRINGS + RANGES, INSERT_RANGE, lambda i: (i, None, 60, "x", THREAD, None, 0, i), 28),
    "overlapping_ranges": rows(STRINGS + RANGES, INSERT_RANGE, lambda i: (i, 1 << 40, 59, "x", THREAD, None, 0, i), 34),
    "threads": rows(STRINGS + RANGES, INSERT_RANGE, lambda i: (i, i + 1, 59, "x", i, None, 0, i), 30),
    "domains": rows(STRINGS + RANGES, INSERT_RANGE, lambda i: (i, i + 1, 59, "x", THREAD, None, i, i), 34),
    "texts": rows(STRINGS + RANGES, INSERT_RANGE, lambda i: (i, i + 1, 59, str(i), THREAD, None, 0, i), 36),
    "streams": rows(STRINGS + KERNELS, INSERT_KERNEL, lambda i: (i, i + 1, 0, 1, i, i, THREAD, 1, 1), 32),
    "devices": rows(STRINGS + KERNELS, INSERT_KERNEL, lambda i: (i, i + 1, i, 1, 7, i, THREAD, 1, 1), 34),
    "contexts": rows(STRINGS + KERNELS, INSERT_KERNEL, lambda i: (i, i + 1, 0, i, 7, i, THREAD, 1, 1), 34),
    "processes": rows(STRINGS + KERNELS, INSERT_KERNEL, lambda i: (i, i + 1, 0, 1, 7, i, i << 24, 1, 1), 34),
    "overlapping_kernels": rows(STRINGS + KERNELS, INSERT_KERNEL, lambda i: (i, 1 << 40, 0, 1, 7, i, THREAD, 1, 1), 34),
    "falling_kernels": rows(STRINGS + KERNELS, INSERT_KERNEL, lambda i: ((1 << 40) - i, (1 << 40) - i + 1, 0, 1, 7, i, THREAD, 1, 1), 40),
    "one_correlation": lambda path, most: with_database(
        path,
        STRINGS + KERNELS + CALLS,
        [
            (INSERT_KERNEL, ((i, i + 1, 0, 1, 7, 1, THREAD, 1, 1) for i in range(most // 60))),
            (INSERT_CALL, ((i, i + 1, THREAD, 1, 1, 0) for i in range(most // 60))),
        ],
    ),
    "metrics": rows(
        STRINGS + "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value REAL);",
        "INSERT INTO GPU_METRICS VALUES(?,?,?,?)",
        lambda i: (i * 1000, 1, i % 60_000, i),
        24,
    ),
}


def kinds():
    for name, write in JSON.items():
        yield name + ".json", write
    for name, write in GZIP.items():
        yield name + ".json.gz", write
    for name, write in SQLITE.items():
        yield name + ".sqlite", write


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, most, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    for name, write in kinds():
        if wanted and name.split(".")[0] not in wanted and name not in wanted:
            continue
        path = os.path.join(folder, name)
        write(path, most)
        print(path, os.path.getsize(path), flush=True)


if __name__ == "__main__":
    main()
