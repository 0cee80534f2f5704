// E15 over HTTP: the exact checkpoint of a rolled-back task, and taking it up again once; nothing of it without the scope.
import { createHash, randomUUID } from 'node:crypto'
import { findHandoff, findTaskCheckpoint, listEscalations } from '@baton/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claim } from '../contract/store-fixture.ts'
import { expectProblem, keys } from './gateway-fixture.ts'
import { openReturns, people } from './returned-handoffs.ts'
import type { Returning } from './returned-handoffs.ts'

let returning: Returning
beforeAll(async () => {
  returning = await openReturns()
})
afterAll(() => returning.fixture.close())

describe('a rolled-back task', () => {
  it('hands back the exact bytes of its checkpoint, with their digest', async () => {
    const of = await returning.send()
    await returning.rollBack(of)
    const response = await returning.fixture.gateway.server.inject({
      url: `/v2/tasks/${of.taskId}/checkpoint`,
      headers: { authorization: `Bearer ${people.returner.key}` },
    })
    const saved = await findTaskCheckpoint(returning.pool, of.taskId)
    expect(response.rawPayload).toEqual(saved?.body)
    const digest = createHash('sha256').update(response.rawPayload).digest('base64')
    expect(response.headers['content-digest']).toBe(`sha-256=:${digest}:`)
  })

  it('is taken up again once, by whoever says so; its escalation waits no longer', async () => {
    const of = await returning.send()
    await returning.rollBack(of)
    expect(await listEscalations(returning.pool, { limit: 500 })).toContainEqual(
      expect.objectContaining({ taskId: of.taskId }),
    )
    const path = `/v2/tasks/${of.taskId}/resume`
    const answers = await Promise.all([1, 2, 3].map(() => returning.call(path, {}, 'resumer')))
    expect(answers.map((answer) => answer.statusCode)).toEqual([202, 202, 202])
    const bodies = answers.map((answer) => answer.json())
    expect(new Set(bodies.map((body) => body.handoffId)).size).toBe(1)
    expect(bodies.filter((body) => body.repeated === false)).toHaveLength(1)
    const resumed = await findHandoff(returning.pool, bodies[0].handoffId)
    expect(resumed).toMatchObject({ resumesHandoffId: of.handoffId, state: 'QUEUED', taskSeq: 2 })
    const escalations = await listEscalations(returning.pool, { limit: 500 })
    expect(escalations.map((escalation) => escalation.taskId)).not.toContain(of.taskId)
    const claimed = await claim(returning.pool, { handoffId: bodies[0].handoffId })
    expect(JSON.parse(Buffer.from(claimed.body).toString())).toMatchObject({
      taskId: of.taskId,
      currentState: { document: 'licence' },
    })
    expect(await returning.take(of)).toEqual([])
  })

  it('goes to another agent with a key that may send, and only with one', async () => {
    const of = await returning.send()
    await returning.rollBack(of)
    const path = `/v2/tasks/${of.taskId}/resume`
    const refused = await returning.call(path, { targetAgentType: 'second-opinion' }, 'resumer')
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'BATON_SCOPE_MISSING'])
    const sent = await returning.call(path, { targetAgentType: 'second-opinion' }, 'both')
    expect(sent.statusCode).toBe(202)
    const resumed = await findHandoff(returning.pool, sent.json().handoffId)
    expect(resumed?.toAgent).toBe('second-opinion')
  })

  it('that is none says why', async () => {
    const open = await returning.send()
    const nothing = await returning.call(`/v2/tasks/${open.taskId}/resume`, {}, 'resumer')
    expect([nothing.statusCode, nothing.json().code]).toEqual([409, 'BATON_NOTHING_TO_RESUME'])
    const unknown = await returning.call(`/v2/tasks/${randomUUID()}/resume`, {}, 'resumer')
    expect([unknown.statusCode, unknown.json().code]).toEqual([404, 'BATON_TASK_UNKNOWN'])
    const odd = await returning.call(`/v2/tasks/${open.taskId}/resume`, { force: true }, 'resumer')
    expect(odd.statusCode).toBe(422)
  })
})

describe('without the scope', () => {
  const id = randomUUID()
  it.each([
    ['POST', '/v2/returns/take'],
    ['POST', `/v2/returns/${id}/acknowledge`],
    ['POST', `/v2/handoffs/${id}/revisions`],
    ['GET', `/v2/tasks/${id}/checkpoint`],
    ['POST', `/v2/tasks/${id}/resume`],
  ] as const)('%s %s is refused before the body is read', async (method, url) => {
    for (const [key, status] of [
      [keys.operator.key, 403],
      ['bk_nobody_0123456789012345678901234567890123456789', 401],
    ] as const) {
      const response = await returning.fixture.gateway.server.inject({
        method,
        url,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(method === 'POST' ? { payload: '{not json' } : {}),
      })
      expect(response.statusCode).toBe(status)
      expectProblem(response)
    }
  })
})
