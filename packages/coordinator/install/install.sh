#!/bin/sh
# Installs gateway-agent for this user, from the coordinator that serves this script:
#
#   curl -fsSL https://gateway.example.org/install.sh | sh
#   curl -fsSL https://gateway.example.org/install.sh | sh -s -- --help
#
# Everything is in functions, and the last line calls them: of a script that arrives in part,
# nothing runs.
set -eu
umask 077

URL=@URL@
VERSION=@VERSION@
# A line a file: kind, platform, name, bytes, SHA-256.
FILES=@FILES@

usage() {
  cat <<USAGE
Installs gateway-agent $VERSION from $URL for this user, joins the coordinator and starts.

Options:
  --name NAME        what this machine is called
  --token-file FILE  a join token (gwj_...) in a file, instead of a code to approve;
                     or set GATEWAY_AGENT_TOKEN to it
  --service          run it as a service that starts with this machine, without asking
  --no-start         install and join, but do not start it
  --executable       take the executable that needs no Node, even if there is Node
  --uninstall        remove the agent, its service, its configuration and its identity
  --force            join again, as another provider or with a new token
  --yes              ask no questions
  --help             print this
USAGE
}

main() {
  name='' token_file='' wants='install' service='ask' start='yes' executable='no' force='no' yes='no'
  status=''
  while [ $# -gt 0 ]; do
    case $1 in
      --name) require_value "$@" && name=$2 && shift ;;
      --token-file) require_value "$@" && token_file=$2 && shift ;;
      --service) service='yes' ;;
      --no-start) start='no' ;;
      --executable) executable='yes' ;;
      --uninstall) wants='uninstall' ;;
      --force) force='yes' ;;
      --yes) yes='yes' ;;
      --help) usage && exit 0 ;;
      *) fail 2 "there is no option $1. See --help." ;;
    esac
    shift
  done
  [ -n "${HOME:-}" ] || fail 1 'HOME is not set: say which folder is yours.'
  root=${XDG_DATA_HOME:-$HOME/.local/share}/gateway-agent
  link=$HOME/.local/bin/gateway-agent
  agent=$root/bin/gateway-agent
  if [ "$wants" = uninstall ]; then
    uninstall
  else
    install
    join_coordinator
    run
  fi
}

require_value() { [ $# -ge 2 ] || fail 2 "$1 needs a value."; }

say() { printf '%s\n' "$*" >&2; }

fail() {
  code=$1
  shift
  say "install.sh: $*"
  exit "$code"
}

# Whether somebody can be asked: stdin is this script.
has_terminal() { [ "$yes" = no ] && (: </dev/tty) 2>/dev/null; }

# ask QUESTION: yes unless the answer begins with n.
ask() {
  printf '%s [Y/n] ' "$1" >/dev/tty
  read -r answer </dev/tty || answer=n
  case $answer in [nN]*) return 1 ;; *) return 0 ;; esac
}

# --- Installing ---------------------------------------------------------------------------------

install() {
  if [ -f "$root/install.json" ] && version=$("$agent" version 2>/dev/null </dev/null); then
    read_status
    if [ "$force" = no ] && [ -n "$(status_field url)" ]; then
      upgrade
      return
    fi
    # It belongs to no coordinator, or to one that it leaves: it gets the release of this one.
    if [ "$version" = "$VERSION" ]; then
      say "gateway-agent $VERSION is in $root already."
      return
    fi
  fi
  choose
  made=$(missing_folders)
  mkdir -p "$root/versions" "$root/bin" "$(dirname "$link")"
  [ -f "$root/made-folders" ] || printf '%s\n' "$made" >"$root/made-folders"
  hold_lock
  rm -rf "$root"/.new.*
  work=$root/.new.$$
  trap 'rm -rf "$work"; rm -f "$root/lock"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  mkdir "$work"
  require_space
  say "Downloading $file from $URL"
  download "$URL/download/$file" "$work/$file" "$bytes"
  require_digest "$work/$file"
  unpack
  "$work/agent/$program" version >"$work/version" 2>"$work/reason" || cannot_run
  [ "$(cat "$work/version")" = "$VERSION" ] || fail 1 "$file is not version $VERSION."
  rm -rf "$root/versions/$VERSION"
  mv "$work/agent" "$root/versions/$VERSION"
  ln -sfn "versions/$VERSION" "$root/current"
  printf '{"kind":"%s"}\n' "$kind" >"$root/install.json"
  write_launcher
  ln -sfn "$agent" "$link"
  rm -rf "$work"
  rm -f "$root/lock"
  trap - EXIT INT TERM HUP
  say "gateway-agent $VERSION is installed in $root."
  case ":$PATH:" in
    *":$(dirname "$link"):"*) ;;
    *) say "$(dirname "$link") is not in PATH: add it, or call $link." ;;
  esac
}

