'use strict'
// Checks of mysql2, by its promises.

const fs = require('fs')
const path = require('path')
const mysql = require('mysql2/promise')
const callbacks = require('mysql2')
const { where, check, error, plain, sleep } = require('./lib')

const open = (more) => mysql.createConnection({ ...where, ...more })

// on runs f on a connection of its own.
const on = (more, f) => async () => {
  const c = await open(more)
  try {
    return await f(c)
  } finally {
    c.destroy()
  }
}

const fields = (list) => (list || []).map((f) => f && [f.name, f.orgName, f.table, f.columnType, f.flags, f.columnLength, f.decimals, f.characterSet])

// trackers are a check of their own: without them here, one difference is not all.
function withoutTrackers (v) {
  if (Array.isArray(v)) return v.map(withoutTrackers)
  if (v === null || typeof v !== 'object' || v.serverStatus === undefined) return v
  const { stateChanges, serverStatus, ...rest } = v
  return { ...rest, serverStatus: serverStatus & ~0x4000 }
}

const shape = ([all, meta]) => {
  const rows = withoutTrackers(all)
  if (Array.isArray(meta) && meta.some(Array.isArray)) return { rows: plain(rows), columns: meta.map((m) => Array.isArray(m) ? fields(m) : null) }
  return { rows: plain(rows), columns: fields(meta) }
}

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
  await check('mysql2/connect', on({}, (c) => each(c, 'SELECT DATABASE(), VERSION(), CURRENT_USER(), @@character_set_client, @@collation_connection')))
  await check('mysql2/connect without a schema', on({ database: undefined }, async (c) => {
    const v = await each(c, 'SELECT DATABASE()', 'SELECT * FROM items')
    return [v, await each(c, 'USE clients2', 'SELECT name FROM items')]
  }))
  await check('mysql2/connect with charset', on({ charset: 'LATIN1_SWEDISH_CI' }, (c) => each(c, 'SELECT @@character_set_client, @@character_set_results', 'SELECT l1 FROM kinds WHERE id = 1')))
  await check('mysql2/unknown schema', on({ database: 'nosuch' }, () => 'connected'))
  await check('mysql2/wrong password', on({ password: 'wrong' }, () => 'connected'))
  await check('mysql2/compression', on({ compress: true }, (c) => each(c, 'SELECT word FROM numbers ORDER BY n LIMIT 100', "SELECT REPEAT('x', 100000)")))
  await check('mysql2/ping', on({}, async (c) => plain(await c.ping())))
  for (const how of ['query', 'execute']) {
    await check('mysql2/types, ' + how, on({}, (c) => step(c, 'SELECT * FROM kinds WHERE id > ? ORDER BY id', [0], how)))
    await check('mysql2/types, strings, ' + how, on({ dateStrings: true, supportBigNumbers: true, bigNumberStrings: true, decimalNumbers: true, rowsAsArray: true }, (c) => step(c, 'SELECT * FROM kinds WHERE id > ? ORDER BY id', [0], how)))
    await check('mysql2/parameters, ' + how, on({}, (c) => step(c, 'SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, COUNT(*) AS n FROM numbers', [-5, 2.5, "😀'\\\0", Buffer.from([0, 255, 39]), null], how)))
    await check('mysql2/errors, ' + how, on({}, async (c) => {
      const list = []
      for (const s of ['SELEC 1', 'SELECT * FROM nosuch', "INSERT INTO items (name) VALUES ('apple')", 'INSERT INTO child (item) VALUES (-1)', "INSERT INTO strict VALUES (1000, 'x')", 'SELECT 1; SELECT 2', 'SELECT COUNT(*) FROM numbers']) list.push(await step(c, s, [], how))
      return list
    }))
    await check('mysql2/writes, ' + how, on({}, async (c) => {
      const list = []
      for (const s of ["INSERT INTO items (name) VALUES ('n1')", 'SELECT LAST_INSERT_ID()', "INSERT INTO items (name) VALUES ('n2'), ('n3')", "SELECT name FROM items WHERE name LIKE 'n_' ORDER BY name", 'UPDATE items SET qty = 12 WHERE id <= 2', 'UPDATE items SET qty = 12 WHERE id <= 3', "DELETE FROM items WHERE name LIKE 'n_'"]) list.push(await step(c, s, [], how))
      return list
    }))
    await check('mysql2/large result, ' + how, on({}, async (c) => (await c[how]('SELECT a.n FROM numbers a, numbers b WHERE b.n < 50'))[0].length))
  }
  await check('mysql2/affected, not found, rows', on({ flags: ['-FOUND_ROWS'] }, (c) => each(c, 'UPDATE items SET qty = 13 WHERE id <= 2', 'UPDATE items SET qty = 13 WHERE id <= 2')))
  await check('mysql2/own write is read', on({}, async (c) => {
    let missed = 0
    for (let i = 0; i < 50; i++) {
      await c.execute('UPDATE items SET qty = ? WHERE id = 3', [i])
      const [rows] = await c.execute('SELECT qty FROM items WHERE id = ?', [3])
      if (rows[0].qty !== i) missed++
    }
    return missed
  }))
  await check('mysql2/warnings', on({}, (c) => each(c, "SELECT CAST('x' AS SIGNED), 1/0", 'SHOW WARNINGS', 'DROP TABLE IF EXISTS nosuch', 'SHOW WARNINGS')))
}

