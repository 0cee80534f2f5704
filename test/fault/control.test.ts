// Control operations survive kill -9: what was decided is decided once, and what was canceled or is overdue executes nowhere else.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '@baton/gateway'
import type { HandoffConstraints, Sender } from '@baton/sdk'
import { createPool, findHandoff } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquirePostgres, createSystem, eventually, fetchSigned } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { createDriver, newTask } from './driver.ts'

const ledger = join(mkdtempSync(join(tmpdir(), 'baton-ledger-')), 'control.jsonl')
const key = createApiKey({ scopes: 'handoffs:cancel+approvals:decide', operator: 'ann' })
let system: System
let sender: Sender
let pool: Pool
let receiver: ServiceProcess

beforeAll(async () => {
  const { adminUrl } = await acquirePostgres()
  system = await createSystem({
    purpose: 'control',
    adminUrl,
    agents: './test/fault/control-agents.ts',
    env: {
      BATON_TEST_LEDGER: ledger,
      BATON_LEASE_MS: '1500',
      BATON_UNDELIVERED_MS: '1000',
      BATON_API_KEYS: key.entry,
      BATON_GATEWAY_PORT: '0',
    },
  })
  await system.start('auditor')
  receiver = await system.start('receiver')
  sender = createDriver(system)
  pool = createPool({ url: system.databaseUrl, applicationName: 'test', connectionsMax: 2 })
}, 60_000)
afterAll(async () => {
  await sender.close()
  await pool.end()
  await system.stop()
})

const send = (target: string, constraints: HandoffConstraints = {}) =>
  sender.send(newTask(), target, constraints)
const reaches = (handoffId: string, state: string) =>
  eventually(async () => (await findHandoff(pool, handoffId))?.state === state, {
    deadlineMs: 60_000,
    describe: `${handoffId} is ${state}`,
  })
const executionsOf = (handoffId: string) =>
  (existsSync(ledger) ? readFileSync(ledger, 'utf8') : '')
    .split('\n')
    .filter((line) => line.includes(handoffId))
/** In the database and in the agent itself, which begins a moment later. */
async function executes(handoffId: string): Promise<void> {
  await reaches(handoffId, 'EXECUTING')
  await eventually(() => executionsOf(handoffId).length > 0, {
    deadlineMs: 60_000,
    describe: `the agent of ${handoffId} has begun`,
  })
}

const urlOf = (gateway: ServiceProcess): string =>
  /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''
const post = (gateway: ServiceProcess, path: string, body: object) =>
  fetchSigned(new URL(path, urlOf(gateway)), {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const APPROVE = {
  requestFor: (id: string) => ({ path: `/v2/approvals/${id}`, body: { decision: 'approve' } }),
  state: 'COMPLETED',
  executions: 1,
}
const CANCEL = {
  requestFor: (id: string) => ({ path: `/v2/handoffs/${id}/cancel`, body: {} }),
  state: 'CANCELED',
  executions: 0,
}

describe('a gateway killed at a crash point', () => {
  it.each([
    ['approval.before_commit', APPROVE, false],
    ['approval.after_commit', APPROVE, true],
    ['cancel.before_commit', CANCEL, false],
    ['cancel.after_commit', CANCEL, true],
  ])('%s decides once', async (point, { requestFor, state, executions }, repeated) => {
    const { handoffId } = await send('plain', { requiresApproval: true })
    const { path, body } = requestFor(handoffId)
    const doomed = await system.start('gateway', { BATON_CRASH_AT: point })
    await expect(post(doomed, path, body)).rejects.toThrow()
    expect((await doomed.exited()).signal).toBe('SIGKILL')
    const gateway = await system.start('gateway')
    const answer = await post(gateway, path, body)
    expect([answer.status, await answer.json()]).toMatchObject([200, { repeated }])
    await gateway.stop()
    await reaches(handoffId, state)
    expect(executionsOf(handoffId)).toHaveLength(executions)
  })
})

async function killReceiver(): Promise<void> {
  await receiver.kill()
}
async function startReceiver(): Promise<void> {
  receiver = await system.start('receiver')
}

describe('a receiver killed', () => {
  it('at reroute.before_commit: the blocked handoff is moved under the next fencing token and executes once', async () => {
    await receiver.stop()
    receiver = await system.start('receiver', { BATON_CRASH_AT: 'reroute.before_commit' })
    const { handoffId } = await send('plain', { requirements: { capabilities: ['fly'] } })
    expect((await receiver.exited()).signal).toBe('SIGKILL')
    await startReceiver()
    await reaches(handoffId, 'COMPLETED')
    expect(executionsOf(handoffId)).toHaveLength(1)
  })

  it('while it executes what is canceled: it ends canceled and executes nowhere else', async () => {
    const { handoffId } = await send('endless')
    await executes(handoffId)
    const gateway = await system.start('gateway')
    expect(
      (await post(gateway, `/v2/handoffs/${handoffId}/cancel`, { graceMs: 60_000 })).status,
    ).toBe(200)
    await killReceiver()
    await startReceiver()
    await reaches(handoffId, 'CANCELED')
    await gateway.stop()
    expect(executionsOf(handoffId)).toHaveLength(1)
  })

  it('while it executes what is due soon: after the deadline nobody executes it again', async () => {
    const deadline = new Date(Date.now() + 6_000).toISOString()
    const { handoffId } = await send('endless', { deadline })
    await executes(handoffId)
    await killReceiver()
    await eventually(() => Date.now() > Date.parse(deadline), {
      deadlineMs: 30_000,
      describe: 'the deadline passes',
    })
    await startReceiver()
    await reaches(handoffId, 'EXPIRED')
    expect(executionsOf(handoffId)).toHaveLength(1)
  })
})
