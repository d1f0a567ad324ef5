# shellcheck shell=bash disable=SC2154
# Sequelize and Knex for Node, both on mysql2.
pins=(package.json package-lock.json)

fetch() {
	need npm npm nodejs
	cp "$source_dir"/package*.json .
	npm ci --ignore-scripts --no-audit --no-fund
}
start() {
	need node nodejs
	export NODE_PATH=$home/node_modules
	exec node checks.js
}
