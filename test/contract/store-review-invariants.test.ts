// The rules about dead letters and releases notice when they are broken, and name what broke them.
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { addOverride, reopenHandoffs, storeInvariants } from '@baton/store'
import { quarantined, RULESET } from './dead-letter-fixture.ts'
import { SIGNED } from './signed-fixture.ts'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeEach(async () => {
  store = await openStore('review rules')
})
afterEach(() => store.close())

async function broken(): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for (const { rule, check } of storeInvariants(store.pool)) {
    const ids = await check()
    if (ids.length > 0) found[rule] = ids
  }
  return found
}

async function released(reviewers: readonly string[]) {
  const handoff = await quarantined(store.pool, { sentBy: 'carl' })
  const release = {
    id: randomUUID(),
    handoffId: handoff.handoffId,
    sha256: Buffer.from(handoff.sha256).toString('hex'),
    rulesetVersion: RULESET,
    reason: 'SAFETY_VIOLATION',
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    quarantineAttempt: 1,
    validHours: 1,
    votes: reviewers.map((person) => ({ person, signed: SIGNED })),
  }
  await addOverride(store.pool, release)
  const reopening = { handoffId: handoff.handoffId, approvalOverrideId: release.id }
  await reopenHandoffs(store.pool, [reopening], 'RELEASED')
  return handoff
}

const DEAD_LETTERS = 'a dead letter waits exactly as long as its handoff is quarantined'
const RELEASES =
  'an approval override covers one handoff and its bytes, and no ending without effect leaves it'
const EXECUTIONS = 'nothing quarantined executes unless two others than its sender released it'
const COMPLETE = `update handoff set state = 'COMPLETED', ended_at = now() where id = $1`

it('hold for what is quarantined and for what two people released', async () => {
  await quarantined(store.pool)
  await released(['ann', 'bob'])
  expect(await broken()).toEqual({})
})

it.each([
  [
    DEAD_LETTERS,
    `update dead_letter set resolved_at = now(), resolution = 'RELEASED' where handoff_id = $1`,
  ],
  [RELEASES, `update handoff set approval_override_id = gen_random_uuid() where id = $1`],
])('%s', async (rule, breaking) => {
  const { handoffId } = await quarantined(store.pool)
  await store.rows(breaking, [handoffId])
  expect((await broken())[rule]).toEqual([handoffId])
})

it.each([
  [RELEASES, `update handoff set body_sha256 = sha256('other') where id = $1`],
  [RELEASES, `update handoff set state = 'EXPIRED', ended_at = now() where id = $1`],
])('%s, also once it was given', async (rule, breaking) => {
  const { handoffId } = await released(['ann', 'bob'])
  await store.rows(breaking, [handoffId])
  expect((await broken())[rule]).toEqual([handoffId])
})

it.each([
  ['nobody decided', async () => quarantined(store.pool)],
  ['one person released', async () => released(['ann'])],
  ['its sender released', async () => released(['ann', 'carl'])],
])('nothing that %s executes', async (_, make) => {
  const { handoffId } = await make()
  await store.rows(COMPLETE, [handoffId])
  expect((await broken())[EXECUTIONS]).toEqual([handoffId])
})
