// What thieves read, send and cancel that is not theirs.
import { randomUUID } from 'node:crypto'
import { createSender, parseSigningKeys } from '@baton/sdk'
import { newTraceparent } from '@baton/telemetry'
import { entering } from './entering.ts'
import { judged } from './forge-decisions.ts'
import type { Loot } from './loot.ts'
import { POSSIBLE, refused, statement } from './outcome.ts'
import type { WayOutcome } from './outcome.ts'
import { OTHER, stateOfTask } from './scene.ts'
import type { Handed, Scene } from './scene.ts'

/** Whether the text comes to light anywhere: over HTTP, in a row, or among what the log keeps. */
async function readText(
  scene: Scene,
  loot: Loot,
  { of, paths, mark }: { of: Handed; paths: readonly string[]; mark: string },
): Promise<readonly WayOutcome[]> {
  const outcomes: WayOutcome[] = []
  const look = async (answer: Response, by: 'the gateway' | 'the auditor') => {
    const text = await answer.clone().text()
    outcomes.push(isShown(text, mark) ? POSSIBLE : answer.ok ? undefined : await judged(answer, by))
  }
  for (const token of loot.tokens)
    for (const path of paths) await look(await scene.ask(token, path), 'the gateway')
  for (const token of loot.auditorTokens) {
    await look(await scene.audit(token, `/v1/traces/${of.taskId}`), 'the auditor')
    for (const second of loot.auditorTokens)
      await look(
        await fetch(new URL(`/v1/evidence/${of.taskId}`, scene.auditorUrl), {
          headers: {
            authorization: `Bearer ${token}`,
            'baton-payload-authorization': `Bearer ${second}`,
          },
        }),
        'the auditor',
      )
  }
  const inRows = async (database: string, text: string, values: readonly string[]) => {
    outcomes.push(
      ...(await entering(loot, database, async (pool) => {
        let found = false
        const outcome = await statement(async () => {
          const { rows } = await pool.query<{ bytes: Buffer }>({ text, values: [...values] })
          found = rows.some(({ bytes }) => bytes.includes(mark))
        })
        if (found) return [POSSIBLE]
        return [outcome !== undefined && 'possible' in outcome ? undefined : outcome]
      })),
    )
  }
  await inRows('baton', 'select body as bytes from handoff_body where handoff_id = $1', [
    of.handoffId,
  ])
  await inRows(
    'baton_audit',
    'select p.ciphertext as bytes from audit.payload p join audit.record r using (chain, seq) where r.task_id = $1',
    [of.taskId],
  )
  return outcomes
}

/** In the answer itself, or in a bundle of evidence, where texts stand behind their salts. */
const isShown = (text: string, mark: string): boolean =>
  text.includes(mark) ||
  [...text.matchAll(/"salted":"([\w+/=]+)"/g)].some(([, salted = '']) =>
    Buffer.from(salted, 'base64').includes(mark),
  )

const MARK = 'mark-of-'
/** Stands in what the other tenant has sent, and nowhere else. */
export const OTHERS_MARK = `${MARK}${randomUUID()}`
/** Stands in what was stopped. */
export const STOPPED_MARK = `${MARK}${randomUUID()}`

export const readOther = (
  scene: Scene,
  loot: Loot,
  { others }: { readonly others: Handed },
): Promise<readonly WayOutcome[]> => {
  const { handoffId, taskId } = others
  const paths = [
    `/v2/handoffs/${handoffId}`,
    `/v2/tasks/${taskId}`,
    `/v2/tasks/${taskId}/trace`,
    `/v2/tasks/${taskId}/checkpoint`,
    `/v2/dead-letters/${handoffId}/message`,
  ]
  return readText(scene, loot, { of: others, paths, mark: OTHERS_MARK })
}

export const readStopped = (
  scene: Scene,
  loot: Loot,
  { stopped }: { readonly stopped: Handed },
): Promise<readonly WayOutcome[]> => {
  const { handoffId, taskId } = stopped
  const paths = [
    `/v2/dead-letters/${handoffId}/message`,
    `/v2/dead-letters/${handoffId}`,
    `/v2/handoffs/${handoffId}`,
    `/v2/tasks/${taskId}/checkpoint`,
  ]
  return readText(scene, loot, { of: stopped, paths, mark: STOPPED_MARK })
}

/** Sends in another tenant’s name, and into its open task. */
export async function sendAsOther(
  scene: Scene,
  loot: Loot,
  { others }: { readonly others: Handed },
): Promise<readonly WayOutcome[]> {
  const outcomes: WayOutcome[] = []
  for (const token of loot.tokens) {
    for (const sending of [
      { agentId: `${OTHER}/intake` },
      { agentId: `${OTHER}/intake`, to: `${OTHER}/reader` },
      { taskId: others.taskId },
      { agentId: 'somebody-else' },
    ]) {
      const asked = { method: 'POST', body: stateOfTask(sending) }
      outcomes.push(await judged(await scene.ask(token, '/v2/handoffs', asked), 'the gateway'))
    }
  }
  const ring = loot.settings['BATON_SIGNING_KEYS']
  return [
    ...outcomes,
    ...(await entering(loot, 'baton', async (_, databaseUrl) => {
      if (!ring) return [refused('whoever acts on it')]
      const keyRing = parseSigningKeys(ring)
      const sender = createSender({ databaseUrl, keyRing, tenant: OTHER })
      const { agentState } = stateOfTask({ agentId: `${OTHER}/intake` })
      try {
        await sender.send({ ...agentState, traceparent: newTraceparent() }, `${OTHER}/reader`, {})
        return [POSSIBLE]
      } finally {
        await sender.close()
      }
    })),
  ]
}

/** Cancels what another tenant has under way. */
export async function cancelOther(
  scene: Scene,
  loot: Loot,
  { others }: { readonly others: Handed },
): Promise<readonly WayOutcome[]> {
  const { taskId, handoffId } = others
  const outcomes: WayOutcome[] = []
  for (const token of loot.tokens) {
    for (const path of [`/v2/tasks/${taskId}/cancel`, `/v2/handoffs/${handoffId}/cancel`])
      outcomes.push(
        await judged(await scene.ask(token, path, { method: 'POST', body: {} }), 'the gateway'),
      )
  }
  return [
    ...outcomes,
    ...(await entering(loot, 'baton', async (pool) => {
      const text = `update handoff set cancel_requested = true where id = $1`
      return [await statement(() => pool.query({ text, values: [handoffId] }))]
    })),
  ]
}

/** Lets somebody in: a key, a tenant, a grant. */
export const makeKey = (_: Scene, loot: Loot): Promise<readonly WayOutcome[]> =>
  entering(loot, 'baton', async (pool) => {
    const outcomes: WayOutcome[] = []
    for (const text of [
      `insert into api_key (id, sha256, operator, tenant, scopes, made_by) values ('thief', sha256('x'), 'thief', 'default', '{}', 'thief')`,
      `insert into tenant (name) values ('thieves')`,
      `insert into tenant_grant values ('default', '${OTHER}/reader', 'thief')`,
    ])
      outcomes.push(await statement(() => pool.query({ text })))
    return outcomes
  })
