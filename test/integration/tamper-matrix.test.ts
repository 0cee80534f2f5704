// The tamper matrix: every row is caught and located wherever it applies, and no check could be missing.
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  createAuditLog,
  createLocalWrappingKey,
  createPool,
  createSubjectVault,
} from '@baton/audit'
import { createBatchSigner, writeBundle } from '@baton/ledger'
import { randomBytes } from 'node:crypto'
import { entryOf, problemOf } from './audit-fixture.ts'
import { taskOfShard } from './audit-seals-fixture.ts'
import { BUNDLE_CASES } from './tamper-matrix-bundle.ts'
import { LOG_CASES } from './tamper-matrix-log.ts'
import { RECORD_CASES } from './tamper-matrix-records.ts'
import { createTamperWorld } from './tamper-matrix-world.ts'
import type { TamperWorld } from './tamper-matrix-world.ts'
import { MATRIX } from './tamper-matrix.ts'

let world: TamperWorld

beforeAll(async () => {
  world = await createTamperWorld()
}, 120_000)
afterAll(() => world?.close())

/** `RULE@place`, or `RULE` where the check says between which records. */
const isAt = (finding: string, expected: string): boolean =>
  finding === expected || finding.startsWith(`${expected}:`) || finding.startsWith(`${expected}@`)

const HOT_CASES = [...RECORD_CASES, ...LOG_CASES]
/** The rules that each attack on the hot store broke. */
const caught: ReadonlySet<string>[] = []
const ruleOf = (finding: string): string => finding.split('@')[0] ?? ''

describe('in the hot store', () => {
  afterEach(() => world.restore('untouched'))

  test('an untouched log has no finding', async () => {
    expect(await world.findings()).toEqual([])
  })

  test.each(HOT_CASES)('$row $attack', async ({ tamper, found }) => {
    await tamper(world)
    const findings = await world.findings()
    const missing = found.filter((one) => !findings.some((finding) => isAt(finding, one)))
    expect({ missing, findings }).toEqual({ missing: [], findings })
    caught.push(new Set(findings.map(ruleOf)))
  })

  // What only receipts find is a row of its own: they stand in another database.
  test('without any one check at least one attack would slip by', () => {
    const onlyBy = (rule: string) =>
      caught.some((rules) => {
        const others = [...rules].filter((one) => one !== rule && one !== 'RECEIPT')
        return rules.has(rule) && others.length === 0 && (rule !== 'RECEIPT' || rules.size === 1)
      })
    expect(RULES.filter((rule) => !onlyBy(rule))).toEqual([])
    const broken = new Set(caught.flatMap((rules) => [...rules]))
    expect([...broken].toSorted()).toEqual([...RULES, ...NEVER_ALONE].toSorted())
  })
})

/**
 * What the database says itself of seals that are gone, an anchor knows as well: `audit-outside` has it alone. A time ahead
 * of every clock stands beside the change that made it: `audit-clock` has it alone.
 */
const NEVER_ALONE = ['CLOCK', 'SEAL_GONE']

/** Every rule of the hot store but those for keys that are not known and for the cold store. */
const RULES = [
  'BATCH_COVER',
  'BATCH_SIGNATURE',
  'CHAIN_MISSING',
  'HEAD',
  'PAYLOAD_MISMATCH',
  'PAYLOAD_MISSING',
  'PAYLOAD_UNEXPECTED',
  'RECEIPT',
  'RECORD_COLUMNS',
  'RECORD_HASH',
  'RECORD_INDEX',
  'RECORD_LINK',
  'RECORD_ORIGIN',
  'RECORD_SEQ',
  'RECORD_TIME',
  'RECORD_UNREADABLE',
  'SEAL_ANCHOR',
  'SEAL_COPY',
  'SEAL_LOG',
  'SEAL_ROOT',
  'SEAL_SIGNATURE',
  'SEAL_SIZE',
  'TASK_LINK',
]

describe('in a bundle', () => {
  test('an untouched one is valid', () => {
    const report = world.verify(writeBundle(world.parts))
    expect(report.checks.flatMap(({ findings }) => findings)).toEqual([])
    expect(report.verdict).toBe('valid')
  })

  test.each(BUNDLE_CASES)('$row $attack', ({ change, found }) => {
    const { verdict, checks } = world.verify(writeBundle(change(world.parts, world)))
    const findings = checks.flatMap((check) =>
      check.findings.map(({ rule, seq }) => (seq === null ? rule : `${rule}@${seq}`)),
    )
    expect({ verdict, found: findings.some((one) => isAt(one, found)), findings }).toEqual({
      verdict: 'tampered',
      found: true,
      findings,
    })
  })
})

describe('at the append', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const entry = JSON.stringify(entryOf())
  test.each([
    ['JSON 10,000 deep', `{"entries":${deep}}`],
    ['a lone surrogate', `{"entries":[${entry.replace('the message', '\\ud800')}]}`],
    ['a __proto__ member', `{"entries":[${entry.replace('{', '{"__proto__":{"attempt":7},')}]}`],
    ['257 segments', JSON.stringify({ entries: [entryOf({ segments: manySegments(257) })] })],
  ])('T36 %s', async (_, body) => {
    expect((await problemOf(await world.auditor.post(body))).status).toBe(400)
    expect(await world.findings()).toEqual([])
  })

  test('T35 a clock that goes back an hour keeps the order of times', async () => {
    const { fixture, sealing, restore } = world
    const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 1 })
    const [db, vaultDb] = [open(fixture.urls.writer), open(fixture.urls.vault)]
    const key = () => randomBytes(32).toString('base64')
    const vault = createSubjectVault({
      db: vaultDb,
      wrappingKey: createLocalWrappingKey(key()),
      lookupKey: key(),
    })
    const log = createAuditLog({
      db,
      vault,
      signer: createBatchSigner(fixture.signingKey),
      environment: 'development',
      nowMicros: () => (Date.now() - 3_600_000) * 1_000,
    })
    await log.append([entryOf({ taskId: taskOfShard(0, 2), segments: [] })])
    expect(await sealing.rules()).toEqual([])
    await Promise.all([db.end(), vaultDb.end()])
    await restore('untouched')
  })
})

const manySegments = (length: number) =>
  Array.from({ length }, () => ({ kind: 'message' as const, subject: null, text: 'x' }))

describe('the table', () => {
  test('has all 36 rows, each with an attack here or by name elsewhere', () => {
    const here = new Set([...HOT_CASES, ...BUNDLE_CASES].map(({ row }) => row).concat('T36'))
    const ids = Array.from({ length: 36 }, (_, at) => `T${String(at + 1).padStart(2, '0')}`)
    expect(MATRIX.map(({ id }) => id)).toEqual(ids)
    const untested = MATRIX.filter(
      ({ id, elsewhere = [] }) => !here.has(id) && elsewhere.length === 0,
    )
    expect(untested).toEqual([])
    expect([...here].filter((id) => !ids.includes(id))).toEqual([])
  })

  test.each(
    MATRIX.flatMap(({ id, elsewhere = [] }) => elsewhere.map((one) => [id, ...one] as const)),
  )('%s: %s has the test "%s…"', async (_, file, title) => {
    const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')
    expect(source.includes(`'${title}`)).toBe(true)
  })
})
