#!/bin/sh
# smithyd hook: put here by `smithyd hooks install`, taken away by `smithyd hooks uninstall`.
# It tells the project's daemon, if there is one, and goes on with the hook that was here before.
# Whatever the daemon does, nothing fails because of it and no commit waits longer than 300 ms.
node='@NODE@'
entry='@ENTRY@'
kept="$0.before-smithyd"

tell() {
  root=$(pwd -P)
  until [ -d "$root/.agentsmithy" ]; do
    [ -n "$root" ] || return
    root=${root%/*}
  done
  [ -f "$root/.agentsmithy/run/daemon.json" ] || return
  [ -x "$node" ] || node=$(command -v node) || return
  [ -r "$entry" ] || return
  # Nothing of GIT_* or NODE_* may reach it.
  env -i PATH="$PATH" HOME="${HOME-}" "$node" "$entry" "${root:-/}" "${0##*/}" "$@" &
  told=$!
  # Nobody needs to wait for news of what is over.
  [ "${0##*/}" = pre-commit ] || return
  # It ends by itself in time unless it cannot even start.
  (
    sleep 0.28 &
    limit=$!
    trap 'kill $limit' TERM
    wait $limit && kill -9 $told
  ) &
  guard=$!
  wait $told
  kill $guard
}

# Husky 8 runs the hook once more from inside itself.
if [ "${SMITHYD_HOOK-}" != "$PWD $0" ]; then
  export SMITHYD_HOOK="$PWD $0"
  tell "$@" </dev/null >/dev/null 2>&1
fi

[ -f "$kept" ] && [ -x "$kept" ] || exit 0
IFS= read -r first <"$kept"
case "$first " in
'#!'*[/\ ]sh\ * | '#!'*[/\ ]bash\ * | '#!'*[/\ ]dash\ * | '#!'*[/\ ]ash\ * | '#!'*[/\ ]ksh\ *)
  # Under its own name: husky and others find their files by $0.
  set -f
  exec ${first#??} -c 'set +f; . "$0.before-smithyd"' "$0" "$@"
  ;;
esac
exec "$kept" "$@"
