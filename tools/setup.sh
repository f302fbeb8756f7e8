#!/bin/sh
# Makes the virtual environment and, where asked, a browser ready; does nothing that is done already.
#
#   tools/setup.sh dev|demo [browser] [desktop]
#
# PYTHON and VENV may name another interpreter and folder. System packages are installed only as root, or
# where sudo asks for no password; otherwise what to type is printed.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$here"
kind=${1:-dev}
python=${PYTHON:-python3}
venv=${VENV:-.venv}
say() { printf 'setup: %s\n' "$*"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then sudo "$@"
    else say "cannot install system packages here; as root, run: $*"; return 1
    fi
}

apt_install() {
    command -v apt-get >/dev/null 2>&1 || { say "no apt-get here; install by hand: $*"; return 1; }
    say "installing system packages: $* (this can take a minute or two)"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "Python 3.11 or newer is needed; set PYTHON to one"; exit 1; }

if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    say "making the virtual environment $venv"
    rm -rf "$venv"
    "$python" -m venv "$venv" 2>/dev/null || { apt_install python3-venv && "$python" -m venv "$venv"; }
fi

case $kind in
    dev) extras=dev ;;
    demo) extras=web,mcp ;;
    *) say "unknown kind $kind"; exit 2 ;;
esac
mark="$venv/.anydevice-$extras"
want=$(cat pyproject.toml constraints.txt | cksum)
if [ "$(cat "$mark" 2>/dev/null || true)" != "$want" ]; then
    say "installing anydevice[$extras] and what it needs into $venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --progress-bar off \
        --constraint constraints.txt --editable ".[$extras]"
    printf '%s' "$want" > "$mark"
fi

if [ "${2:-}" = browser ]; then
    found=
    for name in chromium chromium-browser google-chrome google-chrome-stable microsoft-edge; do
        command -v "$name" >/dev/null 2>&1 && found=$name && break
    done
    if [ -z "$found" ]; then
        apt_install chromium fonts-dejavu-core fonts-noto-color-emoji
        found=chromium
    fi
    say "browser: $found"
fi

if [ "${3:-}" = desktop ]; then
    # What a virtual desktop is made of, and the programs that tests drive on it.
    missing=
    for name in Xvfb openbox dbus-daemon xprop setxkbmap sway weston grim wl-copy mousepad gedit featherpad gnome-calculator \
        pulseaudio parec tesseract; do
        command -v "$name" >/dev/null 2>&1 || missing="$missing $name"
    done
    [ -r /usr/share/dbus-1/services/org.a11y.Bus.service ] || missing="$missing at-spi2-core"
    for gtk in 3.0 4.0; do  # one program cannot ask for both
        /usr/bin/python3 -c "import gi; gi.require_version('Gtk', '$gtk')" >/dev/null 2>&1 || missing="$missing gtk-$gtk"
    done
    /usr/bin/python3 -c 'import PyQt5.QtWidgets' >/dev/null 2>&1 || missing="$missing python3-pyqt5"
    if [ -n "$missing" ]; then
        apt_install xvfb openbox dbus at-spi2-core libglib2.0-bin x11-utils x11-xserver-utils x11-xkb-utils xkb-data \
            xauth adwaita-icon-theme fonts-dejavu-core python3-gi gir1.2-gtk-3.0 gir1.2-gtk-4.0 python3-pyqt5 \
            sway xwayland weston grim wl-clipboard qtwayland5 mousepad gedit featherpad gnome-calculator \
            pulseaudio pulseaudio-utils tesseract-ocr \
            || say "without these the tests of the Linux desktop are skipped:$missing"
    fi
fi
say "ready"
