// The gateway as one long-lived thing: listens last, and answers what it has begun before it stops.
import type { FastifyInstance } from 'fastify'
import { createAccessTokens } from '@baton/http/access-tokens'
import type { AccessTokens, Issuer } from '@baton/http/access-tokens'
import { DEFAULT_TENANT, NOBODY, OPERATOR_NAME, TENANT } from '@baton/ledger'
import type { People } from '@baton/ledger'
import type { KeyRing } from '@baton/protocol'
import type { Summariser } from '@baton/sdk'
import {
  createActiveScanner,
  createDirectDelivery,
  createKnownReceivers,
  createLargeWork,
  createLevelRecorder,
  createLevelReporter,
  createOutboxBound,
  createReadingRecorder,
  createRefusalRecorder,
  createReviewer,
  openDirectCalls,
} from '@baton/engine'
import type {
  ActiveScanner,
  CompressionBounds,
  KnownReceivers,
  LargeWork,
  LargeWorkBounds,
  ReadingRecorder,
  ReturnParts,
} from '@baton/engine'
import { listenOn } from '@baton/http/server'
import type { ServerTls } from '@baton/http/server'
import { NO_TLS, permanent, refusePlainListening } from '@baton/runtime'
import type { Logger, Service, Tls, TlsClients } from '@baton/runtime'
import {
  createPool,
  createTenantPool,
  findApiKeys,
  findTaskTraceparent,
  listTenants,
  outboxDepth,
  outboxQueueDepths,
} from '@baton/store'
import type { FanOutBounds, Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { DirectCalls } from '@baton/transport/direct-calls'
import { actingTenant, whoActs } from './acting.ts'
import type { ApiKey } from './api-keys.ts'
import { createAuthenticate } from './authenticate.ts'
import type { Authenticate } from './authenticate.ts'
import { createAuditReads } from './audit-reads.ts'
import type { AuditReads } from './audit-reads.ts'
import { createAuditErasures } from './audit-erasures.ts'
import type { AuditErasures } from './audit-erasures.ts'
import { createLateRefusals, createRunningBound, createShares } from './back-pressure.ts'
import type { TenantShares } from './back-pressure.ts'
import { createErasureReplay } from './erasure-replay.ts'
import { addErasureRoutes } from './erasure-routes.ts'
import { createRemoteWork } from './executions/remote-work.ts'
import type { RemoteOptions, RemoteWork } from './executions/remote-work.ts'
import type { EventsOptions } from './events/events-options.ts'
import { openEvents } from './events/open-events.ts'
import type { OpenEvents } from './events/open-events.ts'
import { addExecutionRoutes } from './executions/routes.ts'
import { faceOf, JSON_FACE } from './dialect.ts'
import type { Dialect, Face, Sending } from './dialect.ts'
import { createHandoffsApi } from './handoffs-api/dialect.ts'
import { liveProfiles, readProfilesFile } from './handoffs-api/profiles.ts'
import { insideCaller } from './inside-call.ts'
import { createKnownKeys } from './known-keys.ts'
import { addLevelRoutes } from './level-routes.ts'
import { addOperationRoutes, createReadiness } from './operation-routes.ts'
import type { Readiness } from './operation-routes.ts'
import { addReadRoutes } from './read-routes.ts'
import { addRedriveRoutes } from './redrive-routes.ts'
import { noteRefusedBy } from './refused-sends.ts'
import { addReturnRoutes } from './return-routes.ts'
import { addReviewRoutes } from './review-routes.ts'
import { addControlRoutes } from './control-routes.ts'
import { addAlertRoutes } from './alert-routes.ts'
import { addEscalationRoutes } from './escalation-routes.ts'
import { addHandleManyRoutes } from './handle-many.ts'
import { createAgentTypes } from './a2a/agent-types.ts'
import { createA2aFaces } from './a2a/face.ts'
import { createTaskFollowers } from './a2a/follow-tasks.ts'
import { createPushes } from './a2a/pushes.ts'
import type { Pushes } from './a2a/pushes.ts'
import type { TaskFollowers } from './a2a/follow-tasks.ts'
import { createSession } from './jsonrpc/session.ts'
import type { Session, SessionOptions } from './jsonrpc/session.ts'
import { addSessionReplyRoutes } from './jsonrpc/reply-routes.ts'
import { createMcpFace } from './mcp/face.ts'
import { createMetadataFace } from './mcp/protected-resource.ts'
import type { McpOptions } from './mcp/face.ts'
import { createServer } from './server.ts'
import { READER_BOUNDS } from './streams/reader-bounds.ts'
import type { ReaderBounds } from './streams/reader-bounds.ts'
import { createStreamReaders } from './streams/readers.ts'
import type { StreamReaders } from './streams/readers.ts'
import { addStreamRoutes } from './streams/routes.ts'
import { createSubmitter } from './submit.ts'
import { tellUnknownTenants } from './unknown-tenants.ts'
import { addVerificationRoutes } from './verification-routes.ts'
import type { Sw4rmAround, Sw4rmOptions } from './sw4rm/open-sw4rm.ts'
import type { Submitter } from './submit.ts'
import { createV2, REQUEST_MS } from './v2.ts'

export interface GatewayOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly databaseUrl: string
  readonly keyRing: KeyRing
  readonly attemptsMax: number
  /** How far a task may fan out. */
  readonly fanOuts?: FanOutBounds | undefined
  /** Where this installation stores and processes; without it nothing is taken that must stay somewhere. */
  readonly jurisdiction?: string | undefined
  /** Who condenses conversations that do not fit; the extract by default. Whoever gives it closes it. */
  readonly summariser?: Summariser | undefined
  /** How much of a receiver's window a message may fill, and how many of the latest turns stay. */
  readonly compression?: CompressionBounds | undefined
  /** Threads that judge and build large messages, and how long one may take there. */
  readonly largeWork?: LargeWorkBounds | undefined
  /** By which scanner this gateway judges, and reviewers release; that of the package by default. */
  readonly scanner?: ActiveScanner
  /** How long a sender has to correct what it took as returned. */
  readonly correctionMs: number
  /** Beside those of the database. */
  readonly apiKeys: ReadonlyMap<string, ApiKey>
  /** Whose access tokens are taken; nobody's by default. */
  readonly issuers?: readonly Issuer[]
  /** Whose signatures under decisions count; nobody's by default. */
  readonly people?: People
  readonly audit: {
    readonly url: string
    readonly readToken: string
    readonly eraseToken?: string | undefined
    /** How long back-ups are kept, as receipts of erasures say it; 0 where that is not stated. */
    readonly backupDays?: number
    /** How the log is read; from the auditor by default. */
    readonly reads?: AuditReads
  }
  readonly limits: {
    /** Requests per minute and API key. */
    readonly rateMax: number
    /** Handoffs being sent at once. */
    readonly runningMax: number
    /** What one tenant may have of it, where keys of several tenants come in. */
    readonly tenants?: TenantShares | undefined
    readonly connectionsMax: number
    /** Of one address; of one /64 where it is IPv6. */
    readonly connectionsPerAddressMax: number
    /** Handoffs of one tenant and agent type that may wait for a relay. */
    readonly outboxMax: number
    /** Of them, those of priority 0; 1,000 by default. */
    readonly outboxCriticalMax?: number | undefined
    /** The same of one tenant in all; four times as many by default. */
    readonly outboxTenantMax?: number | undefined
    /** How long the oldest of them may wait. */
    readonly outboxAgeMaxMs: number
    /** Who reads streams of chunks at once. */
    readonly readers?: ReaderBounds
  }
  /** What came in by a protocol without budgets and times of its own. */
  readonly foreign?: {
    /** What a task may cost in all that begins there. */
    readonly budgetMicroUSD?: number
    /** How long a message of the Handoffs API may wait and work. */
    readonly messageExpiryMs?: number
    /** The profiles of the Handoffs API; without it, the agent types that are live. */
    readonly profilesPath?: string | undefined
  }
  /** Whose pages in browsers may call /mcp beside those of this machine. */
  readonly mcp?: Pick<McpOptions, 'origins'> | undefined
  /** How agents of others are answered by A2A. */
  readonly a2a?: A2aOptions
  /** Where the handoff service of SW4RM listens, and how; without it, nowhere. */
  readonly sw4rm?: Sw4rmOptions | undefined
  /** Where receivers are called directly for mode=sync; without it, what is sent so goes by the queue. */
  readonly sync?: SyncOptions | undefined
  /** How events leave by webhooks; without it nothing is followed or told here. */
  readonly events?: EventsOptions | undefined
  /** The peers of the session handshake. */
  readonly session?: SessionOptions
  /** How it speaks TLS, to callers and to the auditor and receivers; by default in plain text, within this machine. */
  readonly tls?: Tls | undefined
  /** Who may call where it speaks TLS; anybody by default, as callers have API keys. */
  readonly clients?: TlsClients
  readonly metrics: Metrics
  readonly logger: Logger
  /** What it takes to give handoffs to agents outside; without it none is given. */
  readonly remote?: RemoteOptions | undefined
  /** Further ways to be called, beside `/v2`. */
  readonly dialects?: readonly Dialect[]
}

