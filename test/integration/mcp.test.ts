// MCP as its clients see it: the official client of each revision against a gateway that listens, on a real database.
import { randomUUID } from 'node:crypto'
import { createApiKey } from '@baton/gateway'
import { PEOPLE } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'
import { openHandoffsApi } from './handoffs-api-fixture.ts'
import { connect, REVISIONS } from './mcp-fixture.ts'
import type { McpClient } from './mcp-fixture.ts'

const apiKeys = {
  agent: createApiKey({ scopes: 'handoffs:send+handoffs:read' }),
  reader: createApiKey({ scopes: 'handoffs:read' }),
  ann: createApiKey({ scopes: 'handoffs:read+approvals:decide', operator: 'ann' }),
}

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openHandoffsApi({}, undefined, apiKeys)
  await fixture.gateway.start()
})
afterAll(() => fixture.close())

describe.each(REVISIONS)('with a client of %s', (revision) => {
  let client: McpClient
  beforeAll(async () => {
    client = await connect(revision, fixture.gateway.url, apiKeys.agent.key)
  })
  afterAll(() => client.close())

  it('R19 sends a handoff in words, which is then read as the task that it began', async () => {
    const sent = await client.call('send_handoff', {
      fromProfileId: 'analyst-agent',
      toProfileId: 'reviewer-agent',
      subject: 'Q4 revenue analysis',
      body: 'Please verify the methodology.',
    })
    expect(sent.isError).toBeFalsy()
    const { id, taskId } = sent.structuredContent as { id: string; taskId: string }
    const handoff = await client.call('get_handoff', { handoffId: id })
    expect(handoff.structuredContent).toMatchObject({ handoffId: id, toAgent: 'reviewer' })
    const task = await client.call('get_task', { taskId })
    expect(task.structuredContent).toMatchObject({ task: { taskId }, handoffsTotal: 1 })
    const handoffs = await client.call('list_handoffs', { taskId, limit: 1 })
    expect(handoffs.structuredContent).toMatchObject({
      handoffs: [{ handoffId: id }],
      nextCursor: null,
      total: 1,
    })
    const listed = await client.call('list_tasks', { limit: 1 })
    expect(listed.structuredContent).toMatchObject({ tasks: [{ taskId }] })
  })

  it('sends an agent’s state once for one idempotency key', async () => {
    const body = { ...stateBody(), idempotencyKey: randomUUID() }
    const first = await client.call('send_agent_state', body)
    const again = await client.call('send_agent_state', body)
    expect(first.structuredContent).toMatchObject({ taskId: body.agentState.taskId })
    expect(again.structuredContent).toEqual(first.structuredContent)
  })

  it('says what is wrong with arguments, where, and how to mend it', async () => {
    const refused = await client.call('send_handoff', { toProfileId: 'reviewer-agent', colour: 1 })
    expect(refused).toMatchObject({
      isError: true,
      _meta: { 'baton/problem': { code: 'BATON_REQUEST_INVALID', fix: expect.any(String) } },
    })
    const unknown = await client.call('get_task', { taskId: randomUUID() })
    expect(unknown).toMatchObject({
      isError: true,
      _meta: { 'baton/problem': { code: 'BATON_TASK_UNKNOWN' } },
    })
  })

  it('continues the trace of the call in what is sent (I9)', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
    const sent = await client.call('send_agent_state', stateBody(), { traceparent })
    expect(sent.structuredContent).toMatchObject({
      traceparent: expect.stringContaining(traceId),
    })
  })

  it('lists the tools that the scopes of a caller allow, and no others', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('send_handoff')
    expect(tools.map(({ name }) => name)).not.toContain('service_levels')
    const reader = await connect(revision, fixture.gateway.url, apiKeys.reader.key)
    const own = await reader.listTools()
    expect(own.tools.map(({ name }) => name)).not.toContain('send_handoff')
    await reader.close()
  })

  it('takes the decision of a person only with their signature', async () => {
    const sent = await client.call('send_handoff', {
      fromProfileId: 'analyst-agent',
      toProfileId: 'reviewer-agent',
      subject: 'Publish it',
      body: 'The analysis is done.',
      requiresApproval: true,
    })
    const { id: handoffId } = sent.structuredContent as { id: string }
    const ann = await connect(revision, fixture.gateway.url, apiKeys.ann.key)
    const waiting = await ann.call('list_approvals', { limit: 100 })
    const { approvals } = waiting.structuredContent as { approvals: readonly object[] }
    expect(approvals).toContainEqual(expect.objectContaining({ handoffId }))
    const unsigned = await ann.call('decide_approval', { handoffId, decision: 'approve' })
    expect(unsigned).toMatchObject({
      isError: true,
      _meta: { 'baton/problem': { code: 'BATON_DECISION_UNSIGNED' } },
    })
    const problem = unsigned._meta?.['baton/problem'] as { decisionNeeded: string } | undefined
    const signature = PEOPLE.answer(problem?.decisionNeeded ?? '')
    const signed = { handoffId, decision: 'approve', signature }
    const other = await ann.call('decide_approval', { ...signed, decision: 'reject' })
    expect(other).toMatchObject({ isError: true })
    const decided = await ann.call('decide_approval', signed)
    expect(decided.structuredContent).toMatchObject({ decidedBy: 'ann', decision: 'approve' })
    await ann.close()
  })

  it('reads schemas and traces as resources, listed in pages', async () => {
    const schema = await client.readResource('baton://schemas/handoff/2.0.json')
    expect(JSON.parse(schema.contents[0]?.text ?? '')).toMatchObject({
      $id: 'urn:baton:schema:handoff:2.0',
    })
    const sent = await client.call('send_agent_state', stateBody())
    const { taskId } = sent.structuredContent as { taskId: string }
    fixture.auditor.traces.set(taskId, { records: [], verified: true })
    const trace = await client.readResource(`baton://tasks/${taskId}/trace`)
    expect(JSON.parse(trace.contents[0]?.text ?? '')).toMatchObject({ task: { taskId } })
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['baton://schemas/handoff/2.1.json', `baton://tasks/${taskId}/trace`]),
    )
    await expect(client.readResource('baton://schemas/none.json')).rejects.toThrow(/not found/i)
    const proven = await client.call('verify_task', { taskId })
    expect(proven.structuredContent).toMatchObject({ taskId, verified: true, records: 0 })
  })

  it('says that the log cannot be read, instead of half a trace', async () => {
    const sent = await client.call('send_agent_state', stateBody())
    const { taskId } = sent.structuredContent as { taskId: string }
    fixture.auditor.down = true
    const traced = await client.call('trace_task', { taskId })
    fixture.auditor.down = false
    expect(traced).toMatchObject({
      isError: true,
      _meta: { 'baton/problem': { code: 'BATON_AUDIT_UNAVAILABLE', retryAfterSeconds: 1 } },
    })
  })
})
