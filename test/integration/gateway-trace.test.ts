// A handoff posted over HTTP runs to its end, and its trace shows every hop with the record that allowed it.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acquirePostgres, createSystem, eventually } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { keys, stateBody } from './gateway-fixture.ts'

let system: System
let services: readonly ServiceProcess[]
let url: string

beforeAll(async () => {
  const { adminUrl } = await acquirePostgres()
  system = await createSystem({
    purpose: 'gateway trace',
    adminUrl,
    agents: './test/integration/gateway-agents.ts',
    env: { BATON_API_KEYS: keys.operator.entry, BATON_GATEWAY_PORT: '0', BATON_LOG_LEVEL: 'debug' },
  })
  const auditor = await system.start('auditor')
  const [gateway, receiver] = await Promise.all([system.start('gateway'), system.start('receiver')])
  services = [auditor, gateway, receiver]
  url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''
})
afterAll(() => system.stop())

const headers = { authorization: `Bearer ${keys.operator.key}`, 'content-type': 'application/json' }
async function readTrace(taskId: string): Promise<Partial<Trace>> {
  const response = await fetch(`${url}/v2/tasks/${taskId}/trace`, { headers })
  return (await response.json()) as Partial<Trace>
}

interface Trace {
  readonly task: { readonly status: string }
  readonly handoffs: readonly { readonly toAgent: string; readonly traceparent: string }[]
  readonly audit: { readonly verified: boolean; readonly records: readonly AuditRecord[] }
}

interface AuditRecord {
  readonly body: {
    readonly event: string
    readonly handoffId: string
    readonly traceparent: string
  }
}

it('shows one trace from the request to the last effect, and lets no payload out', async () => {
  const canary = `canary-${randomUUID()}`
  const traceId = randomUUID().replaceAll('-', '')
  const response = await fetch(`${url}/v2/handoffs`, {
    method: 'POST',
    headers: { ...headers, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    body: JSON.stringify(stateBody({ currentState: { document: canary } })),
  })
  const { taskId } = (await response.json()) as { taskId: string }
  const trace = await eventually(
    async () => {
      const { task, handoffs, audit } = await readTrace(taskId)
      const decisions = audit?.records.filter(isDecision) ?? []
      if (task?.status !== 'COMPLETED' || decisions.length !== 2) return undefined
      return { task, handoffs: handoffs ?? [], records: audit?.records ?? [], audit }
    },
    { deadlineMs: 20_000, describe: () => services.map((service) => service.output()).join('\n') },
  )
  expect(trace.task).toMatchObject({ result: { risk: 0.3 }, spentUSD: 0.11, handoffs: 2 })
  expect(trace.handoffs.map((handoff) => handoff.toAgent)).toEqual([
    'clause-extraction',
    'risk-scoring',
  ])
  expect(trace.audit?.verified).toBe(true)
  const hops = [...trace.handoffs, ...trace.records.map((record) => record.body)]
  const traceIds = hops.map((hop) => hop.traceparent.split('-')[1])
  expect(new Set(traceIds)).toEqual(new Set([traceId]))
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text()
  for (const text of [metrics, ...services.map((service) => service.output())])
    expect(text).not.toContain(canary)
})

const isDecision = ({ body }: AuditRecord) => body.event === 'HANDOFF_ACCEPTED'