# An installed agent replaces itself, and goes back if the new version does not start. If it fails it
# says why, and an agent that still starts is kept.
upgrade() {
  say "gateway-agent is installed in $root: upgrading it."
  # The configuration of an agent with a token of its own (gwa_...) may name no coordinator.
  GATEWAY_AGENT_URL=$URL "$agent" upgrade --yes </dev/null && return
  code=$?
  [ "$code" != 130 ] || exit 130
  "$agent" version >/dev/null 2>&1 </dev/null || fail "$code" 'the agent does not start any more.'
}

# Sets kind, file, bytes, digest, program and node.
choose() {
  system=$(uname -s) machine=$(uname -m)
  case $system in
    Linux) system=linux ;;
    Darwin) system=macos ;;
    *) fail 1 "this script is for Linux and macOS, and this is $system. On Windows: irm $URL/install.ps1 | iex" ;;
  esac
  case $machine in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
  esac
  node=$(command -v node || true)
  if [ "$executable" = no ] && [ -n "$node" ] && new_enough; then
    kind=package program=run
    find_file package any || fail 1 "$URL hands out no package."
    return
  fi
  kind=executable program=gateway-agent
  find_file executable "$system-$machine" || need_node
}

need_node() {
  found='there is no Node'
  [ -z "$node" ] || found="Node $("$node" --version 2>/dev/null || echo '?') is too old"
  fail 1 "$found, and $URL has no executable for $system-$machine: install Node 20.19 or newer (24 is best) and run this again."
}

new_enough() {
  "$node" -e 'const [a, b] = process.versions.node.split(".").map(Number);
    process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' >/dev/null 2>&1
}

# find_file KIND PLATFORM
find_file() {
  line=$(printf '%s\n' "$FILES" | grep "^$1 $2 " || true)
  [ -n "$line" ] || return 1
  file=$(printf '%s' "$line" | cut -d ' ' -f 3)
  bytes=$(printf '%s' "$line" | cut -d ' ' -f 4)
  digest=$(printf '%s' "$line" | cut -d ' ' -f 5)
}

# One installation or upgrade at a time. The lock is a hard link to a file that holds this process's
# id already: nobody sees it empty.
hold_lock() {
  lock=$root/lock claim=$root/lock.$$
  trap 'rm -f "$claim"' EXIT
  echo $$ >"$claim"
  ln "$claim" "$lock" 2>/dev/null || take_over ||
    fail 7 "another installation or upgrade is under way: wait for it. If there is none, remove $lock."
  rm -f "$claim"
}

# Replaces the lock of a process that has ended. One process at a time does that, and looks again:
# the lock that it read may be another's by now.
take_over() {
  is_stale && ln "$claim" "$lock.takeover" 2>/dev/null || return 1
  taken=0
  is_stale && mv -f "$claim" "$lock" || taken=1
  rm -f "$lock.takeover"
  return "$taken"
}

