// With Mastra itself and a mock model of the AI SDK: messages come back as they were, tool and step hand over durably, a hosted agent is charged and aborted.
import { messagesOf, turnsOf } from '@baton/sdk'
import type { HandOverRequest, TaskOutcome } from '@baton/sdk'
import { hostedExecution } from '@baton/sdk/fixtures/hosted-execution'
import { Agent } from '@mastra/core/agent'
import type { MastraDBMessage } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { createWorkflow } from '@mastra/core/workflows'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  fromMastra,
  handOverStep,
  handOverTool,
  hostMastraAgent,
  resumeHandedOver,
  toMastra,
} from './index.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const name = fc.string({ minLength: 1, maxLength: 8 })
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)))
const record = (
  shape: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
) => fc.record({ ...shape, ...optional }, { requiredKeys: Object.keys(shape) })
const is = fc.constant
const common = {
  providerMetadata: fc.record({ mock: fc.dictionary(name, json, { maxKeys: 2 }) }),
  createdAt: fc.nat(),
}
const call = { toolCallId: fc.uuid(), toolName: name, args: json }
const result = json.filter((one) => one !== null && one !== undefined)
const invocation = fc.oneof(
  record(
    { ...call, state: fc.constantFrom('call', 'partial-call', 'approval-requested') },
    { step: fc.nat() },
  ),
  record({ ...call, state: is('result'), result }, { isError: is(true), step: fc.nat() }),
  record({ ...call, state: is('output-error'), errorText: text }),
)
const part = fc.oneof(
  record({ type: is('text'), text }, common),
  record(
    { type: is('reasoning'), reasoning: text, details: is([{ type: 'text', text: 'hm' }]) },
    common,
  ),
  record(
    {
      type: is('file'),
      mimeType: is('image/png'),
      data: fc.oneof(fc.base64String({ maxLength: 8 }), fc.webUrl()),
    },
    common,
  ),
  record({ type: is('tool-invocation'), toolInvocation: invocation }, common),
  record({ type: is('step-start') }, { model: name }),
  record({ type: is('source-document'), sourceId: name, mediaType: name, title: text }),
)
const message = record(
  {
    id: name,
    role: fc.constantFrom('user', 'assistant', 'system', 'signal'),
    createdAt: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    content: record(
      { format: is(2), parts: fc.array(part, { maxLength: 3 }) },
      { metadata: fc.dictionary(name, json, { minKeys: 1, maxKeys: 1 }) },
    ),
  },
  { threadId: name, resourceId: name, type: is('text') },
) as unknown as fc.Arbitrary<MastraDBMessage>

describe('messages', () => {
  it('come back from the turns of a handoff as they were', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (messages) => {
        const { conversationHistory } = turnsOf(fromMastra(messages))
        expect(toMastra(messagesOf(conversationHistory))).toEqual(messages)
      }),
    )
  })

  it('take results that stand in a message of their own, and mark what only another framework reads', () => {
    const [made, ...others] = toMastra([
      {
        role: 'assistant',
        parts: [
          { type: 'tool-call', callId: 'c', tool: 'add', input: {} },
          { type: 'other', own: { elsewhere: 1 } },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', tool: 'add', output: 4 }] },
    ])
    expect(others).toEqual([])
    expect(made?.content.parts).toMatchObject([
      { type: 'tool-invocation', toolInvocation: { state: 'result', result: 4 } },
      { type: 'text', text: '[left out: a part of kind other that only elsewhere reads]' },
    ])
  })
})

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}
type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>
type StreamPart = Streamed['stream'] extends ReadableStream<infer One> ? One : never
const streamed = (unified: 'stop' | 'tool-calls', ...parts: StreamPart[]): Streamed => ({
  stream: convertArrayToReadableStream<StreamPart>([
    { type: 'stream-start', warnings: [] },
    ...parts,
    { type: 'finish', finishReason: { unified, raw: unified }, usage: USAGE },
  ]),
})
const calls = (toolName: string) =>
  streamed('tool-calls', {
    type: 'tool-call',
    toolCallId: 'call-1',
    toolName,
    input: '{"task":"add 2 and 2"}',
  })
const says = (...deltas: string[]) =>
  streamed(
    'stop',
    { type: 'text-start', id: 't' },
    ...deltas.map((delta) => ({ type: 'text-delta', id: 't', delta }) as const),
    { type: 'text-end', id: 't' },
  )
const agentWith = (
  tools: Record<string, ReturnType<typeof handOverTool>>,
  ...answers: Streamed[]
) =>
  new Agent({
    id: 'desk',
    name: 'desk',
    instructions: 'Help.',
    model: new MockLanguageModelV4({ doStream: answers }) as never,
    tools,
  })

const COMPLETED: TaskOutcome = {
  status: 'COMPLETED',
  ended: true,
  result: 'It is 4.',
  reason: null,
  details: null,
}

function desk() {
  const asked: HandOverRequest[] = []
  const handOver = async (request: HandOverRequest) => {
    asked.push(request)
    return {
      taskId: 't1',
      handoffId: 'h',
      duplicate: false,
      outcome: request.waitMs === 0 ? undefined : COMPLETED,
    }
  }
  return { asked, handOver, sender: { outcome: async () => COMPLETED } }
}

