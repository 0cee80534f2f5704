// Deciding in people's names: releases, approvals and discards, by every way that a process with these secrets could take.
import { randomUUID } from 'node:crypto'
import { answerApproval, createReviewer } from '@baton/engine'
import {
  actIdOf,
  formatSigned,
  parseNeeded,
  readDecisionSigner,
  recorded,
  signDecision,
} from '@baton/ledger'
import type { Decision, DecisionEvent, DecisionSignature } from '@baton/ledger'
import { entryOf } from '@baton/ledger/fixtures/entry'
import { createScanner } from '@baton/safety'
import { parseSigningKeys } from '@baton/sdk'
import { storeInvariants } from '@baton/store'
import type { Pool } from '@baton/store'
import { createTestPeople, eventually } from '@baton/testkit'
import { entering } from './entering.ts'
import type { Loot } from './loot.ts'
import { POSSIBLE, refused, statement } from './outcome.ts'
import type { WayOutcome } from './outcome.ts'
import type { Handed, Scene } from './scene.ts'

/** Names of people whose word would count, and keys that the thief has made for them. */
const NAMES = ['operator', 'reviewer-1', 'reviewer-2', 'thief']
const madeUp = createTestPeople(NAMES)

/** Signatures by a key of the thief's own and by every private key that was found. */
export function forgeries({ keys }: Loot, decision: Decision): readonly DecisionSignature[] {
  const found = keys.map((key) => signDecision(decision, readDecisionSigner(key), new Date()))
  return [madeUp.sign(decision), ...found]
}

/** Asks, and asks again with each signature that the thief can make of what is to be signed. */
export async function decideOverHttp(
  loot: Loot,
  by: 'the gateway' | 'the auditor',
  ask: (token: string, signed?: string) => Promise<Response>,
): Promise<readonly WayOutcome[]> {
  const outcomes: WayOutcome[] = []
  for (const token of by === 'the gateway' ? loot.tokens : loot.auditorTokens) {
    const first = await ask(token)
    const needed = parseNeeded(first.headers.get('baton-decision-needed') ?? '')
    const answers = [first]
    for (const signed of needed === undefined ? [] : forgeries(loot, needed))
      answers.push(await ask(token, formatSigned(signed)))
    for (const answer of answers) outcomes.push(await judged(answer, by))
  }
  return outcomes
}

/** What nobody has ever heard of gets nowhere, and is not counted as refused. */
export async function judged(
  answer: Response,
  by: 'the gateway' | 'the auditor',
): Promise<WayOutcome> {
  const text = await answer.text()
  if (answer.ok) return POSSIBLE
  if (answer.status === 401) return undefined
  if (answer.status >= 500 || answer.status === 429)
    throw new Error(`${answer.url}: ${answer.status} ${text}`)
  return refused(by)
}

/** A decision as a record of the log, in the names of people. */
export async function recordForged(
  scene: Scene,
  loot: Loot,
  event: DecisionEvent,
  { taskId, handoffId }: Handed,
): Promise<readonly WayOutcome[]> {
  const decision = { event, taskId, handoffId, person: 'operator', decided: 'ab'.repeat(32) }
  const acts = [
    { id: randomUUID(), actor: 'operator' },
    ...forgeries(loot, decision).map((signed) => ({
      id: actIdOf(signed),
      actor: 'operator',
      signed: recorded(signed),
    })),
  ]
  const outcomes: WayOutcome[] = []
  for (const token of loot.auditorTokens) {
    for (const act of acts) {
      const entry = entryOf({ event, taskId, handoffId, act, verdicts: null, segments: [] })
      const asked = { method: 'POST', body: { entries: [entry] } }
      outcomes.push(await judged(await scene.audit(token, '/v1/records', asked), 'the auditor'))
    }
  }
  return outcomes
}

const within = (loot: Loot, work: (pool: Pool) => Promise<readonly WayOutcome[]>) =>
  entering(loot, 'baton', work)