# An empty lock counts as held.
is_stale() {
  holder=$(cat "$lock" 2>/dev/null || true)
  [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null
}

# The download, and three to four times its size unpacked.
require_space() {
  needed=$((bytes * 5 / 1024 + 1024))
  free=$(df -Pk "$root" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$needed" ] || fail 1 "$root has $((free / 1024)) MiB free, and $((needed / 1024 + 1)) MiB are needed: make room."
}

# download URL FILE BYTES
download() {
  if command -v curl >/dev/null; then
    # Given up if nothing arrives for a minute.
    curl -fsSL --retry 2 --connect-timeout 20 --speed-limit 1 --speed-time 60 \
      --max-filesize "$3" -o "$2" "$1" || cut_off "$1"
  elif command -v wget >/dev/null; then
    wget -nv --tries 3 --timeout 60 -O "$2" "$1" || cut_off "$1"
  else
    fail 1 'there is neither curl nor wget: install one of them.'
  fi
}

cut_off() { fail 5 "cannot download $1: see above. Nothing is installed. Try again."; }

require_digest() {
  if command -v sha256sum >/dev/null; then
    actual=$(sha256sum "$1" | cut -d ' ' -f 1)
  elif command -v shasum >/dev/null; then
    actual=$(shasum -a 256 "$1" | cut -d ' ' -f 1)
  else
    actual=$(openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1)
  fi
  [ "$actual" = "$digest" ] || fail 9 "$file has the SHA-256 $actual, and $digest is expected: it arrived damaged or was changed on its way. Nothing is installed. Try again."
}

unpack() {
  mkdir "$work/agent"
  if [ "$kind" = package ]; then
    tar -xzf "$work/$file" -C "$work/agent" --strip-components 1 || no_room
    write_runner "$work/agent/run"
  else
    gzip -dc "$work/$file" >"$work/agent/gateway-agent" || no_room
    chmod 755 "$work/agent/gateway-agent"
  fi
  rm "$work/$file"
}

no_room() { fail 1 "cannot unpack $file into $root: is there room? Nothing is installed."; }

# Node from where it is now, or from the search path if it has moved.
write_runner() {
  {
    printf '#!/bin/sh\nnode=%s\n' "$(quoted "$node")"
    # shellcheck disable=SC2016
    printf '[ -x "$node" ] || node=node\n'
    # shellcheck disable=SC2016
    printf 'exec "$node" "$(dirname "$0")/bin/gateway-agent.js" "$@"\n'
  } >"$1"
  chmod 755 "$1"
}

# It stays where it is; `current` says which version it starts.
write_launcher() {
  {
    printf '#!/bin/sh\n'
    # shellcheck disable=SC2016
    printf 'exec %s/%s "$@"\n' "$(quoted "$root/current")" "$program"
  } >"$agent"
  chmod 755 "$agent"
}

quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

cannot_run() {
  reason=$(tail -n 1 "$work/reason")
  [ "$kind" = package ] ||
    say 'The executable needs glibc 2.28 or newer: elsewhere, as on Alpine, install Node 20.19 or newer.'
  fail 1 "the agent does not run here: $reason. Nothing is installed."
}

# --- Joining and starting -----------------------------------------------------------------------

join_coordinator() {
  [ -n "$status" ] || read_status
  if [ "$force" = no ] && [ -n "$(status_field url)" ] && [ -s "$(status_field config).token" ]; then
    say "Joined $URL already."
    return
  fi
  token=${GATEWAY_AGENT_TOKEN:-}
  case $token in
    gwj_*) unset GATEWAY_AGENT_TOKEN ;;
    gwa_*)
      # The agent's own token: it stays in the environment, and is not stored.
      GATEWAY_AGENT_URL=$URL && export GATEWAY_AGENT_URL
      return
      ;;
  esac
  set -- --url "$URL"
  [ -z "$name" ] || set -- "$@" --name "$name"
  [ "$force" = no ] || set -- "$@" --force
  if [ -n "$token_file" ]; then
    "$agent" enroll "$@" --token-file "$token_file" </dev/null
  elif [ -n "$token" ]; then
    printf '%s\n' "$token" | "$agent" enroll "$@" --token-file -
  else
    "$agent" login "$@" </dev/null
  fi
}

# What the agent says of itself, whether or not it runs. Fails if it belongs to another coordinator.
read_status() {
  status=$("$agent" status --json 2>/dev/null </dev/null || true)
  joined=$(status_field url)
  if [ "$force" = no ] && [ -n "$joined" ] && [ "$joined" != "$URL" ]; then
    fail 7 "the agent is installed, and belongs to $joined already. To move it, run this with --force."
  fi
}

# status_field NAME: a string of that; empty if there is none.
status_field() { printf '%s\n' "$status" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }

