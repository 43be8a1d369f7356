# Brings programs from npm for scripts to try; read by them with `.`, in the project's folder.
# shellcheck shell=sh

# Install packages into a folder, unless they are there from an earlier time: npm_packages FOLDER PACKAGE...
npm_packages() {
    into=$1
    shift
    if [ "$(cat "$into/installed" 2> /dev/null)" != "$*" ]; then
        rm -rf "$into"
        mkdir -p "$into"
        npm install --prefix "$into" --no-audit --no-fund --no-update-notifier --loglevel=error "$@"
        echo "$*" > "$into/installed"
    fi
}

# Make `node` one of at least 22.12, the first whose requests can be watched as conformance/authorize.mjs does.
recent_node() {
    if ! command -v npm > /dev/null; then
        echo "npm is needed; it comes with Node.js." >&2
        exit 1
    fi
    if ! node_is_recent; then
        npm_packages .conformance/node node@24
        PATH=$PWD/.conformance/node/node_modules/.bin:$PATH
        node_is_recent || { echo "Node.js 22.12 or later is needed, not $(node --version)." >&2; exit 1; }
    fi
}

node_is_recent() {
    node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a == 22 && b >= 12) ? 0 : 1)'
}
