#!/usr/bin/env python3
"""Writes hostile files of other formats: Chrome JSON, plain and gzipped, and SQLite exports. Each has far too much of one thing.

foreign_files.py FOLDER BYTES [NAME...]: BYTES is the approximate maximum size of each file.
"""
import gzip
import itertools
import os
import sqlite3

from wanted_files import write_wanted


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
    """The same within an object: `head`, events, `tail`."""

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
    """A gzip file that repeats one block, each time as a member of its own: as often as there is room for, unpacked at most 4 GB."""

    def write(path, most):
        member = gzip.compress(block.encode(), 6)
        times = min(most // len(member), most_unpacked // len(block))
        with open(path, "wb") as out:
            out.write(gzip.compress(head.encode()))
            for _ in range(max(1, times)):
                out.write(member)

    return write


def of(template):
    """Events made from the template, with a different number for N in each."""
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
    "labelled_gpus": array(
        lambda n: '{"ph":"M","name":"process_labels","pid":%d,"args":{"labels":"GPU %d"}},{"ph":"C","ts":1,"pid":%d,"name":"c","args":{"v":1}}' % (n, n, n)
    ),
    "states_on_many_processors": array(of('{"ph":"X","cat":"thread_state","ts":N,"dur":1,"pid":1,"tid":1,"name":"Running","args":{"cpu":N}}')),
    "page_faults": array(of('{"ph":"i","cat":"page_fault","ts":N,"pid":1,"name":"p","args":{"address":N,"function":"N"}}')),
    "counters_that_end_each": array(of('{"ph":"C","ts":N,"pid":1,"name":"N","args":{}}')),
    # Whole families of files in which each event is like a profiler's, and differs from the others.
    "kernel_shapes": array(of(KERNEL.replace('"device":0', '"grid":[N,1,1],"block":[32,1,1],"registers per thread":N,"device":0'))),
    "copies_of_their_own": array(
        of('{"ph":"X","cat":"gpu_memcpy","ts":N,"dur":1,"pid":0,"tid":7,"name":"Memcpy PtoP (Device -> Device)","args":{"device":0,"stream":7,"correlation":N,"bytes":N,"fromDevice":N,"toDevice":N}}')
    ),
    "waits_for_events": array(
        lambda n: (
            '{"ph":"X","cat":"cuda_runtime","ts":%d,"dur":1,"pid":1,"tid":1,"name":"cudaEventRecord","args":{"correlation":%d}}',
            '{"ph":"X","cat":"cuda_sync","ts":%d,"dur":1,"pid":0,"tid":7,"name":"Stream Wait Event","args":{"stream":7,"correlation":%d,"wait_on_cuda_event_record_corr_id":%d,"wait_on_stream":8,"wait_on_cuda_event_id":%d}}',
            '{"ph":"X","cat":"kernel","ts":%d,"dur":1,"pid":0,"tid":7,"name":"k","args":{"device":0,"stream":7,"correlation":%d}}',
        )[n % 3]
        % ((n, n) if n % 3 != 1 else (n, n, n - 1, n))
    ),
    "memory_marks": array(
        of('{"ph":"i","cat":"cpu_instant_event","ts":N,"pid":1,"tid":1,"name":"[memory]","args":{"Addr":N,"Bytes":N,"Total Allocated":N,"Total Reserved":N,"Device Type":1,"Device Id":0}}')
    ),
    "operators_around_kernels": array(
        lambda n: (
            '{"ph":"X","cat":"cpu_op","ts":%d,"dur":%d,"pid":1,"tid":1,"name":"aten::op%d"}' % (n, 3 * (500 - n // 3 % 500), n % 97),
            '{"ph":"X","cat":"cuda_runtime","ts":%d,"dur":1,"pid":1,"tid":1,"name":"cudaLaunchKernel","args":{"correlation":%d}}' % (n, n // 3),
            '{"ph":"X","cat":"kernel","ts":%d,"dur":2,"pid":0,"tid":7,"name":"k","args":{"device":0,"stream":7,"correlation":%d}}' % (n + 1000, n // 3),
        )[n % 3]
    ),
    "python_functions": array(lambda n: '{"ph":"X","cat":"python_function","ts":%d,"dur":%d,"pid":1,"tid":1,"name":"a.py(%d): f","args":{"Python id":%d,"Python parent id":%d}}' % (n, 900 - n % 900, n, n, n - 1)),
    "compilations_of_threads": array(of('{"ph":"X","cat":"compilation","ts":N,"dur":2,"pid":1,"tid":N,"name":"cN","args":{"correlation":N}}')),
    "overheads": array(of('{"ph":"X","cat":"overhead","ts":N,"dur":5,"pid":1,"tid":N,"name":"oN"}')),
    "steps_of_ranks": array(
        lambda n: (
            '{"ph":"X","cat":"user_annotation","ts":%d,"dur":90,"pid":%d,"tid":1,"name":"ProfilerStep#%d"}' % (n * 100, 1000 + n % 64, n // 128),
            '{"ph":"X","cat":"kernel","ts":%d,"dur":%d,"pid":%d,"tid":7,"name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","args":{"device":%d,"stream":7,"correlation":%d}}'
            % (n * 100, 50 + n % 30, n // 2 % 64, n // 2 % 64, n),
        )[n % 2]
    ),
    "locks_of_threads": array(
        lambda n: '{"ph":"X","cat":"%s","ts":%d,"dur":9,"pid":1,"tid":%d,"name":"%s"}'
        % (("os_runtime", n * 10, n // 2 % 500, "pthread_mutex_lock") if n % 2 else ("thread_state", n * 10, n // 2 % 500, "Blocked"))
    ),
    "long_categories": array(lambda n: '{"ph":"X","cat":"%s","ts":%d,"dur":1,"pid":1,"tid":1,"name":"f"}' % (("c%d," % n) * 50, n)),
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

NCU_COLUMNS = '"ID","Process ID","Process Name"'


def table_of_kernels(more_columns, row):
    """A table of Nsight Compute: a line of names, a line of units, and rows of kernels until the file is full."""

    def write(path, most):
        with open(path, "w") as out:
            names = NCU_COLUMNS + "".join("," + column for column in more_columns)
            size = out.write(names + "\n" + "," * (2 + len(more_columns)) + "\n")
            for number in itertools.count():
                line = '"1"' + row(number)
                if size + len(line) + 1 > most and number > 0:
                    break
                size += out.write(line + "\n")

    return write


def gzipped_kernels(path, most):
    rows = '"1",,\n' * 300_000
    gzipped(NCU_COLUMNS + "\n,,\n", rows)(path, most)


MANY_METRICS = [f"a__{i}" for i in range(60_000)]
CSV = {
    "kernels_of_nothing": table_of_kernels([], lambda n: ",,"),
    "kernels_of_many_names": table_of_kernels(["Kernel Name"], lambda n: f",,,k{n}"),
    "kernels_of_many_processes": table_of_kernels(["Device"], lambda n: f",{n % 64},,{n // 64 % 64}"),
    "many_metrics": table_of_kernels(MANY_METRICS, lambda n: ",," + ",1" * len(MANY_METRICS)),
    "lines_that_are_none": table_of_kernels([], lambda n: ""),
    "one_long_line": lambda path, most: open(path, "w").write(NCU_COLUMNS + "\n,,\n" + "," * (most - 50)),
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
LONG = 1 << 19  # size of one text, to which very many rows refer


def rows(schema, insert, row, bytes_of_row):
    """A table of row(0), row(1), ..., with as many rows as the file has room for."""

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


SWITCHES = "CREATE TABLE SCHED_EVENTS(start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER, threadState INTEGER);"
INSERT_SWITCH = "INSERT INTO SCHED_EVENTS VALUES(?,?,?,?,?)"
CHAINS = "CREATE TABLE SAMPLING_CALLCHAINS(id INTEGER, symbol INTEGER, module INTEGER, kernelMode INTEGER, stackDepth INTEGER);"
INSERT_CHAIN = "INSERT INTO SAMPLING_CALLCHAINS VALUES(?,?,?,?,?)"
METRICS = "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value REAL);"
CONTEXTS = (
    "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO(contextId INTEGER, deviceId INTEGER, nullStreamId INTEGER, hwId INTEGER, vmId INTEGER,"
    " processId INTEGER);"
)


def long_text(schema, insert, row, bytes_of_row, more=()):
    """A table of rows that refer to one long text (id 2), and more tables with as many rows."""

    def write(path, most):
        count = max(1, (most - LONG) // (bytes_of_row * (1 + len(more))))
        inserts = [("INSERT INTO StringIds VALUES(2,?)", [("x" * LONG,)]), (insert, (row(i) for i in range(count)))]
        inserts += [(insert_more, (row_more(i) for i in range(count))) for insert_more, row_more in more]
        with_database(path, STRINGS + schema, inserts)

    return write


def shared_calls(call):
    """Samples with one chain each. The calls of the chains are call(number, count)."""
    tables = (
        "CREATE TABLE COMPOSITE_EVENTS(id INTEGER, start INTEGER, cpu INTEGER, globalTid INTEGER);"
        "CREATE TABLE LANESCOPE_CALLS(id INTEGER PRIMARY KEY, callerId INTEGER, firstFunctionId INTEGER, lastFunctionId INTEGER, depth INTEGER);"
        "CREATE TABLE LANESCOPE_CALL_FUNCTIONS(id INTEGER PRIMARY KEY, symbol INTEGER, module INTEGER, kernelMode INTEGER);"
        "CREATE TABLE LANESCOPE_SAMPLING_CALLCHAINS(id INTEGER PRIMARY KEY, callId INTEGER);"
    )

    def write(path, most):
        count = most // 75
        inserts = [
            ("INSERT INTO COMPOSITE_EVENTS VALUES(?,?,0,?)", ((i, i, THREAD) for i in range(1, count))),
            ("INSERT INTO LANESCOPE_CALLS VALUES(?,?,?,?,?)", (call(i, count) for i in range(1, count))),
            ("INSERT INTO LANESCOPE_CALL_FUNCTIONS VALUES(?,1,1,NULL)", ((i,) for i in range(1, 1000))),
            ("INSERT INTO LANESCOPE_SAMPLING_CALLCHAINS VALUES(?,?)", ((i, i) for i in range(1, count))),
        ]
        with_database(path, STRINGS + tables, inserts)

    return write


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
    "long_domain_names": long_text(
        RANGES, INSERT_RANGE, lambda i: (0, None, 75, None, THREAD, 2, i, 0), 26
    ),
    "long_thread_names": long_text(
        RANGES + "CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);",
        INSERT_RANGE,
        lambda i: (0, 1, 59, None, THREAD + i, 1, 0, 0),
        34,
        [("INSERT INTO ThreadNames VALUES(?,?,?)", lambda i: (2, None, THREAD + i))],
    ),
    "switches": rows(STRINGS + SWITCHES, INSERT_SWITCH, lambda i: (i, 0, i % 2, THREAD, 1), 18),
    "processors": rows(STRINGS + SWITCHES, INSERT_SWITCH, lambda i: (i, i, 1, THREAD, 1), 20),
    "switches_of_threads": rows(STRINGS + SWITCHES, INSERT_SWITCH, lambda i: (i, 0, 1, THREAD + i, 1), 20),
    "samples_of_chains": lambda path, most: with_database(
        path,
        STRINGS + CHAINS + "CREATE TABLE COMPOSITE_EVENTS(id INTEGER, start INTEGER, cpu INTEGER, globalTid INTEGER);",
        [
            (INSERT_CHAIN, ((i // 1000, i, 1, 0, i % 1000) for i in range(most // 50))),
            ("INSERT INTO COMPOSITE_EVENTS VALUES(?,?,?,?)", ((i % 1000, i, 0, THREAD) for i in range(most // 50))),
        ],
    ),
    # Call chains that share calls, as Lanescope writes them: calls of endlessly many functions, circular calls, and calls nested one in another.
    "shared_calls_of_many_functions": shared_calls(lambda i, count: (i, i - 1, -(1 << 63), (1 << 63) - 1, 1)),
    "shared_calls_in_circles": shared_calls(lambda i, count: (i, count - i, 1, 2, 1)),
    "shared_calls_of_deep_chains": shared_calls(lambda i, count: (i, i - 1, 1, 1, 1)),
    "one_deep_chain": rows(STRINGS + CHAINS, INSERT_CHAIN, lambda i: (1, i, 1, 0, i), 20),
    "mpi_calls": rows(
        STRINGS + "CREATE TABLE MPI_P2P_EVENTS(start INTEGER, \"end\" INTEGER, globalTid INTEGER, textId INTEGER, tag INTEGER, size INTEGER);",
        "INSERT INTO MPI_P2P_EVENTS VALUES(?,?,?,?,?,?)",
        lambda i: (i, i + 1, THREAD, 1, i, i),
        30,
    ),
    "cuda_events": rows(
        STRINGS + "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp INTEGER, globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER);",
        "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(?,?,?,?)",
        lambda i: (i, THREAD, i, i),
        22,
    ),
    "graphs": rows(
        STRINGS + "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, \"end\" INTEGER, globalPid INTEGER, graphId INTEGER);",
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(?,?,?,?)",
        lambda i: (i, i + 1, THREAD, i),
        24,
    ),
    "page_faults": rows(
        STRINGS + "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS(start INTEGER, globalPid INTEGER, address INTEGER, originalFaultPc INTEGER);",
        "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES(?,?,?,?)",
        lambda i: (i, THREAD, i, i),
        22,
    ),
    "allocations": rows(
        STRINGS
        + "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, globalPid INTEGER, deviceId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER);",
        "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(?,?,?,?,?,?)",
        lambda i: (i, THREAD, 0, i, 1, 2),
        24,
    ),
    "messages": rows(STRINGS + RANGES + "CREATE TABLE DIAGNOSTIC_EVENT(timestamp INTEGER, severity INTEGER, text TEXT, globalPid INTEGER);", "INSERT INTO DIAGNOSTIC_EVENT VALUES(?,?,?,?)", lambda i: (1, 2, "x", 0), 13),
    "gpus": rows(STRINGS + RANGES + "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);", "INSERT INTO TARGET_INFO_GPU VALUES(?,?)", lambda i: (i, "g"), 13),
    "contexts_that_nothing_uses": rows(
        STRINGS + RANGES + f"INSERT INTO NVTX_EVENTS VALUES(1,2,59,'x',{THREAD},NULL,0,0);" + CONTEXTS, "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES(?,?,?,?,?,?)", lambda i: (i, i, i, 0, 0, 1), 22
    ),
    "metric_types": rows(STRINGS + METRICS, "INSERT INTO GPU_METRICS VALUES(?,?,?,?)", lambda i: (i * 1000, i, 1, i), 24),
    "metric_types_of_gpus": lambda path, most: with_database(
        path,
        STRINGS + METRICS + "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT);",
        [
            ("INSERT INTO GPU_METRICS VALUES(?,?,?,?)", ((i * 1000, i, 1, i) for i in range(most // 60))),
            ("INSERT INTO TARGET_INFO_GPU_METRICS VALUES(?,?,?,?,?)", ((i, i, "x", 1, "m") for i in range(most // 60))),
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
    for name, write in CSV.items():
        yield name + ".csv", write
    yield "kernels.csv.gz", gzipped_kernels


if __name__ == "__main__":
    write_wanted(kinds(), __doc__)
