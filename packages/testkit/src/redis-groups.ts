// Several Redis that belong together, of a test's own: a primary with its replica and three Sentinels, or a Cluster.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findRedis, freePort } from '@baton/embedded'
import type { Unavailable } from '@baton/embedded'
import { eventually } from './eventually.ts'
import { REDIS_CACHE } from './folders.ts'
import { ownFolder } from './own-servers.ts'
import { quietLogger } from './progress.ts'
import { sendToRedis } from './redis-command.ts'

/** As Sentinels name the primary. */
const NAME = 'baton'
/** After so long without an answer a server counts as dead. Defaults are 30 s and 15 s: tests have no time. */
const DEAD_AFTER_MS = 500
const READY_MAX_MS = 30_000

export interface RedisNode {
  readonly port: number
  readonly url: string
  /** Sends commands and answers the last short reply. */
  send(...commands: readonly (readonly string[])[]): Promise<string>
  signal(name: NodeJS.Signals): void
  /** kill -9; a later `restart` goes on with what its append-only file holds. */
  kill(): Promise<void>
  restart(): Promise<void>
}

interface Group {
  /** What processes are told. */
  readonly url: string
  /** Ends everything and deletes its data. */
  stop(): Promise<void>
}

export interface WatchedRedis extends Group {
  readonly nodes: readonly RedisNode[]
  readonly sentinels: readonly RedisNode[]
  /** The one that takes writes, as the Sentinels see it now. */
  primary(): Promise<RedisNode>
}

export interface RedisCluster extends Group {
  readonly nodes: readonly RedisNode[]
  /** Those that have slots and answer, each with the slots as `from-to`. */
  primaries(): Promise<readonly ClusterPrimary[]>
  /** Moves one slot with everything in it, as an operator who reshards does. */
  moveSlot(slot: number, to: RedisNode): Promise<void>
}

export interface ClusterPrimary {
  readonly node: RedisNode
  readonly id: string
  readonly slots: readonly string[]
  /** Those that follow it. */
  readonly replicas: readonly RedisNode[]
}

/** A primary, one replica and three Sentinels, two of which have to agree. */
export async function startWatchedRedis(): Promise<WatchedRedis | Unavailable> {
  const starting = await prepare()
  if ('unavailable' in starting) return starting
  const { password, start, stop } = starting
  const first = await start('primary', [])
  const second = await start('replica', [`replicaof 127.0.0.1 ${first.port}`])
  await follows(first, 1)
  const monitor = [
    `sentinel monitor ${NAME} 127.0.0.1 ${first.port} 2`,
    `sentinel auth-pass ${NAME} ${password}`,
    `sentinel down-after-milliseconds ${NAME} ${DEAD_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 3000`,
    `sentinel sentinel-pass ${password}`,
  ]
  const sentinels = await Promise.all(
    [1, 2, 3].map((number) => start(`sentinel-${number}`, monitor, 'sentinel')),
  )
  const nodes = [first, second]
  const knows = async (sentinel: RedisNode) => {
    await sentinel.send(['SENTINEL', 'CKQUORUM', NAME])
    const master = await sentinel.send(['SENTINEL', 'MASTER', NAME])
    return (
      /num-slaves\r\n\$1\r\n1\r\n/.test(master) && /num-other-sentinels\r\n\$1\r\n2/.test(master)
    )
  }
  await eventually(async () => (await Promise.all(sentinels.map(knows))).every(Boolean), {
    deadlineMs: READY_MAX_MS,
    describe: 'the Sentinels know one another and the replica',
  })
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    url: `redis+sentinel://:${password}@${hosts}/${NAME}?sentinel_password=${password}`,
    nodes,
    sentinels,
    async primary() {
      const words = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME]
      const reply = await Promise.any(sentinels.map((sentinel) => sentinel.send(words)))
      const port = Number(reply.split('\r\n')[4])
      return required(nodes.find((node) => node.port === port))
    },
    stop,
  }
}

