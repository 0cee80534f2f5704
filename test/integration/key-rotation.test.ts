// Keys change while the log works: under appends and erasures every row of the vault comes under the new keys, nothing is lost,
// and a key that is still needed cannot be left out unseen.
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskTrace, VerifyReport } from '@baton/audit'
import {
  createBatchSigner,
  createCosigner,
  createNoteSigner,
  formatVerifierKey,
  namedBy,
  operationEntry,
  parsePeople,
  rotationFacts,
  taskOfSettings,
} from '@baton/ledger'
import type { VerifierKey } from '@baton/ledger'
import { PEOPLE as DECIDERS, eventually } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import { opsUrl, privateKey, publicHalf } from './audit-seals-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

const ALONE = { verdict: 'incomplete', findings: [] }
const PEOPLE = 1_200

let fixture: AuditFixture
let auditor: RunningAuditor
const told = new Map<string, ReturnType<typeof entryOf>>()

const secret = (): string => randomBytes(32).toString('base64')
const idOf = (base64: string): string =>
  createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex').slice(0, 16)

const wrapping = { first: '', second: secret(), third: secret() }
const lookup = { first: '', second: secret(), third: secret() }
const batch = { second: privateKey() }
const witness = (name: string) => createCosigner({ name, pkcs8: privateKey() }).key
const witnesses = { first: witness('witness.example.com'), second: witness('other.example.com') }
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-rotation-'))
  fixture = await createAuditFixture()
  wrapping.first = fixture.wrapping
  lookup.first = fixture.vaultKeys.lookupKey
  auditor = await fixture.startAuditor()
  const subjects = Array.from({ length: PEOPLE }, () => `person-${randomUUID()}`)
  for (let at = 0; at < subjects.length; at += 200) {
    await tell(auditor, subjects.slice(at, at + 200))
  }
})
afterAll(async () => {
  await fixture?.close()
  await rm(folder, { recursive: true, force: true })
})

/** One record for each person, some of them with another person beside them. */
async function tell(to: RunningAuditor, subjects: readonly string[]): Promise<void> {
  const entries = subjects.map((subject, at) => {
    const beside = at % 50 === 1 ? [subjects[at - 1] as string, subject] : undefined
    const owner = beside === undefined ? { subject } : { subject: null, subjects: beside }
    const segments = [{ kind: 'message' as const, ...owner, text: `about ${subject}` }]
    return entryOf({ segments })
  })
  await to.client.append(entries)
  subjects.forEach((subject, at) => told.set(subject, entries[at] as ReturnType<typeof entryOf>))
}

const rows = async <Row extends object>(text: string): Promise<Row[]> =>
  (await fixture.vaultSuperuser.query<Row>({ text })).rows

const under = async (column: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await rows<{ id: string; used: number }>(
        `select ${column} as id, count(*)::integer as used from vault.subject_key where lookup is not null group by 1`,
      )
    ).map(({ id, used }) => [id, used]),
  )

const verify = (of: RunningAuditor) =>
  of.read<{ verdict: string; findings: object[] }>('/v1/verify')

async function erase(by: RunningAuditor, subject: string, between?: () => Promise<void>) {
  const { taskId, handoffId } = told.get(subject) as ReturnType<typeof entryOf>
  const id = randomUUID()
  const places = { subject, handoffIds: [handoffId], taskIds: [taskId] }
  const plan = { id, ...places, basis: 'GDPR_ART_17_1', requestedBy: 'ann' }
  expect((await by.erase('/v1/erasures', plan)).status).toBe(200)
  await between?.()
  const then = between === undefined ? by : auditor
  const path = `/v1/erasures/${id}`
  expect((await then.erase(`${path}/confirm`, { ...places, confirmedBy: 'bob' })).status).toBe(200)
  const answer = await then.erase(`${path}/complete`, { stores: [] })
  expect(answer.status).toBe(200)
  const receipt = (await answer.json()) as { segments: Record<string, number> }
  expect(receipt.segments).toMatchObject({ present: 0, missing: 0, mismatch: 0 })
  expect(receipt.segments['erased']).toBeGreaterThan(0)
  for (const key of [lookup.first, lookup.second]) expect(await foundBy(key, subject)).toBe(0)
}

const person = (at: number): string => [...told.keys()][at] as string

const restart = async (env: Record<string, string>): Promise<void> => {
  await auditor.process.stop()
  auditor = await fixture.startAuditor(env)
}

/** It may be dead before it says that it is ready, or after. */
async function killedAfterFirstSet(): Promise<void> {
  const env = { ...FIRST_STEP(), BATON_CRASH_AT: 'auditor.after_vault_set' }
  const doomed = await fixture.startAuditor(env).catch(() => undefined)
  await doomed?.process.exited(10_000)
}

