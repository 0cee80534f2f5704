// Two sealers of one log: one seals, the other stands by and goes on where it ended, and of no size there are ever two seals.
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  batchKeyId,
  encodeUtf8,
  parseCheckpoint,
  readBatchPublicKey,
  splitNote,
  toBase64,
} from '@baton/ledger'
import { createPool, openSealTrust, readSealers, verifyChains } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { eventually, uniqueDatabaseName } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createAuditFixture, entryOf, onDatabase } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, opsUrl, publicHalf } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { startRecordingWitness } from './recording-witness.ts'
import type { RecordingWitness } from './recording-witness.ts'

interface World {
  readonly fixture: AuditFixture
  readonly sealing: Sealing
  readonly auditor: RunningAuditor
  readonly witness: RecordingWitness
}

type Name = 'a' | 'b'

const LEASE_MS = 1_000
const opened: World[] = []

async function openWorld(): Promise<World> {
  const fixture = await createAuditFixture(2)
  const sealing = await createSealing(fixture)
  const witness = await startRecordingWitness(sealing.folder, sealing.sealKey)
  const auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey })
  for (const name of ['a', 'b']) await mkdir(join(sealing.folder, name))
  const world = { fixture, sealing, auditor, witness }
  opened.push(world)
  return world
}

afterAll(async () => {
  for (const { sealing, fixture, witness } of opened) {
    await sealing.close()
    await witness.close()
    await fixture.close()
  }
})

const fileOf = ({ sealing }: World, name: Name, file: string) => join(sealing.folder, name, file)

const running: ServiceProcess[] = []
afterEach(async () => {
  for (const sealer of running.splice(0)) {
    sealer.signal('SIGCONT')
    await sealer.kill()
  }
})

async function start(
  world: World,
  name: Name,
  env: Record<string, string> = {},
): Promise<ServiceProcess> {
  const sealer = await world.sealing.startSealer({
    BATON_SEALER_STANDBY: '1',
    BATON_SEALER_LEASE_MS: String(LEASE_MS),
    BATON_SEALER_STATE_FILE: fileOf(world, name, 'sealer.json'),
    BATON_SEAL_ANCHOR_FILE: fileOf(world, name, 'anchor.jsonl'),
    BATON_SEAL_POLICY_FILE: world.witness.policyFile,
    BATON_SEAL_HEARTBEAT_MS: '100',
    ...env,
  })
  running.push(sealer)
  return sealer
}

const append = ({ auditor }: World, entries = 3) =>
  auditor.client.append(Array.from({ length: entries }, () => entryOf()))

const soon = (what: string, ...seen: readonly ServiceProcess[]) => ({
  deadlineMs: 20_000,
  describe: () => [what, ...seen.map((one) => one.output())].join('\n'),
})

const leads = (sealer: ServiceProcess) =>
  eventually(() => sealer.output().includes('"seal.leading"'), soon('it leads', sealer))
const times = (sealer: ServiceProcess, event: string) =>
  sealer.output().split(`"event":"${event}"`).length - 1

async function sealsOf(pool: Pool): Promise<readonly { seq: number; note: string }[]> {
  return (
    await pool.query<{ seq: number; note: string }>({
      text: 'select seq::integer, note from audit.seal order by seq',
    })
  ).rows
}

const grows = async ({ fixture }: World, ...seen: readonly ServiceProcess[]) => {
  const before = (await sealsOf(fixture.superuser)).length
  await eventually(
    async () => (await sealsOf(fixture.superuser)).length > before + 1,
    soon('seals are published', ...seen),
  )
}

const rootsIn = (notes: readonly string[]): [number, string][] =>
  notes.flatMap((note): [number, string][] => {
    const found = parseCheckpoint(splitNote(encodeUtf8(note))?.text ?? '')
    return found === undefined ? [] : [[found.size, toBase64(found.root)]]
  })

/** Everything that anybody published, cosigned or kept: one root for each size. */
async function expectOneHistory(world: World, more: readonly Pool[] = []): Promise<void> {
  const { fixture, witness } = world
  const notes: string[] = []
  for (const pool of [fixture.superuser, ...more])
    notes.push(...(await sealsOf(pool)).map(({ note }) => note))
  for (const name of ['a', 'b'] as const) {
    const file = fileOf(world, name, 'anchor.jsonl')
    if (!existsSync(file)) continue
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
    notes.push(...lines.map((line) => (JSON.parse(line) as { note: string }).note))
  }
  const roots = new Map<number, Set<string>>()
  const add = (size: number, root: string) =>
    roots.set(size, (roots.get(size) ?? new Set<string>()).add(root))
  for (const [size, root] of rootsIn(notes)) add(size, root)
  for (const [size, some] of witness.cosigned) for (const root of some) add(size, root)
  expect([...roots].filter(([, some]) => some.size > 1)).toEqual([])
  // What is published was cosigned before.
  const unseen = (await sealsOf(fixture.superuser)).filter(
    ({ seq }) => !witness.cosigned.has(seq + 1),
  )
  expect(unseen).toEqual([])
}