async function more () {
  await check('mysql2/executed again', on({}, async (c) => {
    const s = await c.prepare('SELECT n, word FROM numbers WHERE n = ?')
    const list = []
    for (const arg of [1, '2', null, 500, 3.0]) list.push(shape(await s.execute([arg])))
    await s.close()
    return list
  }))
  await check('mysql2/more statements than the cache holds', on({ maxPreparedStatements: 10 }, async (c) => {
    const list = []
    for (let i = 0; i < 40; i++) list.push((await c.execute(`SELECT n + ${i % 20} AS s FROM numbers WHERE n = ?`, [i + 1]))[0][0].s)
    return list
  }))
  await check('mysql2/blobs', on({}, async (c) => {
    const list = []
    for (const size of [0, 1, 65536, 3 << 20]) {
      const v = Buffer.alloc(size, '\x00\xfe\'', 'latin1')
      await c.execute('INSERT INTO blobs VALUES (?, ?, ?)', [size, v, 't'])
      const [rows] = await c.execute('SELECT v FROM blobs WHERE id = ?', [size])
      list.push([size, v.equals(rows[0].v)])
    }
    return [list, await each(c, 'DELETE FROM blobs')]
  }))
  await check('mysql2/several statements', on({ multipleStatements: true }, (c) => each(c, 'SELECT name FROM items WHERE id = 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1', 'SELECT 1; SELEC 2; SELECT 3', 'SELECT COUNT(*) FROM numbers')))
  await check('mysql2/procedures', on({}, async (c) => [await each(c, 'CALL two_results()', 'CALL in_out(4, @b, @c)', 'SELECT @b', "CALL adds('node')", "SELECT name FROM items WHERE name = 'node'", "DELETE FROM items WHERE name = 'node'", 'CALL fails()'), await step(c, 'CALL in_out_rows(?, @b)', [2], 'execute'), await each(c, 'SELECT @b')]))
  await check('mysql2/transactions', on({}, async (c) => {
    const list = []
    await c.beginTransaction()
    list.push(await each(c, 'UPDATE items SET qty = 81 WHERE id = 1', 'SAVEPOINT a', 'UPDATE items SET qty = 82 WHERE id = 1', 'ROLLBACK TO a', 'SELECT qty FROM items WHERE id = 1'))
    await c.commit()
    await c.beginTransaction()
    list.push(await each(c, 'UPDATE items SET qty = 83 WHERE id = 1'))
    await c.rollback()
    list.push(await each(c, 'SELECT qty FROM items WHERE id = 1', 'START TRANSACTION READ ONLY', 'SELECT qty FROM items WHERE id = 1', 'UPDATE items SET qty = 1', 'COMMIT', 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'BEGIN', 'SELECT qty FROM items WHERE id = 1', 'COMMIT', 'SET autocommit = 0', 'UPDATE items SET qty = 84 WHERE id = 1', 'ROLLBACK', 'SELECT qty, @@autocommit FROM items WHERE id = 1'))
    return list
  }))
  await check('mysql2/change user', on({}, async (c) => {
    await each(c, 'SET @x = 5', "SET sql_mode = ''", 'CREATE TEMPORARY TABLE gone (a INT)')
    await c.changeUser({ database: 'clients2' })
    return each(c, 'SELECT @x, @@sql_mode, DATABASE(), @@character_set_client', 'SELECT * FROM gone', 'SELECT name FROM items')
  }))
  await check('mysql2/reset', on({}, async (c) => {
    await each(c, 'SET @x = 5', "SET time_zone = '+04:00'", 'USE clients2', 'CREATE TEMPORARY TABLE gone (a INT)')
    await c.reset()
    return each(c, 'SELECT @x, @@time_zone, DATABASE()', 'SELECT * FROM gone')
  }))
  await check('mysql2/state', on({}, (c) => each(c, "SET time_zone = '+03:00'", 'SELECT CAST(ts AS CHAR) AS ts FROM kinds WHERE id = 1', 'SET @x = 5', 'SELECT @x, COUNT(*) AS n FROM numbers', 'CREATE TEMPORARY TABLE items (a INT)', 'SELECT * FROM items', 'DROP TEMPORARY TABLE items', 'SELECT name FROM items WHERE id = 1', 'SELECT SQL_CALC_FOUND_ROWS n FROM numbers LIMIT 2', 'SELECT FOUND_ROWS()', 'USE nosuch', 'USE clients2', 'SELECT name FROM items')))
  await check('mysql2/trackers of statements', on({}, async (c) => {
    const list = []
    for (const s of ['SET autocommit = 1', 'USE clients2', "SET NAMES latin1, time_zone = '+01:00'", 'DO 1', 'SET @a = 1']) list.push(plain((await c.query(s))[0]))
    return list
  }))
  await check('mysql2/trackers of transactions', on({}, async (c) => [plain((await c.query('BEGIN'))[0]), plain((await c.query('COMMIT'))[0])]))
  await check('mysql2/tracking variables', on({}, (c) => each(c, 'SELECT @@session_track_gtids, @@session_track_schema, @@session_track_state_change, @@session_track_transaction_info, LENGTH(@@session_track_system_variables)')))
  await check('mysql2/commands sent at once', on({}, (c) => Promise.all([step(c, 'UPDATE items SET qty = 91 WHERE id = 2'), step(c, 'SELECT qty FROM items WHERE id = 2'), step(c, 'SELECT COUNT(*) AS n FROM numbers', [], 'execute'), step(c, 'SELEC'), step(c, 'SELECT qty + 1 AS q FROM items WHERE id = 2')])))
  await check('mysql2/load data', on({}, loadData))
  await check('mysql2/connection id', on({}, async (c) => (await c.query('SELECT CONNECTION_ID() AS id'))[0][0].id === c.threadId))
  await check('mysql2/timeout', on({}, async (c) => [await step(c, { sql: 'SELECT SLEEP(5), COUNT(*) FROM numbers', timeout: 300 }), await step(await open(), 'SELECT COUNT(*) FROM numbers')]))
  await check('mysql2/kill query', on({}, async (c) => {
    const other = await open()
    const id = (await c.query('SELECT CONNECTION_ID() AS id'))[0][0].id
    const slow = step(c, 'SELECT SLEEP(20) AS s, COUNT(*) AS n FROM numbers')
    await sleep(400)
    const v = await step(other, `KILL QUERY ${id}`)
    const killed = await slow
    other.destroy()
    return [v, killed, await step(c, 'SELECT COUNT(*) FROM numbers')]
  }))
  await check('mysql2/pool', pool)
  await check('mysql2/stream', stream)
}

