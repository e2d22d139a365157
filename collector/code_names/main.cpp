#include "code_names/program.h"

int main(int count, char** arguments) { return lanescope::code_names::program(count, arguments); }