/** As what is released goes back to the queue, without anybody who released it. */
const LET_GO = `with queued as (
    update handoff set state = 'QUEUED', reason = null, queued_at = now(), ended_at = null, dispatched_at = null,
      publish_attempt = publish_attempt + 1, attempt = attempt + 1, attempts_max = greatest(attempts_max, attempt + 1)
    where id = $1 returning *
  ), freed as (
    update execution e set status = 'ABANDONED', lease_until = now(), publish_attempt = q.publish_attempt
    from queued q where e.handoff_id = q.id
  )
  insert into outbox (handoff_id, task_id, publish_attempt, queue, priority, sha256, bytes, traceparent)
  select id, task_id, publish_attempt, to_agent, priority, body_sha256, body_bytes, traceparent from queued`

/** What was let go is judged again; answers who stopped it. */
async function afterwards(
  scene: Scene,
  { handoffId }: Handed,
  isStopped: () => Promise<boolean>,
): Promise<WayOutcome> {
  return eventually(
    async () => {
      const state = await scene.stateOf(handoffId)
      if (['EXECUTING', 'COMPLETED', 'ACCEPTED'].includes(state ?? '')) return POSSIBLE
      return (await isStopped()) ? refused('the receiver') : undefined
    },
    { deadlineMs: 60_000, describe: `what became of ${handoffId}` },
  )
}

/** Releases what was stopped, in the names of two people. */
export async function forgeRelease(
  scene: Scene,
  loot: Loot,
  { stopped }: { readonly stopped: Handed },
): Promise<readonly WayOutcome[]> {
  const { handoffId } = stopped
  const path = `/v2/dead-letters/${handoffId}/release`
  const ask = (token: string, signed?: string) =>
    scene.ask(token, path, {
      method: 'POST',
      body: {},
      ...(signed === undefined ? {} : { signed }),
    })
  const isStoppedAgain = async () => (await scene.stateOf(handoffId)) === 'DEAD_LETTERED'
  const bySql = await within(loot, async (pool) => {
    const voted = await statement(() => voteTwice(pool, loot, handoffId))
    const gone = await isLetGo(pool, handoffId, voted)
    return [
      ...(voted !== undefined && 'refusedBy' in voted ? [voted] : []),
      ...(gone ? [await afterwards(scene, stopped, isStoppedAgain)] : []),
    ]
  })
  return [
    ...(await decideOverHttp(loot, 'the gateway', ask)),
    ...bySql,
    ...(await recordForged(scene, loot, 'RELEASE_APPROVED', stopped)),
  ]
}

/** For who has not found the keys that sign handoffs: releases are not signed with them. */
const OWN_RING = `thief:active:${Buffer.alloc(32, 7).toString('base64')}`

/** What was decided goes on by itself once nothing of it waits for the log; what was not is sent on past whoever decides. */
async function isLetGo(pool: Pool, handoffId: string, decided: WayOutcome): Promise<boolean> {
  const isDecided = decided !== undefined && 'possible' in decided
  const text = isDecided ? 'delete from audit_outbox where handoff_id = $1' : LET_GO
  const gone = await statement(() => pool.query({ text, values: [handoffId] }))
  return gone !== undefined && 'possible' in gone
}

async function voteTwice(pool: Pool, loot: Loot, handoffId: string): Promise<void> {
  const keyRing = parseSigningKeys(loot.settings['BATON_SIGNING_KEYS'] ?? OWN_RING)
  const { people } = madeUp
  const reviewing = createReviewer({ pool, people, keyRing, scanner: createScanner() })
  for (const reviewer of ['reviewer-1', 'reviewer-2']) {
    const asked = await reviewing.release({ handoffId, reviewer }, 24)
    if (asked.kind !== 'refused' || asked.why !== 'unsigned')
      throw new Error('it was not asked for')
    const signed = madeUp.sign(asked.decision)
    const { kind } = await reviewing.release({ handoffId, reviewer, signed }, 24)
    if (kind === 'refused') throw new Error('it was not believed by the thief’s own people')
  }
}

