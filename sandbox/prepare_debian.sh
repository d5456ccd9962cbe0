#!/bin/sh
# Makes a bare Debian 12 machine ready for the gVisor wall, and says what it changed.
#
#   sandbox/prepare_debian.sh               packages, runtime, daemon, image
#   sandbox/prepare_debian.sh --no-image    everything but the image
#   sandbox/prepare_debian.sh --undo        prints how to take each change back (changes nothing)
#
# Run it as root, as often as you like: what is already there is left alone.  It installs
# docker.io, runsc (from backports where they can be reached, since the stable release has an
# older and slower one) and bubblewrap, registers the runtime `runsc`, and builds the image.
# Without systemd it also mounts the control groups and starts a daemon for this boot.
# PYTHON names the interpreter that builds the image (3.11 or newer).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
project=$(dirname "$here")
source_list=/etc/apt/sources.list.d/policy-arena-backports.list
daemon_config=/etc/docker/daemon.json
daemon_log=/var/log/policy-arena-dockerd.log
# gVisor answers no packet in either place: the runtime has no network stack to the outside,
# whatever a container asks for, which also avoids a fault of runsc with Docker's own
# `--network none` on recent kernels (google/gvisor issue 10704).
runtime_arguments='["--network=none"]'
changes=""

say() { printf '%s\n' "prepare: $*"; }
changed() { changes="${changes}  $*
"; say "$*"; }
fail() { printf '%s\n' "prepare: $*" >&2; exit 1; }

undo_hints() {
    cat <<HINTS
How to take it back (as root):
  packages   apt-get purge docker.io runsc bubblewrap mmdebstrap && apt-get autoremove
  source     rm $source_list && apt-get update
  runtime    remove "runsc" from "runtimes" in $daemon_config, then reload the daemon
  daemon     kill \$(cat /run/docker.pid)            (only where there is no systemd)
  images     docker image rm \$(docker image ls -q --filter label=policy-arena.box-files) policy-arena-base:$VERSION_CODENAME
HINTS
}

installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

# The first configured mirror that serves this release's main component.
mirror() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$VERSION_CODENAME" '$2 == release && $3 == "main" { print $1; exit }'
}

offers_backport() { apt-cache madison runsc 2>/dev/null | grep -q "$VERSION_CODENAME-backports"; }

add_backports() {
    offers_backport && return 0
    site=$(mirror)
    [ -n "$site" ] || { say "no mirror of $VERSION_CODENAME is configured; no backports"; return 0; }
    echo "deb $site $VERSION_CODENAME-backports main" >"$source_list"
    if apt-get update -qq -o Dir::Etc::sourcelist="$source_list" -o Dir::Etc::sourceparts=- \
        -o APT::Get::List-Cleanup=0 -o Acquire::Retries=1 >/dev/null 2>&1 && offers_backport; then
        changed "added the source $source_list"
    else
        rm -f "$source_list"
        say "backports cannot be reached; the release's own runsc (ptrace only) is used"
    fi
}

install_packages() {
    missing=""
    for package in "$@"; do installed "$package" || missing="$missing $package"; done
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing \
        >/tmp/policy-arena-apt.$$ 2>&1 || { cat /tmp/policy-arena-apt.$$ >&2
            rm -f /tmp/policy-arena-apt.$$; fail "apt-get could not install$missing"; }
    rm -f /tmp/policy-arena-apt.$$
    changed "installed$missing"
}

install_runsc() {
    if command -v runsc >/dev/null 2>&1; then
        if installed runsc && offers_backport && ! dpkg-query -W -f '${Version}' runsc | grep -q bpo; then
            say "a newer runsc is in backports: upgrading"
        else
            return 0
        fi
    fi
    add_backports
    if offers_backport; then target="runsc/$VERSION_CODENAME-backports"; else target=runsc; fi
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$target" \
        >/dev/null 2>&1 || fail "apt-get could not install $target; try 'apt-get update' first"
    changed "installed $target ($(runsc --version | head -n 1))"
}

# Adds our runtime to daemon.json and leaves everything else in it as it was.
register_runtime() {
    mkdir -p "$(dirname "$daemon_config")"
    if "$python" - "$daemon_config" "$(command -v runsc)" "$runtime_arguments" <<'PYTHON'
import json, os, sys
path, binary, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
config = json.load(open(path)) if os.path.exists(path) and os.path.getsize(path) else {}
runtimes = config.setdefault("runtimes", {})
known = runtimes.get("runsc", {})
if known.get("path") and set(arguments) <= set(known.get("runtimeArgs", [])):
    sys.exit(1)
kept = [a for a in known.get("runtimeArgs", []) if not a.startswith("--network")]
runtimes["runsc"] = {"path": known.get("path", binary), "runtimeArgs": kept + arguments}
with open(path + ".new", "w") as file:
    json.dump(config, file, indent=2)
    file.write("\n")
os.replace(path + ".new", path)
PYTHON
    then
        changed "registered the runtime runsc in $daemon_config"
        runtime_is_new=yes
    fi
}

