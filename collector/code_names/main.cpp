#include "code_names/program.h"
#include "collector/channel/large_stack.h"

int main(int count, char** arguments) { return lanescope::channel::on_large_stack(lanescope::code_names::program, count, arguments); }
