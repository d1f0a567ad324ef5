'use strict'
// Checks of MariaDB's own driver for Node, which sends several commands at once.

const fs = require('fs')
const path = require('path')
const mariadb = require('mariadb')
const { where, check, error, plain, sleep } = require('./lib')

const open = (more) => mariadb.createConnection({ ...where, allowPublicKeyRetrieval: true, connectTimeout: 10000, ...more })

const on = (more, f) => async () => {
  const c = await open(more)
  try {
    return await f(c)
  } finally {
    c.destroy()
  }
}

const shape = (r) => ({ rows: plain(Array.isArray(r) ? [...r] : r), columns: r && r.meta && Array.isArray(r.meta) ? r.meta.map((m) => m && m.name && [m.name(), m.table(), m.columnType, m.flags, m.columnLength, m.scale]) : null })

async function step (c, sql, args, how = 'query') {
  try {
    return shape(await c[how](sql, args))
  } catch (e) {
    return error(e)
  }
}

async function each (c, ...statements) {
  const list = []
  for (const s of statements) list.push(await step(c, s))
  return list
}

async function basics () {
  await check('mariadb/connect', on({}, (c) => [c.serverVersion(), step(c, 'SELECT 1')].slice(0, 1)))
  await check('mariadb/session', on({}, (c) => each(c, 'SELECT DATABASE(), CURRENT_USER(), @@character_set_client, @@collation_connection, @@sql_mode')))
  await check('mariadb/variables at connect', on({ sessionVariables: { sql_mode: 'ANSI_QUOTES', time_zone: '+05:00' }, initSql: ['SET @i = 4'] }, (c) => each(c, 'SELECT "name", @i FROM "items" WHERE "id" = 1', 'SELECT @@time_zone')))
  await check('mariadb/unknown schema', on({ database: 'nosuch' }, () => 'connected'))
  await check('mariadb/wrong password', on({ password: 'wrong' }, () => 'connected'))
  await check('mariadb/compression', on({ compress: true }, (c) => each(c, 'SELECT word FROM numbers ORDER BY n LIMIT 100')))
  for (const how of ['query', 'execute']) {
    await check('mariadb/types, ' + how, on({}, (c) => step(c, 'SELECT * FROM kinds WHERE id > ? ORDER BY id', [0], how)))
    await check('mariadb/types, strings, ' + how, on({ dateStrings: true, bigIntAsNumber: true, insertIdAsNumber: true, decimalAsNumber: true, rowsAsArray: true }, (c) => step(c, 'SELECT * FROM kinds WHERE id > ? ORDER BY id', [0], how)))
    await check('mariadb/parameters, ' + how, on({}, (c) => step(c, 'SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, COUNT(*) AS n FROM numbers', [-5, 2.5, "😀'\\\0", Buffer.from([0, 255, 39]), null], how)))
    await check('mariadb/errors, ' + how, on({}, async (c) => {
      const list = []
      for (const s of ['SELEC 1', 'SELECT * FROM nosuch', "INSERT INTO items (name) VALUES ('apple')", "INSERT INTO strict VALUES (1000, 'x')", 'SELECT COUNT(*) FROM numbers']) list.push(await step(c, s, [], how))
      return list
    }))
    await check('mariadb/writes, ' + how, on({}, async (c) => {
      const list = []
      for (const s of ["INSERT INTO items (name) VALUES ('o1')", 'SELECT LAST_INSERT_ID()', "INSERT INTO items (name) VALUES ('o2'), ('o3')", "SELECT name FROM items WHERE name LIKE 'o_' ORDER BY name", 'UPDATE items SET qty = 12 WHERE id <= 3', "DELETE FROM items WHERE name LIKE 'o_'"]) list.push(await step(c, s, [], how))
      return list
    }))
  }
  await check('mariadb/found rows', on({ foundRows: false }, (c) => each(c, 'UPDATE items SET qty = 13 WHERE id <= 2', 'UPDATE items SET qty = 13 WHERE id <= 2')))
}