async function loadData (c) {
  const file = path.join(process.env.CW_TMP, 'load-node.tsv')
  fs.writeFileSync(file, '1\tone\t1.5\n2\t😀\t-2\n'.repeat(100))
  const v = await step(c, { sql: `LOAD DATA LOCAL INFILE '${file}' INTO TABLE loaded`, infileStreamFactory: () => fs.createReadStream(file) })
  return [v, await each(c, 'SELECT a, b, c, COUNT(*) AS n FROM loaded GROUP BY a, b, c ORDER BY a', 'DELETE FROM loaded')]
}

// pool lets one connection serve several users, with a reset between them and without.
async function pool () {
  const list = []
  for (const resetOnRelease of [false, true]) {
    const p = mysql.createPool({ ...where, connectionLimit: 1, resetOnRelease })
    for (let i = 0; i < 3; i++) {
      const c = await p.getConnection()
      list.push(await each(c, 'SELECT @left_over AS l, @@sql_mode AS m, DATABASE() AS d', 'SET @left_over = 1', "SET sql_mode = ''", 'UPDATE items SET qty = qty + 1 WHERE id = 4', 'SELECT qty FROM items WHERE id = 4'))
      c.release()
    }
    list.push(plain(await Promise.all([1, 2, 3].map(async (n) => (await p.query('SELECT word FROM numbers WHERE n = ?', [n]))[0]))))
    await p.end()
  }
  return list
}

function stream () {
  return new Promise((resolve, reject) => {
    const c = callbacks.createConnection(where)
    let n = 0
    c.query('SELECT a.n FROM numbers a, numbers b WHERE b.n < 50').stream({ highWaterMark: 5 })
      .on('data', () => n++).on('error', reject)
      .on('end', () => { c.destroy(); resolve(n) })
  })
}

module.exports = async () => { await basics(); await more() }
