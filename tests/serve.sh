# Starts a server for scripts to try; read by them with `.`, in the project's folder.
# shellcheck shell=sh

# Start a server with the sample catalogue, and set its URL and a KEY without a limit. It ends with the script. With
# CLUSTER=1 there are two servers on PostgreSQL, behind a proxy that sends each request to the next one.
serve() {
    data=$(mktemp -d)
    server=
    trap stop EXIT
    trap 'exit 1' HUP INT TERM
    if [ -n "${CLUSTER:-}" ]; then
        serve_cluster
        return
    fi
    .venv/bin/directory-server --data-dir "$data" quickstart > /dev/null
    KEY=$(.venv/bin/directory-server --data-dir "$data" key create --label tests --limit unlimited 2> /dev/null)
    port=$(.venv/bin/python -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    URL=http://127.0.0.1:$port/api/open/mcp
    export URL KEY
    .venv/bin/twistd --nodaemon --pidfile= directory --data-dir "$data" \
        --listen "tcp:$port:interface=127.0.0.1" > "$data/log" 2>&1 &
    server=$!
    attempts=0
    until healthy; do
        attempts=$((attempts + 1))
        if [ $attempts -gt 100 ] || ! kill -0 "$server" 2> /dev/null; then
            echo "The server did not start; its log says:" >&2
            cat "$data/log" >&2
            exit 1
        fi
        sleep 0.2
    done
}

serve_cluster() {
    mkfifo "$data/end"
    .venv/bin/python -m tests.cluster.proxied "$data" < "$data/end" > "$data/ready" 2> "$data/log" &
    server=$!
    # The servers end with this end of the pipe.
    exec 3> "$data/end"
    attempts=0
    until [ -s "$data/ready" ]; do
        attempts=$((attempts + 1))
        if [ $attempts -gt 300 ] || ! kill -0 "$server" 2> /dev/null; then
            echo "The servers did not start:" >&2
            cat "$data/log" >&2
            exit 1
        fi
        sleep 0.2
    done
    read -r port KEY < "$data/ready"
    URL=http://127.0.0.1:$port/api/open/mcp
    export URL KEY
}

healthy() {
    # Not through a proxy, whatever the environment names.
    .venv/bin/python -c "
from urllib.request import ProxyHandler, build_opener
build_opener(ProxyHandler({})).open('http://127.0.0.1:$port/healthz', timeout=5)
" 2> /dev/null
}

stop() {
    if [ -n "$server" ]; then
        if [ -n "${CLUSTER:-}" ]; then exec 3>&-; else kill "$server" || true; fi
        wait "$server" || true
    fi 2> /dev/null
    rm -rf "$data"
}