export interface A2aOptions {
  /** Where callers reach this gateway, as agent cards say it; by default, where each says that it does. */
  readonly publicUrl?: string | undefined
  /** The agent type that gets the messages that name none. */
  readonly agentType?: string | undefined
  /** Whether callers of A2A 0.3 are answered too. */
  readonly legacy?: boolean
  /** How long an answer waits for the end of a task. */
  readonly waitMs?: number
}

export interface Gateway extends Service {
  /** Where it listens once it has started. */
  readonly url: string
  readonly server: FastifyInstance
  /** Every route as `GET /v2/tasks/{id}`; known once the server is ready. */
  readonly routes: ReadonlySet<string>
  /** Whether its database and the auditor answer. */
  ready(): Promise<boolean>
}

/** How receivers are called for those who wait for an outcome. */
export interface SyncOptions {
  /** Base URLs by agent type; `*` is every other type's. */
  readonly receivers: ReadonlyMap<string, string>
  readonly token: string
  /** How long an outcome is waited for. */
  readonly waitMs: number
}

const CONNECTIONS_MAX = 10
/** For what callers ask, beside what is sent and executed. */
const TENANT_CONNECTIONS_MAX = 6

/** Nothing listens before `start`. */
export function createGateway(options: GatewayOptions): Gateway {
  const { metrics, logger, apiKeys, limits, people = NOBODY } = options
  const [pool, tenantPool] = [poolOf(options), tenantPoolOf(options)]
  const [audit, erasures] = [auditReadsOf(options), erasuresOf(options)]
  const { eraseToken: token, backupDays = 0 } = options.audit
  const replay = createErasureReplay({ everyPool: pool, erasures, people, backupDays, logger })
  const work = workOf(options, pool)
  const { scanner, largeWork, remote, submitter } = work
  const refusals = createRefusalRecorder({ pool, logger })
  const readings = createReadingRecorder({ pool })
  const readers = createStreamReaders({ pool, logger, ...(limits.readers ?? READER_BOUNDS) })
  const { tokens, authenticate, authentication } = authenticationOf(options, pool)
  const events = eventsOf(options, { pool, tenantPool })
  const a2a = a2aServicesOf(options, { pool, tenantPool })
  const levels = createLevelRecorder({ pool, metrics, logger })
  const inner = [levels, readers, ...Object.values(a2a), events, refusals, tokens]
  const [readiness, calls, shares] = [readinessOf(audit, pool), callsOf(options), sharesOf(options)]
  const sending = sendingOf({ options, pool, submitter, refusals, shares })
  const own = { options: options.session, pool, tenantPool, authenticate, remote, metrics }
  const beside = { authenticate, readings, options, remote, scanner }
  const session = createSession({ ...sending, ...foreignOf(options), ...own, tls: options.tls })
  const { server, routes } = createServer({
    authentication,
    rateMax: limits.rateMax,
    meter: shares.meter,
    late: createLateRefusals(shares),
    connections: { max: limits.connectionsMax, perAddressMax: limits.connectionsPerAddressMax },
    tls: serverTlsOf(options),
    metrics,
    logger,
    noteRefused: noteRefusedBy(refusals),
    faces: facesOf({
      options,
      pool,
      tenantPool,
      ...work,
      audit,
      sending,
      readings,
      calls,
      session,
      readers,
      ...a2a,
      events,
      erasures,
      readiness,
      authentication,
    }),
  })
  let url = ''
  let sw4rm: Service | undefined
  let stopped: Promise<void> | undefined
  return {
    name: 'gateway',
    server,
    routes,
    get url() {
      return url
    },
    async ready() {
      const { database, audit: recorded } = await readiness()
      return database && recorded
    },
    async start() {
      for (const one of inner) await one.start()
      await remote?.start()
      url = await listen(server, options)
      logger.info({ event: 'gateway.listening', url })
      sw4rm = await sw4rmOf({ ...sending, ...beside, pool: tenantPool })
      await session.start()
      await tellUnknownTenants({ pool, apiKeys, logger })
      if (token !== undefined) await replay.start()
    },
    stop() {
      const ends = { events, calls, submitter, remote, largeWork, inner, audit, pool, tenantPool }
      stopped ??= stopInOrder({ first: [replay, sw4rm, session], server, readers, ...ends })
      return stopped
    },
  }
}

