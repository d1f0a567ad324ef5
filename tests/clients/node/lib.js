'use strict'
// What all checks in Node share: running one, and printing what it saw.

const where = {
  host: process.env.CW_HOST,
  port: Number(process.env.CW_PORT),
  user: process.env.CW_USER,
  password: process.env.CW_PASSWORD,
  database: 'clients'
}

let seen = 0

function emit (name, value) {
  console.log(JSON.stringify({ name, value: value === undefined ? null : value }))
}

// check prints what f saw. An error of the server is something seen; one of the
// client's own breaks the check.
async function check (name, f) {
  let value
  let timer
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new TypeError('no answer for 25 s')), 25000)
  })
  try {
    value = await Promise.race([f(), late])
  } catch (e) {
    value = error(e)
  }
  clearTimeout(timer)
  emit(name, value)
  seen++
}

function error (e) {
  if (e.errno !== undefined || e.sqlState !== undefined) {
    return { errno: e.errno, sqlstate: e.sqlState, code: e.code, message: message(e.sqlMessage || e.message) }
  }
  if (e.code !== undefined && !(e instanceof TypeError)) return { code: e.code }
  return { broken: String(e.stack) }
}

function message (s) {
  return String(s).replace(/\(conn(ection)?[:=] ?-?\d+[^)]*\)/g, '(conn)').replaceAll(':' + where.port, ':PORT')
}

// plain makes values fit for JSON and keeps their types visible.
function plain (v) {
  if (v === null || v === undefined) return null
  if (Buffer.isBuffer(v)) return { hex: v.length > 100 ? v.length : v.toString('hex') }
  if (typeof v === 'bigint') return { bigint: String(v) }
  if (v instanceof Date) return { date: isNaN(v) ? 'invalid' : v.toISOString() }
  if (Array.isArray(v)) return v.map(plain)
  if (typeof v === 'object') {
    const o = {}
    for (const k of Object.keys(v)) o[k] = plain(v[k])
    return o
  }
  return v
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

module.exports = { where, emit, check, error, plain, sleep, count: () => seen }
