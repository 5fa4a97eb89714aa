#!/bin/sh
# Counts the words of its task's input, a JSON string.
#
# The input is on the standard input, and what is printed is the output. Progress goes to file
# descriptor 3. Exit code 65 says that no retry can help; any other one but 0 is retried.
set -eu

echo '10 reading' >&3
text=$(cat)
if [ "$text" = '""' ]; then
  echo 'there is no text' >&2
  exit 65
fi
echo '50 counting' >&3
printf '{"words": %d, "task": "%s"}\n' "$(printf '%s' "$text" | wc -w)" "$REFIRE_TASK_ID"
