#!/usr/bin/env bash
# command-line.sh LANESCOPE: prints docs/command-line.md, which is what each command's --help says.
set -euo pipefail
lanescope=$1
cat <<'EOF'
# Commands and options

What `lanescope COMMAND --help` says, of every command; the [user guide](user-guide.md) says what each is good for. A group of options that
an earlier command has in the same words is only named. This page is made by `docs/command-line.sh build/release/bin/lanescope > docs/command-line.md`.

EOF
commands=$("$lanescope" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do echo "- [$command](#lanescope-$command)"; done
for command in $commands; do
  printf '\n## lanescope %s\n\n```\n' "$command"
  "$lanescope" "$command" --help
  printf '```\n'
done | awk '
  # A group is a line that ends with a colon, and the lines up to the next blank one.
  function finish() {
    if (options > 1 && (body in first)) print title "\n  As for lanescope " first[body]
    else if (lines) printf "%s", body
    if (lines && !(body in first)) first[body] = command
    lines = 0; options = 0; body = ""
  }
  /^## lanescope / { command = $3 }
  lines == 0 && /^[A-Z][^.]*:$/ { title = $0; lines = 1; body = $0 "\n"; next }
  lines && /^  / { lines++; options += /^  -/; body = body $0 "\n"; next }
  { finish(); print }
  END { finish() }'
