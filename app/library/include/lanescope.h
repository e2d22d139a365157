/* Lanescope's traces for programs in C, and in every language that calls C: tables as streams of Arrow, reports and findings as text.

   A function that can fail returns null or false then, and where `error` is not null, puts a sentence there for people: what is wrong, and what to
   do. It is one's own, as all text that is not const: lanescope_free() takes it back. Text is UTF-8.

   A trace does not change; any number of threads may use it at once, until it is closed. Streams go on when their trace has been closed. */
#ifndef LANESCOPE_H
#define LANESCOPE_H

#include <lanescope/arrow_c_data.h>
#include <stdbool.h> /* NOLINT: a header for C */
#include <stddef.h>  /* NOLINT */

#define LANESCOPE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0": of the library that was loaded. */
LANESCOPE_API const char* lanescope_version(void);

typedef struct lanescope_trace lanescope_trace;

/* Opens a .trace file, or one of another tool that Lanescope reads: finished, cut off, or still being written (what is there now). Events of
   files without an index are held in memory. */
LANESCOPE_API lanescope_trace* lanescope_open(const char* path, char** error);

/* Opens several as one, such as those of all ranks of a job; by the time of day where all know theirs, else with their first events together. */
LANESCOPE_API lanescope_trace* lanescope_open_several(const char* const* paths, size_t count, char** error);

LANESCOPE_API void lanescope_close(lanescope_trace* trace);

/* What a trace lacks of what was recorded, by which answers about it may be others than those about the whole: that it was cut off or damaged, or not read
   to its end, and what was dropped or had no room; sentences for people, which name the file where the trace is of several. Empty text where nothing
   is known to be missing: of a compacted recording, which is read where an answer needs it, damage is not, which `lanescope info` looks for. */
LANESCOPE_API char* lanescope_losses(const lanescope_trace* trace, char** error);

/* Names of all tables, a null behind them, whether a trace has rows for them or not: docs/tables.md says what each has. */
LANESCOPE_API const char* const* lanescope_tables(void);

/* Fills `stream` with the rows of a table, sorted by start: structs of 65,536 rows at most, texts as dictionaries. It is the caller's, who calls
   stream->release(), which is null after a failure. Batches are made on a thread of the library's while the stream is read. */
LANESCOPE_API bool lanescope_table(const lanescope_trace* trace, const char* table, struct ArrowArrayStream* stream, char** error);

/* Names of all reports, a null behind them. */
LANESCOPE_API const char* const* lanescope_reports(void);

/* A report with its modifiers ("cuda_gpu_kern_sum:base:rows=10"), in a format: "json" (an array of objects, by column), "csv", "tsv", or "column" and
   "table" for people. A report that finds nothing has no rows. */
LANESCOPE_API char* lanescope_report(const lanescope_trace* trace, const char* report, const char* format, char** error);

/* What costs time in a trace and what to do about it, as `lanescope analyze` finds it, the largest cost first and what is paid once last, in a format
   of lanescope_report(): the columns Cost (ns), Start and End (ns since the trace began), GPU, PID, TID, Rule, Key, When, Finding, Seen and Advice, in
   English; where nothing was found, no rows. Of the rule that is named, with its arguments ("gpu_bubbles:gap=5us"), or where `rule` is null, of all. On
   all cores, in time that grows with the events. */
LANESCOPE_API char* lanescope_findings(const lanescope_trace* trace, const char* rule, const char* format, char** error);

/* Takes text of this library; null is nothing. */
LANESCOPE_API void lanescope_free(char* text);

#ifdef __cplusplus
}
#endif

#endif /* LANESCOPE_H */
