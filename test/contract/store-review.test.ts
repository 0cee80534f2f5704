// Reviews on a real Postgres: what a decision reopens, what it takes to be decided, what an ending takes away.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addOverride,
  addVote,
  askSender,
  claimExecutions,
  CLUSTER_POSITION,
  countDeadLetterClusters,
  countReleasedDeadLetters,
  discardDeadLetter,
  expireHandoffs,
  findDeadLetter,
  findHandoff,
  findStoredMessage,
  findTask,
  holdDeadLetters,
  inTransaction,
  listClusterDeadLetters,
  listDeadLetterClusters,
  listDeadLetters,
  listReleasedDeadLetters,
  listVotes,
  reopenHandoffs,
  replaceMessage,
  sendHandoffs,
  storeInvariants,
} from '@baton/store'
import type { NewHandoff } from '@baton/store'
import { quarantine, quarantined, RULESET } from './dead-letter-fixture.ts'
import { SIGNED } from './signed-fixture.ts'
import { claim, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store review')
})
afterAll(() => store.close())

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

const releaseOf = (handoff: NewHandoff, expiresAt: string) => ({
  id: randomUUID(),
  handoffId: handoff.handoffId,
  sha256: Buffer.from(handoff.sha256).toString('hex'),
  rulesetVersion: RULESET,
  reason: 'SAFETY_VIOLATION',
  expiresAt,
  quarantineAttempt: 1,
  validHours: 1,
  votes: ['ann', 'bob'].map((person) => ({ person, signed: SIGNED })),
})

async function released(hours = 1) {
  const handoff = await quarantined(store.pool, { sentBy: 'carl' })
  const release = releaseOf(handoff, inHours(hours))
  await addOverride(store.pool, release)
  const reopening = { handoffId: handoff.handoffId, approvalOverrideId: release.id }
  expect(await reopenHandoffs(store.pool, [reopening], 'RELEASED')).toBe(1)
  return { handoff, release }
}

