#!/usr/bin/env bash
# under_window_manager.sh PROGRAM: runs a test on a display of its own, under a window manager. Exit code 77 (skipped) if the tools for it are missing.
set -euo pipefail
program=$(realpath "$1")
skip() { echo "Skipped: $1."; exit 77; }
for tool in Xvfb openbox xdotool; do command -v $tool >/dev/null || skip "$tool is not installed"; done
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT

mkfifo "$folder/number"
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$folder/number" >"$folder/server.log" 2>&1 &
server=$!
read -r number <"$folder/number" || { cat "$folder/server.log"; skip "Xvfb does not start here"; }
export DISPLAY=:$number QT_QPA_PLATFORM=xcb HOME=$folder XDG_CONFIG_HOME=$folder XDG_RUNTIME_DIR=$folder
unset WAYLAND_DISPLAY SESSION_MANAGER
"$program" -functions >"$folder/functions" 2>&1 || { cat "$folder/functions"; skip "Qt can't draw on Xvfb here"; }

# A window manager without key and mouse bindings, so that the program gets all keys and buttons.
mkdir "$folder/openbox"
echo '<openbox_config xmlns="http://openbox.org/3.4/rc"><focus><focusNew>yes</focusNew></focus><keyboard/><mouse/></openbox_config>' >"$folder/openbox/rc.xml"
cat >"$folder/run" <<END
#!/bin/sh
"$program"; echo \$? >"$folder/result"
openbox --exit
END
chmod +x "$folder/run"
openbox --sm-disable --startup "$folder/run" >"$folder/manager.log" 2>&1 || true
[ -s "$folder/result" ] || { cat "$folder/manager.log"; skip "openbox does not start here"; }
cat "$folder/manager.log"
exit "$(cat "$folder/result")"
