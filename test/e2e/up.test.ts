// The main job from the command line, on an instance of its own, and everything that can be asked about it after.
import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireRedis, describeWith, isLong, uniqueName } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine, Finished } from './command-line.ts'
import { summaryOf } from './main-job.ts'
import { withAudit } from './with-audit.ts'
import { readmeSession, withoutFigures } from './readme-session.ts'

const RUN_MAX_MS = 120_000
const FIELDS = [
  'ok',
  'tasks',
  'handoffs',
  'accepted',
  'rejected',
  'deadLettered',
  'rolledBack',
  'latencyMs',
  'costUSD',
  'auditRecords',
  'chainVerified',
  'traceMs',
  'queue',
  'database',
  'elapsedMs',
]

type Json = Record<string, unknown>

const newSigningKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

/** So many texts; every licence there is in a long run. */
const reviews = (count: number): string[] => (isLong ? [] : ['--reviews', String(count)])

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''
const parse = <Value = Json>({ stdout }: Finished): Value => JSON.parse(lastLine(stdout)) as Value

const mainJobOn = (queue: string): Json => ({
  rejected: { SAFETY_VIOLATION: 1 },
  deadLettered: 1,
  rolledBack: 1,
  chainVerified: true,
  queue,
})

describe('up --once without Redis, and what can be asked afterwards', () => {
  let baton: CommandLine
  let first: Finished
  let tasks: Json[] = []

  beforeAll(async () => {
    baton = await openCommandLine()
    first = await baton.run('up', '--once', ...reviews(110), '--json', '--no-redis')
    const listed = await baton.run('tasks', '--json', '--status', 'completed', '--limit', '5')
    tasks = parse<Json[]>(listed)
  }, RUN_MAX_MS)
  afterAll(() => baton.discard())

  const someTask = () => String(tasks[0]?.['taskId'])

  it('keeps every promise of the main job', () => {
    const summary = summaryOf(first)
    expect(Object.keys(summary)).toEqual(FIELDS)
    expect(summary).toMatchObject(mainJobOn('in-process'))
    expect(summary['tasks']).toBeGreaterThanOrEqual(100)
    expect(summary['accepted']).toBeGreaterThanOrEqual(300)
    expect((summary['latencyMs'] as { p99: number }).p99).toBeGreaterThan(0)
  })

  it('prints what the README shows', async () => {
    const shown = await readmeSession()
    const trace = await baton.run('trace', someTask())
    const verify = await baton.run('verify')
    const printed = new Set(
      [trace, verify].flatMap(({ stdout }) => stdout.split('\n')).map(withoutFigures),
    )
    const missing = shown.filter((line) => !printed.has(withoutFigures(line)))
    expect(missing).toEqual([])
  })

  it('lists tasks, newest first and filtered', () => {
    expect(tasks).toHaveLength(5)
    expect(tasks[0]).toMatchObject({ status: 'COMPLETED', handoffs: 3 })
  })

  it('rebuilds a trace from the first digits of a task id', async () => {
    const trace = await baton.run('trace', someTask().slice(0, 13), '--json')
    expect(trace.exitCode).toBe(0)
    expect(parse(trace)).toMatchObject({
      taskId: someTask(),
      verified: true,
      gaps: [],
      findings: [],
    })
    expect((await baton.run('trace', someTask())).stdout).toContain('legal-analysis → risk-scoring')
  })

  it('verifies the log and one task', async () => {
    const whole = await baton.run('verify')
    expect(whole.exitCode).toBe(0)
    expect(whole.stdout).toContain('Verified OK')
    expect((await baton.run('verify', someTask())).exitCode).toBe(0)
  })

  it('shows the dead letter with its place, and never its text', async () => {
    const { stdout, exitCode } = await baton.run('dlq', 'ls', '--json')
    expect(exitCode).toBe(0)
    expect(parse<Json[]>({ stdout, exitCode, stderr: '' })).toMatchObject([
      { reason: 'SAFETY_VIOLATION' },
    ])
    expect(stdout).not.toContain('gnore all previous')
  })

  it('finds nothing broken', async () => {
    const doctor = await baton.run('doctor', '--json')
    const broken = parse<Json[]>(doctor).filter(({ mark }) => mark === 'failed')
    expect(broken).toEqual([])
    expect(doctor.exitCode).toBe(0)
  })

  it('answers the audit query of the pattern with one row per handoff', async () => {
    const rows = await withAudit(baton.home, async (pool) => {
      const text = `SELECT * FROM handoff_audit WHERE taskId = '${someTask()}' ORDER BY timestamp ASC`
      return (await pool.query<Json & { status: string }>({ text })).rows
    })
    expect(rows.map(({ status }) => status)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED'])
  })

  it('proves the rows of that query, and names what a view made of them', async () => {
    const file = join(baton.home, 'rows.json')
    const keepRows = (hidden: number) =>
      withAudit(baton.home, async (pool) => {
        const text = `select jsonb_agg(v)::text as rows from (SELECT * FROM handoff_audit WHERE taskId = '${someTask()}' ORDER BY timestamp OFFSET ${hidden}) v`
        const { rows } = await pool.query<{ rows: string }>({ text })
        await writeFile(file, rows[0]?.rows ?? '')
      })
    await keepRows(0)
    const proven = await baton.run('verify', '--rows', file)
    expect([proven.exitCode, proven.stderr]).toEqual([0, expect.stringContaining('Next: ')])
    expect(proven.stdout).toMatch(/✓ rows +3 of 3 rows of handoff_audit say what was recorded/)
    expect(proven.stdout).toContain('Verified OK: 3 rows of 1 task are what was recorded')
    await keepRows(1)
    const hidden = await baton.run('verify', '--rows', file, '--json')
    expect(hidden.exitCode).toBe(3)
    expect(parse<Json>(hidden)).toMatchObject({
      verdict: 'altered',
      rows: 2,
      recorded: 2,
      findings: [{ taskId: someTask(), row: null, message: expect.stringContaining('is missing') }],
    })
    await writeFile(file, (await readFile(file, 'utf8')).replace('"ACCEPTED"', '"REJECTED"'))
    const lied = await baton.run('verify', '--rows', file)
    expect(lied.exitCode).toBe(3)
    expect(lied.stderr).toMatch(/row 1: status says "REJECTED", record \d+ says "ACCEPTED"/)
    expect(lied.stdout).toContain('NOT verified: handoff_audit did not show what was recorded')
  })

  it.each([
    [['trace', 'ffffffff-ffff-4fff-8fff-ffffffffffff'], 5, 'there is no task'],
    [['trace', 'nonsense'], 2, 'not a task id'],
    [['tasks', '--status', 'asleep'], 2, 'there is no status'],
    [['settings', 'kitchen'], 2, 'there is no service'],
    [['review-contract', 'no-such-file'], 5, 'there is no file'],
  ])('answers %j with exit code %i', async (args, exitCode, problem) => {
    const finished = await baton.run(...args)
    expect(finished.exitCode).toBe(exitCode)
    expect(finished.stderr).toContain(problem)
    expect(finished.stdout).toBe('')
  })

  it(
    'reviews a text of the user’s own',
    async () => {
      const file = join(baton.home, 'agreement.txt')
      await writeFile(
        file,
        'Permission is granted to use the software. The user shall indemnify the author.\n',
      )
      const review = await baton.run('review-contract', file, '--no-redis', '--json')
      expect(review).toMatchObject({ exitCode: 0 })
      expect(parse(review)).toMatchObject({
        status: 'COMPLETED',
        findings: { licence: 'agreement.txt' },
      })
    },
    RUN_MAX_MS,
  )

  it(
    'says why a handoff came back, after its last attempt',
    async () => {
      const sent = await baton.run('send', '--to', 'clause-extraction', '--no-redis', '--json')
      expect(sent.exitCode).toBe(1)
      expect(parse(sent)).toMatchObject({
        status: 'PENDING_HANDOFF',
        handoffs: [{ state: 'ROLLED_BACK', reason: 'INCOMPLETE_CONTEXT' }],
      })
      expect(sent.stderr).toContain('/currentState/licence')
    },
    RUN_MAX_MS,
  )

  it(
    'counts only its own run when it runs again',
    async () => {
      const again = await baton.run('up', '--once', '--reviews', '8', '--json', '--no-redis')
      expect(summaryOf(again)).toMatchObject(mainJobOn('in-process'))
      // Eight reviews, the planted injection, the review that fails, and the claim.
      expect(parse(again)['tasks']).toBe(11)
    },
    RUN_MAX_MS,
  )

  it('cannot say who wrote records whose signing key it does not know', async () => {
    const key = { BATON_AUDIT_SIGNING_KEY: newSigningKey() }
    const verify = await baton.runWith(key, 'verify', '--full')
    expect(verify.exitCode).toBe(4)
    expect(verify.stdout).toMatch(/– signatures +4 findings/)
    expect(verify.stderr).toMatch(/unknown key \S+ \(BATCH_KEY\).*BATON_AUDIT_TRUSTED_KEYS/)
    const doctor = await baton.runWith(key, 'doctor')
    expect(doctor.exitCode).toBe(4)
    expect(doctor.stdout).toMatch(/– keys/)
    expect(doctor.stdout).not.toMatch(/✗ (?:keys|I10)/)
    const vouched = await baton.runWith(key, 'verify')
    expect([vouched.exitCode, vouched.stdout]).toEqual([0, expect.stringContaining('✓ seals')])
  })

  it('names a changed record, its rule and what it means', async () => {
    await withAudit(baton.home, async (pool) => {
      await pool.query({ text: 'alter table audit.record disable trigger refuse_change' })
      await pool.query({
        text: 'update audit.record set spent_micro = coalesce(spent_micro, 0) + 1 where chain = 0 and seq = 0',
      })
      await pool.query({ text: 'alter table audit.record enable always trigger refuse_change' })
    })
    expect(
      (await baton.runWith({ BATON_AUDIT_SIGNING_KEY: newSigningKey() }, 'verify')).exitCode,
    ).toBe(3)
    const verify = await baton.run('verify')
    expect(verify.exitCode).toBe(3)
    expect(verify.stderr).toMatch(/record 0 of \S+: columns differ.*RECORD_COLUMNS.*It means:/)
    expect((await baton.run('doctor')).exitCode).toBe(3)
  })
})

describeWith('up --once with Redis', await acquireRedis(), (redis) => {
  let baton: CommandLine
  beforeAll(async () => {
    baton = await openCommandLine({
      BATON_REDIS_URL: redis.url,
      BATON_QUEUE_PREFIX: uniqueName('up'),
    })
  })
  afterAll(() => baton.discard())

  it(
    'keeps every promise of the main job',
    async () => {
      const finished = await baton.run('up', '--once', ...reviews(40), '--json', '--redis')
      expect(summaryOf(finished)).toMatchObject(mainJobOn('redis'))
    },
    RUN_MAX_MS,
  )
})