describe('a dead letter', () => {
  it('says who sent it, what judged it, and what its like have in common', async () => {
    const { handoffId, sha256 } = await quarantined(store.pool, { sentBy: 'carl' })
    expect(await findDeadLetter(store.pool, handoffId)).toMatchObject({
      sentBy: 'carl',
      rulesetVersion: RULESET,
      cluster: 'C',
      quarantineAttempt: 1,
      sha256: Buffer.from(sha256).toString('hex'),
      resolvedAt: null,
    })
  })

  it('is listed by reason and cluster, and counted in its cluster', async () => {
    const one = newHandoff()
    await sendHandoffs(store.pool, [one])
    await quarantine(store.pool, one, { cluster: 'RARE rule@/place' })
    const filter = { limit: 10, cluster: 'RARE rule@/place' }
    const listed = await listDeadLetters(store.pool, filter)
    expect(listed.map((deadLetter) => deadLetter.handoffId)).toEqual([one.handoffId])
    expect(await listDeadLetters(store.pool, { ...filter, reason: 'POISON' })).toEqual([])
    const clusters = await listDeadLetterClusters(store.pool, { limit: 100 })
    expect(clusters.find(({ cluster }) => cluster === filter.cluster)).toMatchObject({
      count: 1,
      reason: 'SAFETY_VIOLATION',
      exampleId: one.handoffId,
    })
    expect(await listClusterDeadLetters(store.pool, filter.cluster, 10)).toEqual([one.handoffId])
  })

  it('is in one page of clusters, the largest first, whatever else comes meanwhile', async () => {
    for (const [cluster, size] of [
      ['PAGED a.b/1', 2],
      ['PAGED b', 1],
      ['PAGED c', 1],
    ] as const)
      for (let index = 0; index < size; index++) {
        const one = newHandoff()
        await sendHandoffs(store.pool, [one])
        await quarantine(store.pool, one, { cluster })
      }
    const seen: string[] = []
    let cursor: string | undefined
    for (;;) {
      const [next] = await listDeadLetterClusters(store.pool, { limit: 1, cursor })
      if (next === undefined) break
      expect(next.position).toMatch(CLUSTER_POSITION)
      seen.push(next.cluster)
      cursor = next.position
    }
    const all = await listDeadLetterClusters(store.pool, { limit: 1_000 })
    expect(seen).toEqual(all.map(({ cluster }) => cluster))
    expect(seen.indexOf('PAGED a.b/1')).toBeLessThan(seen.indexOf('PAGED b'))
    expect(await countDeadLetterClusters(store.pool)).toBe(seen.length)
  })

  it('is in one page of those released', async () => {
    await released()
    await released()
    const all = await listReleasedDeadLetters(store.pool, { limit: 1_000 })
    const seen: string[] = []
    let cursor: string | undefined
    for (;;) {
      const [next] = await listReleasedDeadLetters(store.pool, { limit: 1, cursor })
      if (next === undefined) break
      seen.push(next.handoffId)
      cursor = next.position
    }
    expect(seen).toEqual(all.map(({ handoffId }) => handoffId))
    expect(seen.length).toBeGreaterThan(1)
    expect(await countReleasedDeadLetters(store.pool, {})).toBe(seen.length)
  })

  it('is listed among those released as they were, from a moment on', async () => {
    const { handoff } = await released()
    const { handoffId } = handoff
    const waiting = await quarantined(store.pool)
    const listed = await listReleasedDeadLetters(store.pool, { limit: 100 })
    expect(listed.find((one) => one.handoffId === handoffId)).toMatchObject({
      reason: 'SAFETY_VIOLATION',
      resolution: 'RELEASED',
      rulesetVersion: RULESET,
    })
    expect(listed.map((one) => one.handoffId)).not.toContain(waiting.handoffId)
    const since = inHours(1)
    expect(await listReleasedDeadLetters(store.pool, { limit: 100, since })).toEqual([])
  })

  it('is not listed as released once other bytes have taken the place of those that people saw', async () => {
    const { handoff } = await released()
    const { handoffId } = handoff
    const other = { body: Buffer.from('{"other":true}'), keyId: 'k2', signature: 'hmac-sha256:new' }
    await replaceMessage(store.pool, handoffId, other)
    // As a correction does.
    await store.rows('update handoff set approval_override_id = null where id = $1', [handoffId])
    const listed = await listReleasedDeadLetters(store.pool, { limit: 1_000 })
    expect(listed.map((one) => one.handoffId)).not.toContain(handoffId)
  })

  it('is held by one decision at a time', async () => {
    const { handoffId } = await quarantined(store.pool)
    const order: string[] = []
    await Promise.all(
      ['first', 'second'].map((name) =>
        inTransaction(store.pool, async (transaction) => {
          const deadLetter = (await holdDeadLetters(transaction, [handoffId])).get(handoffId)
          order.push(`${name} sees ${deadLetter?.resolution}`)
          if (deadLetter?.resolution === null)
            await reopenHandoffs(transaction, [{ handoffId, approvalOverrideId: null }], 'RELEASED')
        }),
      ),
    )
    expect(order.map((seen) => seen.split(' ').at(-1))).toEqual(['null', 'RELEASED'])
    expect((await findHandoff(store.pool, handoffId))?.attempt).toBe(2)
  })

  it('takes each person’s vote once', async () => {
    const { handoffId } = await quarantined(store.pool)
    const vote = {
      handoffId,
      quarantineAttempt: 1,
      action: 'RELEASE',
      proposalSha256: 'cd'.repeat(32),
      proposal: '{"validHours":24}',
      signed: SIGNED,
    } as const
    expect(await addVote(store.pool, { ...vote, id: randomUUID(), reviewer: 'ann' })).toBe(true)
    expect(await addVote(store.pool, { ...vote, id: randomUUID(), reviewer: 'ann' })).toBe(false)
    expect(await addVote(store.pool, { ...vote, id: randomUUID(), reviewer: 'bob' })).toBe(true)
    // As it stands after an upgrade from before people signed.
    await store.rows(`update review_vote set signed = null where handoff_id = $1`, [handoffId])
    expect(await addVote(store.pool, { ...vote, id: randomUUID(), reviewer: 'ann' })).toBe(true)
    expect(await addVote(store.pool, { ...vote, id: randomUUID(), reviewer: 'ann' })).toBe(false)
    const votes = await listVotes(store.pool, handoffId, 1)
    expect(votes.map(({ signed }) => signed)).toEqual([SIGNED, null])
    expect(votes.map(({ reviewer }) => reviewer)).toEqual(['ann', 'bob'])
    expect(votes[0]).toMatchObject({
      proposal: { validHours: 24 },
      proposalSha256: 'cd'.repeat(32),
    })
  })

  it('that is discarded fails its task and stays in quarantine', async () => {
    const { handoffId, taskId } = await quarantined(store.pool)
    await discardDeadLetter(store.pool, handoffId)
    expect((await findTask(store.pool, taskId))?.status).toBe('FAILED')
    expect((await findHandoff(store.pool, handoffId))?.state).toBe('DEAD_LETTERED')
    expect((await findDeadLetter(store.pool, handoffId))?.resolution).toBe('DISCARDED')
  })

  it('leaves a task alone that has something else open', async () => {
    const first = await quarantined(store.pool)
    await sendHandoffs(store.pool, [newHandoff({ taskId: first.taskId })])
    await discardDeadLetter(store.pool, first.handoffId)
    expect((await findTask(store.pool, first.taskId))?.status).not.toBe('FAILED')
  })

  it('whose sender is asked becomes a notice with reason and details', async () => {
    const { handoffId } = await quarantined(store.pool)
    await askSender(store.pool, handoffId, randomUUID())
    expect((await findDeadLetter(store.pool, handoffId))?.askedAt).toBeInstanceOf(Date)
    expect(
      await store.rows(
        'select kind, reason, revision from sender_notification where handoff_id = $1',
        [handoffId],
      ),
    ).toEqual([{ kind: 'return', reason: 'SAFETY_VIOLATION', revision: 1 }])
  })
})