async function expectSound(world: World): Promise<void> {
  await world.sealing.sealed()
  await expectOneHistory(world)
  expect(await findingsOf(world)).toEqual([])
}

/** By the witness alone: the anchor file of a sealer ends where another one leads. */
async function findingsOf({ fixture, sealing, witness }: World) {
  const batch = readBatchPublicKey(publicHalf(fixture.signingKey))
  const key = readBatchPublicKey(sealing.publicKey)
  const seals = await openSealTrust(fixture.reader, key, {
    BATON_SEAL_ANCHOR_FILE: undefined,
    BATON_SEAL_POLICY_FILE: witness.policyFile,
    BATON_SEALER_STATE_FILE: undefined,
    BATON_SEAL_S3_BUCKET: undefined,
    BATON_SEAL_S3_REGION: 'us-east-1',
    BATON_SEAL_S3_ENDPOINT: undefined,
  })
  const batchKeys = new Map([[batchKeyId(batch), batch]])
  const report = await fixture.guards.inPlace(() =>
    verifyChains({ pool: fixture.reader, batchKeys, seals }),
  )
  return report.findings
}

const metric = async (sealer: ServiceProcess) => {
  const metrics = await (await fetch(`${opsUrl(sealer)}/metrics`)).text()
  return /^baton_sealer_leading (\d)$/m.exec(metrics)?.[1]
}
const ready = async (sealer: ServiceProcess) => (await fetch(`${opsUrl(sealer)}/readyz`)).status

describe('of two sealers', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
    await append(world)
  })

  test('one seals and one stands by, both are ready, and a clean stop is followed at once', async () => {
    const a = await start(world, 'a')
    await leads(a)
    const b = await start(world, 'b')
    await world.sealing.sealed()
    await eventually(
      async () => ((await readSealers(world.fixture.reader))?.standbys.length ?? 0) === 1,
      soon('one stands by', b),
    )
    expect(await Promise.all([metric(a), metric(b), ready(a), ready(b)])).toEqual([
      '1',
      '0',
      200,
      200,
    ])
    await append(world)
    await world.sealing.sealed()
    expect(await a.stop()).toBe(0)
    const begun = performance.now()
    await leads(b)
    expect(performance.now() - begun).toBeLessThan(LEASE_MS)
    await append(world)
    await expectSound(world)
    expect(b.output()).not.toContain('task_map_built')
    const again = await start(world, 'a')
    expect(await b.stop()).toBe(0)
    await leads(again)
    await append(world)
    await expectSound(world)
    await again.stop()
  })

  test.each([
    'sealer.after_propose',
    'sealer.after_cosign',
    'sealer.before_publish',
    'sealer.after_publish',
  ])('the one that dies at %s is followed by the other within its lease', async (point) => {
    const dying = await start(world, 'a', { BATON_CRASH_AT: `${point}:9` })
    const standby = await start(world, 'b')
    await append(world)
    await dying.exited()
    const begun = performance.now()
    await leads(standby)
    expect(performance.now() - begun).toBeLessThan(LEASE_MS + 2_000)
    await append(world)
    await grows(world, standby)
    await expectSound(world)
    expect(standby.output()).not.toContain('audit.tamper_detected')
    expect(await standby.stop()).toBe(0)
  })

  test('one that slept past its lease stores nothing when it wakes, and stands by', async () => {
    const a = await start(world, 'a')
    await leads(a)
    const b = await start(world, 'b')
    await grows(world, a)
    a.signal('SIGSTOP')
    await leads(b)
    await append(world)
    await grows(world, b)
    a.signal('SIGCONT')
    await eventually(() => times(a, 'seal.lease_lost') > 0, soon('it has lost the lease', a))
    await grows(world, b)
    expect(await metric(a)).toBe('0')
    await b.kill()
    await eventually(() => times(a, 'seal.leading') > 1, soon('it leads again', a))
    await grows(world, a)
    await expectSound(world)
    expect(a.output()).not.toContain('audit.tamper_detected')
    await a.stop()
  })

  test('one that slept while the witness was asked: its seal is taken over, and it is not published twice', async () => {
    const a = await start(world, 'a')
    await leads(a)
    const b = await start(world, 'b')
    await grows(world, a)
    const release = world.witness.hold()
    await eventually(() => world.witness.waiting > 0, soon('the witness is being asked', a))
    a.signal('SIGSTOP')
    await eventually(() => times(b, 'seal.lease_taken') > 0, soon('the other has the lease', b))
    release()
    await leads(b)
    a.signal('SIGCONT')
    await eventually(() => times(a, 'seal.lease_lost') > 0, soon('it has lost the lease', a))
    await grows(world, b)
    await expectSound(world)
    expect(a.output() + b.output()).not.toContain('audit.tamper_detected')
    await a.stop()
    await b.stop()
  })

  test('while the witness is away nothing is published, and sealing goes on when it is back', async () => {
    const a = await start(world, 'a')
    await leads(a)
    await grows(world, a)
    const heal = world.witness.cutOff()
    await eventually(() => times(a, 'seal.failed') > 2, soon('the witness is asked again', a))
    const before = (await sealsOf(world.fixture.superuser)).length
    const failed = times(a, 'seal.failed')
    await eventually(() => times(a, 'seal.failed') > failed + 2, soon('and again', a))
    expect((await sealsOf(world.fixture.superuser)).length).toBe(before)
    heal()
    await grows(world, a)
    await expectSound(world)
    await a.stop()
  })

  test('one without a witness, or with another one, does not start', async () => {
    const refusalOf = async (env: Record<string, string>) => {
      const sealer = await start(world, 'a', { ...env, BATON_TEST_READY: 'false' })
      expect((await sealer.exited()).code).toBe(1)
      return sealer.output()
    }
    expect(await refusalOf({ BATON_SEAL_POLICY_FILE: '' })).toContain(
      'a sealer that stands by needs a witness',
    )
    expect(await refusalOf({ BATON_SEALER_STANDBY: '0' })).toContain('BATON_SEALER_OTHER_WITNESS')
    const other = await startRecordingWitness(world.sealing.folder, world.sealing.sealKey, 'other')
    expect(await refusalOf({ BATON_SEAL_POLICY_FILE: other.policyFile })).toContain(
      'BATON_SEALER_OTHER_WITNESS',
    )
    await other.close()
  })
})

