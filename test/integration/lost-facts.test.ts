// A summariser that drops what it had to keep is found out by the receiver, whoever built the message (E23).
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender, Summariser } from '@baton/sdk'
import { extractiveSummariser } from '@baton/summarise'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const FACT = 'We decided to lend 240,000 EUR because the ratio is below 80 percent.'

/** Writes the extract without that one sentence. */
const forgetful: Summariser = {
  async summarise(job) {
    const { text, ...rest } = await extractiveSummariser.summarise(job)
    return { ...rest, text: text.replace(FACT.slice(0, -1), 'They went on') }
  },
  close: () => undefined,
}

const strict = recordingAgent('strict', { contextWindowTokens: 2_000 })
const lenient = recordingAgent('lenient', { contextWindowTokens: 2_000 })
const forwarder = recordingAgent('forwarder', {
  contextWindowTokens: 100_000,
  execute: async (context) =>
    answer(context, { next: [{ to: 'strict', taskDescription: 'go on' }] }),
})

let pipeline: Pipeline
let sender: Sender
beforeAll(async () => {
  pipeline = await openPipeline('lost-facts')
  await pipeline.start([strict.agent], { attemptsMax: 2 })
  await pipeline.start([lenient.agent], { lostFacts: 'flag' })
  await pipeline.start([forwarder.agent], { summariser: forgetful, attemptsMax: 2 })
  sender = createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    summariser: forgetful,
    attemptsMax: 2,
  })
})
afterAll(async () => {
  await sender.close()
  await pipeline.close()
})

const talk = { role: 'user', content: 'That sounds good to me, please go on with it. '.repeat(20) }

const longTask = (): AgentState => ({
  ...newTask(),
  conversationHistory: [
    { role: 'assistant', content: FACT },
    ...Array.from({ length: 20 }, () => talk),
  ],
})

const returnsOf = (handoffId: string) =>
  pipeline.rows<{ reason: string; details: unknown }>(
    'select reason, details from handoff_return where handoff_id = $1',
    [handoffId],
  )

const LOST = { pointer: '/pinnedFacts/decisions/0', rule: 'BATON_FACT_LOST' }

it('E23 returns a handoff whose summary lost a decision, with its place and none of its words', async () => {
  const sent = await sender.send(longTask(), 'strict')
  await pipeline.reaches(sent.handoffId, 'ROLLED_BACK')
  const returns = await returnsOf(sent.handoffId)
  expect(returns).toMatchObject([{ reason: 'INCOMPLETE_CONTEXT', details: [LOST] }])
  expect(await pipeline.decisions(sent.taskId)).toMatchObject([
    { status: 'REJECTED', reason: 'INCOMPLETE_CONTEXT' },
  ])
  expect(strict.executed).toEqual([])
  expect(JSON.stringify(returns) + pipeline.log()).not.toContain('240,000')
})

it('E23 executes it where lost facts are only flagged, and says so in the log', async () => {
  const sent = await sender.send(longTask(), 'lenient')
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  const line = pipeline
    .log()
    .split('\n')
    .find((one) => one.includes('handoff.facts_lost'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    handoffId: sent.handoffId,
    code: 'BATON_FACT_LOST',
    pointers: [LOST.pointer],
  })
})

it('E23 finds out what an agent’s own worker lost of what it hands on', async () => {
  const sent = await sender.send(longTask(), 'forwarder')
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  const [next] = await pipeline.rows<{ id: string }>(
    'select id from handoff where parent_id = $1',
    [sent.handoffId],
  )
  await pipeline.reaches(next?.id ?? '', 'ROLLED_BACK')
  expect(await returnsOf(next?.id ?? '')).toMatchObject([{ details: [LOST] }])
})
