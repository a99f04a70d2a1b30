#!/usr/bin/env bash
# The steps of the action: gets the program of a release, unless TAINTLAB_BINARY names one, and runs it with
# the words of TAINTLAB_ARGUMENTS, one a line.
set -euo pipefail

program=${TAINTLAB_BINARY:-}
if [ -z "$program" ]; then
  version=${TAINTLAB_VERSION:?which release? for example v0.1.0}
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) target=x86_64-unknown-linux-musl ;;
    Linux-aarch64) target=aarch64-unknown-linux-musl ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    *) echo "error: there is no program for $(uname -s) on $(uname -m)" >&2; exit 1 ;;
  esac
  folder=$(mktemp -d)
  releases=https://github.com/taintlab/taintlab/releases/download
  curl -fsSL "$releases/$version/taintlab-$target.tar.gz" | tar -xz -C "$folder"
  program=$folder/taintlab
fi

words=()
while IFS= read -r word; do
  if [ -n "$word" ]; then words+=("$word"); fi
done <<< "${TAINTLAB_ARGUMENTS:-}"
exec "$program" ${words[@]+"${words[@]}"}