async function more () {
  for (const pipelining of [true, false]) {
    await check('mariadb/batch, pipelining ' + pipelining, on({ pipelining }, async (c) => {
      const rows = Array.from({ length: 30 }, (_, i) => ['batch' + i, i])
      const r = await c.batch('INSERT INTO items (name, qty) VALUES (?, ?)', rows)
      return [plain(r), await each(c, "SELECT name, qty FROM items WHERE name LIKE 'batch%' ORDER BY id", "DELETE FROM items WHERE name LIKE 'batch%'")]
    }))
    await check('mariadb/commands sent at once, pipelining ' + pipelining, on({ pipelining }, async (c) => Promise.all([step(c, 'UPDATE items SET qty = 91 WHERE id = 2'), step(c, 'SELECT qty FROM items WHERE id = 2'), step(c, 'SELECT COUNT(*) AS n FROM numbers WHERE n > ?', [3], 'execute'), step(c, 'SELEC'), step(c, 'USE clients2'), step(c, 'SELECT name FROM items'), step(c, 'USE clients'), step(c, 'SELECT qty + 1 AS q FROM items WHERE id = 2')])))
  }
  await check('mariadb/prepared again', on({}, async (c) => {
    const s = await c.prepare('SELECT n, word FROM numbers WHERE n = ?')
    const list = []
    for (const arg of [1, '2', null, 500]) list.push(shape(await s.execute([arg])))
    s.close()
    return [list, await step(c, 'SELECT COUNT(*) FROM numbers')]
  }))
  await check('mariadb/several statements', on({ multipleStatements: true }, (c) => each(c, 'SELECT name FROM items WHERE id = 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1', 'SELECT 1; SELEC 2')))
  await check('mariadb/procedures', on({}, async (c) => [await each(c, 'CALL two_results()', 'CALL in_out(4, @b, @c)', 'SELECT @b', 'CALL fails()'), await step(c, 'CALL in_out_rows(?, ?)', [2, null], 'execute'), await step(c, 'SELECT COUNT(*) FROM numbers')]))
  await check('mariadb/transactions', on({}, async (c) => {
    await c.beginTransaction()
    const list = await each(c, 'UPDATE items SET qty = 81 WHERE id = 1', 'SELECT qty FROM items WHERE id = 1')
    await c.rollback()
    return [list, await each(c, 'SELECT qty <> 81 AS ok FROM items WHERE id = 1')]
  }))
  await check('mariadb/reset', on({}, async (c) => {
    await each(c, 'SET @x = 5', "SET sql_mode = ''", 'CREATE TEMPORARY TABLE gone (a INT)')
    await c.reset()
    return each(c, 'SELECT @x, @@sql_mode', 'SELECT * FROM gone')
  }))
  await check('mariadb/change user', on({}, async (c) => {
    await each(c, 'SET @x = 5')
    await c.changeUser({ user: where.user, password: where.password, database: 'clients2' })
    return each(c, 'SELECT @x, DATABASE()', 'SELECT name FROM items')
  }))
  await check('mariadb/query timeout', on({}, async (c) => {
    try {
      return shape(await c.query({ sql: 'SELECT SLEEP(3), COUNT(*) FROM numbers', timeout: 300 }))
    } catch (e) {
      return error(e)
    }
  }))
  await check('mariadb/load data', on({ permitLocalInfile: true }, async (c) => {
    const file = path.join(process.env.CW_TMP, 'load-mariadb.tsv')
    fs.writeFileSync(file, '1\tone\t1.5\n2\t😀\t-2\n'.repeat(100))
    return each(c, `LOAD DATA LOCAL INFILE '${file}' INTO TABLE loaded`, 'SELECT a, b, c, COUNT(*) AS n FROM loaded GROUP BY a, b, c ORDER BY a', 'DELETE FROM loaded')
  }))
  await check('mariadb/connection id', on({}, async (c) => Number((await c.query('SELECT CONNECTION_ID() AS id'))[0].id) === c.threadId))
  await check('mariadb/pool', async () => {
    const p = mariadb.createPool({ ...where, allowPublicKeyRetrieval: true, connectionLimit: 1, resetAfterUse: true })
    const list = []
    for (let i = 0; i < 3; i++) {
      const c = await p.getConnection()
      list.push(await each(c, 'SELECT @left_over AS l', 'SET @left_over = 1', 'UPDATE items SET qty = 17 WHERE id = 4', 'SELECT qty FROM items WHERE id = 4'))
      await c.release()
    }
    await p.end()
    return list
  })
  await check('mariadb/kill', on({}, async (c) => {
    c.on('error', () => {})
    const other = await open()
    const v = await step(other, `KILL ${Number((await c.query('SELECT CONNECTION_ID() AS id'))[0].id)}`)
    await sleep(400)
    const after = await step(c, 'SELECT 1')
    other.destroy()
    return [v, after.errno !== undefined || after.code !== undefined ? 'ended' : after]
  }))
}

module.exports = async () => { await basics(); await more() }
