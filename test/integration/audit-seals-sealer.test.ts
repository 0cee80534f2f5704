// The sealer signs one history only: whatever dies, whatever is slipped in, whoever restores an older state.
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Receipt } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, opsUrl } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

interface Store {
  readonly fixture: AuditFixture
  readonly sealing: Sealing
  readonly auditor: RunningAuditor
}

const opened: Store[] = []

async function openStore(env: Record<string, string> = {}): Promise<Store> {
  const fixture = await createAuditFixture(2)
  const sealing = await createSealing(fixture)
  const auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey, ...env })
  const store = { fixture, sealing, auditor }
  opened.push(store)
  return store
}

const soon = (what: string) => ({ deadlineMs: 20_000, describe: () => what })

afterAll(async () => {
  for (const { sealing, fixture } of opened) {
    await sealing.close()
    await fixture.close()
  }
})

const append = (store: Store, entries = 4): Promise<readonly Receipt[]> =>
  store.auditor.client.append(Array.from({ length: entries }, () => entryOf()))

describe('a sealer that dies', () => {
  let store: Store
  beforeAll(async () => {
    store = await openStore()
  })

  test.each([
    ['sealer.before_state', 2],
    ['sealer.before_rename', 2],
    ['sealer.before_publish', 2],
    ['sealer.after_publish', 2],
    ['sealer.after_task_map', 1],
  ] as const)('at %s goes on with one history', async (point, hit) => {
    const dying = await store.sealing.startSealer({
      BATON_CRASH_AT: `${point}:${hit}`,
      BATON_SEAL_HEARTBEAT_MS: '100',
    })
    await append(store)
    await dying.exited()
    await append(store)
    const next = await store.sealing.startSealer()
    await store.sealing.sealed()
    expect(await next.stop()).toBe(0)
    expect(next.output()).not.toContain('seal.task_map_damaged')
    const report = await store.sealing.verify()
    expect(report.findings).toEqual([])
    expect(report.seals?.witnessed).toBe(report.seals?.entries)
  })

  test('leaves no gap in the published log when the database fails after a seal is signed', async () => {
    const { fixture, sealing } = store
    const sealer = await sealing.startSealer()
    const signed = async () => {
      const state = JSON.parse(await readFile(sealing.stateFile, 'utf8')) as {
        readonly seal: { readonly seq: number }
      }
      return state.seal.seq + 1
    }
    const published = async () => {
      const text = 'select count(*)::integer as seals from audit.seal'
      return (await fixture.superuser.query<{ seals: number }>({ text })).rows[0]?.seals ?? 0
    }
    await sealing.sealed()
    await fixture.superuser.query({
      text: 'revoke execute on function audit.publish_seal from audit_sealer',
    })
    await append(store)
    const isAhead = async () => (await signed()) > (await published())
    await eventually(isAhead, soon('a seal is signed and not published'))
    await append(store)
    const failures = () => sealer.output().split('"seal.failed"').length
    const failed = failures()
    await eventually(() => failures() > failed + 2, soon('publishing was tried again'))
    expect(await signed()).toBe((await published()) + 1)
    await fixture.superuser.query({
      text: 'grant execute on function audit.publish_seal to audit_sealer',
    })
    await sealing.sealed()
    expect(await sealer.stop()).toBe(0)
    expect((await sealing.verify()).findings).toEqual([])
  })

  test('makes a seal now and then although nothing grew, so that silence is visible', async () => {
    const before = (await store.sealing.verify()).seals?.entries ?? 0
    const sealer = await store.sealing.startSealer({ BATON_SEAL_HEARTBEAT_MS: '100' })
    await eventually(
      async () => ((await store.sealing.verify()).seals?.entries ?? 0) > before + 2,
      soon('heartbeat seals are made'),
    )
    expect(await sealer.stop()).toBe(0)
  })
})

