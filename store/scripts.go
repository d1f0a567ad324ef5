package store

import "github.com/redis/go-redis/v9"

// What all scripts begin with. The life changes with each restart of the server
// (run_id), with each promotion (master_replid, also where nothing was restarted),
// with each key that was evicted for want of memory, and when the store is emptied:
// then the moment of its birth is another, which is written where there is none.
const prelude = `
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
local function ms(n) return string.format('%.0f', n) end
local function life()
	local repl = redis.call('INFO', 'replication')
	if repl:match('role:(%a+)') ~= 'master' then return '' end
	local born = redis.call('GET', KEYS[3])
	if not born then
		born = t[1] .. '-' .. t[2]
		redis.call('SET', KEYS[3], born)
	end
	return redis.call('INFO', 'server'):match('run_id:(%w+)') .. '.' .. repl:match('master_replid:(%w+)') ..
		'.' .. redis.call('INFO', 'stats'):match('evicted_keys:(%d+)') .. '.' .. born
end
local function floor()
	local f = redis.call('GET', KEYS[2]) or ''
	local begun, until_, of = f:match('^(%d+) (%d+) (%S+) ')
	return f, tonumber(begun or 0), of
end
local function lease(name)
	local ends, of, proc = (redis.call('HGET', KEYS[1], name) or ''):match('^(%d+) (%S+) (%S+)')
	if ends and tonumber(ends) > now then return of, proc end
end
local is = life()
`

// KEYS: leases, floor, born, names...
var lookScript = redis.NewScript(prelude + `
local answer = {is, ms(now), redis.call('HGETALL', KEYS[1]), (floor())}
for i = 4, #KEYS do answer[#answer + 1] = redis.call('HVALS', KEYS[i]) end
return answer`)

// KEYS: leases, floor, born. ARGV: life, name, process, list, end, and of a new floor when
// it began and its text, or nothing.
var leaseScript = redis.NewScript(prelude + `
local verdict = 'done'
local of, proc = lease(ARGV[2])
if is == '' or is ~= ARGV[1] then verdict = 'life'
elseif tonumber(ARGV[5]) <= now then verdict = 'late'
elseif of == is and proc ~= ARGV[3] then verdict = 'taken'
else
	redis.call('HSET', KEYS[1], ARGV[2], ARGV[5] .. ' ' .. is .. ' ' .. ARGV[3] .. ' ' .. ARGV[4])
	local _, begun, floorOf = floor()
	if ARGV[7] ~= '' and (floorOf ~= is or begun < tonumber(ARGV[6])) then redis.call('SET', KEYS[2], ARGV[7]) end
end
return {is, ms(now), redis.call('HGETALL', KEYS[1]), (floor()), verdict}`)

// KEYS: leases, floor, born, names... ARGV: life, name, process, number of the order, time
// to live, and a set for each name. What others published before the floor began is
// in the floor, and goes.
var publishScript = redis.NewScript(prelude + `
local of, proc = lease(ARGV[2])
if is == '' or is ~= ARGV[1] then return 'life' end
if of ~= is or proc ~= ARGV[3] then return 'lease' end
local _, begun, floorOf = floor()
for i = 4, #KEYS do
	local fields = redis.call('HGETALL', KEYS[i])
	local mine = 0
	for k = 1, #fields, 2 do
		local seq, at = fields[k + 1]:match('^(%d+) (%d+) ')
		if fields[k] == ARGV[3] then mine = tonumber(seq)
		elseif floorOf == is and tonumber(at) < begun then redis.call('HDEL', KEYS[i], fields[k]) end
	end
	if mine < tonumber(ARGV[4]) then
		redis.call('HSET', KEYS[i], ARGV[3], ARGV[4] .. ' ' .. ms(now) .. ' ' .. ARGV[2 + i])
	end
	redis.call('PEXPIRE', KEYS[i], ARGV[5])
end
return 'done'`)
