// Forks while the first NVTX call of another thread is in the recorder's agent, which waits for its session: this program is the session, and does not
// answer. Exits with 0 if the child, which makes a range, ended as well.
//
//   fork_in_setup AGENT SOCKET [unannounced]      unannounced: by _Fork(), of which no handler of fork() hears
#include <nvtx3/nvToolsExt.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "awaited_child.h"
#include "collector/channel/layout.h"

int main(int count, char** arguments) {
  if (count < 3) return 2;
  setenv("NVTX_INJECTION64_PATH", arguments[1], 1);
  setenv(lanescope::channel::kSocketVariable, arguments[2], 1);
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, arguments[2], sizeof(address.sun_path) - 1);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 || listen(listener, 4) != 0) return 3;

  std::thread first([] {
    nvtxRangePushA("first");
    nvtxRangePop();
  });
  const int agent = accept(listener, nullptr, nullptr);
  lanescope::channel::Hello hello;
  if (recv(agent, &hello, sizeof(hello), 0) != static_cast<ssize_t>(sizeof(hello))) return 4;

  const pid_t child = count > 3 ? _Fork() : fork();
  if (child == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    _exit(0);
  }
  const int status = await_child(child, 30);
  first.join();
  return status == 0 ? 0 : 1;
}