describe('T26 a record slipped in by SQL', () => {
  test('is not sealed, is counted, and stops every append', async () => {
    const store = await openStore({ BATON_AUDIT_UNSEALED_MAX_MS: '1000' })
    const sealer = await store.sealing.startSealer()
    await append(store)
    await store.sealing.sealed()
    await store.fixture.guards.lift(['head'])
    await store.fixture.superuser.query({
      text: `insert into audit.record select chain, size,
          greatest(last_recorded_at + interval '1 second', clock_timestamp()),
          gen_random_uuid(), gen_random_uuid(), 1, null, 'forged', sha256('forged')
          from audit.head where chain = 0;
        update audit.head set size = size + 1, last_hash = sha256('forged') where chain = 0`,
    })
    const ready = async () => (await fetch(`${opsUrl(sealer)}/readyz`)).status
    await eventually(async () => (await ready()) === 503, soon('the sealer is unready'))
    const metrics = await (await fetch(`${opsUrl(sealer)}/metrics`)).text()
    expect(metrics).toMatch(/^baton_audit_tamper_detected_total 1$/m)
    expect(metrics).toMatch(/^baton_audit_tampered 1$/m)
    expect(sealer.output()).toMatch(/"event":"audit.tamper_detected"/)
    const refused = async () =>
      problemOf(await store.auditor.post({ entries: [entryOf()] })).catch(() => undefined)
    await eventually(
      async () => (await refused())?.code === 'BATON_AUDIT_UNSEALED',
      soon('appends are refused'),
    )
    expect(await refused()).toMatchObject({ status: 503 })
    expect((await store.sealing.rules())[0]).toMatch(/@0:/)
  })
})

test('an auditor that was told of no sealer does not start, unless it may go without', async () => {
  const { fixture } = await openStore()
  const unsealed = fixture.startAuditor({ BATON_ALLOW_UNSEALED: '0' })
  await expect(unsealed).rejects.toThrow(/BATON_SEAL_KEY_MISSING/)
  const waived = await fixture.startAuditor({ BATON_ALLOW_UNSEALED: '1' })
  expect((await waived.post({ entries: [entryOf()] })).status).toBe(200)
})

test('without a sealer appends stop, and go on when it is back', async () => {
  const store = await openStore({ BATON_AUDIT_UNSEALED_MAX_MS: '1000' })
  await append(store)
  const status = async () => (await store.auditor.post({ entries: [entryOf()] })).status
  await eventually(async () => (await status()) === 503, soon('appends are refused'))
  await store.sealing.startSealer()
  await eventually(async () => (await status()) === 200, soon('appends go on'))
  expect(await status()).toBe(200)
})

describe('T20 the state file', () => {
  let store: Store
  const refusal = async (): Promise<string> => {
    const sealer = await store.sealing.startSealer({ BATON_TEST_READY: 'false' })
    expect((await sealer.exited()).code).toBe(1)
    return sealer.output()
  }
  beforeAll(async () => {
    store = await openStore()
    await append(store)
    const first = await store.sealing.startSealer()
    await store.sealing.sealed()
    await first.stop()
    await copyFile(store.sealing.stateFile, `${store.sealing.stateFile}.old`)
    await append(store)
    const second = await store.sealing.startSealer()
    await store.sealing.sealed()
    await second.stop()
    await copyFile(store.sealing.stateFile, `${store.sealing.stateFile}.new`)
  })

  test('rolled back: nothing is signed below what is known outside', async () => {
    await copyFile(`${store.sealing.stateFile}.old`, store.sealing.stateFile)
    expect(await refusal()).toContain('BATON_SEALER_STATE_BEHIND')
  })

  test('lost: nothing is signed, also when the database has lost its copies', async () => {
    await rm(store.sealing.stateFile)
    expect(await refusal()).toContain('BATON_SEALER_STATE_LOST')
    await store.fixture.superuser.query({
      text: `alter table audit.seal disable trigger refuse_change;
        create table kept as table audit.seal; delete from audit.seal;
        alter table audit.seal enable always trigger refuse_change`,
    })
    expect(await refusal()).toContain('BATON_SEALER_STATE_LOST')
    await store.fixture.superuser.query({ text: 'insert into audit.seal table kept' })
  })

  test('damaged: nothing is signed, and the newest file makes it go on', async () => {
    await copyFile(store.sealing.anchorFile, store.sealing.stateFile)
    expect(await refusal()).toContain('BATON_SEALER_STATE_UNREADABLE')
    await copyFile(`${store.sealing.stateFile}.new`, store.sealing.stateFile)
    await append(store)
    const sealer = await store.sealing.startSealer()
    await store.sealing.sealed()
    expect(await sealer.stop()).toBe(0)
    expect(await store.sealing.rules()).toEqual([])
  })
})

