# shellcheck shell=bash disable=SC2154,SC2034
# The example of clients/java, a Spring Boot application; "unit" runs the starter's own tests.
pins=(pom.xml)
sources=("$root_dir/clients/java")

fetch() { jars "$source_dir/pom.xml"; }
build() {
	need javac default-jdk-headless
	local java=$root_dir/clients/java
	cp -r "$java/src/main/resources/." "$built"
	# shellcheck disable=SC2046
	javac -nowarn -parameters -d "$built" -cp "$home/jars/*" $(find "$java/src" "$java/example/src" -name '*.java')
}
start() {
	need java default-jdk-headless
	local options=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -cp "$built:$home/jars/*")
	if [ "${1-}" = unit ]; then
		exec java "${options[@]}" org.junit.platform.console.ConsoleLauncher execute --disable-banner --fail-if-no-tests --details=summary --select-package=causeway
	fi
	exec java "${options[@]}" comments.App
}
