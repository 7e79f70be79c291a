#!/bin/bash
# Runs a command beside a systemd of its own, as the services of one user have it: with a /run that
# nobody else sees, so that nothing of it stays and no other systemd hears of it.
# A command that takes longer is ended, and what has become of the services is printed.
#   unshare --mount bash systemd-user.sh HOME SECONDS COMMAND [ARGUMENT …]
set -eu
mount -t tmpfs -o mode=755 tmpfs /run
# Without this folder systemd thinks that the machine has another one.
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
# What hides paths from a unit of the machine: a systemd of the machine makes them at its start.
mkdir -p /run/systemd/inaccessible/dir
touch /run/systemd/inaccessible/reg
chmod 000 /run/systemd/inaccessible/*
export HOME="$1" XDG_RUNTIME_DIR=/run/user/0
unset XDG_CONFIG_HOME
seconds="$2"
shift 2
/usr/lib/systemd/systemd --user --log-target=null &
manager=$!
for _ in $(seq 100); do
  systemctl --user is-system-running >/dev/null 2>&1 && break
  sleep 0.1
done
status=0
timeout "$seconds" "$@" || status=$?
[ "$status" != 124 ] || systemctl --user status --no-pager 'gateway-*' >&2 || true
# It ends its services first.
kill -TERM "$manager"
wait "$manager" || true
exit "$status"
