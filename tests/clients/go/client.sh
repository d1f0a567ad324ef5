# shellcheck shell=bash disable=SC2154
# go-sql-driver/mysql in the version of go.mod; the program is built with the module.

fetch() { :; }
build() { go build -o "$built/checks" .; }
start() { exec "$built/checks"; }
