// The audit store stopped, Redis emptied in mid-run, a sender killed: nothing executes unrecorded, nothing is lost.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import {
  acquirePostgres,
  createSystem,
  describeWith,
  eventually,
  sendToRedis,
  startOwnRedis,
} from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { createDriver, newTask, sendTasks } from './driver.ts'
import { drained, violations } from './history.ts'

const redisOrNot = await startOwnRedis()

describeWith('an outage', redisOrNot, (redis) => {
  const ledger = join(mkdtempSync(join(tmpdir(), 'baton-ledger-')), 'effects.jsonl')
  const acknowledged: string[] = []
  let system: System
  let driver: Sender
  let auditor: ServiceProcess
  let receiver: ServiceProcess

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    system = await createSystem({
      purpose: 'outages',
      adminUrl,
      redisUrl: redis.url,
      agents: './test/fault/ledger-agents.ts',
      env: {
        BATON_TEST_LEDGER: ledger,
        BATON_TEST_WORK_MS: '20',
        BATON_UNDELIVERED_MS: '1000',
        BATON_CONCURRENCY: '8',
      },
    })
    auditor = await system.start('auditor')
    await system.start('relay')
    receiver = await system.start('receiver')
    driver = createDriver(system)
  })

  afterAll(async () => {
    await driver.close()
    await system.stop()
    await redis.stop()
  })

  const ledgerLines = (): number =>
    existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').length - 1 : 0

  const outages = [
    {
      what: 'the auditor',
      begin: () => auditor.kill(),
      end: async () => void (auditor = await system.start('auditor')),
    },
    {
      what: 'the audit database',
      begin: () => setAuditDatabase(system, 'closed'),
      end: () => setAuditDatabase(system, 'open'),
    },
  ]

  it.each(outages)('of $what stops every execution; work resumes by itself', async (outage) => {
    acknowledged.push(...(await sendTasks(driver, 20)))
    await drained(system)
    await outage.begin()
    const before = { ledger: ledgerLines(), pauses: pauses(receiver) }
    acknowledged.push(...(await sendTasks(driver, 40)))
    const noticed = async () => pauses(receiver) > before.pauses || (await released(system)) >= 40
    await eventually(noticed, {
      deadlineMs: 60_000,
      describe: () => `the receiver notices the outage\n${receiver.output()}`,
    })
    expect(ledgerLines()).toBe(before.ledger)
    await outage.end()
    await drained(system)
    expect(await violations(system, acknowledged, ledger)).toEqual([])
  })

  it('of Redis by FLUSHALL in mid-run keeps no acknowledged handoff from completing', async () => {
    for (let round = 0; round < 5; round += 1) {
      acknowledged.push(...(await sendTasks(driver, 40)))
      await sendToRedis(redis.url, [['FLUSHALL']])
    }
    await drained(system)
    expect(await violations(system, acknowledged, ledger)).toEqual([])
  })

  it.each(['sender.before_commit', 'sender.after_commit'])(
    'of a sender at %s leaves each handoff sent exactly once after it repeats itself',
    async (point) => {
      const tasks = Array.from({ length: 8 }, newTask)
      const input = tasks
        .map((agentState) => `${JSON.stringify({ agentState, targetAgentType: 'first' })}\n`)
        .join('')
      const first = await runSender(system, input, { BATON_CRASH_AT: point })
      expect(first.signal).toBe('SIGKILL')
      const second = await runSender(system, input, {})
      expect(second.code).toBe(0)
      const answers = second.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { handoffId: string })
      expect(answers.map((answer) => answer.handoffId).toSorted()).toEqual(
        tasks.map((task) => task.handoffId).toSorted(),
      )
      acknowledged.push(...answers.map((answer) => answer.handoffId))
      await drained(system)
      expect(await violations(system, acknowledged, ledger)).toEqual([])
    },
  )
})

/** How often the receiver paused because the audit store did not answer. */
const pauses = (receiver: ServiceProcess): number =>
  receiver.output().split('"audit.blocked"').length - 1

/** Ends every connection to the audit database and refuses new ones; or lets them in again. */
async function setAuditDatabase(system: System, state: 'open' | 'closed'): Promise<void> {
  const name = new URL(system.adminUrls.audit).pathname.slice(1)
  const pool = createPool({
    url: system.adminUrls.store,
    applicationName: 'test',
    connectionsMax: 1,
  })
  await pool.query({ text: `alter database ${name} allow_connections ${state === 'open'}` })
  await pool.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and $2`,
    values: [name, state === 'closed'],
  })
  await pool.end()
}

/** How many claims the receiver gave back for want of a receipt. */
async function released(system: System): Promise<number> {
  const pool = createPool({ url: system.databaseUrl, applicationName: 'test', connectionsMax: 1 })
  const { rows } = await pool.query<{ count: number }>({
    text: `select count(*) as count from execution where status = 'ABANDONED'`,
  })
  await pool.end()
  return rows[0]?.count ?? 0
}

interface SenderRun {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
}

function runSender(system: System, input: string, env: Record<string, string>): Promise<SenderRun> {
  const child = spawn(process.execPath, ['services/sender/src/main.ts'], {
    env: { ...process.env, ...system.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, stdout })),
  )
}
