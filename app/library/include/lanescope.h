/* Lanescope's traces for programs in C, and in every language that calls C: tables as streams of Arrow, reports and findings as text.

   Errors: a function that fails returns null or false. If `error` is not null, it then points to a sentence for people: what is wrong, and what to do.
   Ownership: the caller owns errors and all other text that is not const, and returns it with lanescope_free(). All text is UTF-8.
   Threads: a trace does not change. Any number of threads may use it at the same time until it is closed. Streams stay usable after that.
   Processes: after the first trace was opened, forked children can't use the library until they have become another program, because they have none of its
   threads. They may close and release what they have inherited, and end. */
#ifndef LANESCOPE_H
#define LANESCOPE_H

#include <lanescope/arrow_c_data.h>
#include <stdbool.h> /* NOLINT: a header for C */
#include <stddef.h>  /* NOLINT */

#define LANESCOPE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the loaded library, for example "0.1.0". */
LANESCOPE_API const char* lanescope_version(void);

typedef struct lanescope_trace lanescope_trace;

/* Opens a .trace file, or a file of another tool that Lanescope reads. The file may be finished, cut off, or still being written; in the last case the
   trace is what the file contains now. Events of files without an index are held in memory. */
LANESCOPE_API lanescope_trace* lanescope_open(const char* path, char** error);

/* Opens several files as one trace, for example those of all ranks of a job. They are aligned by the time of day if all of them have it; otherwise all
   begin with their first events. */
LANESCOPE_API lanescope_trace* lanescope_open_several(const char* const* paths, size_t count, char** error);

LANESCOPE_API void lanescope_close(lanescope_trace* trace);

/* What is missing in a trace, so that answers about it may differ from answers about the whole: whether it was cut off, damaged, or not read to its end,
   and what was dropped or found no room. The text consists of sentences for people; they name the file if the trace is of several. It is empty if nothing
   is known to be missing. A compacted recording is read only as far as an answer needs, so its damage may be unknown; `lanescope info` looks for it. */
LANESCOPE_API char* lanescope_losses(const lanescope_trace* trace, char** error);

/* The names of all tables, followed by null, including tables for which a trace has no rows. docs/tables.md describes each. */
LANESCOPE_API const char* const* lanescope_tables(void);

/* Fills `stream` with the rows of a table, sorted by start, in structs of at most 65,536 rows, with texts as dictionaries. The caller owns the stream and
   calls stream->release(), which is null after a failure. A thread of the library makes the batches while the stream is read. */
LANESCOPE_API bool lanescope_table(const lanescope_trace* trace, const char* table, struct ArrowArrayStream* stream, char** error);

/* The names of all reports, followed by null. */
LANESCOPE_API const char* const* lanescope_reports(void);

/* Makes a report, which is named with its modifiers ("cuda_gpu_kern_sum:base:rows=10"). Formats: "json" (an array of objects whose members are columns),
   "csv", "tsv", and "column" and "table" for people. A report that finds nothing has no rows. */
LANESCOPE_API char* lanescope_report(const lanescope_trace* trace, const char* report, const char* format, char** error);

/* Finds what costs time in a trace and what to do about it, as `lanescope analyze` does. The largest cost comes first; costs that are paid once come last.
   `rule` names one rule with its arguments ("gpu_bubbles:gap=5us"); null means all rules. `format` is one of lanescope_report(). The columns are Cost (ns),
   Start and End (ns since the trace began), GPU, PID, TID, Rule, Key, When, Finding, Seen and Advice, in English. There are no rows if nothing was found.
   Uses all cores; the time grows with the number of events. */
LANESCOPE_API char* lanescope_findings(const lanescope_trace* trace, const char* rule, const char* format, char** error);

/* Frees text that the caller owns. Null is ignored. */
LANESCOPE_API void lanescope_free(char* text);

#ifdef __cplusplus
}
#endif

#endif /* LANESCOPE_H */
