# The Ruby client program: mysql2, as JSON lines.
require 'bigdecimal'
require 'date'
require 'json'
require 'mysql2'

$seen = 0

def emit(name, value)
  puts JSON.generate({ name: name, value: value })
  $stdout.flush
end

# An error of the server is something seen; one of the client's own breaks the check.
def check(name)
  begin
    value = plain(yield)
  rescue StandardError => e
    value = error(e)
  end
  emit("mysql2/#{name}", value)
  $seen += 1
end

def error(e)
  return { errno: e.errno, sqlstate: e.sql_state, message: e.message.gsub(/:\d{4,5}/, ':PORT') } if e.is_a?(Mysql2::Error)

  { broken: "#{e.class}: #{e.message} #{e.backtrace.first}" }
end

# plain makes values fit for JSON and keeps their types visible.
def plain(v)
  case v
  when nil, true, false, Integer then v
  when String then v.dup.force_encoding('UTF-8').valid_encoding? ? "#{v.encoding} #{v.dup.force_encoding('UTF-8')}" : { hex: v.unpack1('H*') }
  when Array then v.map { |x| plain(x) }
  when Hash then v.to_h { |k, x| [k, plain(x)] }
  when BigDecimal then { decimal: v.to_s }
  else { v.class.name => v.to_s }
  end
end

def connect(more = {})
  Mysql2::Client.new({ host: ENV['CW_HOST'], port: ENV['CW_PORT'].to_i, username: ENV['CW_USER'], password: ENV['CW_PASSWORD'], database: 'clients', encoding: 'utf8mb4', local_infile: true }.merge(more))
end

def on(name, more = {})
  check(name) do
    c = connect(more)
    begin
      yield c
    ensure
      c.close
    end
  end
end

def run(c, sql, options = {})
  list = []
  r = c.query(sql, { as: :array }.merge(options))
  loop do
    list << (r ? { columns: r.fields, rows: r.to_a } : { affected: c.affected_rows, id: c.last_id, info: c.query_info, warnings: c.warning_count })
    break unless c.more_results? && c.next_result

    r = c.store_result
  end
  list.size == 1 ? list.first : list
rescue Mysql2::Error => e
  error(e)
end

def each(c, *statements)
  statements.map { |s| run(c, s) }
end

def basics
  on('connect') { |c| [c.server_info, c.ping, each(c, 'SELECT DATABASE(), CURRENT_USER(), @@character_set_client, @@collation_connection')] }
  on('unknown schema', database: 'nosuch') { 'connected' }
  on('wrong password', password: 'wrong') { 'connected' }
  on('charset', encoding: 'latin1') { |c| each(c, 'SELECT @@character_set_client', 'SELECT l1 FROM kinds WHERE id = 1') }
  on('init command', init_command: "SET time_zone = '+05:00', @i = 4") { |c| each(c, 'SELECT @i, @@time_zone, COUNT(*) FROM numbers') }
  on('types') { |c| each(c, 'SELECT id, t, s, m, i, b, ub, de, f, d, bi, ye, da, dt, ts, c, vc, tx, bn, vb, bl, en, se, js, l1 FROM kinds ORDER BY id') }
  on('types, prepared') { |c| c.prepare('SELECT id, t, s, m, i, b, ub, de, f, d, ye, da, dt, ts, c, vc, tx, bn, vb, bl, en, se, js, l1 FROM kinds WHERE id > ? ORDER BY id').execute(0, as: :array).to_a }
  on('types, not cast', cast: false) { |c| each(c, 'SELECT * FROM kinds ORDER BY id') }
  on('writes') { |c| each(c, "INSERT INTO items (name) VALUES ('u1')", 'SELECT LAST_INSERT_ID()', "INSERT INTO items (name) VALUES ('u2'), ('u3')", "SELECT name FROM items WHERE name LIKE 'u_' ORDER BY name", 'UPDATE items SET qty = 21 WHERE id <= 2', 'UPDATE items SET qty = 21 WHERE id <= 3', "DELETE FROM items WHERE name LIKE 'u_'") }
  on('found rows, not', found_rows: false, flags: '-FOUND_ROWS') { |c| each(c, 'UPDATE items SET qty = 21 WHERE id <= 3') }
  on('errors') { |c| each(c, 'SELEC 1', 'SELECT * FROM nosuch', "INSERT INTO items (name) VALUES ('apple')", "INSERT INTO strict VALUES (1000, 'x')", 'SELECT COUNT(*) FROM numbers') }
  on('warnings') { |c| each(c, "SELECT CAST('x' AS SIGNED), 1/0", 'SHOW WARNINGS', 'DROP TABLE IF EXISTS nosuch', 'SHOW WARNINGS') }
  on('own write is read') do |c|
    (0...50).count do |i|
      c.query("UPDATE items SET qty = #{i} WHERE id = 3")
      c.query('SELECT qty FROM items WHERE id = 3').first['qty'] != i
    end
  end