/** Names these witnesses, none of which anybody asks: nobody seals here. */
async function policyOf(
  ...keys: readonly VerifierKey[]
): Promise<{ BATON_SEAL_POLICY_FILE: string }> {
  const log = createNoteSigner({ name: 'baton/development/seals', pkcs8: privateKey() })
  const lines = keys.map((key, at) => `witness w${at} ${formatVerifierKey(key)} http://127.0.0.1:1`)
  const BATON_SEAL_POLICY_FILE = join(folder, 'policy')
  const text = [`log ${formatVerifierKey(log.key)}`, ...lines, 'quorum none', ''].join('\n')
  await writeFile(BATON_SEAL_POLICY_FILE, text)
  return { BATON_SEAL_POLICY_FILE }
}

const nameOf = ({ name, keyId }: VerifierKey): string => `${name}+${keyId}`

const FIRST_STEP = () => ({
  BATON_AUDIT_WRAPPING_KEY: `${wrapping.second},${wrapping.first}`,
  BATON_AUDIT_LOOKUP_KEY: `${lookup.second},${lookup.first}`,
  BATON_AUDIT_SIGNING_KEY: batch.second,
  BATON_AUDIT_TRUSTED_KEYS: publicHalf(fixture.signingKey),
})

test('a plan made before a rotation erases after it, and a killed re-wrapping loses no key', async () => {
  await erase(auditor, person(3), async () => {
    await auditor.process.stop()
    await killedAfterFirstSet()
    const left = await under('wrapping_key_id')
    expect(left[idOf(wrapping.first)]).toBeGreaterThan(0)
    expect(left[idOf(wrapping.second)]).toBeGreaterThan(0)
    auditor = await fixture.startAuditor(FIRST_STEP())
    // The plan is noted under the first key only, and by now the person stands under the second.
    await eventually(async () => (await foundBy(lookup.second, person(3))) === 1, {
      deadlineMs: 30_000,
      describe: 'the person under the second lookup key',
    })
  })
  expect(await verify(auditor)).toMatchObject(ALONE)
})

test('appends and erasures during it are neither lost nor repeated, and everything ends under the new keys', async () => {
  const before = await countRecords()
  const fresh = Array.from({ length: 400 }, () => `person-${randomUUID()}`)
  const appends = (async () => {
    for (let at = 0; at < fresh.length; at += 20) await tell(auditor, fresh.slice(at, at + 20))
  })()
  for (let at = 2; at < 12; at += 1) await erase(auditor, person(at * 7))
  await appends
  await eventually(
    async () => {
      const [wrapped, found] = [await under('wrapping_key_id'), await under('lookup_key_id')]
      return Object.keys({ ...wrapped, ...found }).length === 2
    },
    { deadlineMs: 30_000, describe: 'all rows under the new keys' },
  )
  expect(await under('wrapping_key_id')).toEqual({ [idOf(wrapping.second)]: expect.any(Number) })
  expect(await under('lookup_key_id')).toEqual({ [idOf(lookup.second)]: expect.any(Number) })
  // Each erasure is two records, the request and its end.
  expect((await countRecords()) - before).toBe(fresh.length + 10 * ERASURE_RECORDS)
  expect(await verify(auditor)).toMatchObject(ALONE)
  const [same] = await auditor.client.append([told.get(person(5)) as ReturnType<typeof entryOf>])
  expect(same).toMatchObject({ duplicate: true })
})

const ERASURE_RECORDS = 2

const countRecords = async (): Promise<number> => {
  const { rows: counted } = await fixture.superuser.query<{ records: number }>({
    text: 'select count(*)::integer as records from audit.record',
  })
  return counted[0]?.records ?? 0
}

test('each change is one record, however often the auditor starts', async () => {
  const { rows: recorded } = await fixture.superuser.query<{ body: Buffer }>({
    text: `select body from audit.record r where convert_from(body, 'UTF8') like '%"KEY_ROTATED"%'`,
  })
  const changes = recorded.map(({ body }) => JSON.parse(body.toString()))
  expect(changes.map(({ operation }) => operation.subject).toSorted()).toEqual([
    'batch',
    'lookup',
    'wrapping',
  ])
  const ofWrapping = changes.find(({ operation }) => operation.subject === 'wrapping')
  expect(ofWrapping.operation.details).toEqual([
    { code: 'NEW_KEY', value: idOf(wrapping.second), sha256: null },
    { code: 'EARLIER_KEY', value: idOf(wrapping.first), sha256: null },
  ])
  const ofBatch = changes.find(({ operation }) => operation.subject === 'batch')
  expect(ofBatch.operation.details[0].value).toBe(createBatchSigner(batch.second).keyId)
  const first = createBatchSigner(fixture.signingKey).keyId
  const { rotations, rotationsTotal } = await auditor.read<VerifyReport>('/v1/verify')
  expect(rotationsTotal).toBe(3)
  const listed = rotations.map(({ key, from, to, by }) => [key, from, to, by])
  expect(listed.toSorted()).toEqual([
    ['batch', [first], [createBatchSigner(batch.second).keyId], 'auditor'],
    ['lookup', [idOf(lookup.first)], [idOf(lookup.second)], 'auditor'],
    ['wrapping', [idOf(wrapping.first)], [idOf(wrapping.second)], 'auditor'],
  ])
})

