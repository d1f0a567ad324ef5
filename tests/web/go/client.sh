# shellcheck shell=bash disable=SC2154,SC2034
# The example of clients/go; "unit" runs the library's own tests.
sources=("$root_dir/clients/go")

fetch() { :; }
build() { cd "$root_dir/clients/go/example" && go build -o "$built/example" .; }
start() {
	if [ "${1-}" = unit ]; then
		cd "$root_dir/clients/go"
		exec go test -count=1 ./...
	fi
	exec "$built/example"
}
