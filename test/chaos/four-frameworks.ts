// The example of four agent frameworks under kill -9: whoever dies and wherever, each handoff has one committed effect, one trace, a cost that adds up, and a log that verifies.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPool as createAuditPool } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import { POINTS, PROGRAMS, runFour } from '@baton/four-frameworks/run'
import type { Kills, Point, Program } from '@baton/four-frameworks/run'
import { foreignUuid } from '@baton/protocol/dialects/foreign-id'
import { createPool } from '@baton/store'
import { COMPILE_CACHE, createSystem } from '@baton/testkit'
import type { SeededRandom } from '@baton/testkit'

/** What one task of the example came to. */
export interface FourReport {
  readonly kills: string
  readonly taskId: string
  readonly answer: string
  readonly starts: Readonly<Record<Program, number>>
  readonly traceIds: readonly string[]
  readonly costUSD: number
  /** What each hop has cost, in the order of the hops. */
  readonly hops: readonly {
    readonly to: string
    readonly costUSD: number
    /** How often it was claimed until one committed. */
    readonly claims: number
  }[]
  readonly log: string
  readonly wrong: readonly string[]
}

export interface FourWorld {
  run(kills: Kills & { readonly named: string }): Promise<FourReport>
  close(): Promise<void>
}

/** What the four ask for their tokens, each once: an attempt that was killed has no answer, and its cost is nobody's. */
const COSTS_MICRO_USD = { desk: 4_000, planner: 8_000, writer: 14_000, checker: 7_000 }
const HOPS = ['planner', 'writer', 'checker'] as const

export async function openFourWorld(adminUrl: string): Promise<FourWorld> {
  const system = await createSystem({ purpose: 'four', adminUrl, agents: 'none' })
  await system.start('auditor')
  const store = createPool({
    url: system.adminUrls.store,
    applicationName: 'four',
    connectionsMax: 1,
  })
  const audit = createAuditPool({ url: system.adminUrls.audit, applicationName: 'four' })
  const folder = await mkdtemp(join(tmpdir(), 'baton-four-'))
  let tasks = 0

  async function rows<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    return (await store.query<Row & Record<string, unknown>>({ text, values })).rows
  }

  async function verify(): Promise<VerifyReport> {
    const headers = { authorization: `Bearer ${system.tokens.read}` }
    return (await (
      await fetch(`${system.auditorUrl}/v1/verify`, { headers })
    ).json()) as VerifyReport
  }

  return {
    async run({ named, ...kills }) {
      tasks += 1
      const effects = join(folder, `${tasks}.jsonl`)
      const requestId = crypto.randomUUID()
      const environment = {
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...process.env,
        ...system.env,
        FOUR_EFFECTS: effects,
      }
      const { answer, starts } = await runFour({ environment, requestId, kills })
      const taskId = foreignUuid('desk', 'task', requestId)
      const handoffs = await rows<HandoffRow>(
        `select h.id, h.to_agent, h.state, h.traceparent, h.spent_micro_usd::int as spent, t.spent_micro_usd::int as task_spent, t.status
         from handoff h join task t on t.id = h.task_id where h.task_id = $1 order by h.task_seq`,
        [taskId],
      )
      const { rows: events } = await audit.query<EventRow & Record<string, unknown>>({
        text: 'select handoffid, event, epoch, traceparent from audit.handoff_events where taskid = $1',
        values: [taskId],
      })
      const report = await verify()
      const done = readFileSync(effects, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Effect)
      const seen = { answer, handoffs, events, done, report }
      const traceIds = [...new Set([...handoffs, ...events, ...done].map(traceOf))]
      return {
        kills: named,
        taskId,
        answer,
        starts,
        traceIds,
        costUSD: (handoffs[0]?.task_spent ?? 0) / 1_000_000,
        hops: handoffs.map(({ id, to_agent: to }) => ({
          to,
          costUSD: (COSTS_MICRO_USD[to as Program] ?? 0) / 1_000_000,
          // The fencing token of the one that committed.
          claims: Number(
            events.find((one) => isCompletion(one) && one.handoffid === id)?.epoch ?? 0,
          ),
        })),
        log: `${report.records} records, ${report.findingsTotal} findings`,
        wrong: whatIsWrong({ ...seen, traceIds }),
      }
    },
    async close() {
      await Promise.all([store.end(), audit.end()])
      await system.stop()
      await rm(folder, { recursive: true })
    },
  }
}