const a2aServicesOf = (
  options: GatewayOptions,
  pools: Pick<Parts, 'pool' | 'tenantPool'>,
): Pick<Parts, 'followers' | 'pushes'> => ({
  followers: createTaskFollowers({ ...options, ...pools }),
  pushes: createPushes({ ...options, ...pools }),
})

const eventsOf = (options: GatewayOptions, pools: Pick<Parts, 'pool' | 'tenantPool'>): OpenEvents =>
  openEvents({
    ...options,
    ...pools,
    events: options.events,
    readers: options.limits.readers ?? READER_BOUNDS,
  })

/** What speaks gRPC is loaded only where it is spoken. */
async function sw4rmOf(around: Sw4rmAround): Promise<Service | undefined> {
  const { sw4rm } = around.options
  if (sw4rm === undefined) return undefined
  const { openSw4rm } = await import('./sw4rm/open-sw4rm.ts')
  return openSw4rm(sw4rm, around)
}

/** Throws BATON_PLAINTEXT_REFUSED where others come in and there is no certificate. */
function serverTlsOf({ host, tls = NO_TLS, clients = 'any', logger }: GatewayOptions): ServerTls {
  refusePlainListening(tls, { host, setting: 'BATON_GATEWAY_HOST' })
  return { tls, clients, logger }
}

