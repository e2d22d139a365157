#include "kernel_metrics/program.h"

int main(int count, char** arguments) { return lanescope::kernel_metrics::program(count, arguments); }