end

def more
  on('prepared') do |c|
    s = c.prepare('SELECT n, word FROM numbers WHERE n = ?')
    list = [1, '2', nil, 500, 3.0].map { |arg| s.execute(arg, as: :array).to_a }
    s.close
    w = c.prepare('INSERT INTO items (name, qty) VALUES (?, ?)')
    %w[v1 v2 v1].each do |n|
      w.execute(n, 1)
      list << [w.affected_rows, w.last_id]
    rescue Mysql2::Error => e
      list << error(e)
    end
    [list, each(c, "DELETE FROM items WHERE name LIKE 'v_'")]
  end
  on('many statements') { |c| (0...50).map { |i| c.prepare("SELECT n + #{i} AS s FROM numbers WHERE n = ?").execute(i + 1).first['s'] } }
  on('errors of PREPARE') do |c|
    ['SELEC ?', 'SELECT ? FROM nosuch', 'SELECT 1; SELECT ?'].map do |s|
      c.prepare(s)
    rescue Mysql2::Error => e
      error(e)
    end
  end
  on('blob') do |c|
    v = "\x00\xfe'\\".b * (1 << 19)
    c.prepare('INSERT INTO blobs VALUES (1, ?, ?)').execute(v, '😀')
    [c.query('SELECT v FROM blobs WHERE id = 1').first['v'] == v, each(c, 'DELETE FROM blobs')]
  end
  on('several statements', flags: Mysql2::Client::MULTI_STATEMENTS) { |c| each(c, 'SELECT 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1') }
  on('set_server_option') { |c| [c.set_server_option(Mysql2::Client::OPTION_MULTI_STATEMENTS_ON), run(c, 'SELECT 1; SELECT 2')] }
  on('procedures', flags: Mysql2::Client::MULTI_STATEMENTS) { |c| each(c, 'CALL two_results()', 'CALL in_out(4, @b, @c)', 'SELECT @b', 'SELECT COUNT(*) FROM numbers') }
  on('transactions') { |c| each(c, 'BEGIN', 'UPDATE items SET qty = 51 WHERE id = 1', 'SAVEPOINT a', 'UPDATE items SET qty = 52 WHERE id = 1', 'ROLLBACK TO a', 'SELECT qty FROM items WHERE id = 1', 'COMMIT', 'START TRANSACTION READ ONLY', 'SELECT qty FROM items WHERE id = 1', 'UPDATE items SET qty = 53', 'ROLLBACK') }
  on('state') { |c| each(c, 'SET @x = 5', 'SELECT @x, COUNT(*) FROM numbers', 'CREATE TEMPORARY TABLE t (a INT)', 'SELECT * FROM t', 'DROP TEMPORARY TABLE t') }
  on('select_db') { |c| [c.select_db('clients2'), each(c, 'SELECT name FROM items', 'SELECT DATABASE()')] }
  on('streamed') { |c| c.query('SELECT a.n FROM numbers a, numbers b WHERE b.n < 50', stream: true, cache_rows: false, as: :array).sum { |r| r[0] } }
  on('async') do |c|
    c.query('SELECT SLEEP(0.2), COUNT(*) AS n FROM numbers', async: true)
    IO.for_fd(c.socket, autoclose: false).wait_readable(5) if IO.method_defined?(:wait_readable)
    c.async_result.to_a
  end
  on('read timeout', read_timeout: 1) { |c| [run(c, 'SELECT SLEEP(3), COUNT(*) FROM numbers'), c.closed?] }
  on('connection id') { |c| c.query('SELECT CONNECTION_ID() AS id').first['id'] == c.thread_id }
  on('load data') do |c|
    path = "#{ENV['CW_TMP']}/load-ruby.tsv"
    File.write(path, "1\tone\t1.5\n2\t😀\t-2\n" * 100)
    each(c, "LOAD DATA LOCAL INFILE '#{path}' INTO TABLE loaded", 'SELECT a, b, c, COUNT(*) FROM loaded GROUP BY a, b, c ORDER BY a', 'DELETE FROM loaded')
  end
end

basics
more
emit('end', $seen)