const poolOf = ({ databaseUrl, metrics }: GatewayOptions): Pool =>
  createPool({
    url: databaseUrl,
    applicationName: 'baton-gateway',
    connectionsMax: CONNECTIONS_MAX,
    gauges: metrics.poolConnections,
  })

const tenantPoolOf = ({ databaseUrl: url }: GatewayOptions): Pool => {
  const applicationName = 'baton-gateway-tenants'
  return createTenantPool(
    { url, applicationName, connectionsMax: TENANT_CONNECTIONS_MAX },
    actingTenant,
  )
}

const NAMES = { tenant: TENANT, operator: OPERATOR_NAME, defaultTenant: DEFAULT_TENANT }

interface Authentication {
  /** What learns the keys of issuers while the gateway runs. */
  readonly tokens: AccessTokens
  readonly authenticate: Authenticate
  readonly authentication: Face['authentication']
}

function authenticationOf(options: GatewayOptions, pool: Pool): Authentication {
  const { apiKeys: settings, issuers = [], logger, tls = NO_TLS } = options
  const tokens = createAccessTokens({ issuers, names: NAMES, logger, tls })
  const keys = createKnownKeys({ settings, read: (ids) => findApiKeys(pool, ids), logger })
  const readTenants = async () => new Set((await listTenants(pool)).map(({ tenant }) => tenant))
  const authenticate = createAuthenticate({ keys, tokens, readTenants, logger })
  const authentication: Face['authentication'] = (request) =>
    insideCaller(request) ?? authenticate(request.headers.authorization)
  return { tokens, authenticate, authentication }
}

const auditReadsOf = ({ audit, tls, metrics }: GatewayOptions): AuditReads =>
  audit.reads ??
  createAuditReads({ ...audit, tls }, metrics.breakerOpen.with({ target: 'auditor_reads' }))

const readinessOf = (audit: AuditReads, pool: Pool): Readiness =>
  createReadiness({
    auditReady: () => audit.ready(),
    databaseReady: () => pool.query({ text: 'select' }).then(answered, refused),
  })

const erasuresOf = ({ audit: { url, eraseToken: token }, tls }: GatewayOptions): AuditErasures =>
  createAuditErasures({ url, token, tls })

interface Parts {
  readonly erasures: AuditErasures
  /** Of all tenants: for what is sent and executed, each by its own rules, and for what runs by itself. */
  readonly pool: Pool
  /** Of the tenant of whoever asks. */
  readonly tenantPool: Pool
  readonly audit: AuditReads
  readonly submitter: Submitter
  readonly remote: RemoteWork | undefined
  readonly largeWork: LargeWork
  readonly readers: StreamReaders
  readonly followers: TaskFollowers
  readonly pushes: Pushes
  readonly events: OpenEvents
  readonly calls: DirectCalls | undefined
}

