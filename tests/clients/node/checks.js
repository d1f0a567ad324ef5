'use strict'
// The Node client program: mysql2, and but for the short run MariaDB's driver.
const { emit, count } = require('./lib')

async function main () {
  await require('./mysql2')()
  if (process.env.CW_SET !== 'short') await require('./mariadb')()
  emit('end', count())
  process.exit(0)
}

main().catch((e) => { console.error(e); process.exit(1) })
