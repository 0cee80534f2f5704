// POST /v2/handoffs on a real Postgres: the request's trace goes on in the handoff, and a task keeps its own.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

async function storedBody(handoffId: string) {
  const { rows } = await fixture.pool.query<{ body: Buffer }>({
    text: 'select body from handoff_body where handoff_id = $1',
    values: [handoffId],
  })
  return JSON.parse(String(rows[0]?.body))
}

it('carries the trace of the request into the stored message and the answer', async () => {
  const headers = { traceparent: TRACEPARENT, tracestate: 'vendor=abc' }
  const response = await post(fixture.gateway, stateBody(), { headers })
  const { handoffId, traceparent } = response.json()
  expect(traceparent).toMatch(
    /^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/,
  )
  expect(response.headers['traceparent']).toBe(traceparent)
  expect(await storedBody(handoffId)).toMatchObject({ traceparent, tracestate: 'vendor=abc' })
})

it('starts a new trace where the header is invalid, and keeps the sender’s own where the body has one', async () => {
  const broken = await post(fixture.gateway, stateBody(), {
    headers: { traceparent: '00-zz', tracestate: 'a=b' },
  })
  expect(broken.json().traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
  expect(await storedBody(broken.json().handoffId)).not.toHaveProperty('tracestate')
  const own = await post(fixture.gateway, stateBody({ traceparent: TRACEPARENT }))
  expect(own.json().traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/)
})

it('goes on in the trace of the task where the second sender gives none, and in its own where it does', async () => {
  const first = await post(fixture.gateway, stateBody())
  const { taskId, traceparent } = first.json()
  const traceOf = (sent: Awaited<ReturnType<typeof post>>) => sent.json().traceparent.split('-')[1]
  const second = await post(fixture.gateway, stateBody({ taskId }))
  expect(second.statusCode).toBe(202)
  expect(traceOf(second)).toBe(traceparent.split('-')[1])
  const own = await post(fixture.gateway, stateBody({ taskId }), {
    headers: { traceparent: TRACEPARENT },
  })
  expect(traceOf(own)).toBe(TRACEPARENT.split('-')[1])
})