interface FaceParts extends Omit<Parts, 'submitter'> {
  readonly receivers: KnownReceivers
  readonly scanner: ActiveScanner
  readonly session: Session
  readonly sending: Sending
  readonly readings: ReadingRecorder
  readonly options: GatewayOptions
  readonly readiness: Readiness
  readonly authentication: Face['authentication']
}

/** What builds, sends and gives away. */
function workOf(options: GatewayOptions, pool: Pool) {
  const receivers = createKnownReceivers({ pool, compression: options.compression })
  const scanner = options.scanner ?? createActiveScanner()
  const largeWork = createLargeWork({ ...options, ...options.largeWork, scanner })
  const remote = remoteOf(options, { pool, receivers, largeWork, scanner })
  return {
    scanner,
    receivers,
    largeWork,
    remote,
    submitter: createSubmitter({ ...options, pool, receivers, largeWork }),
  }
}

const remoteOf = (
  options: GatewayOptions,
  parts: Pick<FaceParts, 'pool' | 'receivers' | 'largeWork' | 'scanner'>,
): RemoteWork | undefined =>
  options.remote === undefined
    ? undefined
    : createRemoteWork({ people: NOBODY, ...options, ...options.remote, ...parts })

const callsOf = ({ sync, tls, metrics, logger }: GatewayOptions): DirectCalls | undefined =>
  sync === undefined ? undefined : openDirectCalls({ ...sync, tls }, { metrics, logger })

/** What each tenant may have; nothing is shared where nobody says how. */
const sharesOf = ({ apiKeys, limits: { tenants } }: GatewayOptions) =>
  tenants === undefined
    ? { shared: () => undefined, meter: undefined }
    : createShares(
        tenants,
        [...apiKeys.values()].map(({ tenant }) => tenant),
      )

interface SendingParts
  extends Pick<FaceParts, 'options' | 'pool'>, Pick<Sending, 'submitter' | 'refusals'> {
  readonly shares: ReturnType<typeof sharesOf>
}

/** What sends over any face share: room, bounds and commits. */
function sendingOf({ options, pool, shares, ...others }: SendingParts): Sending {
  const { limits, metrics, logger } = options
  const requireRoom = createOutboxBound({
    readDepth: (countMax) => outboxDepth(pool, countMax),
    readQueueDepths: (queues, countMax) => outboxQueueDepths(pool, queues, countMax),
    depthMax: limits.outboxMax,
    criticalMax: limits.outboxCriticalMax,
    tenantMax: limits.outboxTenantMax,
    ageMaxMs: limits.outboxAgeMaxMs,
    metrics,
  })
  const bounded = createRunningBound({
    runningMax: limits.runningMax,
    tenant: () => whoActs() ?? DEFAULT_TENANT,
    shared: shares.shared,
  })
  return { ...others, requireRoom, bounded, logger }
}

function facesOf(parts: FaceParts): readonly Face[] {
  const { options, pool, tenantPool, audit, sending, session, remote } = parts
  const { authentication, calls, readers, events, largeWork, readings, erasures, readiness } = parts
  const { scanner } = parts
  const { keyRing, metrics, logger, correctionMs, people = NOBODY, dialects = [] } = options
  const { requireRoom, bounded } = sending
  const returns = returnsOf(parts)
  const review = { pool: tenantPool, people, keyRing, scanner }
  const v2 = createV2({
    authentication,
    keyRing,
    findTaskTraceparent: (taskId) => findTaskTraceparent(tenantPool, taskId),
    deliverDirectly: createDirectDelivery({
      pool,
      calls,
      waitMs: options.sync?.waitMs ?? 0,
      logger,
    }),
    addRoutes(scope) {
      addReturnRoutes(scope, { ...returns, correctionMs, requireRoom, readings, bounded })
      addReadRoutes(scope, { pool: tenantPool, audit })
      addVerificationRoutes(scope, { audit })
      addLevelRoutes(scope, createLevelReporter(pool))
      addReviewRoutes(scope, {
        ...review,
        reviewer: createReviewer(review),
        audit,
        readings,
        logger,
      })
      addRedriveRoutes(scope, { ...review, logger })
      addErasureRoutes(scope, {
        pool: tenantPool,
        everyPool: pool,
        erasures,
        people,
        backupDays: options.audit.backupDays ?? 0,
        logger,
      })
      addControlRoutes(scope, { pool: tenantPool, people, logger })
      addAlertRoutes(scope, { pool: tenantPool, logger })
      addEscalationRoutes(scope, { pool: tenantPool, logger })
      addHandleManyRoutes(scope, { pool: tenantPool, logger })
      addExecutionRoutes(scope, { pool, remote, bounded })
      addStreamRoutes(scope, {
        pool,
        tenantPool,
        readers,
        remote,
        largeWork,
        scanner,
        bounded,
        metrics,
      })
      events.addRoutes(scope)
      addSessionReplyRoutes(scope, { pool: tenantPool })
    },
  })
  const operations = {
    ...JSON_FACE,
    path: '',
    authentication,
    requestMs: REQUEST_MS,
    addRoutes: (scope: FastifyInstance) => addOperationRoutes(scope, { metrics, readiness }),
  }
  const { profilesPath } = options.foreign ?? {}
  const handoffsApi = createHandoffsApi({
    authentication,
    pool: tenantPool,
    people,
    profiles:
      profilesPath === undefined ? liveProfiles(tenantPool) : readProfilesFile(profilesPath),
    ...foreignOf(options),
    logger,
  })
  const faces = [v2, handoffsApi, ...dialects].map((dialect) => faceOf(dialect, sending))
  return [...faces, ...mcpFacesOf(parts), session.face, ...a2aFacesOf(parts), operations]
}