run() {
  if [ "$start" = no ]; then
    say "Start it with: $link start --yes"
    return
  fi
  if is_running; then
    [ "$force" = no ] || restart
    say "It runs. See: $link status"
    return
  fi
  if [ "$service" = ask ]; then
    service=no
    if has_terminal && ask 'Run it as a service that starts with this machine?'; then service=yes; fi
  fi
  if [ "$service" = no ]; then
    exec "$agent" start --yes </dev/null
  fi
  "$agent" services scan --add </dev/null ||
    fail $? "joined, but no model server was found: start one, then run: $link services scan --add && $link service install"
  "$agent" service install </dev/null
  "$agent" wait </dev/null
}

is_running() { "$agent" status >/dev/null 2>&1 </dev/null; }

# What runs still has the identity that --force has replaced.
restart() {
  "$agent" service stop >/dev/null 2>&1 </dev/null || true
  if is_running; then
    fail 7 "joined again, but the agent that runs has its old identity: stop it (Ctrl-C where it was started), and run: $link start"
  fi
  "$agent" service start </dev/null
  "$agent" wait </dev/null
}

# --- Removing -----------------------------------------------------------------------------------

# The folders that the agent needs in HOME and that do not exist, the innermost first.
missing_folders() {
  config_home=${XDG_CONFIG_HOME:-$HOME/.config}
  for folder in "$config_home/systemd/user/default.target.wants" "$config_home/systemd/user" \
    "$config_home/systemd" "$config_home" "$HOME/.local/bin" "$(dirname "$root")" "$HOME/.local"; do
    [ -d "$folder" ] || printf '%s\n' "$folder"
  done
}

uninstall() {
  [ -d "$root" ] || fail 3 "there is no agent in $root."
  status=$("$agent" status --json 2>/dev/null </dev/null || true)
  config=$(status_field config)
  # An agent that does not start, as without its Node, cannot say where its configuration is.
  [ -n "$config" ] || config=${GATEWAY_AGENT_CONFIG:-$(usual_config)}
  if [ "$yes" = no ]; then
    has_terminal || fail 2 '--uninstall needs --yes where nobody can be asked.'
    ask "Remove the agent, its service and its identity ($root, $config)?" || fail 130 'nothing is removed.'
  fi
  if "$agent" version >/dev/null 2>&1 </dev/null; then remove_service; else remove_service_files; fi
  rm -rf "$config" "$config.token" "$config.state"
  rmdir "$(dirname "$config")" 2>/dev/null || true
  [ "$(readlink "$link" 2>/dev/null)" = "$agent" ] && rm -f "$link"
  folders=$(cat "$root/made-folders" 2>/dev/null || true)
  rm -rf "$root"
  printf '%s\n' "$folders" | while IFS= read -r folder; do
    [ -z "$folder" ] || rmdir "$folder" 2>/dev/null || true
  done
  say 'The agent is removed. At its coordinator, its owner removes it under Providers.'
}

usual_config() {
  case $(uname -s) in
    Darwin) printf '%s' "$HOME/Library/Preferences/gateway-agent/config.json" ;;
    *) printf '%s' "${XDG_CONFIG_HOME:-$HOME/.config}/gateway-agent/config.json" ;;
  esac
}

remove_service() {
  code=0
  reason=$("$agent" service uninstall 2>&1 </dev/null) || code=$?
  # 3: there is none.
  case $code in
    0 | 3) ;;
    *) fail "$code" "the service is not removed, and neither is anything else: $reason" ;;
  esac
  if is_running; then
    fail 7 'the agent still runs: stop it first (Ctrl-C where it was started).'
  fi
}

# The services that start this agent, without its help.
remove_service_files() {
  units=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
  for file in "$units"/gateway-agent*.service "$HOME"/Library/LaunchAgents/gateway-agent*.plist \
    /etc/systemd/system/gateway-agent*.service /Library/LaunchDaemons/gateway-agent*.plist; do
    grep -qF "$agent" "$file" 2>/dev/null || continue
    service=$(basename "$file")
    case $file in
      "$units"/*) systemctl --user disable --now "$service" || keep_service ;;
      "$HOME"/*) launchctl bootout "gui/$(id -u)/${service%.plist}" 2>/dev/null || true ;;
      *) keep_service ;;
    esac
    rm -f "$file"
    case $file in "$units"/*) systemctl --user daemon-reload || true ;; esac
  done
}

keep_service() {
  fail 1 "$file starts this agent: stop this service and remove that file, then run this again. Nothing else is removed."
}

main "$@"
