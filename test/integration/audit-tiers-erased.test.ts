// What was erased stays told apart from what is missing when the record of its erasure has left the database.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { erasureOf } from '@baton/ledger'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

let tiers: Tiers
const erasureId = randomUUID()
const ORIGIN = 'baton/development/1/s0'

beforeAll(async () => {
  tiers = await createTiers()
  const text = 'a name'
  await tiers.append(41, 1, { segments: [{ kind: 'personal', subject: 'somebody', text }] })
  const { rows } = await tiers.fixture.superuser.query<{ ref: string }>({
    text: 'select subject_ref as ref from audit.payload where seq = 0',
  })
  const subjectRef = rows[0]?.ref ?? ''
  await tiers.append(40, 1, {
    event: 'ERASURE_REQUESTED',
    reason: 'ART_17_1_A',
    act: { id: erasureId, actor: 'one' },
    taskId: erasureId,
    handoffId: erasureId,
    verdicts: null,
    cost: null,
    erasure: erasureOf(subjectRef, [[ORIGIN, 0, 0]]),
    segments: [],
  })
  await tiers.append(40, 400)
  await tiers.append(0, 200)
  const inAudit = [
    `insert into audit.erasure (id, state, basis, requested_by, confirmed_by, handoff_ids, task_ids)
     values ('${erasureId}', 'ERASED', 'ART_17_1_A', 'one', 'two', '{}', '{}')`,
    `insert into audit.erased_subject (subject_ref, erasure_id) values ('${subjectRef}', '${erasureId}')`,
    `insert into audit.erased_segment values (0, 0, 0, '${subjectRef}')`,
  ]
  for (const statement of inAudit) await tiers.fixture.superuser.query({ text: statement })
  await tiers.fixture.vaultSuperuser.query({
    text: `delete from vault.subject_key where subject_ref = '${subjectRef}'`,
  })
  await tiers.sealing.sealed()
})
afterAll(() => tiers?.close())

test('an erased segment is no finding before and after its days were dropped', async () => {
  expect((await tiers.verify()).findings).toEqual([])
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ hotFrom }) => hotFrom === 402)
  await archiver.stop()
  expect((await tiers.verify()).findings).toEqual([])
})