function mcpFacesOf({ options, authentication }: FaceParts): readonly Face[] {
  const { host, issuers = [], a2a, mcp, logger } = options
  const protection = { issuers, publicUrl: a2a?.publicUrl }
  return [
    createMcpFace({ authentication, host, protection, ...mcp, logger }),
    createMetadataFace(protection, authentication),
  ]
}

const returnsOf = ({ options, tenantPool, receivers }: FaceParts): ReturnParts => {
  const { keyRing, attemptsMax, summariser, metrics, logger } = options
  return { pool: tenantPool, receivers, keyRing, attemptsMax, summariser, metrics, logger }
}

function a2aFacesOf(parts: FaceParts): readonly Face[] {
  const { options, sending, pool, tenantPool, readers, followers, authentication } = parts
  const { publicUrl, agentType, legacy = false, waitMs = A2A_WAIT_MS } = options.a2a ?? {}
  return createA2aFaces({
    ...sending,
    ...foreignOf(options),
    authentication,
    pool,
    tenantPool,
    readers,
    followers,
    pushes: parts.pushes,
    returns: returnsOf(parts),
    agentTypes: createAgentTypes(tenantPool),
    keyRing: options.keyRing,
    findTaskTraceparent: (taskId) => findTaskTraceparent(tenantPool, taskId),
    defaultAgentType: agentType,
    publicUrl,
    legacy,
    waitMs,
  })
}

/** Below what a proxy, and this server, let a connection be silent. */
const A2A_WAIT_MS = 30_000

/** What holds for all that comes in by a protocol without budgets and times. */
const foreignOf = ({ foreign = {} }: GatewayOptions) => ({
  budgetMicroUSD: foreign.budgetMicroUSD ?? 1_000_000,
  expiryMs: foreign.messageExpiryMs ?? 86_400_000,
})

const answered = () => true
const refused = () => false

async function listen(server: FastifyInstance, { host, port }: GatewayOptions): Promise<string> {
  try {
    return await listenOn(server, { host, port })
  } catch (cause) {
    throw permanent('BATON_GATEWAY_LISTEN_FAILED', `cannot listen on ${host}:${port}`, {
      cause,
      fix: 'Stop the process that has the port, or set BATON_GATEWAY_PORT.',
    })
  }
}

// Requests first, then what they wait for, then what that needs.
async function stopInOrder({
  first,
  server,
  readers,
  events,
  calls,
  submitter,
  remote,
  largeWork,
  inner,
  audit,
  pool,
  tenantPool,
}: Omit<Parts, 'erasures' | 'followers' | 'pushes'> & {
  first: readonly (Service | undefined)[]
  server: FastifyInstance
  inner: readonly Service[]
}) {
  for (const one of first) await one?.stop()
  // Whoever waits for work is answered, so that the server can close.
  const given = remote?.handOut.stop()
  const left = [readers.stop(), events.stopReaders()]
  calls?.close()
  await server.close()
  await Promise.all(left)
  await given
  await remote?.stop()
  await submitter.drain()
  await largeWork.close()
  for (const one of inner) await one.stop()
  audit.close()
  await pool.end()
  await tenantPool.end()
}