interface HandoffRow {
  readonly id: string
  readonly to_agent: string
  readonly state: string
  readonly traceparent: string
  /** When it was sent, the sender's cost included. */
  readonly spent: number
  readonly task_spent: number
  readonly status: string
}

interface EventRow {
  readonly handoffid: string
  readonly event: string
  readonly epoch: string | null
  readonly traceparent: string
}

interface Effect {
  readonly who: string
  readonly key: string
  readonly handoffId: string
  readonly traceId: string
}

const isCompletion = ({ event }: EventRow): boolean => event === 'EXECUTION_COMPLETED'

const traceOf = (one: HandoffRow | EventRow | Effect): string =>
  'traceId' in one ? one.traceId : (one.traceparent.split('-')[1] ?? '')

interface Seen {
  readonly answer: string
  readonly handoffs: readonly HandoffRow[]
  readonly events: readonly EventRow[]
  readonly done: readonly Effect[]
  readonly report: VerifyReport
  readonly traceIds: readonly string[]
}

function whatIsWrong({
  answer,
  handoffs,
  events,
  done,
  report,
  traceIds,
}: Seen): readonly string[] {
  const wrong: string[] = []
  const expect = (holds: boolean, what: string) => {
    if (!holds) wrong.push(what)
  }
  const hops = handoffs.map(({ to_agent: to }) => to)
  expect(answer.endsWith('Checked.'), `the desk was answered ${JSON.stringify(answer)}`)
  expect(hops.join() === HOPS.join(), `the hops were ${hops.join()}`)
  expect(handoffs[0]?.status === 'COMPLETED', `the task is ${handoffs[0]?.status}`)
  for (const { id, to_agent: to, state } of handoffs) {
    const of = (event: string) =>
      events.filter((one) => one.handoffid === id && one.event === event)
    const completed = of('EXECUTION_COMPLETED').length
    expect(state === 'COMPLETED', `the handoff to ${to} is ${state}`)
    expect(completed === 1, `${completed} executions of ${to} committed`)
    expect(of('HANDOFF_ACCEPTED').length > 0, `no decision on the handoff to ${to} is on record`)
    const keys = new Set(done.filter((one) => one.handoffId === id).map(({ key }) => key))
    expect(keys.size === 1, `what ${to} did outside went by ${keys.size} keys`)
  }
  expect(
    new Set(done.map(({ key }) => key)).size === HOPS.length,
    'something else was done outside',
  )
  expect(traceIds.length === 1, `there are ${traceIds.length} traces`)
  const { desk, planner, writer, checker } = COSTS_MICRO_USD
  const sums = [desk, desk + planner, desk + planner + writer]
  expect(
    handoffs.map(({ spent }) => spent).join() === sums.join(),
    `the hops say that ${handoffs.map(({ spent }) => spent).join()} was spent`,
  )
  const total = desk + planner + writer + checker
  expect(
    handoffs[0]?.task_spent === total,
    `the task has cost ${handoffs[0]?.task_spent} and not ${total}`,
  )
  expect(
    report.records > 0 && report.findingsTotal === 0,
    `the log has ${report.findingsTotal} findings`,
  )
  return wrong
}

/** Who dies where, by a seed: some at named points, some when somebody else is at one, any number of times. */
export function killsOf(random: SeededRandom): Kills & { readonly named: string } {
  const at: Partial<Record<Program, Point>> = {}
  for (const program of PROGRAMS) {
    const own = POINTS.filter((point) => point.startsWith(program))
    if (random.next() < 0.6) at[program] = random.pick(own)
  }
  const left = new Map<string, Program>()
  for (let nth = random.integer(0, 3); nth > 0; nth -= 1)
    left.set(random.pick(POINTS), random.pick(PROGRAMS))
  const named = [
    ...Object.values(at),
    ...[...left].map(([point, program]) => `${program} when ${point}`),
  ]
  return {
    at,
    on(line) {
      const program = left.get(line)
      left.delete(line)
      return program
    },
    named: named.length === 0 ? 'nobody' : named.join('; '),
  }
}