test('two databases after a bad fail-over and one witness: one of them is sealed, in the other nothing is', async () => {
  const world = await openWorld()
  const { fixture } = world
  await append(world)
  const first = await start(world, 'a')
  await leads(first)
  const second = await start(world, 'b')
  await world.sealing.sealed()
  await second.stop()
  await first.stop()
  // The copy takes writes too, as a primary that was cut off does.
  const copy = uniqueDatabaseName('audit_split')
  const admin = createPool({
    url: onDatabase(fixture.adminUrl, 'postgres'),
    applicationName: 'test',
  })
  await admin.query({ text: `alter database ${fixture.databases.audit} allow_connections false` })
  await admin.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${fixture.databases.audit}'`,
  })
  await admin.query({ text: `create database ${copy} template ${fixture.databases.audit}` })
  await admin.query({ text: `alter database ${fixture.databases.audit} allow_connections true` })
  await admin.query({ text: `grant connect on database ${copy} to audit_sealer, audit_reader` })
  await admin.end()
  const other = createPool({ url: onDatabase(fixture.adminUrl, copy), applicationName: 'test' })
  const before = (await sealsOf(other)).length
  const [a, b] = await Promise.all([
    start(world, 'a', { BATON_TEST_READY: 'false' }),
    start(world, 'b', {
      BATON_AUDIT_SEALER_URL: onDatabase(fixture.urls.sealer, copy),
      BATON_TEST_READY: 'false',
    }),
  ])
  const tampered = (one: ServiceProcess) => one.output().includes('audit.tamper_detected')
  await eventually(() => tampered(a) !== tampered(b), soon('one of the two halts', a, b))
  const [sealedOn, halted] = tampered(a) ? [other, a] : [fixture.superuser, b]
  const seals = (await sealsOf(sealedOn)).length
  await eventually(
    async () => (await sealsOf(sealedOn)).length > seals + 1,
    soon('the other one goes on', a, b),
  )
  const left = sealedOn === other ? fixture.superuser : other
  expect((await sealsOf(left)).length - before).toBeLessThanOrEqual(seals - before)
  expect(halted.output()).toMatch(/knows \d+ seals|it has seen size|the log it has seen/)
  await a.kill()
  await b.kill()
  const [one, two] = [await sealsOf(fixture.superuser), await sealsOf(other)]
  const both = new Map(rootsIn(one.map(({ note }) => note)))
  const differing = rootsIn(two.map(({ note }) => note)).filter(
    ([size, root]) => both.has(size) && both.get(size) !== root,
  )
  expect(differing).toEqual([])
  expect([...world.witness.cosigned.values()].every((roots) => roots.size === 1)).toBe(true)
  await other.end()
})