describe('handOverTool', () => {
  it('hands over under the id of the call, with the conversation before it', async () => {
    const { asked, handOver } = desk()
    const agent = agentWith(
      { sum: handOverTool({ handOver, to: 'adder' }) },
      calls('sum'),
      says('Done.'),
    )
    const answer = await agent.stream('What is 2 + 2?')
    expect(await answer.text).toBe('Done.')
    expect(asked).toMatchObject([
      {
        key: 'call-1',
        to: 'adder',
        task: 'add 2 and 2',
        messages: [{ role: 'user', parts: [{ text: 'What is 2 + 2?' }] }],
      },
    ])
    expect(JSON.stringify(await answer.toolResults)).toContain('It is 4.')
  })

  it('asks for a key where nobody has one', async () => {
    const { handOver } = desk()
    const { execute } = handOverTool({ handOver, to: 'adder' })
    await expect(execute?.({ task: 'add' } as never, {} as never)).rejects.toMatchObject({
      code: 'BATON_HANDOVER_KEY_MISSING',
    })
  })
})

describe('handOverStep', () => {
  const workflowOf = (step: ReturnType<typeof handOverStep>) => {
    const workflow = createWorkflow({
      id: 'sums',
      inputSchema: z.object({ task: z.string() }),
      outputSchema: z.object({ taskId: z.string(), result: z.unknown() }),
    })
      .then(step as never)
      .commit()
    return workflow
  }

  it('answers with the result, under the run’s own key', async () => {
    const { asked, handOver } = desk()
    const run = await workflowOf(handOverStep({ handOver, to: 'adder' })).createRun({
      runId: 'run-1',
    })
    const { status, result } = (await run.start({ inputData: { task: 'add' } })) as {
      status: string
      result?: unknown
    }
    expect([status, result]).toEqual(['success', { taskId: 't1', result: 'It is 4.' }])
    expect(asked[0]?.key).toBe('run-1/hand-over-to-adder')
  })

  it('waits suspended, over restarts, under one key', async () => {
    const storage = new InMemoryStore()
    const first = desk()
    const open = (handOver: typeof first.handOver) => {
      const sums = workflowOf(handOverStep({ handOver, to: 'adder', wait: 'suspend' }))
      return new Mastra({ workflows: { sums }, storage, logger: false }).getWorkflow('sums')
    }
    const begun = await open(first.handOver).createRun({ runId: 'run-2' })
    expect((await begun.start({ inputData: { task: 'add' } })).status).toBe('suspended')
    // Another process, later.
    const { asked, handOver, sender } = desk()
    const later = open(handOver)
    const run = await later.createRun({ runId: 'run-2' })
    const standing = await later.getWorkflowRunById('run-2')
    expect(await resumeHandedOver(run, standing as never, { sender })).toMatchObject({
      status: 'success',
      result: { result: 'It is 4.' },
    })
    expect(asked[0]?.key).toBe(first.asked[0]?.key)
  })
})

describe('hostMastraAgent', () => {
  const options = {
    type: 'tested',
    version: '1.0.0',
    costUSD: ({ prompt, completion }: { prompt: number; completion: number }) =>
      (prompt + completion) / 1_000,
  }

  it('streams, charges its tokens, keeps what was said and called, and hands on', async () => {
    const { run, chunks } = hostedExecution({
      conversationHistory: [{ role: 'system', content: 'Be terse.' }],
    })
    const answer = await run(
      hostMastraAgent({
        ...options,
        agent: ({ handOver }) =>
          agentWith(
            { sum: handOverTool({ handOver, to: 'adder' }) },
            calls('sum'),
            says('It ', 'is 4.'),
          ),
      }),
    )
    expect(answer).toMatchObject({
      costUSD: 0.03,
      tokens: { prompt: 20, completion: 10 },
      toolCalls: [{ tool: 'sum' }],
      next: [{ to: 'adder', taskDescription: 'add 2 and 2' }],
    })
    expect(answer.conversation).toHaveLength(1)
    expect(chunks.map(({ content: piece }) => piece as string).join('')).toBe('It is 4.')
  })

  it('passes on the abort of its handoff, and fails as its model fails or where it waits for a person', async () => {
    const { run, abort } = hostedExecution()
    const stopping = new MockLanguageModelV4({
      doStream: async ({ abortSignal }) => {
        abort(new Error('lease lost'))
        abortSignal?.throwIfAborted()
        return says('too late')
      },
    })
    const agent = (model: MockLanguageModelV4, tools = {}) =>
      new Agent({
        id: 'a',
        name: 'a',
        instructions: '',
        model: model as never,
        tools,
        maxRetries: 0,
      })
    await expect(run(hostMastraAgent({ ...options, agent: agent(stopping) }))).rejects.toThrow(
      'lease lost',
    )
    const failing = new MockLanguageModelV4({
      doStream: () => Promise.reject(new Error('no model')),
    })
    await expect(
      hostedExecution().run(hostMastraAgent({ ...options, agent: agent(failing) })),
    ).rejects.toThrow('no model')
    const pay = createTool({
      id: 'pay',
      description: 'pays',
      inputSchema: z.object({ task: z.string() }),
      requireApproval: true,
      execute: async () => ({ paid: true }),
    })
    const asking = new MockLanguageModelV4({ doStream: [calls('pay')] })
    await expect(
      hostedExecution().run(hostMastraAgent({ ...options, agent: agent(asking, { pay }) })),
    ).rejects.toMatchObject({ code: 'BATON_AGENT_INTERRUPTED' })
  })
})