test('what an auditor begins with is on record once, by public names and digests', async () => {
  const [settings, ...more] = await settingsTold()
  expect(more).toEqual([])
  const named = (code: string) => namedBy(settings ?? [], code)
  expect(named('PERSON')).toHaveLength(parsePeople(DECIDERS.setting).size)
  expect(named('BATCH_KEY')).toEqual([createBatchSigner(batch.second).keyId])
  expect(named('EARLIER_BATCH_KEY')).toEqual([createBatchSigner(fixture.signingKey).keyId])
  expect(named('WRAPPING_KEY')).toEqual([idOf(wrapping.second)])
  expect(named('EARLIER_WRAPPING_KEY')).toEqual([idOf(wrapping.first)])
  expect(named('LOOKUP_KEY')).toEqual([idOf(lookup.second)])
  expect(named('ALLOWED')).toEqual(['BATON_ALLOW_UNSEALED'])
})

/** What the auditor said of its settings, in order. */
async function settingsTold() {
  const { records } = await auditor.read<TaskTrace>(`/v1/traces/${taskOfSettings('auditor')}`)
  return records.map(({ body }) => body.operation?.details ?? [])
}

const rotationsTold = async () =>
  (await auditor.read<VerifyReport>('/v1/verify')).rotations
    .filter(({ by }) => by === 'auditor')
    .map(({ key, from, to }) => [key, from, to])

test('nobody who appends says that a key of the auditor was rotated', async () => {
  const about = {
    event: 'KEY_ROTATED',
    actor: 'mallory',
    by: 'mallory',
    right: 'settings',
  } as const
  const rotated = (subject: string) =>
    operationEntry({
      ...about,
      id: randomUUID(),
      at: new Date().toISOString(),
      subject,
      details: rotationFacts({ key: subject, from: ['a1'], to: ['b2'] }),
    })
  for (const key of ['batch', 'wrapping', 'lookup', 'seal'])
    await expect(auditor.client.append([rotated(key)])).rejects.toMatchObject({
      code: 'BATON_AUDIT_EVENT_RESERVED',
    })
  // Which key signs handoffs, the processes say that sign.
  await auditor.client.append([rotated('handoff')])
  const { rotations } = await auditor.read<VerifyReport>('/v1/verify')
  expect(rotations.at(-1)).toMatchObject({
    key: 'handoff',
    from: ['a1'],
    to: ['b2'],
    by: 'mallory',
  })
})

test('the earlier keys can then be taken out, and nothing that they made becomes a finding', async () => {
  const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
  expect(metrics).toMatch(/^baton_vault_rows_left\{key="wrapping"\} 0$/m)
  expect(metrics).toMatch(/^baton_vault_rows_left\{key="lookup"\} 0$/m)
  const { BATON_AUDIT_SIGNING_KEY, BATON_AUDIT_TRUSTED_KEYS } = FIRST_STEP()
  await restart({
    BATON_AUDIT_WRAPPING_KEY: wrapping.second,
    BATON_AUDIT_LOOKUP_KEY: lookup.second,
    BATON_AUDIT_SIGNING_KEY,
    BATON_AUDIT_TRUSTED_KEYS,
    ...(await policyOf(witnesses.first)),
  })
  expect(await verify(auditor)).toMatchObject(ALONE)
  // An earlier key that is not held any more is a change of the settings, and none of the key in use.
  const [, settings = [], ...more] = await settingsTold()
  expect(more).toEqual([])
  expect(namedBy(settings, 'EARLIER_WRAPPING_KEY')).toEqual([])
  expect(namedBy(settings, 'WITNESS_KEY')).toEqual([nameOf(witnesses.first)])
  expect(await rotationsTold()).toHaveLength(3)
  // Recorded under the first lookup key, said again under the second.
  const [same] = await auditor.client.append([told.get(person(6)) as ReturnType<typeof entryOf>])
  expect(same).toMatchObject({ duplicate: true })
  await erase(auditor, person(7))
  await erase(auditor, person(51))
  const foreign = `select from vault.subject_member where lookup_key_id <> '${idOf(lookup.second)}'`
  await eventually(async () => (await rows(foreign)).length === 0, {
    deadlineMs: 30_000,
    describe: 'nothing found under the first lookup key',
  })
})

