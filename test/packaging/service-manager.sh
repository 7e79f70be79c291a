#!/bin/sh
# Stands for `systemctl --user` where no systemd runs: it starts and stops the program of a unit
# for real. Its state is in SERVICE_MANAGER: the process, and its log.
set -u
[ "$1" = --user ] && shift
verb=$1
shift
state=$SERVICE_MANAGER
unit=$HOME/.config/systemd/user/gateway-agent.service

running() { [ -s "$state/pid" ] && kill -0 "$(cat "$state/pid")" 2>/dev/null; }

start() {
  running && return
  command=$(sed -n 's/^ExecStart=//p' "$unit")
  # The units of this program quote each word as a shell does.
  eval "exec 3>>\"$state/log\"; setsid env -i HOME=\"$HOME\" PATH=\"$PATH\" $command >&3 2>&3 </dev/null &"
  echo $! >"$state/pid"
}

stop() {
  running || return
  pid=$(cat "$state/pid")
  kill -TERM "$pid"
  for _ in $(seq 450); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
}

case $verb in
  start) start ;;
  stop) stop ;;
  restart)
    stop
    start
    ;;
  disable) stop ;;
  show)
    if running; then printf 'ActiveState=active\nSubState=running\n'; else printf 'ActiveState=inactive\nSubState=dead\n'; fi
    ;;
esac
exit 0
