// A full outbox refuses new work as a transient error, takes what is critical, and never refuses an agent's next handoff.
import { randomUUID } from 'node:crypto'
import { createSender, parseSigningKeys } from '@baton/sdk'
import { inTransaction } from '@baton/store'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('back pressure')
})
afterAll(() => pipeline.close())

it('refuses above the bound, takes priority 0 and next handoffs, and takes all again once there is room', async () => {
  const sender = createSender({
    sendsCritical: true,
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    outboxMax: 20,
  })
  const refused = { kind: 'transient', code: 'BATON_OUTBOX_FULL' }
  const waiting = () => sender.send(newTask(), 'nobody')
  await eventually(
    () =>
      waiting().then(
        () => false,
        () => true,
      ),
    {
      // By its depth: it is full by its age only after 30 s.
      deadlineMs: 15_000,
      describe: 'the outbox is full',
    },
  )
  await expect(waiting()).rejects.toMatchObject(refused)
  await expect(
    inTransaction(pipeline.pool, (transaction) =>
      sender.sendIn(transaction, newTask(), { agentType: 'nobody' }),
    ),
  ).rejects.toMatchObject(refused)
  const critical = await sender.send(newTask(), 'chained', { priority: 0 })
  const chained = recordingAgent('chained', {
    execute: async (context) =>
      answer(context, { next: [{ to: 'last', taskDescription: 'go on' }] }),
  })
  await pipeline.start([chained.agent, recordingAgent('last').agent])
  const done = await pipeline.reaches(critical.handoffId, 'COMPLETED')
  expect(done.state).toBe('COMPLETED')
  await pipeline.taskEnds(critical.taskId)
  await pipeline.start([recordingAgent('nobody').agent])
  const sent = await eventually(() => waiting().catch(() => false as const), {
    deadlineMs: 30_000,
    describe: 'there is room again',
  })
  expect(sent).toMatchObject({ duplicate: false })
  await sender.close()
})

it('sends with priority 0 only where it was made for that', async () => {
  const careful = createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
  })
  const refused = { kind: 'permanent', code: 'BATON_PRIORITY_REFUSED' }
  await expect(careful.send(newTask(), 'last', { priority: 0 })).rejects.toMatchObject(refused)
  await expect(
    inTransaction(pipeline.pool, (transaction) =>
      careful.sendIn(transaction, newTask(), { agentType: 'last', constraints: { priority: 0 } }),
    ),
  ).rejects.toMatchObject(refused)
  expect(await careful.send(newTask(), 'last', { priority: 1 })).toMatchObject({ duplicate: false })
  await careful.close()
})

it('refuses while the oldest of this agent type has waited too long, however few wait', async () => {
  const row = `insert into outbox (handoff_id, task_id, publish_attempt, queue, priority, sha256, bytes, traceparent, created_at)
    values ($1, $1, 1, 'elsewhere', 2, '', 1, '', now() - interval '31 seconds')`
  const id = randomUUID()
  await pipeline.rows(row, [id])
  const sender = createSender({
    sendsCritical: true,
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
  })
  await expect(sender.send(newTask(), 'elsewhere')).rejects.toMatchObject({
    code: 'BATON_OUTBOX_FULL',
    message: expect.stringContaining('1 handoff waits for agent type "elsewhere"'),
  })
  await sender.send(newTask(), 'elsewhere', { priority: 0 })
  await sender.send(newTask(), 'nobody')
  await pipeline.rows('delete from outbox where handoff_id = $1', [id])
  await sender.close()
})
