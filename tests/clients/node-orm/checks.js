'use strict'
// The client program for Sequelize and Knex, as JSON lines.
const { where, emit, check, plain, count } = require('../node/lib')
const { Sequelize, DataTypes, Op, Transaction } = require('sequelize')
const knexOf = require('knex')

// attempt keeps an error of the server beside what was seen, without what names the run.
async function attempt (f) {
  try {
    return plain(await f())
  } catch (e) {
    const o = e.original || e
    return { name: e.name, errno: o.errno, sqlstate: o.sqlState, message: o.sqlMessage || e.message }
  }
}

async function sequelizeChecks () {
  const db = new Sequelize({ dialect: 'mysql', host: where.host, port: where.port, username: where.user, password: where.password, database: where.database, logging: false, pool: { max: 1 }, retry: { max: 0 } })
  const Author = db.define('author', { name: { type: DataTypes.STRING(50), unique: true }, data: DataTypes.JSON, score: DataTypes.DECIMAL(8, 2), born: DataTypes.DATE(6) }, { timestamps: false })
  const Book = db.define('book', { title: DataTypes.STRING(50) }, { timestamps: false, version: true })
  Author.hasMany(Book)
  Book.belongsTo(Author)
  await check('sequelize/sync', async () => { await db.sync({ force: true }); return (await db.getQueryInterface().describeTable('authors')) })
  await check('sequelize/models', async () => {
    const a = await Author.create({ name: 'Ann 😀', data: { a: [1, null] }, score: '12.50', born: new Date(Date.UTC(2024, 1, 29, 1, 2, 3, 456)) })
    await a.createBook({ title: 'one' })
    await Author.bulkCreate([{ name: 'Bob' }, { name: 'Cay' }])
    const again = await attempt(() => Author.create({ name: 'Bob' }))
    const [found, made] = await Author.findOrCreate({ where: { name: 'Dan' }, defaults: { score: 3 } })
    const all = await Author.findAll({ include: Book, order: ['id'] })
    return [again, found.name, made, all.map((x) => plain(x.get({ plain: true }))), await Author.count({ where: { name: { [Op.like]: '%a%' } } }), await Author.update({ score: 9 }, { where: { name: 'Bob' } }), plain((await Author.findOne({ where: { name: 'Bob' } })).score)]
  })
  await check('sequelize/transactions', async () => {
    const list = []
    list.push(await attempt(() => db.transaction(async (t) => {
      await Author.create({ name: 'Eve' }, { transaction: t })
      list.push(await Author.count({ transaction: t }))
      throw new Error('undone')
    })))
    for (const isolationLevel of [Transaction.ISOLATION_LEVELS.READ_COMMITTED, Transaction.ISOLATION_LEVELS.SERIALIZABLE]) {
      list.push(await attempt(() => db.transaction({ isolationLevel }, async (transaction) => {
        await Author.increment({ score: 1 }, { where: { name: 'Bob' }, transaction })
        return (await Author.findOne({ where: { name: 'Bob' }, transaction, lock: transaction.LOCK.UPDATE })).score
      })))
    }
    list.push(await attempt(() => db.transaction({ readOnly: true }, (transaction) => Author.count({ transaction }))))
    return [list, await Author.count()]
  })
  await check('sequelize/optimistic lock', async () => {
    const [a, b] = [await Book.findOne(), await Book.findOne()]
    a.title = 'first'
    await a.save()
    b.title = 'second'
    return attempt(() => b.save())
  })
  await check('sequelize/raw', async () => plain([await db.query('SELECT n, word FROM numbers WHERE n = :n', { replacements: { n: 3 } }), await db.query('SELECT n FROM numbers WHERE n = $1', { bind: [4], type: db.QueryTypes.SELECT })]))
  await check('sequelize/drop', async () => { await db.drop(); return (await db.getQueryInterface().showAllTables()).map((t) => t.tableName || t).sort() })
  await db.close()
}

async function knexChecks () {
  const k = knexOf({ client: 'mysql2', connection: where, pool: { min: 0, max: 1 }, acquireConnectionTimeout: 10000 })
  await check('knex/schema', async () => {
    await k.schema.dropTableIfExists('pets')
    await k.schema.createTable('pets', (t) => { t.increments('id'); t.string('name', 50).unique(); t.json('data'); t.timestamp('at').nullable(); t.integer('item').references('items.id') })
    return [await k.schema.hasTable('pets'), plain(await k('pets').columnInfo())]
  })
  await check('knex/rows', async () => plain([await k('pets').insert({ name: 'Rex', data: JSON.stringify({ a: 1 }), at: new Date(0), item: 1 }), await k('pets').insert([{ name: 'Tom' }, { name: 'Tim' }]), await attempt(() => k('pets').insert({ name: 'Rex' })), await k('pets').insert({ name: 'Rex' }).onConflict('name').merge({ item: 2 }), await k('pets').select().orderBy('id'), await k('pets').join('items', 'items.id', 'pets.item').select('items.name'), await k('pets').where('name', 'like', 'T%').update({ item: 3 }), await k('pets').count({ n: '*' }), await k('pets').where('name', 'Tom').del()]))
  await check('knex/transactions', async () => {
    const list = [await attempt(() => k.transaction(async (t) => { await t('pets').insert({ name: 'Ulf' }); await t.transaction(async (u) => { await u('pets').insert({ name: 'Uma' }) }); throw new Error('undone') }))]
    list.push(await attempt(() => k.transaction(async (t) => { await t('pets').insert({ name: 'Ugo' }); return t('pets').count({ n: '*' }) }, { isolationLevel: 'read committed' })))
    return [list, plain(await k('pets').orderBy('id').pluck('name'))]
  })
  // Knex makes one SET TRANSACTION of both, without the comma that MySQL wants.
  await check('knex/an invalid SET TRANSACTION', () => attempt(() => k.transaction((t) => t('items').count({ n: '*' }), { isolationLevel: 'read committed', readOnly: true })))
  await check('knex/read only', async () => {
    const t = await k.transaction({ readOnly: true })
    const list = [await attempt(() => t('pets').count({ n: '*' })), await attempt(() => t('pets').insert({ name: 'never' }))]
    await t.rollback()
    return list
  })
  await check('knex/streams', async () => {
    let n = 0
    for await (const row of k('numbers').where('n', '<', 100).stream()) n += row.n
    return [n, plain(await k.raw('SELECT COUNT(*) AS n FROM numbers').then(([rows]) => rows))]
  })
  await check('knex/timeout', async () => [await attempt(() => k.raw('SELECT SLEEP(20), COUNT(*) FROM numbers').timeout(500, { cancel: true })), await attempt(() => k('numbers').count({ n: '*' }))])
  await check('knex/drop', async () => { await k.schema.dropTable('pets'); return k.schema.hasTable('pets') })
  await k.destroy()
}

async function main () {
  await sequelizeChecks()
  await knexChecks()
  emit('end', count())
  process.exit(0)
}

main().catch((e) => { console.error(e); process.exit(1) })
