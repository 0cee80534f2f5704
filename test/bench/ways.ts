// The ways in and out that are measured: the SDK on both sides, or on one of them what agents in any language use.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@baton/embedded'
import { createApiKey } from '@baton/gateway'
import { spawnService } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'

/** `http` sends by POST /v2/handoffs; `pull` claims and settles by /v2/executions; `push` is called. */
export type WayName = 'sdk' | 'http' | 'pull' | 'push'

type Environment = Readonly<Record<string, string>>

export interface Way {
  /** The processes of this way, by what their processor time is called. */
  readonly processes: Readonly<Record<string, ServiceProcess>>
  /** What the sending process is told besides. */
  readonly senderEnv: Environment
  /** Ends what the system itself does not. */
  stop(): Promise<void>
}

const NOTHING_MORE = { senderEnv: {}, stop: async () => undefined }

/** To add a way, add a row. */
const WAYS: Readonly<Record<WayName, (system: System) => Promise<Way>>> = {
  sdk: async (system) => ({
    ...NOTHING_MORE,
    processes: { receiver: await system.start('receiver') },
  }),
  http: async (system) => {
    const { gateway, environment } = await startGateway(system, 'handoffs:send')
    const receiver = await system.start('receiver')
    return { ...NOTHING_MORE, processes: { receiver, gateway }, senderEnv: environment }
  },
  pull: async (system) => {
    const { gateway, environment } = await startGateway(system, 'executions:claim')
    const agent = await spawnService({ main: 'test/bench/pull-process.ts', env: environment })
    return { ...NOTHING_MORE, processes: { gateway, agent }, stop: () => agent.kill() }
  },
  push: startPush,
}

export const startWay = (name: WayName, system: System): Promise<Way> => WAYS[name](system)

/** One key sends and claims as fast as it can: the bound on requests is not what is measured. */
const RATE_MAX = 10_000_000

async function startGateway(system: System, scopes: string) {
  const { key, entry } = createApiKey({ scopes, operator: 'bench' })
  const port = await freePort()
  const gateway = await system.start('gateway', {
    BATON_API_KEYS: entry,
    BATON_GATEWAY_PORT: String(port),
    BATON_GATEWAY_RATE_MAX: String(RATE_MAX),
  })
  const environment = {
    BATON_BENCH_GATEWAY_URL: `http://127.0.0.1:${port}`,
    BATON_BENCH_KEY: key,
  }
  return { gateway, environment }
}

async function startPush(system: System): Promise<Way> {
  const port = await freePort()
  const agent = await spawnService({
    main: 'test/bench/push-process.ts',
    env: { BATON_BENCH_PORT: String(port) },
  })
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const file = join(folder, 'agents.json')
  const sink = { type: 'sink', version: '1.0.0', requires: ['payload'] }
  const url = `http://127.0.0.1:${port}/`
  const agents = [{ ...sink, url, secretEnv: 'BENCH_SECRET', allowPrivate: true }]
  await writeFile(file, JSON.stringify({ agents }))
  const receiver = await system.start('receiver', {
    BATON_AGENTS: '',
    BATON_PUSH_AGENTS: file,
    BENCH_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
  })
  return {
    processes: { receiver, agent },
    senderEnv: {},
    async stop() {
      await agent.kill()
      await rm(folder, { recursive: true })
    },
  }
}
