// One task through all protocols: the commands of the example's page on a whole instance, and what its log then proves.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { freePort } from '@baton/embedded'
import type { OfferedHandoff } from '@baton/offers'
import { contextObject, deserializeContext, serializeContext } from '@baton/sdk/sw4rm'
import { eventually, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const EXAMPLE = join(ROOT, 'examples', 'all_protocols')
const CLI = join(ROOT, 'services', 'cli', 'src', 'main.ts')
const STARTED_MAX_MS = 90_000
const FOLLOWED_MAX_MS = 60_000

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SAID = 'Is the token compared in constant time?'
const FINDINGS = ['tokens are compared with ==']
const COST_MICRO_USD = 12_500

let baton: CommandLine
let analyst: ChildProcess
let importing: ServiceProcess
let analystSaid = ''
let gatewayUrl = ''
let sw4rmPort = 0
let key = ''
let reviewerKey = ''
beforeAll(async () => {
  baton = await openCommandLine()
  analyst = spawn('python3', [join(EXAMPLE, 'analyst.py'), '0', 'analyst-token'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  analyst.stdout?.setEncoding('utf8').on('data', (part: string) => (analystSaid += part))
  const port = await eventually(() => /listening (\d+)/.exec(analystSaid)?.[1], {
    deadlineMs: 20_000,
    describe: 'the analyst listens',
  })
  const peers = join(baton.home, 'peers.json')
  await writeFile(
    peers,
    (await readFile(join(EXAMPLE, 'peers.json'), 'utf8')).replace('8441', port),
  )
  sw4rmPort = await freePort()
  importing = await spawnService({
    main: 'services/cli/src/main.ts',
    args: ['import', '--watch', '--agent', 'analyst', '--home', baton.home],
    env: {
      HANDOFF_DIR: join(baton.home, 'offers'),
      ANALYST_TOKEN: 'analyst-token',
      BATON_PEERS: peers,
      BATON_SW4RM_PORT: String(sw4rmPort),
    },
    ready: /Importing until/,
    readyMaxMs: STARTED_MAX_MS,
  })
  const record = await readFile(join(baton.home, 'instance.json'), 'utf8')
  const people = await readFile(join(baton.home, 'secrets', 'people.json'), 'utf8')
  const keys = JSON.parse(people) as Readonly<Record<string, string>>
  key = keys['operator'] ?? ''
  reviewerKey = keys['reviewer-1'] ?? ''
  gatewayUrl = /"gatewayUrl":\s*"([^"]+)"/.exec(record)?.[1] ?? ''
}, STARTED_MAX_MS)
afterAll(async () => {
  await importing.stop()
  analyst.kill()
  await baton.discard()
})

/** Runs the commands of the page; answers what they print. */
async function followPage(): Promise<readonly string[]> {
  const page = await readFile(join(EXAMPLE, 'README.md'), 'utf8')
  const block = /^```sh\n(.*?)^```$/ms.exec(page)?.[1] ?? ''
  const child = spawn('sh', ['-euc', block], {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      COMMAND: `node ${CLI}`,
      BATON: gatewayUrl,
      SW4RM: `127.0.0.1:${sw4rmPort}`,
      KEY: key,
      REVIEWER: reviewerKey,
      BATON_HOME: baton.home,
      HANDOFF_DIR: join(baton.home, 'offers'),
      CONTEXT: join(baton.home, 'context.json'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: FOLLOWED_MAX_MS,
  })
  const printed = [text(child.stdout), text(child.stderr)]
  const [exitCode] = (await once(child, 'close')) as [number]
  const [stdout = '', stderr = ''] = await Promise.all(printed)
  if (exitCode !== 0) throw new Error(`${stdout}\n${stderr}\n${importing.output()}`)
  return stdout.trim().split('\n')
}

interface Trace {
  readonly records: readonly {
    readonly assurance: string
    readonly body: {
      readonly event: string
      readonly fromAgent: { readonly agentId: string }
      readonly toAgent: { readonly agentType: string }
      readonly handoffId: string
      readonly parentHandoffId: string | null
      readonly traceparent: string
      readonly act?: { readonly actor: string }
    }
  }[]
  readonly ends: readonly { readonly records: number }[]
  readonly verified: boolean
  readonly cost: {
    readonly totalSpentMicroUSD: number
    readonly finalExecutionsMicroUSD: number
    readonly byAgentMicroUSD: Readonly<Record<string, number>>
  }
}

async function ask<Answer>(path: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` }
  return (await (await fetch(`${gatewayUrl}${path}`, { headers })).json()) as Answer
}

/** The trace, once the sealer has signed its end. */
const tracedWhole = (taskId: string) =>
  eventually(
    async () => {
      const { audit } = await ask<{ audit: Trace }>(`/v2/tasks/${taskId}/trace`)
      return audit.ends.at(-1)?.records === RECORDED && audit
    },
    { deadlineMs: 60_000, describe: `the end of ${taskId} is sealed` },
  )

const RECORDS = [
  'scanner → analyst HANDOFF_APPROVED',
  'scanner → analyst HANDOFF_ACCEPTED',
  // As it was given the work, and as it announced itself in its reply.
  'scanner → analyst EXECUTION_STARTED',
  'scanner → analyst EXECUTION_STARTED',
  'scanner → analyst EXECUTION_COMPLETED',
  'analyst → reviewer HANDOFF_ACCEPTED',
  'analyst → reviewer EXECUTION_COMPLETED',
  'reviewer → archivist HANDOFF_ACCEPTED',
  'reviewer → archivist EXECUTION_COMPLETED',
]

/** And that the archivist was shown over SW4RM what waited for it, wherever that came into the log. */
const RECORDED = RECORDS.length + 1

const traceIdOf = (traceparent: string | undefined): string => traceparent?.slice(3, 35) ?? ''

it('P19 R11 S22 W05 one task crosses all protocols: one trace, one cost, one conversation', async () => {
  const lines = await followPage()
  const taskId = await onlyTask()
  const { records, verified, cost } = await tracedWhole(taskId)
  const all = records.map(({ body }) => body)
  const bodies = all.filter(({ event }) => event !== 'TEXT_READ')

  // The hops, in order, each below the one before, in the trace that the scanner began.
  expect(
    bodies.map(
      ({ fromAgent, toAgent, event }) => `${fromAgent.agentId} → ${toAgent.agentType} ${event}`,
    ),
  ).toEqual(RECORDS)
  const [first = '', second = '', third = ''] = new Set(bodies.map(({ handoffId }) => handoffId))
  expect(new Set(bodies.map((body) => `${body.handoffId} below ${body.parentHandoffId}`))).toEqual(
    new Set([`${first} below null`, `${second} below ${first}`, `${third} below ${second}`]),
  )
  expect(new Set(all.map(({ traceparent }) => traceIdOf(traceparent)))).toEqual(new Set([TRACE_ID]))
  expect(bodies[0]?.act?.actor).toBe('reviewer-1')
  expect(verified).toBe(true)

  // What each agent was told and said, in its own protocol.
  const file = await readOffer(taskId)
  const context = await readFile(join(baton.home, 'context.json'))
  expect(lines).toEqual([
    'accepted',
    expect.stringMatching(
      new RegExp(
        `^reviewer: claimed ${second} in 00-${TRACE_ID}-[0-9a-f]{16}-01 asked: Is the token`,
      ),
    ),
    'reviewer: COMPLETED',
    `archivist: kept "Keep the review" of reviewer (${third}) in ${baton.home}/context.json`,
    SAID,
    `[ '${FINDINGS[0]}' ]`,
  ])
  expect(analystSaid).toMatch(new RegExp(`dispatched ${first} in 00-${TRACE_ID}-`))
  for (const told of [SAID, 'tag:security', 'tag:auth']) expect(analystSaid).toContain(told)

  // The cost of the task is the sum of what was reported; one of the three protocols has money.
  expect(cost.byAgentMicroUSD).toEqual({
    scanner: 0,
    analyst: 0,
    reviewer: COST_MICRO_USD,
    archivist: 0,
  })
  expect(cost.totalSpentMicroUSD + cost.finalExecutionsMicroUSD).toBe(COST_MICRO_USD)
  expect(await ask(`/v2/tasks/${taskId}`)).toMatchObject({
    task: { status: 'COMPLETED', budgetUSD: 1, spentUSD: COST_MICRO_USD / 1e6 },
  })

  // The outcome is back in the file, and in the words of the Handoffs API.
  expect(file).toMatchObject({
    status: 'completed',
    context: {
      accepted_by: 'analyst',
      baton_handoff_id: first,
      result: { status: 'done', artifacts: { findings: FINDINGS } },
    },
  })
  expect(await ask(`/api/handoffs/${first}`)).toMatchObject({
    status: 'completed',
    approvedBy: 'Ann',
    targetTaskId: taskId,
  })

  // The bytes of SW4RM decode to the conversation that was offered, and to where the task stands.
  const decoded = deserializeContext(context, { mode: 'strict' })
  expect(Buffer.from(serializeContext(decoded)).equals(context)).toBe(true)
  expect(contextObject(decoded)).toEqual({
    conversation_history: [{ role: 'user', content: SAID }],
    tool_state: {
      description: 'Review the token check in src/auth.py',
      file: 'src/auth.py',
      tags: 'security,auth',
      confirmed: FINDINGS,
    },
    metadata: {
      agent_id: 'reviewer',
      task_id: taskId,
      handoff_id: third,
      parent_handoff_id: second,
      traceparent: bodies.at(-1)?.traceparent,
      tracestate: 'scanner=run-7',
      cost_spent_usd: 0.0125,
      cost_remaining_usd: 0.9875,
      completed_subtasks: [
        expect.objectContaining({ subtaskId: 'analyst-1' }),
        expect.objectContaining({
          subtaskId: `${first}-next-1`,
          result: { confirmed: FINDINGS },
        }),
      ],
      constraints: ['tag:security', 'tag:auth'],
    },
  })

  // And a verification of the stored bytes says that nothing of it is missing.
  const proof = await baton.run('verify', taskId)
  expect(proof).toMatchObject({ exitCode: 0 })
  expect(proof.stdout).toContain(`${RECORDED} of ${RECORDED} recomputed`)
  expect(proof.stdout).toContain('$0.0125 over 3 hops')
  expect(proof.stdout).toContain('✓ verdict')
})

async function onlyTask(): Promise<string> {
  const offers = await readdir(join(baton.home, 'offers'))
  const [file = ''] = offers.filter((name) => name.endsWith('.json'))
  return file.replace('.json', '')
}

const readOffer = async (taskId: string) =>
  JSON.parse(await readFile(join(baton.home, 'offers', `${taskId}.json`), 'utf8')) as OfferedHandoff