/** Three primaries with a replica each, and all slots. */
export async function startRedisCluster(): Promise<RedisCluster | Unavailable> {
  const starting = await prepare()
  if ('unavailable' in starting) return starting
  const { password, start, stop } = starting
  const nodes = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (number) =>
      start(`node-${number}`, [
        'cluster-enabled yes',
        `cluster-port ${await freePort()}`,
        `cluster-node-timeout ${DEAD_AFTER_MS}`,
        // What one server has goes on without the others.
        'cluster-require-full-coverage no',
        'cluster-allow-replica-migration no',
      ]),
    ),
  )
  await joinCluster(nodes)
  const describe = () => describeCluster(nodes)
  await eventually(async () => {
    const primaries = await describe()
    return primaries.length === 3 && primaries.every(({ replicas }) => replicas.length === 1)
  }, READY)
  await Promise.all((await describe()).map(({ node }) => follows(node, 1)))
  const hosts = nodes.slice(0, 3).map(({ port }) => `127.0.0.1:${port}`)
  return {
    url: `redis+cluster://:${password}@${hosts.join(',')}`,
    nodes,
    primaries: describe,
    moveSlot: (slot, to) => moveSlot({ password, primaries: describe }, slot, to),
    stop,
  }
}

const READY = { deadlineMs: READY_MAX_MS, describe: 'the Cluster is whole' }
const SLOT_RANGES = [
  ['0', '5460'],
  ['5461', '10922'],
  ['10923', '16383'],
] as const

