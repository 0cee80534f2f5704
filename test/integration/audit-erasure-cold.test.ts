// A person whose records are in the cold store alone is erased: the receipt names the objects, and both tiers verify.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AuditLog, createPool, Eraser, readErasedObjects } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { createBatchSigner } from '@baton/ledger'
import type { Receipt } from '@baton/ledger'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

let tiers: Tiers
let pools: Pool[] = []
beforeAll(async () => {
  tiers = await createTiers()
})
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await tiers?.close()
})

function openEraser(): Eraser {
  const { fixture, vault, batchKeys, cold } = tiers
  const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 2 })
  pools = [fixture.urls.eraser, fixture.urls.vault, fixture.urls.writer].map(open)
  const [db, vaultDb, writer] = pools as [Pool, Pool, Pool]
  const signer = createBatchSigner(fixture.signingKey)
  const log = new AuditLog({ db: writer, vault, signer, environment: 'test' })
  return new Eraser({
    db,
    vaultDb,
    vault,
    environment: 'test',
    batchKeys,
    append: async (entries) =>
      (await log.append(entries)).flatMap((outcome): Receipt[] =>
        outcome.kind === 'receipt' ? [outcome.receipt] : [],
      ),
    readCold: (refs, taskIds) =>
      readErasedObjects({ db: fixture.reader, store: cold, vault }, refs, taskIds),
  })
}

test('segments that only the cold store holds are listed, named and without a key', async () => {
  const subject = `person-${randomUUID()}`
  const [told] = await tiers.append(41, 1, {
    segments: [{ kind: 'personal', subject, text: 'a name' }],
  })
  await tiers.append(40, 400)
  await tiers.append(0, 200)
  await tiers.sealing.sealed()
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ hotFrom }) => hotFrom === 401)
  await archiver.stop()

  const eraser = openEraser()
  const id = randomUUID()
  const named = { handoffIds: [told?.handoffId ?? ''], taskIds: [told?.taskId ?? ''] }
  await eraser.plan({ id, subject, basis: 'GDPR_ART_17_1', requestedBy: 'ann', ...named })
  const confirmed = await eraser.confirm({ id, subject, confirmedBy: 'bob', ...named })
  expect(confirmed.kind).toBe('erased')
  const outcome = await eraser.complete(id)
  const cold = outcome.stores.filter(({ name }) => name.startsWith('cold object'))
  expect(cold).toMatchObject([{ before: 1, after: 0 }])
  expect(outcome.stores).toContainEqual({ name: 'audit payload segments', before: 1, after: 0 })
  expect((await tiers.verify()).findings).toEqual([])
})