test('a standby remembers what the witness cosigned: a database that was put back is found', async () => {
  const world = await openWorld()
  const { fixture } = world
  await append(world)
  const a = await start(world, 'a')
  await leads(a)
  const b = await start(world, 'b')
  await grows(world, a)
  const kept = (await sealsOf(fixture.superuser)).length
  await eventually(
    async () => {
      const state = await readFile(fileOf(world, 'b', 'sealer.json'), 'utf8')
      return (JSON.parse(state) as { tree: { size: number } }).tree.size >= kept
    },
    soon('the standby follows', b),
  )
  await a.kill()
  await fixture.superuser.query({
    text: `alter table audit.seal disable trigger refuse_change;
      delete from audit.seal where seq >= ${kept - 3};
      alter table audit.seal enable always trigger refuse_change`,
  })
  await eventually(async () => (await ready(b)) === 503, soon('the standby is unready', b))
  expect(b.output()).toContain('audit.tamper_detected')
  expect(times(b, 'seal.leading')).toBe(0)
})

test('who has stolen the role of the sealers stops sealing, and publishes nothing that is believed', async () => {
  const world = await openWorld()
  const { fixture } = world
  await append(world)
  const a = await start(world, 'a')
  await leads(a)
  await grows(world, a)
  const thief = createPool({ url: fixture.urls.sealer, applicationName: 'test' })
  const ask = async (text: string) =>
    Object.values((await thief.query<Record<string, unknown>>({ text })).rows[0] ?? {})[0]
  const seq = (await sealsOf(fixture.superuser)).length + 50
  const seal = `${seq}, now(), 'x', 'note', '{0}', '{5}', '{note}'`
  await expect(ask(`select audit.store_seal(${seal})`)).rejects.toThrow(/holds the lease/)
  expect(await ask(`select audit.publish_seal(999, 'thief', ${seal})`)).toBe('fenced')
  expect(await ask(`select audit.propose_seal(999, 'thief', ${seq}, 'x', 'note')`)).toBe('fenced')
  for (const change of [
    `update audit.seal_lease set held_until = 'infinity'`,
    `insert into audit.proposed_seal values (${seq}, 'x', 'note', 1)`,
    `delete from audit.proposed_seal`,
    `select audit.holds_seal_lease(1, '')`,
  ]) {
    await expect(ask(change)).rejects.toThrow(/permission denied/)
  }
  // With the holder's own name and number it publishes what it likes; the sealer finds it in its place, and halts.
  const lease = (
    await thief.query<{ epoch: number; holder: string }>({
      text: 'select epoch, holder from audit.seal_lease',
    })
  ).rows[0]
  const forge = async () => {
    const next = (await sealsOf(fixture.superuser)).length
    return ask(
      `select audit.propose_seal(${lease?.epoch}, '${lease?.holder}', ${next}, 'forged', 'note')`,
    )
  }
  await eventually(async () => (await forge()) === 'stored', soon('a forged proposal stands', a))
  await eventually(async () => (await ready(a)) === 503, soon('the sealer halts', a))
  expect(a.output()).toContain('audit.tamper_detected')
  const b = await start(world, 'b', { BATON_TEST_READY: 'false' })
  await eventually(
    () => b.output().includes('audit.tamper_detected'),
    soon('nor does another one sign it', b),
  )
  await expectOneHistory(world)
  expect(await findingsOf(world)).toEqual([])
  await thief.end()
})

test('a first sealer that asked no witness is followed once it has shown its seals to one', async () => {
  const world = await openWorld()
  await append(world)
  const alone = await start(world, 'a', { BATON_SEALER_STANDBY: '0', BATON_SEAL_POLICY_FILE: '' })
  await grows(world, alone)
  await alone.stop()
  const early = await start(world, 'b', { BATON_TEST_READY: 'false' })
  expect((await early.exited()).code).toBe(1)
  expect(early.output()).toMatch(/BATON_SEALER_UN(VOUCHED|WITNESSED)/)
  const a = await start(world, 'a')
  await leads(a)
  const b = await start(world, 'b')
  await a.kill()
  await leads(b)
  await grows(world, b)
  await world.sealing.sealed()
  expect(await findingsOf(world)).toEqual([])
  await b.stop()
})
