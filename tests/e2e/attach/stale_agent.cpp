// Stands in for the agent of an older version: its first words have a different layout.
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>

#include "collector/channel/layout.h"

extern "C" int lanescope_agent_attach(const char* address) {
  lanescope::channel::Hello hello;
  hello.layout_version = 1;
  std::strcpy(hello.agent_version, "0.0.1");
  send(std::atoi(address + 3), &hello, sizeof(hello), 0);
  return 0;
}
