#!/usr/bin/env bash
# command-line.sh LANESCOPE: prints docs/command-line.md, which is what each command's --help says.
set -euo pipefail
lanescope=$1
cat <<'EOF'
# Commands and options

What `lanescope COMMAND --help` says, of every command; the [user guide](user-guide.md) says what each is good for. This page is made by
`docs/command-line.sh build/release/bin/lanescope > docs/command-line.md`.

EOF
commands=$("$lanescope" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do echo "- [$command](#lanescope-$command)"; done
for command in $commands; do
  printf '\n## lanescope %s\n\n```\n' "$command"
  "$lanescope" "$command" --help
  printf '```\n'
done
