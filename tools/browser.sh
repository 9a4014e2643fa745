#!/bin/sh
# Make sure that there is a browser to test reports in: Chromium and its driver.
# Installs Debian's packages where that is possible. Exit code 3: there is none, and none can be had here.
set -eu
found() { command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1; }
found && exit 0
if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
    echo "Installing chromium and chromium-driver for the tests of reports"
    if $as_root apt-get update -qq >/dev/null \
        && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends \
            chromium chromium-driver >/dev/null; then
        found && exit 0
    fi
fi
echo "No Chromium here: install chromium and chromedriver to test reports in a browser." >&2
if [ "${CI:-}" = true ]; then exit 1; fi
exit 3
