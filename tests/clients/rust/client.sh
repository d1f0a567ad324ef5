# shellcheck shell=bash disable=SC2154
# sqlx for Rust. Cargo.lock.versions is a Cargo.lock without the lines that name
# the registry: they are put back as this machine's cargo writes them.
pins=(Cargo.toml Cargo.lock.versions)

fetch() {
	need cargo cargo rustc
	need cc gcc libc6-dev
	mkdir -p src
	cp "$source_dir/Cargo.toml" .
	echo 'fn main() {}' >src/main.rs
	cargo generate-lockfile
	local registry
	registry=$(grep -m1 '^source = ' Cargo.lock)
	awk -v registry="$registry" '/^checksum = / { print registry } { print }' "$source_dir/Cargo.lock.versions" >Cargo.lock
	# Other packages are compiled here, so that a change of the checks compiles only them.
	cargo build --locked
}
build() {
	need cargo cargo rustc
	cp ./*.rs "$home/src/"
	(cd "$home" && cargo build --locked --offline && cp target/debug/checks "$built/")
}
start() { exec "$built/checks"; }
