/* consumer FILE: prints how many kernels a trace has and how long they took, and a report, as a program in C does it. */
#include <lanescope.h>
#include <stdio.h>
#include <string.h>

static int fail(char *sentence) {
  fprintf(stderr, "%s\n", sentence != NULL ? sentence : "no sentence");
  lanescope_free(sentence);
  return 1;
}

int main(int count, char **arguments) {
  char *error = NULL;
  lanescope_trace *trace = lanescope_open(count > 1 ? arguments[1] : NULL, &error);
  if (trace == NULL) return fail(error);

  struct ArrowArrayStream stream;
  if (lanescope_table(trace, "no such table", &stream, &error) || stream.release != NULL || error == NULL) return fail(NULL);
  lanescope_free(error);
  error = NULL;
  if (!lanescope_table(trace, "kernels", &stream, &error)) return fail(error);
  struct ArrowSchema schema;
  if (stream.get_schema(&stream, &schema) != 0) return fail(NULL);
  int64_t duration = -1;
  for (int64_t i = 0; i < schema.n_children; ++i)
    if (strcmp(schema.children[i]->name, "duration") == 0) duration = i;
  schema.release(&schema);

  int64_t kernels = 0, total = 0;
  for (;;) {
    struct ArrowArray batch;
    if (stream.get_next(&stream, &batch) != 0) return fail(NULL);
    if (batch.release == NULL) break;
    const int64_t *values = (const int64_t *)batch.children[duration]->buffers[1];
    for (int64_t i = 0; i < batch.length; ++i) total += values[i];
    kernels += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  printf("%lld kernels, %lld ns\n", (long long)kernels, (long long)total);

  char *report = lanescope_report(trace, "cuda_gpu_kern_sum", "csv", &error);
  if (report == NULL) return fail(error);
  fputs(report, stdout);
  lanescope_free(report);

  char *findings = lanescope_findings(trace, NULL, "json", &error);
  if (findings == NULL) return fail(error);
  if (findings[0] != '[') return fail(NULL);
  lanescope_free(findings);
  lanescope_close(trace);
  return 0;
}
