// A whole pipeline for one test file: real databases, an auditor process, workers and a sender in this process.
import { createPool as createAuditPool } from '@baton/audit'
import type { Pool as AuditPool } from '@baton/audit'
import { createLogger } from '@baton/runtime'
import { createSender, createWorker, parseSigningKeys } from '@baton/sdk'
import type {
  Agent,
  AgentContext,
  AgentResult,
  AgentState,
  HandoffConstraints,
  HostedAgent,
  Sender,
  WorkerOptions,
} from '@baton/sdk'
import { createPool, findTask } from '@baton/store'
import type { Pool } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import { acquirePostgres, createSystem, eventually, PEOPLE } from '@baton/testkit'
import type { System } from '@baton/testkit'
import { createInProcessTransport } from '@baton/transport'
import { newTask } from '../fault/driver.ts'
import { createReaches } from './reaches.ts'
import type { Reaches } from './reaches.ts'

export interface DecisionRow {
  readonly handoffid: string
  readonly taskid: string
  readonly fromagent: string
  readonly toagent: string
  readonly status: string
  readonly reason: string | null
  readonly costathandoff: string
  readonly traceparent: string
  readonly verdicts: Readonly<Record<string, unknown>>
}

export interface Pipeline {
  readonly system: System
  readonly pool: Pool
  /** The operational database as a superuser, for tampering. */
  readonly superuser: Pool
  /** The audit database as a superuser. */
  readonly audit: AuditPool
  readonly sender: Sender
  readonly metrics: Metrics
  /** Everything that the workers and the auditor have logged. */
  log(): string
  /** Starts a worker on a queue of its own; it retries within milliseconds. */
  start(
    agents: readonly HostedAgent[],
    options?: Partial<WorkerOptions>,
  ): Promise<{ stop(): Promise<void> }>
  send(target: string, parts?: SendParts): Promise<{ handoffId: string; taskId: string }>
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** The literal query of the source's section 13.3. */
  decisions(taskId: string): Promise<DecisionRow[]>
  /** Waits until the handoff is in one of the states. */
  readonly reaches: Reaches
  taskEnds(taskId: string): Promise<{ status: string; spentMicroUSD: number; result: unknown }>
  close(): Promise<void>
}

export interface SendParts {
  readonly state?: Partial<AgentState>
  readonly constraints?: HandoffConstraints
}

const WAIT_MS = 15_000
export const FAST_RETRIES = { baseMs: 5, capMs: 20 }

export async function openPipeline(purpose: string): Promise<Pipeline> {
  const { adminUrl } = await acquirePostgres()
  const system = await createSystem({ purpose, adminUrl, agents: 'none' })
  const auditor = await system.start('auditor')
  const lines: string[] = []
  const logger = createLogger({
    service: 'worker',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const metrics = createMetrics()
  const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
  const sender = createSender({
    databaseUrl: system.deliveryUrl,
    keyRing,
    sendsCritical: true,
    metrics,
  })
  const pool = openStore(system.databaseUrl)
  const superuser = openStore(system.adminUrls.store)
  const audit = createAuditPool({ url: system.adminUrls.audit, applicationName: 'test' })
  const stops: (() => Promise<void>)[] = []
  const reaches = createReaches(pool, () => lastTroubles(lines))
  return {
    system,
    pool,
    superuser,
    audit,
    sender,
    metrics,
    log: () => lines.join('') + auditor.output(),
    async start(agents, options = {}) {
      const transport = createInProcessTransport({ logger })
      const worker = createWorker({
        agents,
        databaseUrl: system.deliveryUrl,
        keyRing,
        people: PEOPLE.people,
        audit: { url: system.auditorUrl, token: system.tokens.append },
        transport,
        backoff: FAST_RETRIES,
        undeliveredMs: 500,
        metrics,
        logger,
        ...options,
      })
      await worker.start()
      let stopping: Promise<void> | undefined
      const stop = () => (stopping ??= worker.stop().then(() => transport.close()))
      stops.push(stop)
      return { stop }
    },
    async send(target, { state = {}, constraints = {} } = {}) {
      return sender.send({ ...newTask(), ...state }, target, constraints)
    },
    rows: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await superuser.query<Row & Record<string, unknown>>({ text, values })).rows,
    async decisions(taskId) {
      const text = `SELECT * FROM handoff_audit WHERE taskId = '${taskId}' ORDER BY timestamp ASC`
      return (await audit.query<DecisionRow & Record<string, unknown>>({ text })).rows
    },
    reaches,
    taskEnds: (taskId) =>
      eventually(
        async () => {
          const task = await findTask(pool, taskId)
          return task !== undefined && !['RUNNING', 'PENDING_HANDOFF'].includes(task.status) && task
        },
        { deadlineMs: WAIT_MS, describe: () => `task ${taskId} ends\n${lastTroubles(lines)}` },
      ),
    async close() {
      await Promise.all(stops.map((stop) => stop()))
      await sender.close()
      await Promise.all([pool.end(), superuser.end(), audit.end()])
      await system.stop()
    },
  }
}

const lastTroubles = (lines: readonly string[]): string =>
  lines
    .filter((line) => !line.includes('handoff.accepted'))
    .slice(-20)
    .join('')

const openStore = (url: string): Pool =>
  createPool({ url, applicationName: 'test', connectionsMax: 4 })

/** What an agent answers when it has done its step. */
export function answer(context: AgentContext, changes: Partial<AgentResult> = {}): AgentResult {
  return {
    subtask: { subtaskId: `step-${context.handoffId}`, description: 'a step', result: 'done' },
    state: context.state,
    costUSD: 0.01,
    tokens: { prompt: 1, completion: 1 },
    next: [],
    ...changes,
  }
}

/** An agent that answers at once and remembers which handoffs it executed. */
export function recordingAgent(type: string, changes: Partial<Agent> = {}) {
  const executed: AgentContext[] = []
  const agent: Agent = {
    type,
    version: '1.0.0',
    requires: [],
    async execute(context) {
      executed.push(context)
      return answer(context)
    },
    ...changes,
  }
  return { agent, executed, ids: () => executed.map((context) => context.handoffId) }
}

/** A promise that the test settles. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
