// Where a Redis is: one server, a primary that Sentinels know by its name, or a Cluster. One address says all of it, in the
// spelling of redisvl, docket, Prefect and Redis-Sentinel-Url: redis+sentinel:// and redis+cluster://, with rediss for TLS.

export interface RedisHost {
  readonly host: string
  readonly port: number
}

interface Place {
  /** Whoever connects speaks TLS, to Sentinels as well. */
  readonly isEncrypted: boolean
  /** The servers that are named: of Sentinels and Clusters, those that tell of the others. */
  readonly hosts: readonly [RedisHost, ...RedisHost[]]
}

interface Account {
  readonly username: string | undefined
  readonly password: string | undefined
}

/** The driver reads user, password and database out of the URL by itself. */
export interface SingleRedis extends Place {
  readonly kind: 'single'
  readonly url: string
}

export interface SentinelRedis extends Place, Account {
  readonly kind: 'sentinel'
  /** As `sentinel monitor NAME` names the primary. */
  readonly name: string
  readonly database: number
  /** What the Sentinels themselves ask for, where they do. */
  readonly sentinels: Account
}

export interface ClusterRedis extends Place, Account {
  readonly kind: 'cluster'
}

export type RedisAddress = SingleRedis | SentinelRedis | ClusterRedis

export const REDIS_SCHEMES = [
  'redis',
  'rediss',
  'redis+sentinel',
  'rediss+sentinel',
  'redis+cluster',
  'rediss+cluster',
] as const

const SENTINEL_FORM = 'redis+sentinel://:PASSWORD@s1:26379,s2:26379,s3:26379/NAME'
const CLUSTER_FORM = 'redis+cluster://:PASSWORD@h1:6379,h2:6379,h3:6379'
const SENTINEL_PORT = 26_379
const REDIS_PORT = 6_379
const DATABASES_MAX = 1_000_000
const HOSTS_MAX = 64

const UNENCODED =
  'a password that a URL cannot hold: percent-encode it, / as %2F, ? as %3F, # as %23, % as %25'

