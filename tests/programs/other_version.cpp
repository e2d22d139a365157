// Reports to the recording as an agent of an older version does: its first words have another layout.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/channel/layout.h"

using namespace lanescope;

int main() {
  const char* const where = std::getenv(channel::kSocketVariable);
  if (where == nullptr) return 0;
  const std::string whole = where;
  const std::string path = whole.substr(0, whole.rfind(channel::kTokenMark));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return 1;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return 1;
  channel::Hello hello;
  hello.layout_version = 1;
  std::strcpy(hello.agent_version, "0.0.1");
  if (path.size() < whole.size()) std::memcpy(hello.token, whole.data() + path.size() + 1, sizeof(hello.token));
  send(connection, &hello, sizeof(hello), MSG_NOSIGNAL);
  char answer = 0;
  [[maybe_unused]] const ssize_t ignored = recv(connection, &answer, sizeof(answer), 0);  // until it is sent away
  return 0;
}
