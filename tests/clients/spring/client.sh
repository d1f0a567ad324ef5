# shellcheck shell=bash disable=SC2154
# A small Spring Boot application with JPA (Hibernate), HikariCP and Connector/J.
pins=(pom.xml)

fetch() { jars "$source_dir/pom.xml"; }
build() {
	need javac default-jdk-headless
	javac -nowarn -parameters -d "$built" -cp "$home/jars/*" ./*.java
}
start() {
	need java default-jdk-headless
	exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m -cp "$built:$home/jars/*" checks.App
}