/** Approves what waits for a person. */
export async function forgeApproval(
  scene: Scene,
  loot: Loot,
  { waiting }: { readonly waiting: Handed },
): Promise<readonly WayOutcome[]> {
  const { handoffId } = waiting
  const ask = (token: string, signed?: string) =>
    scene.ask(token, `/v2/approvals/${handoffId}`, {
      method: 'POST',
      body: { decision: 'approve' },
      ...(signed === undefined ? {} : { signed }),
    })
  const bySql = await within(loot, async (pool) => {
    const approved = await statement(() => approve(pool, handoffId))
    const gone = await isLetGo(pool, handoffId, approved)
    const isStopped = async () => (await scene.stateOf(handoffId)) === 'DEAD_LETTERED'
    return [
      ...(approved !== undefined && 'refusedBy' in approved ? [approved] : []),
      ...(gone ? [await afterwards(scene, waiting, isStopped)] : []),
    ]
  })
  return [
    ...(await decideOverHttp(loot, 'the gateway', ask)),
    ...bySql,
    ...(await recordForged(scene, loot, 'HANDOFF_APPROVED', waiting)),
  ]
}

async function approve(pool: Pool, handoffId: string): Promise<void> {
  const request = { handoffId, decision: 'approve', reasonCode: null, actor: 'reviewer-1' } as const
  const parts = { pool, people: madeUp.people }
  const asked = await answerApproval(parts, { ...request, signed: undefined })
  if (asked.kind !== 'unsigned') throw new Error(`it was not asked for: ${asked.kind}`)
  await answerApproval(parts, { ...request, signed: madeUp.sign(asked.decision) })
}

/** Gives up for good what was stopped, in somebody's name: asked for, or told to the log. */
export async function forgeDiscard(
  scene: Scene,
  loot: Loot,
  { other }: { readonly other: Handed },
): Promise<readonly WayOutcome[]> {
  const { handoffId } = other
  const ask = (token: string, signed?: string) =>
    scene.ask(token, `/v2/dead-letters/${handoffId}/discard`, {
      method: 'POST',
      body: {},
      ...(signed === undefined ? {} : { signed }),
    })
  return [
    ...(await decideOverHttp(loot, 'the gateway', ask)),
    ...(await recordForged(scene, loot, 'DEAD_LETTER_DISCARDED', other)),
  ]
}

/** Marks what was stopped as given up for good, past whoever decides. */
export const closeStopped = (
  { owner }: Scene,
  loot: Loot,
  { other }: { readonly other: Handed },
): Promise<readonly WayOutcome[]> =>
  within(loot, async (pool) => {
    const text = `update dead_letter set resolved_at = now(), resolution = 'DISCARDED' where handoff_id = $1`
    const came = await statement(() => pool.query({ text, values: [other.handoffId] }))
    if (came === undefined || 'refusedBy' in came) return [came]
    const found = await Promise.all(storeInvariants(owner.operational).map(({ check }) => check()))
    return [found.flat().includes(other.handoffId) ? { possible: true, foundBy: 'doctor' } : came]
  })

/** Writes a vote into the table of votes. */
export const writeVote = (
  _: Scene,
  loot: Loot,
  { stopped }: { readonly stopped: Handed },
): Promise<readonly WayOutcome[]> =>
  within(loot, async (pool) => {
    const text = `insert into review_vote (id, handoff_id, quarantine_attempt, action, proposal_sha256, proposal, reviewer)
      values (gen_random_uuid(), $1, 99, 'RELEASE', sha256('forged'), '{}', 'reviewer-1')`
    return [await statement(() => pool.query({ text, values: [stopped.handoffId] }))]
  })
