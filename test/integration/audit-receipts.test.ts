// Two databases witness each other: a receipt that an execution holds shows what the audit log lost.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { reconcile } from '@baton/engine'
import type { HeldReceipt } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor
let held: HeldReceipt[] = []

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_UNSEALED_MAX_MS: '3600000',
  })
  const entries = Array.from({ length: 6 }, () => entryOf())
  const receipts = await auditor.client.append(entries)
  held = entries.map(({ handoffId, epoch }, at) => {
    return { handoffId, epoch, hash: receipts[at]?.recordHash ?? '' }
  })
  for (const table of ['record', 'idem', 'batch_sig', 'payload', 'head']) {
    await fixture.superuser.query({ text: `alter table audit.${table} disable trigger user` })
  }
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

describe('receipts', () => {
  test('are recorded first and sealed once the sealer has been there', async () => {
    expect(await auditor.client.checkReceipts(held)).toEqual(Array(6).fill('recorded'))
    const sealer = await sealing.startSealer()
    await eventually(
      async () => (await auditor.client.checkReceipts(held)).every((state) => state === 'sealed'),
      { deadlineMs: 30_000, describe: () => 'all are sealed' },
    )
    expect(await sealer.stop()).toBe(0)
  })

  test('T06 T11 show a record that is gone or another one, head and batches and all', async () => {
    const stranger = { handoffId: randomUUID(), epoch: 1, hash: 'ab'.repeat(32) }
    const edited = { ...(held[0] as HeldReceipt), hash: 'ab'.repeat(32) }
    expect(await auditor.client.checkReceipts([stranger, edited])).toEqual(['missing', 'different'])
    await fixture.superuser.query({ text: 'delete from audit.record where seq = 5' })
    expect(await auditor.client.checkReceipts(held)).toEqual([
      ...Array(5).fill('sealed'),
      'missing',
    ])
  })

  test('refuses what is no list of receipts, and whoever has no token', async () => {
    const post = (body: object, headers = {}) =>
      fetch(`${auditor.url}/v1/receipts/check`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const authorization = 'Bearer append-token-9516dfb15f51c7ee19a4d4'
    const many = Array(1_001).fill(held[0])
    for (const receipts of [[], many, [{ handoffId: 'x' }], 'no list']) {
      const refused = await problemOf(await post({ receipts }, { authorization }))
      expect(refused).toMatchObject({ status: 400, code: 'BATON_RECEIPTS_INVALID' })
    }
    expect((await post({ receipts: held })).status).toBe(401)
  })
})

describe('the reconciler', () => {
  const run = async (
    executions: readonly HeldReceipt[],
    mark?: string,
    client: Pick<RunningAuditor['client'], 'checkReceipts'> = auditor.client,
  ) => {
    const error = vi.fn()
    const metrics = createMetrics()
    const marks: string[] = []
    let told = 0
    const parts = {
      client,
      everyMs: 10,
      metrics,
      logger: { error, warn: vi.fn() } as never,
    }
    const reconciler = reconcile(parts, {
      listNewest: async () => [],
      listAfter: async (after) => executions.filter(({ handoffId }) => handoffId > after),
      readProgress: async () => mark,
      writeProgress: async (handoffId) => void marks.push(handoffId),
      tellContradicted: async () => (told += 1),
    })
    await reconciler.start()
    await eventually(() => marks.length > 0, { deadlineMs: 30_000, describe: () => 'a round' })
    await reconciler.stop()
    return { error, shown: (await metrics.expose()).body, marks, told }
  }

  test('counts and names what does not match, and begins anew when it is through', async () => {
    const { error, shown, marks, told } = await run(held)
    expect(told).toBeGreaterThan(0)
    expect(shown).toMatch(/^baton_audit_tamper_detected_total [1-9]/m)
    expect(shown).toMatch(/^baton_receipts_unmatched_total\{state="missing"\} [1-9]/m)
    const { handoffId, epoch } = held[5] as HeldReceipt
    expect(error.mock.calls[0]?.[0]).toMatchObject({
      event: 'receipts.unmatched',
      count: 1,
      handoffs: [{ handoffId, epoch }],
      states: ['missing'],
    })
    expect(marks[0]).toBe('00000000-0000-0000-0000-000000000000')
  })

  test('calls records that only wait for their seal no tampering: the sealer is away', async () => {
    const checkReceipts = async () => held.map(() => 'waiting' as const)
    const { error, shown, told } = await run(held, undefined, { checkReceipts })
    expect(told).toBe(0)
    expect(error.mock.calls[0]?.[0]).toMatchObject({ event: 'receipts.unmatched', count: 6 })
    expect(shown).toMatch(/^baton_receipts_unmatched_total\{state="waiting"\} [1-9]/m)
    expect(shown).toMatch(/^baton_audit_tamper_detected_total 0$/m)
  })

  test('says nothing where all match, and looks only at what comes after its mark', async () => {
    expect((await run(held.slice(0, 5))).error).not.toHaveBeenCalled()
    const last = held
      .map(({ handoffId }) => handoffId)
      .toSorted()
      .at(-1)
    expect((await run(held, last)).error).not.toHaveBeenCalled()
  })
})
