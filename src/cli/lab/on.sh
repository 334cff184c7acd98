#!/bin/sh
# Runs a command in an instance of the lab, on a host or on the server.
usage="usage: on NAME COMMAND…, where NAME is an instance (label or ID), host-1, … or server"
[ $# -ge 2 ] && [ -n "$1" ] || { echo "$usage" >&2; exit 2; }
name=$1
shift
if [ "$name" = server ]; then
    exec nsenter --net=/proc/1/ns/net -- "$@"
fi
machine=$LAB_FOLDER/machines/$name
if [ -e "$machine" ]; then
    # The agents of a lab share a machine, so each has its own prefix.
    export GARTH_AGENT_STATE="$LAB_FOLDER/$name" GARTH_AGENT_PREFIX="h${name#host-}"
    exec nsenter --target "$(cat "$machine")" --mount --net -- "$@"
fi
if [ -d "$LAB_FOLDER/$name" ]; then
    echo "$name is stopped: start it with garth lab start $name" >&2
    exit 2
fi
# An instance that was created after the lab has no file.
find_instance() {
    case $1 in
    *[!0-9]*) nsenter --net=/proc/1/ns/net -- "$LAB_FOLDER/bin/garth" lab instance "$1" 2>/dev/null ;;
    *) echo "$1" ;;
    esac
}
id=$(cat "$LAB_FOLDER/instances/$name" 2>/dev/null || find_instance "$name" || echo "$name")
for machine in "$LAB_FOLDER"/machines/*; do
    network=/proc/$(cat "$machine")/root/run/netns/gi-$id
    if [ -e "$network" ]; then
        unset LAB_OR_SERVER
        exec nsenter --net="$network" -- "$@"
    fi
done
if [ -n "$LAB_OR_SERVER" ]; then
    echo "$name does not run on a host of the lab, so this is the server" >&2
    unset LAB_OR_SERVER
    exec nsenter --net=/proc/1/ns/net -- "$@"
fi
echo "$name does not run on a host of the lab. $usage" >&2
exit 2