has_systemd() { [ -d /run/systemd/system ]; }
daemon_answers() { timeout 20 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
daemon_knows_runsc() { timeout 20 docker info --format '{{json .Runtimes}}' 2>/dev/null | grep -q '"runsc"'; }

mount_control_groups() {
    awk '$3 == "cgroup" || $3 == "cgroup2" { found = 1 } END { exit !found }' /proc/mounts && return 0
    mkdir -p /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup || fail "cannot mount the control groups"
    changed "mounted the control groups at /sys/fs/cgroup (until reboot)"
}

# A daemon without systemd.  The boxes have no network, so it needs no bridge and no firewall.
start_daemon() {
    mount_control_groups
    set -- --host=unix:///var/run/docker.sock
    grep -q '"bridge"' "$daemon_config" || set -- "$@" --bridge=none
    grep -q '"iptables"' "$daemon_config" || set -- "$@" --iptables=false
    setsid dockerd "$@" </dev/null >"$daemon_log" 2>&1 &
    changed "started dockerd $* (until reboot; log in $daemon_log)"
}

run_daemon() {
    if ! daemon_answers; then
        if has_systemd; then systemctl enable --now docker; else start_daemon; fi
        waited=0
        until daemon_answers; do
            waited=$((waited + 1))
            [ "$waited" -le 150 ] || { tail -n 20 "$daemon_log" >&2 2>/dev/null || true
                fail "the Docker daemon does not answer"; }
            sleep 0.2
        done
    elif [ "${runtime_is_new:-no}" = yes ]; then
        # Runtimes are among the settings that a running daemon reads again.
        if has_systemd; then systemctl reload docker; else kill -HUP "$(cat /run/docker.pid)"; fi
        changed "asked the daemon to read its configuration again"
    fi
    waited=0
    until daemon_knows_runsc; do
        waited=$((waited + 1))
        [ "$waited" -le 50 ] || fail "the daemon does not know the runtime runsc; see $daemon_config"
        sleep 0.2
    done
}

# Where no image registry can be reached: the packages of Debian's own Python, unpacked and not
# configured, as the base image.  Five seconds, 60 MB, and neither a shell nor a package
# manager inside.
make_offline_base() {
    install_packages mmdebstrap
    site=$(mirror)
    [ -n "$site" ] || fail "no mirror of $VERSION_CODENAME is configured, and no image can be pulled"
    say "building the base image $offline_base from Debian packages"
    work=$(mktemp -d /var/tmp/policy-arena-base.XXXXXX)
    mmdebstrap --variant=extract --include=python3,libstdc++6 \
        --dpkgopt=path-exclude=/usr/share/doc/* --dpkgopt=path-exclude=/usr/share/man/* \
        "$VERSION_CODENAME" "$work/base.tar" "$site" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log" >&2; rm -rf "$work"; fail "mmdebstrap failed"; }
    # Device files and this machine's own names have no place in an image.
    tar --delete --wildcards --file "$work/base.tar" './dev/*' ./etc/hostname ./etc/resolv.conf 2>/dev/null || true
    docker import "$work/base.tar" "$offline_base" >/dev/null || fail "the base image could not be imported"
    rm -rf "$work"
    changed "made the image $offline_base"
}

build_image() {
    default_base=$(sed -n 's/^ARG BASE_IMAGE=//p' "$here/Dockerfile")
    if docker image inspect "$default_base" >/dev/null 2>&1; then
        base=$default_base
    elif docker image inspect "$offline_base" >/dev/null 2>&1; then
        base=$offline_base
    elif timeout "${PULL_SECONDS:-120}" docker pull -q "$default_base" >/dev/null 2>&1; then
        base=$default_base
        changed "pulled the image $base"
    else
        say "$default_base cannot be pulled"
        base=$offline_base
        make_offline_base
    fi
    "$python" -m pip --version >/dev/null 2>&1 || install_packages python3-pip
    before=$(docker image ls --quiet --filter label=policy-arena.box-files | sort)
    (cd "$project" && "$python" -m sandbox.gvisor build --base "$base") || fail "the image was not built"
    [ "$before" = "$(docker image ls --quiet --filter label=policy-arena.box-files | sort)" ] ||
        changed "built the image"
}

[ ! -r /etc/os-release ] || . /etc/os-release
VERSION_CODENAME=${VERSION_CODENAME:-unknown}
case "${1:-}" in
    --undo) undo_hints; exit 0 ;;
    "" | --no-image) ;;
    *) fail "unknown argument '$1' (there are --no-image and --undo)" ;;
esac
[ "$(id -u)" = 0 ] || fail "this must run as root"
[ "${ID:-}" = debian ] || fail "this script knows Debian; elsewhere install Docker and gVisor as their manuals say"
offline_base=policy-arena-base:$VERSION_CODENAME

if [ -z "$(mirror)" ] || ! apt-cache show docker.io >/dev/null 2>&1; then apt-get update -qq; fi
python=${PYTHON:-}
if [ -z "$python" ]; then
    if [ -x "$project/.venv/bin/python" ]; then python=$project/.venv/bin/python; else python=python3; fi
fi
command -v "$python" >/dev/null 2>&1 || install_packages python3
install_packages docker.io bubblewrap
install_runsc
register_runtime
run_daemon
[ "${1:-}" = --no-image ] || build_image

if [ -n "$changes" ]; then printf 'Changed:\n%s' "$changes"; undo_hints; else say "nothing to change"; fi