test('an auditor without a key that is still needed does not start, and says which', async () => {
  const keys = { BATON_AUDIT_LOOKUP_KEY: lookup.second, BATON_AUDIT_SIGNING_KEY: batch.second }
  await expect(
    fixture.startAuditor({ ...keys, BATON_AUDIT_WRAPPING_KEY: wrapping.third }),
  ).rejects.toThrow(`wrapping key ${idOf(wrapping.second)}`)
  await expect(
    fixture.startAuditor({
      ...keys,
      BATON_AUDIT_WRAPPING_KEY: wrapping.second,
      BATON_AUDIT_LOOKUP_KEY: secret(),
    }),
  ).rejects.toThrow(`lookup key ${idOf(lookup.second)}`)
})

test('people recorded before names were kept are found until they are seen again, and then under the new key', async () => {
  const [unseen, seen] = [person(110), person(111)]
  const refs = [unseen, seen].map((subject) => lookupOf(lookup.second, subject))
  await fixture.vaultSuperuser.query({
    text: `update vault.subject_key set lookup_key_id = '', sealed_names = null where lookup = any ($1)`,
    values: [refs],
  })
  const env = await LAST_STEP()
  await auditor.process.stop()
  // With the first record of a change on record, and what follows not.
  const doomed = await fixture
    .startAuditor({ ...env, BATON_CRASH_AT: 'auditor.after_append' })
    .catch(() => undefined)
  await doomed?.process.exited(10_000)
  auditor = await fixture.startAuditor(env)
  const [earlier, current] = [idOf(lookup.second), idOf(lookup.third)]
  await eventually(async () => (await under('lookup_key_id'))[earlier] === refs.length, {
    deadlineMs: 30_000,
    describe: 'all but those two under the new key',
  })
  const before = (await under('lookup_key_id'))[current] ?? 0
  const first = told.get(seen) as ReturnType<typeof entryOf>
  await tell(auditor, [seen])
  expect(await under('lookup_key_id')).toEqual({ [earlier]: 1, [current]: before + 1 })
  const again = told.get(seen) as ReturnType<typeof entryOf>
  expect(again.taskId).not.toBe(first.taskId)
  await erase(auditor, seen)
  await erase(auditor, unseen)
  expect(await under('lookup_key_id')).toEqual({ [current]: before })
  expect(await verify(auditor)).toMatchObject(ALONE)
})

const LAST_STEP = async () => ({
  BATON_AUDIT_WRAPPING_KEY: wrapping.second,
  BATON_AUDIT_LOOKUP_KEY: `${lookup.third},${lookup.second}`,
  BATON_AUDIT_SIGNING_KEY: batch.second,
  BATON_AUDIT_TRUSTED_KEYS: publicHalf(fixture.signingKey),
  ...(await policyOf(witnesses.first, witnesses.second)),
})

test('a killed auditor tells a change that it had begun to tell, once; and a key that comes back is a change too', async () => {
  const keysOf = ({ first, second }: typeof witnesses) => [nameOf(first), nameOf(second)].toSorted()
  const changes = [
    ['lookup', [idOf(lookup.second)], [idOf(lookup.third)]],
    ['witness', [nameOf(witnesses.first)], keysOf(witnesses)],
  ]
  expect((await rotationsTold()).slice(3).toSorted()).toEqual(changes)
  expect(await settingsTold()).toHaveLength(3)
  await restart({
    ...(await LAST_STEP()),
    BATON_AUDIT_SIGNING_KEY: fixture.signingKey,
    BATON_AUDIT_TRUSTED_KEYS: publicHalf(batch.second),
  })
  const [first, second] = [fixture.signingKey, batch.second].map((key) => [
    createBatchSigner(key).keyId,
  ])
  expect((await rotationsTold()).slice(5)).toEqual([['batch', second, first]])
  expect(await settingsTold()).toHaveLength(4)
  expect(await verify(auditor)).toMatchObject(ALONE)
})

/** How many rows stand under this key and this person's name. */
async function foundBy(key: string, subject: string): Promise<number | null> {
  const text = 'select from vault.subject_key where lookup = $1'
  const values = [lookupOf(key, subject)]
  return (await fixture.vaultSuperuser.query({ text, values })).rowCount
}

const lookupOf = (key: string, subject: string): Buffer =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(`subject/development/${subject}`).digest()