async function joinCluster(nodes: readonly Started[]): Promise<void> {
  const [first, ...others] = nodes
  for (const [index, [from, to]] of SLOT_RANGES.entries())
    await required(nodes[index]).send(
      ['CLUSTER', 'ADDSLOTSRANGE', from, to],
      ['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)],
    )
  for (const { port, busPort } of others)
    await required(first).send(['CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort)])
  const knowsAll = async (node: RedisNode) =>
    /cluster_known_nodes:6/.test(await node.send(['CLUSTER', 'INFO']))
  await eventually(async () => (await Promise.all(nodes.map(knowsAll))).every(Boolean), READY)
  for (const [index, replica] of nodes.slice(3).entries()) {
    const id = (await required(nodes[index]).send(['CLUSTER', 'MYID'])).split('\r\n')[1] ?? ''
    await eventually(async () => replica.send(['CLUSTER', 'REPLICATE', id]), READY)
  }
  const isWhole = async (node: RedisNode) => {
    const info = await node.send(['CLUSTER', 'INFO'])
    return /cluster_state:ok/.test(info) && /cluster_slots_assigned:16384/.test(info)
  }
  await eventually(async () => (await Promise.all(nodes.map(isWhole))).every(Boolean), READY)
}

/** As the first that answers sees it. */
async function describeCluster(nodes: readonly RedisNode[]): Promise<readonly ClusterPrimary[]> {
  const lines = (await Promise.any(nodes.map((node) => node.send(['CLUSTER', 'NODES']))))
    .split('\n')
    .map((line) =>
      line
        .replace(/^\$\d+\r?/, '')
        .trim()
        .split(' '),
    )
    .filter((fields) => fields.length >= 8)
  const nodeOf = (address = '') => nodes.find(({ port }) => address.includes(`:${port}@`))
  return lines.flatMap(([id = '', address, flags = '', , , , , link, ...slots]) => {
    const node = nodeOf(address)
    const has = !/fail|slave/.test(flags) && link === 'connected' && slots.length > 0
    if (node === undefined || !has) return []
    const replicas = lines
      .filter(([, , theirs = '', primary]) => primary === id && !/fail/.test(theirs))
      .flatMap(([, one]) => nodeOf(one) ?? [])
    return [{ node, id, slots, replicas }]
  })
}

interface Resharding {
  readonly password: string
  primaries(): Promise<readonly ClusterPrimary[]>
}

async function moveSlot(
  { password, primaries }: Resharding,
  slot: number,
  to: RedisNode,
): Promise<void> {
  const all = await primaries()
  const source = required(all.find(({ slots }) => slots.some((range) => holds(range, slot))))
  const target = required(all.find(({ node }) => node === to))
  if (source.id === target.id) return
  const number = String(slot)
  await to.send(['CLUSTER', 'SETSLOT', number, 'IMPORTING', source.id])
  await source.node.send(['CLUSTER', 'SETSLOT', number, 'MIGRATING', target.id])
  for (;;) {
    const reply = await source.node.send(['CLUSTER', 'GETKEYSINSLOT', number, '10'])
    const keys = reply
      .split('\r\n')
      .slice(1)
      .filter((_, index) => index % 2 === 1)
    if (keys.length === 0) break
    const place = ['127.0.0.1', String(to.port), '', '0', '5000']
    await source.node.send(['MIGRATE', ...place, 'AUTH', password, 'KEYS', ...keys])
  }
  for (const { node } of [target, source, ...all])
    await node.send(['CLUSTER', 'SETSLOT', number, 'NODE', target.id])
}

function holds(range: string, slot: number): boolean {
  const [from = NaN, to = from] = range.split('-').map(Number)
  return slot >= from && slot <= to
}

async function follows(primary: RedisNode, replicas: number): Promise<void> {
  const online = new RegExp(`connected_slaves:${replicas}\\r\\nslave0:[^\\r]*state=online`)
  await eventually(async () => online.test(await primary.send(['INFO', 'replication'])), {
    deadlineMs: READY_MAX_MS,
    describe: 'the replica follows',
  })
}

interface Started extends RedisNode {
  readonly busPort: number
}

async function prepare() {
  const binary = await findRedis({ cacheDir: REDIS_CACHE, fetch: true, logger: quietLogger })
  if ('unavailable' in binary) return binary
  const { command } = binary
  const env = environmentOf(binary)
  const folder = ownFolder()
  const password = randomBytes(12).toString('hex')
  const started: { end(): Promise<void> }[] = []

  async function start(
    name: string,
    lines: readonly string[],
    mode: 'server' | 'sentinel' = 'server',
  ): Promise<Started> {
    const dir = join(folder, name)
    await mkdir(dir, { recursive: true })
    const port = await freePort()
    const settings = join(dir, `${mode}.conf`)
    const common = ['bind 127.0.0.1', `port ${port}`, `requirepass ${password}`, `dir "${dir}"`]
    const own = mode === 'server' ? serverLines(password) : []
    await writeFile(settings, `${[...common, ...own, ...lines].join('\n')}\n`)
    const url = `redis://:${password}@127.0.0.1:${port}`
    const args = mode === 'server' ? [settings] : [settings, '--sentinel']
    const run = async () => {
      const child = spawn(command, args, {
        cwd: dir,
        stdio: 'ignore',
        env,
      })
      living.add(child)
      await eventually(() => sendToRedis(url, [['PING']]), {
        deadlineMs: READY_MAX_MS,
        describe: `${name} answers`,
      })
      return child
    }
    let child = await run()
    const end = () => endOf(child)
    started.push({ end })
    return {
      port,
      busPort: Number(/^cluster-port (\d+)$/m.exec(await readFile(settings, 'utf8'))?.[1]),
      url,
      send: (...commands) => sendToRedis(url, commands),
      signal: (signal) => void child.kill(signal),
      kill: end,
      restart: async () => void (child = await run()),
    }
  }

  return {
    password,
    start,
    async stop() {
      await Promise.all(started.map(({ end }) => end()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const living = new Set<ChildProcess>()
process.once('exit', () => living.forEach((child) => child.kill('SIGKILL')))

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const { promise, resolve } = Promise.withResolvers<void>()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
    await promise
  }
  living.delete(child)
}

const serverLines = (password: string): readonly string[] => [
  `masterauth ${password}`,
  'appendonly yes',
  'appendfsync everysec',
  'save ""',
  'maxmemory 128mb',
  'maxmemory-policy noeviction',
  'repl-diskless-sync-delay 0',
]

function environmentOf({ libraryPath }: { readonly libraryPath: string | null }) {
  const { PATH } = process.env
  return { PATH, ...(libraryPath === null ? {} : { LD_LIBRARY_PATH: libraryPath }) }
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('there is none')
  return value
}