describe('an anchor file that was emptied', () => {
  let store: Store
  const kept = async () => {
    const state = await readFile(store.sealing.stateFile, 'utf8')
    return (JSON.parse(state) as { anchored: { file?: { size: number } } }).anchored.file?.size ?? 0
  }
  beforeAll(async () => {
    store = await openStore()
    await append(store)
  })

  test('while it seals: the sealer stops for good, and says why', async () => {
    const sealer = await store.sealing.startSealer({ BATON_SEAL_HEARTBEAT_MS: '100' })
    await store.sealing.sealed()
    await eventually(async () => (await kept()) > 0, soon('the state says what is anchored'))
    // A checkpoint may be on its way: then the newest stands there again, and nothing was forgotten.
    const emptied = async () => {
      await writeFile(store.sealing.anchorFile, '')
      return (await fetch(`${opsUrl(sealer)}/readyz`)).status === 503
    }
    await eventually(emptied, soon('the sealer is unready'))
    expect(sealer.output()).toContain('the anchor file ends at size 0, and had kept')
    expect(await readFile(store.sealing.anchorFile, 'utf8')).toBe('')
    await sealer.stop()
  })

  test('or lost: the sealer does not start, unless the anchor may begin anew', async () => {
    for (const lose of [async () => undefined, () => rm(store.sealing.anchorFile)]) {
      await lose()
      const sealer = await store.sealing.startSealer({ BATON_TEST_READY: 'false' })
      expect((await sealer.exited()).code).toBe(1)
      expect(sealer.output()).toContain('BATON_ANCHOR_FORGOT')
    }
    const sealer = await store.sealing.startSealer({ BATON_SEAL_ANCHOR_FIRST_START: '1' })
    await append(store)
    await store.sealing.sealed()
    expect(await sealer.stop()).toBe(0)
    expect(await store.sealing.rules()).toEqual([])
  })
})

test('a log that is sealed further while it is verified is not taken for one that was cut off', async () => {
  const store = await openStore()
  await append(store)
  await store.sealing.startSealer()
  await store.sealing.sealed()
  const anchored = async () => (await readFile(store.sealing.anchorFile, 'utf8')).length
  const { findings } = await store.sealing.verify({
    whenAsked: async () => {
      const before = await anchored()
      await append(store)
      await eventually(async () => (await anchored()) > before, soon('a newer seal is anchored'))
    },
  })
  expect(findings).toEqual([])
})

test('two sealers with one key and one state, and no witness: the second does not start, and the first goes on', async () => {
  const store = await openStore()
  await append(store)
  const first = await store.sealing.startSealer({ BATON_SEALER_LEASE_MS: '1000' })
  await store.sealing.sealed()
  const copy = `${store.sealing.stateFile}.copy`
  await copyFile(store.sealing.stateFile, copy)
  const second = await store.sealing.startSealer({
    BATON_SEALER_STATE_FILE: copy,
    BATON_SEALER_LEASE_MS: '1000',
    BATON_TEST_READY: 'false',
  })
  expect((await second.exited()).code).toBe(1)
  expect(second.output()).toContain('BATON_SEALER_ELSEWHERE')
  await append(store)
  await store.sealing.sealed()
  expect(await first.stop()).toBe(0)
  expect((await store.sealing.verify()).findings).toEqual([])
})

test('nothing is sealed that was put back from a backup, before the restore is finished', async () => {
  const { fixture, sealing } = await openStore()
  const set = (value: string) =>
    fixture.superuser.query({
      text: `alter database "${fixture.databases.audit}" set baton.restored = '${value}'`,
    })
  await set('20261128T120000000Z')
  await expect(sealing.startSealer()).rejects.toThrow(/BATON_RESTORE_UNFINISHED/)
  await set('')
  await (await sealing.startSealer()).stop()
})
