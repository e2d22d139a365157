"""Values of kernels as printed by Nsight Compute and Lanescope, for comparing them."""
import collections
import csv
import re

PREFIXES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
NANOSECONDS = {"us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9}
EXACT = ["smsp__inst_executed.sum", "smsp__sass_inst_executed_op_global_ld.sum", "smsp__sass_inst_executed_op_global_st.sum",
         "smsp__sass_inst_executed_op_local_ld.sum", "smsp__sass_inst_executed_op_local_st.sum"]


def brief(name):
    """The name of a function without its parameters, namespaces and result."""
    return re.split(r"[(<]", name.replace("(anonymous namespace)::", "").replace("<unnamed>::", ""))[0].split(" ")[-1].split("::")[-1]


def of_lanescope(file):
    """{(ID, brief name): {metric: value}} of `lanescope kernels --page raw -f csv`, in the order of launches; empty if there is no such file."""
    values = collections.OrderedDict()
    try:
        for row in csv.DictReader(open(file)):
            values.setdefault((int(row["ID"]), brief(row["Kernel"])), {})[row["Metric"]] = float(row["Value"])
    except (OSError, KeyError):
        pass
    return values


def of_ncu(file):
    """[(brief name, {metric: value})] of `ncu --csv --page raw`, in bytes, Hz and ns, in the order of launches."""
    rows = list(csv.reader(line for line in open(file, errors="replace") if line.startswith('"')))
    header, units = rows[0], rows[1]
    kernels = []
    for row in rows[2:]:
        if len(row) != len(header):
            continue
        values = {}
        for name, unit, text in zip(header, units, row):
            try:
                value = float(text.replace(",", ""))
            except ValueError:
                continue
            for prefix, factor in PREFIXES.items():
                if unit.startswith(prefix + "byte") or unit.startswith(prefix + "hz"):
                    value *= factor
            values[name] = value * NANOSECONDS.get(unit, 1)
        kernels.append((brief(row[header.index("Kernel Name")]), values))
    return kernels


# Reasons of stalls as ncu shortens them on its page "source".
STALLS = {"dispatch": "dispatch_stall", "imc": "imc_miss", "lg": "lg_throttle", "long_sb": "long_scoreboard", "math": "math_pipe_throttle", "mio": "mio_throttle",
          "no_inst": "no_instructions", "short_sb": "short_scoreboard", "tex": "tex_throttle", "sleep": "sleeping"}


def stalls_of_ncu(file):
    """[(brief name, {reason: samples})] of `ncu --page source --csv`, without each kernel's first instruction, in the order of launches."""
    kernels = []
    for line in csv.reader(open(file, errors="replace")):
        if line[:1] == ["Kernel Name"]:
            kernels.append((brief(line[1]), collections.Counter()))
            header, first = None, True
        elif kernels and header is None:
            header = line
        elif kernels and first:
            first = False
        elif kernels:
            for column, text in zip(header, line):
                if column.startswith("stall_") and "(" not in column and text.isdecimal():
                    reason = column[len("stall_"):]
                    kernels[-1][1][STALLS.get(reason, reason)] += int(text)
    return kernels


def is_share(metric):
    """Whether it is a share or a ratio but not a hit rate: these have tolerances in points."""
    return "hit_rate" not in metric and (".pct" in metric or ".ratio" in metric or "per_cycle" in metric)


def apart(one, other):
    """Whether two shares or ratios differ by more than 2 %, or by more than 0.5 if they are below 10."""
    return abs(one - other) > max(0.02 * abs(other), 0.5 if other < 10 else 0)


def outside(mine, one, other):
    """Whether a value is outside of the range of the other tool's two values by more than that."""
    return apart(mine, min(max(mine, min(one, other)), max(one, other)))