/** The last `@` before the first slash ends the account, so that a password may hold one. */
const FORM =
  /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?:(?<account>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/

export type ReadRedisAddress = { readonly value: RedisAddress } | { readonly problem: string }

class Wrong extends Error {}

/** The address, or a sentence that says what is wrong and how to write it, and shows no password. */
export function readRedisAddress(url: string): ReadRedisAddress {
  try {
    return { value: parse(url) }
  } catch (error) {
    if (error instanceof Wrong) return { problem: error.message }
    throw error
  }
}

/** For an address that was read before. */
export function redisAddressOf(url: string): RedisAddress {
  const read = readRedisAddress(url)
  if ('problem' in read) throw new TypeError(read.problem)
  return read.value
}

function parse(url: string): RedisAddress {
  const { scheme = '', account, hosts = '', path = '', query = '' } = FORM.exec(url)?.groups ?? {}
  const [transport, kind] = scheme.split('+')
  if (!isScheme(scheme)) throw new Wrong(schemeProblem(scheme))
  const isEncrypted = transport === 'rediss'
  if (kind === undefined) return singleOf(url, { isEncrypted, hosts })
  // Whatever follows might be the rest of a password: none of it is shown.
  if (account === undefined && url.includes('@')) throw new Wrong(UNENCODED)
  const isSentinel = kind === 'sentinel'
  const place = { isEncrypted, hosts: hostsOf(hosts, isSentinel ? SENTINEL_PORT : REDIS_PORT) }
  const parts = { ...place, ...accountOf(account), path: path.slice(1).split('/'), query }
  return isSentinel ? sentinelOf(parts) : clusterOf(parts)
}

const isScheme = (scheme: string): boolean => (REDIS_SCHEMES as readonly string[]).includes(scheme)

function schemeProblem(scheme: string): string {
  const tls = scheme.startsWith('rediss') ? 'rediss' : 'redis'
  if (/sentinel/i.test(scheme)) return `expected ${SENTINEL_FORM.replace('redis', tls)}`
  if (/cluster/i.test(scheme)) return `expected ${CLUSTER_FORM.replace('redis', tls)}`
  return `expected a URL that starts with ${REDIS_SCHEMES.join(':// or ')}://`
}

function singleOf(
  url: string,
  { isEncrypted, hosts }: { readonly isEncrypted: boolean; readonly hosts: string },
): SingleRedis {
  if (hosts.includes(','))
    throw new Wrong(
      `several servers in an address of one: write ${SENTINEL_FORM} where Sentinels watch them, or ${CLUSTER_FORM} for a Cluster`,
    )
  const parsed = URL.parse(url)
  if (parsed === null)
    throw new Wrong('expected a host and a port, as redis://:PASSWORD@redis.example:6379')
  const host = { host: parsed.hostname, port: Number(parsed.port || REDIS_PORT) }
  return { kind: 'single', url, isEncrypted, hosts: [host] }
}

interface Parts extends Place, Account {
  readonly path: readonly string[]
  readonly query: string
}

function sentinelOf({ path, query, ...place }: Parts): SentinelRedis {
  const [name = '', inPath, ...more] = path.map(decoded)
  if (name === '')
    throw new Wrong(
      `the name of the primary is missing, as \`sentinel monitor NAME\` has it: ${SENTINEL_FORM}`,
    )
  if (more.length > 0) throw new Wrong(`expected nothing behind the database: ${SENTINEL_FORM}/0`)
  const said = optionsOf(query, ['db', 'sentinel_username', 'sentinel_password'])
  const inQuery = said.get('db')
  if (inPath !== undefined && inQuery !== undefined && inPath !== inQuery)
    throw new Wrong('the database stands there twice, behind the name and as db: leave one')
  return {
    kind: 'sentinel',
    ...place,
    name,
    database: databaseOf(inQuery ?? inPath),
    sentinels: { username: said.get('sentinel_username'), password: said.get('sentinel_password') },
  }
}

function clusterOf({ path, query, ...place }: Parts): ClusterRedis {
  const database = optionsOf(query, ['db']).get('db') ?? path[0] ?? ''
  if (path.length > 1 || (path[0] !== '' && !/^\d+$/.test(path[0] ?? '')))
    throw new Wrong(`expected nothing behind the servers: ${CLUSTER_FORM}`)
  if (databaseOf(database === '' ? undefined : database) !== 0)
    throw new Wrong('a Cluster has database 0 alone: leave the other one out')
  return { kind: 'cluster', ...place }
}

function optionsOf(query: string, allowed: readonly string[]): ReadonlyMap<string, string> {
  const said = new URLSearchParams(query.replaceAll('+', '%2B'))
  for (const name of said.keys()) {
    if (!allowed.includes(name))
      throw new Wrong(`${JSON.stringify(name)} is no option here: ${allowed.join(', ')} are`)
    if (said.getAll(name).length > 1) throw new Wrong(`${name} stands there twice: leave one`)
  }
  return new Map(said)
}

function databaseOf(text: string | undefined): number {
  if (text === undefined) return 0
  const database = Number(text)
  if (/^\d+$/.test(text) && database <= DATABASES_MAX) return database
  throw new Wrong('the database is a number from 0 on')
}

function hostsOf(text: string, portUntold: number): readonly [RedisHost, ...RedisHost[]] {
  const [first, ...others] = text.split(',').map((one) => hostOf(one, portUntold))
  if (first === undefined || others.length >= HOSTS_MAX)
    throw new Wrong(`expected 1 to ${HOSTS_MAX} servers`)
  const hosts = [first, ...others] as const
  const names = hosts.map(({ host, port }) => `${host}:${port}`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Wrong(`${twice} stands there twice: leave one`)
  return hosts
}

function hostOf(text: string, portUntold: number): RedisHost {
  const found = /^(?<host>\[[0-9a-f:.]+\]|[\w.-]+)(?::(?<port>\d{1,5}))?$/i.exec(text)?.groups
  const port = Number(found?.['port'] ?? portUntold)
  if (found?.['host'] === undefined || port < 1 || port > 65_535)
    throw new Wrong(
      `${text === '' ? 'a server without a name' : JSON.stringify(text)}: expected host:port, comma-separated`,
    )
  return { host: found['host'].replaceAll(/^\[|\]$/g, ''), port }
}

function accountOf(text: string | undefined): Account {
  if (text === undefined || text === '') return { username: undefined, password: undefined }
  const colon = text.indexOf(':')
  if (colon < 0)
    throw new Wrong(
      'a user without a password: write user:password@, or :password@ for the default user',
    )
  const username = decoded(text.slice(0, colon))
  return {
    username: username === '' ? undefined : username,
    password: decoded(text.slice(colon + 1)),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Wrong(UNENCODED)
  }
}

const shown = ({ host, port }: RedisHost): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** Words for a person, without any password. */
export function describeRedis(address: RedisAddress): string {
  const hosts = address.hosts.map(shown).join(', ')
  if (address.kind === 'single') return `Redis at ${hosts}`
  return address.kind === 'cluster'
    ? `Redis Cluster at ${hosts}`
    : `Redis ${address.name}, of which Sentinels at ${hosts} tell`
}
