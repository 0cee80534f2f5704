// What is refused at the door is on record before the sender is answered; a flood is told by its number, with nothing of its text.
import { randomUUID } from 'node:crypto'
import { checkEntry } from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import { buildHandoffMessage, signHandoff } from '@baton/protocol'
import { createApiKey } from '@baton/gateway'
import { createKeyRing } from '@baton/sdk'
import type { AgentState } from '@baton/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { get, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const CANARY = 'canary-words'
const people = {
  ann: createApiKey({ scopes: 'handoffs:send', operator: 'ann' }),
  ben: createApiKey({ scopes: 'handoffs:send', operator: 'ben' }),
  eva: createApiKey({ scopes: 'handoffs:send', operator: 'eva' }),
}

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway(people)
})
afterAll(() => fixture.close())

/** What is on its way to the log of what an operator sent, in the order in which it was written. */
async function recorded(operator: string): Promise<AuditEntry[]> {
  const { rows } = await fixture.pool.query<{ entry: string }>({
    text: 'select entry from audit_outbox order by created_at',
  })
  const entries = rows.map(({ entry }) => JSON.parse(entry) as AuditEntry)
  return entries.filter(({ act }) => act?.actor === operator)
}

const said = ({ event, reason, times }: AuditEntry) => ({ event, reason, times })

it('records a form and a signature that do not hold, under the task and the person, without any text', async () => {
  const [taskId, handoffId] = [randomUUID(), randomUUID()]
  const state = stateBody({ taskId, handoffId, completedSubtasks: CANARY })
  expect((await post(fixture.gateway, state, { key: people.ann.key })).statusCode).toBe(422)
  const message = buildHandoffMessage(
    stateBody({
      taskId,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }).agentState as unknown as AgentState,
    'clause-extraction',
  )
  const stranger = createKeyRing({
    active: 'k1',
    keys: [{ id: 'k1', secret: Buffer.alloc(32, 8), status: 'active' }],
  })
  const { keyId, signature } = signHandoff(message, stranger)
  const forged = { ...message, signatureKeyId: keyId, signature }
  const answer = await post(
    fixture.gateway,
    { message: forged, checkpoint: {} },
    { key: people.ann.key },
  )
  expect(answer.json()).toMatchObject({ code: 'BATON_SIGNATURE_INVALID' })
  const entries = await recorded('ann')
  expect(entries.map(said)).toEqual([
    { event: 'SEND_REFUSED', reason: 'SCHEMA_INVALID', times: 1 },
    { event: 'SEND_REFUSED', reason: 'SIGNATURE_INVALID', times: 1 },
  ])
  expect(entries.map((entry) => [entry.taskId, checkEntry(entry).ok])).toEqual([
    [taskId, true],
    [taskId, true],
  ])
  expect(entries[0]?.handoffId).toBe(handoffId)
  expect(JSON.stringify(entries)).not.toContain(CANARY)
})

it('records a body that is no JSON, under the person, without any text', async () => {
  for (const body of [`{"agentState": ${CANARY}`, '', Buffer.from([0x22, 0xff, 0x22])]) {
    const answer = await post(fixture.gateway, body, { key: people.eva.key })
    expect(answer.json()).toMatchObject({ status: 400, code: 'BATON_JSON_INVALID' })
  }
  const entries = await recorded('eva')
  const refused = { event: 'SEND_REFUSED', reason: 'SCHEMA_INVALID', times: 1 }
  expect(entries.map(said)).toEqual([refused, refused, refused])
  expect(entries.every((entry) => checkEntry(entry).ok)).toBe(true)
  expect(JSON.stringify(entries)).not.toContain(CANARY)
})

it('records nothing of who is nobody, of other routes and of what was accepted', async () => {
  await post(fixture.gateway, {}, { key: 'nobody' })
  await get(fixture.gateway, '/v2/tasks?limit=no')
  expect((await post(fixture.gateway, stateBody())).statusCode).toBe(202)
  const { rows } = await fixture.pool.query<{ entry: string }>({
    text: 'select entry from audit_outbox',
  })
  const actors = rows.map(({ entry }) => (JSON.parse(entry) as AuditEntry).act?.actor)
  expect(new Set(actors)).toEqual(new Set(['ann', 'eva']))
})

it('writes ten of a flood, and the others as one record for each reason', async () => {
  const gateway = fixture.another()
  const tooLarge = 'x'.repeat(3 * 1024 * 1024)
  for (let sent = 0; sent < 25; sent += 1) {
    const answer = await post(gateway, {}, { key: people.ben.key })
    expect(answer.statusCode).toBe(422)
  }
  expect((await post(gateway, tooLarge, { key: people.ben.key })).statusCode).toBe(413)
  expect(await recorded('ben')).toHaveLength(10)
  await gateway.stop()
  const entries = await recorded('ben')
  expect(entries.slice(10).map(said)).toEqual([
    { event: 'SEND_REFUSED', reason: 'SCHEMA_INVALID', times: 16 },
  ])
  // What names no task stands under one of its day.
  expect(new Set(entries.map(({ taskId }) => taskId)).size).toBe(1)
  expect(new Set(entries.map(({ handoffId }) => handoffId)).size).toBe(11)
})
