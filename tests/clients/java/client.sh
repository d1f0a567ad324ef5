# shellcheck shell=bash disable=SC2154
# MySQL Connector/J, MariaDB Connector/J and HikariCP, from Maven's central repository.
pins=(pom.xml)

fetch() { jars "$source_dir/pom.xml"; }
build() {
	need javac default-jdk-headless
	javac -nowarn -d "$built" -cp "$home/jars/*" ./*.java
}
start() {
	need java default-jdk-headless
	exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m -cp "$built:$home/jars/*" Checks
}
