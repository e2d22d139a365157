"""How well GPU metrics match kernels in time: correlates 'SMs active' with the times in which kernels ran, for several shifts of the samples."""
import bisect
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
(begin, end), = database.execute(
    "SELECT start, end FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE coalesce(text, value) = 'pulses'").fetchall()
kernels = database.execute(
    "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start >= ? AND end <= ? ORDER BY start", (begin, end)).fetchall()
metric = database.execute("SELECT typeId, metricId FROM TARGET_INFO_GPU_METRICS WHERE metricName LIKE 'SMs active%' LIMIT 1").fetchone()
samples = database.execute(
    "SELECT timestamp, value FROM GPU_METRICS WHERE typeId = ? AND metricId = ? AND timestamp BETWEEN ? AND ? ORDER BY timestamp",
    (*metric, begin - 10_000_000, end + 10_000_000)).fetchall()
print(f"{len(kernels)} kernels, {len(samples)} samples in {(end - begin) / 1e6:.1f} ms; mean distance "
      f"{(samples[-1][0] - samples[0][0]) / (len(samples) - 1):.0f} ns")
starts = [start for start, _ in kernels]
ends = [stop for _, stop in kernels]


def busy(first, last):
    total = 0
    for i in range(max(0, bisect.bisect_left(ends, first)), bisect.bisect_left(starts, last)):
        total += min(last, ends[i]) - max(first, starts[i])
    return total


def agreement(shift):
    """The share of the sampled activity that is within kernels."""
    inside = whole = 0.0
    for (time, value), (following, _) in zip(samples, samples[1:]):
        inside += value * busy(time + shift, following + shift)
        whole += value * (following - time)
    return inside / whole if whole else 0.0


shifts = [-2_000_000, -1_000_000, -500_000, -200_000, -100_000, -50_000, 0, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000]
for shift in shifts:
    print(f"shifted by {shift / 1000:8.0f} us: {100 * agreement(shift):6.2f} % of the activity lies within kernels")
