#include "command.h"

int main(int argc, char** argv) { return lanescope::cli::run({argv + 1, argv + argc}); }
