// Opens the handoff service of SW4RM beside the gateway's HTTP: the same keys, the same bounds, the same way in.
import type { ReadingRecorder } from '@baton/engine'
import type { ContextMode } from '@baton/protocol/dialects/sw4rm'
import { NO_TLS, refusePlainListening } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import type { Pool } from '@baton/store'
import type { Authenticate } from '../authenticate.ts'
import type { Sending } from '../dialect.ts'
import { offered } from '../executions/remote-work.ts'
import type { RemoteWork } from '../executions/remote-work.ts'
import type { GatewayOptions } from '../gateway.ts'
import { createJudgePending } from './judge-pending.ts'
import { createSw4rmServer } from './server.ts'
import type { Sw4rmServer } from './server.ts'
import { createMethods } from './service.ts'

export interface Sw4rmOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly contextMode: ContextMode
  /** How long an accepted handoff is its agent's. */
  readonly leaseMs: number
}

export interface Sw4rmAround extends Sending {
  readonly readings: ReadingRecorder
  readonly options: GatewayOptions
  readonly pool: Pool
  readonly remote: RemoteWork | undefined
  readonly scanner: Scanner
  readonly authenticate: Authenticate
}

/** Resolves once it listens. */
export async function openSw4rm(
  own: Sw4rmOptions,
  { options, pool, remote, authenticate, scanner, ...sending }: Sw4rmAround,
): Promise<Sw4rmServer> {
  const { keyRing, limits, logger, foreign, tls = NO_TLS, clients = 'any' } = options
  refusePlainListening(tls, { host: own.host, setting: 'BATON_SW4RM_HOST' })
  const { scan } = scanner
  const server = createSw4rmServer({
    ...own,
    tls: { tls, clients, logger },
    connections: { max: limits.connectionsMax, perAddressMax: limits.connectionsPerAddressMax },
    bounds: { authenticate, rateMax: limits.rateMax },
    bounded: sending.bounded,
    refusals: sending.refusals,
    methods: createMethods({
      ...sending,
      ...own,
      pool,
      keyRing,
      budgetMicroUSD: foreign?.budgetMicroUSD ?? 1_000_000,
      scan,
      judgePending: createJudgePending({ keyRing, scan }),
      remoteWork: () => offered(remote),
    }),
    logger,
  })
  await server.start()
  return server
}
