// Looks for words wherever a running instance could keep them: tables, files, queue and metrics, each read once.
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { zstdDecompressSync } from 'node:zlib'
import { createPool } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { startPostgres, startRedis } from '@baton/embedded'
import { createLogger } from '@baton/runtime'

const DATABASES = ['baton', 'baton_audit', 'baton_vault']
const REDIS_CACHE = fileURLToPath(new URL('../../.baton/redis-server', import.meta.url))
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const STATEMENT_MS = 60_000

export interface Stores {
  /** The audit database, as its superuser. */
  readonly audit: Pool
  /** `database: table.column` of every column, of the catalogs too, that holds one of the texts. */
  findInTables(texts: readonly string[]): Promise<string[]>
  /** Every file: data, write-ahead log, queue, logs, seals; objects of the cold store as they are and unpacked. */
  findInFiles(texts: readonly string[]): Promise<string[]>
  /** Whether the instance has a Redis. */
  readonly hasQueue: boolean
  /** Every key of the queue with its value; empty without one. */
  readQueue(): Promise<string>
  close(): Promise<void>
}

/** The stores of an instance that runs. */
export async function openStores(home: string): Promise<Stores> {
  const logger = createLogger({ service: 'test', level: 'silent' })
  const postgres = await startPostgres({ dataDir: join(home, 'pg'), logger })
  const redis = await startRedis({
    dir: join(home, 'redis'),
    cacheDir: REDIS_CACHE,
    fetch: false,
    logger,
  })
  const queueUrl = 'unavailable' in redis ? undefined : redis.url
  const pools = DATABASES.map((name) => [name, poolOn(postgres.superuserUrl, name)] as const)
  return {
    audit: pools[1]?.[1] as Pool,
    findInTables: async (texts) =>
      (
        await Promise.all(pools.map(([name, pool]) => findInDatabase(pool, { name, texts })))
      ).flat(),
    // Embedded Postgres keeps its data elsewhere when the checkout's owner is root.
    findInFiles: (texts) => findInFiles([home, postgres.home], texts),
    hasQueue: queueUrl !== undefined,
    readQueue: async () => (queueUrl === undefined ? '' : readRedis(queueUrl)),
    async close() {
      await Promise.all(pools.map(([, pool]) => pool.end()))
      await Promise.all([postgres.stop(), 'unavailable' in redis ? undefined : redis.stop()])
    },
  }
}

function poolOn(superuserUrl: string, database: string): Pool {
  const url = new URL(superuserUrl)
  url.pathname = `/${database}`
  return createPool({ url: url.href, applicationName: 'test', statementMs: STATEMENT_MS })
}

interface Wanted {
  readonly name: string
  readonly texts: readonly string[]
}

/** `database: table.column` of every column of one database, of the catalogs too, that holds one of the texts. */
export async function findInDatabase(
  pool: Pick<Pool, 'query'>,
  { name, texts }: Wanted,
): Promise<string[]> {
  const found: string[] = []
  for (const [table, columns] of await columnsOf(pool)) {
    const counts = columns.map(({ column, type }, index) => {
      const holds = texts.map((text) =>
        type === 'bytea'
          ? `position('${text}'::bytea in ${column}) > 0`
          : `position('${text}' in ${column}::text) > 0`,
      )
      return `count(*) filter (where ${holds.join(' or ')})::integer as found${index}`
    })
    const { rows } = await pool.query<Record<string, number>>({
      text: `select ${counts.join(', ')} from ${table}`,
    })
    const hits = columns.filter((_, index) => (rows[0]?.[`found${index}`] ?? 0) > 0)
    found.push(...hits.map(({ column }) => `${name}: ${table}.${column}`))
  }
  return found
}

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
}

async function columnsOf(
  pool: Pick<Pool, 'query'>,
): Promise<ReadonlyMap<string, readonly Column[]>> {
  const { rows } = await pool.query<Column & object>({
    text: `select format('%I.%I', n.nspname, c.relname) as table, format('%I', a.attname) as column,
        format_type(a.atttypid, null) as type
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind in ('r', 'm') and n.nspname <> 'information_schema'
        and not (n.nspname = 'pg_catalog' and c.relname = 'pg_largeobject')`,
  })
  return Map.groupBy(rows, ({ table }) => table)
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
}

async function findInFiles(
  folders: readonly string[],
  texts: readonly string[],
): Promise<string[]> {
  const files = (await Promise.all([...new Set(folders)].map(filesBelow))).flat()
  const found: string[] = []
  for (const file of new Set(files)) {
    const bytes = unpacked(await readFile(file).catch(() => Buffer.alloc(0)))
    if (bytes.some((one) => texts.some((text) => one.includes(text)))) found.push(file)
  }
  return found
}

const unpacked = (bytes: Buffer): readonly Buffer[] =>
  bytes.subarray(0, ZSTD.length).equals(ZSTD) ? [bytes, zstdDecompressSync(bytes)] : [bytes]

/** What the objects of the cold store hold. */
export async function readColdObjects(home: string): Promise<readonly Buffer[]> {
  const files = await filesBelow(join(home, 'cold'))
  const objects = await Promise.all(
    files.map((file) => readFile(file).catch(() => Buffer.alloc(0))),
  )
  return objects.map((bytes) => unpacked(bytes).at(-1) ?? bytes)
}

/** Every key and, whatever its type, all that is under it. */
const DUMP = `
local reads = { string = { 'get' }, hash = { 'hgetall' }, set = { 'smembers' },
  list = { 'lrange', '0', '-1' }, zset = { 'zrange', '0', '-1' }, stream = { 'xrange', '-', '+' } }
local out = {}
local function add(value)
  if type(value) ~= 'table' then out[#out + 1] = tostring(value)
  else for _, one in ipairs(value) do add(one) end end
end
for _, key in ipairs(redis.call('keys', '*')) do
  local read = reads[redis.call('type', key).ok]
  add(key)
  add(redis.call(read[1], key, unpack(read, 2)))
end
return table.concat(out, '\\n')`

async function readRedis(url: string): Promise<string> {
  const { port, password } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  const commands = [['auth', decodeURIComponent(password)], ['eval', DUMP, '0'], ['quit']]
  for (const words of commands) {
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    socket.write(`*${words.length}\r\n${parts.join('')}`)
  }
  const answer = await text(socket)
  if (!answer.startsWith('+OK\r\n$')) throw new Error(answer)
  return answer
}

/** Of every service that serves any; the gateway's with the key of somebody who may read them. */
export async function readMetrics(
  home: string,
  gateway: { readonly url: string; readonly key: string },
): Promise<string> {
  const logs = await Promise.all(
    (await filesBelow(join(home, 'logs'))).map((file) => readFile(file, 'utf8')),
  )
  const ports = [...logs.join('\n').matchAll(/"event":"ops\.listening".*?"port":(\d+)/g)]
  const urls = [gateway.url, ...ports.map(([, port]) => `http://127.0.0.1:${port}`)]
  const headers = { authorization: `Bearer ${gateway.key}` }
  const texts = urls.map(async (url) => (await fetch(new URL('/metrics', url), { headers })).text())
  return (await Promise.all(texts)).join('\n')
}