describe('a released handoff', () => {
  it('is published with a new publish attempt and is claimed with its release', async () => {
    const { handoff, release } = await released()
    const claimed = await claim(store.pool, handoff, { publishAttempt: 2 })
    expect(claimed).toMatchObject({ fencingToken: 2, attempt: 2, leaseExpiries: 0, sentBy: 'carl' })
    expect(claimed.approvalOverride).toEqual({ ...release, expired: false })
    expect((await findTask(store.pool, handoff.taskId))?.status).toBe('PENDING_HANDOFF')
  })

  it('is known to be late by Postgres’ own clock', async () => {
    const { handoff, release } = await released()
    await store.rows(
      `update approval_override set expires_at = now() - interval '1 s' where id = $1`,
      [release.id],
    )
    const claimed = await claim(store.pool, handoff, { publishAttempt: 2 })
    expect(claimed.approvalOverride?.expired).toBe(true)
  })

  it('loses its release with the ending that has no effect, and waits for the next quarantine attempt', async () => {
    const { handoff } = await released()
    await quarantine(store.pool, handoff, { publishAttempt: 2 })
    expect(await findDeadLetter(store.pool, handoff.handoffId)).toMatchObject({
      quarantineAttempt: 2,
      resolvedAt: null,
      resolution: null,
    })
    await reopenHandoffs(
      store.pool,
      [{ handoffId: handoff.handoffId, approvalOverrideId: null }],
      'REDRIVEN',
    )
    expect((await claim(store.pool, handoff, { publishAttempt: 3 })).approvalOverride).toBeNull()
  })

  it('loses it when it expires, too', async () => {
    const { handoff } = await released()
    await store.rows(`update handoff set expires_at = now() - interval '1 s' where id = $1`, [
      handoff.handoffId,
    ])
    await inTransaction(store.pool, (transaction) => expireHandoffs(transaction))
    expect(
      await store.rows('select approval_override_id from handoff where id = $1', [
        handoff.handoffId,
      ]),
    ).toEqual([{ approval_override_id: null }])
  })

  it('is not claimed by a queue message of before', async () => {
    const { handoff } = await released()
    const owner = { owner: randomUUID(), leaseMs: 1_000 }
    const late = { handoffId: handoff.handoffId, publishAttempt: 1 }
    expect(await claimExecutions(store.pool, owner, [late])).toEqual([{ kind: 'refused' }])
  })
})

describe('a redacted message', () => {
  it('takes the place of the bytes before, which are kept', async () => {
    const handoff = await quarantined(store.pool)
    const body = Buffer.from('{"redacted":true}')
    const signed = { body, keyId: 'k2', signature: 'hmac-sha256:new' }
    await replaceMessage(store.pool, handoff.handoffId, signed)
    expect(await findStoredMessage(store.pool, handoff.handoffId)).toEqual(signed)
    const [kept] = await store.rows<{ body: Buffer; revision: number }>(
      'select body, revision from handoff_revision where handoff_id = $1',
      [handoff.handoffId],
    )
    expect(kept).toEqual({ body: Buffer.from(handoff.body), revision: 1 })
    const [row] = await store.rows<{ revision: number; whole: boolean }>(
      `select revision, body_sha256 = sha256($2) and body_bytes = $3 as whole from handoff where id = $1`,
      [handoff.handoffId, body, body.length],
    )
    expect(row).toEqual({ revision: 2, whole: true })
  })
})

it('leaves every promise of the database kept after all of this', async () => {
  const checked = await Promise.all(
    storeInvariants(store.pool).map(async ({ rule, check }) => ({
      rule,
      ids: await check(),
    })),
  )
  expect(checked.filter(({ ids }) => ids.length > 0)).toEqual([])
})
