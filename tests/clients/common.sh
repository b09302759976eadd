# What the scripts in here share: caches of pinned packages, and a scene to act in. Sourced, never run.
#
# Installs go to target/clients and are done anew only when what is pinned changes. Leaves HOME alone: whoever starts
# programs that keep settings there redirects it.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
cache=${CARGO_TARGET_DIR:-$here/../../target}/clients
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)

# The absolute path of the one argument, a program.
the_binary() {
    [[ $# -eq 1 && -x $1 ]] || { echo "usage: $0 path/to/ai-coord-mcp" >&2; exit 2; }
    printf '%s/%s\n' "$(cd "$(dirname "$1")" && pwd -P)" "$(basename "$1")"
}

skip() {
    echo "skipped: $1" >&2
    exit 77
}

# Whether Node is there and has at least this version, as MAJOR or MAJOR.MINOR.
has_node() {
    command -v npm >/dev/null && command -v node >/dev/null && node -e '
        const [wanted, found] = [process.argv[1], process.versions.node].map((it) => it.split(".").map(Number));
        const [major, minor = 0] = wanted;
        process.exit(found[0] > major || (found[0] === major && found[1] >= minor) ? 0 : 1);
    ' "$1"
}

has_python() {
    command -v python3 >/dev/null &&
        python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' &&
        python3 -c 'import ensurepip, venv' 2>/dev/null
}

# The packages that the lock file of a folder beside this file names. Their install scripts are not run.
install_node() {
    local folder=$1
    cmp -s "$here/$folder/package-lock.json" "$cache/$folder/installed" && return
    mkdir -p "$cache/$folder"
    cp "$here/$folder/package.json" "$here/$folder/package-lock.json" "$cache/$folder"
    npm ci --prefix "$cache/$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
    cp "$here/$folder/package-lock.json" "$cache/$folder/installed"
}

install_python() {
    local folder=$1
    cmp -s "$here/$folder/requirements.txt" "$cache/$folder/installed" && return
    python3 -m venv --clear "$cache/$folder"
    "$cache/$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/$folder/requirements.txt"
    cp "$here/$folder/requirements.txt" "$cache/$folder/installed"
}

scene=
pids=()
tidy() {
    local pid
    for pid in ${pids[@]+"${pids[@]}"}; do
        kill "$pid" 2>/dev/null || true
    done
    if [[ -n $scene ]]; then
        rm -rf "$scene"
    fi
}

# A directory that goes with the script, and an environment in which neither the person's settings nor a repository
# that this one lies in matter.
make_scene() {
    scene=$(mktemp -d)
    trap tidy EXIT
    # A signal ends the script through the trap above.
    trap 'exit 1' HUP INT TERM
    scene=$(cd "$scene" && pwd -P)
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE COORDINATION_DIR COORDINATION_AGENT CLAUDE_PROJECT_DIR
}

# A repository with one commit, and a second worktree of it.
make_repository() {
    git init --quiet "$1"
    git -C "$1" -c user.name=test -c user.email=test@localhost commit --quiet --allow-empty --message 'Begin'
    git -C "$1" worktree add --quiet -b feature "$2"
}
