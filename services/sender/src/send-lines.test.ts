// Every input line gets exactly one answer, after its commit; a bad line says what is wrong and stops nothing.
import { permanent } from '@baton/runtime'
import type { Sent } from '@baton/sdk'
import { describe, expect, it } from 'vitest'
import { sendLines } from './send-lines.ts'
import type { LineAnswer } from './send-lines.ts'

const sent = (handoffId: string): Sent => ({
  handoffId,
  taskId: 't',
  taskSeq: 1,
  state: 'QUEUED',
  duplicate: false,
  traceparent: '00-0-0-01',
})

async function* lineByLine(lines: readonly string[]) {
  yield* lines
}

type Send = Parameters<typeof sendLines>[0]['sender']['send']

async function run(lines: readonly string[], send: Send, underWayMax = 8) {
  const answers: LineAnswer[] = []
  const counts = await sendLines({
    lines: lineByLine(lines),
    sender: { send },
    answer: (answer) => answers.push(answer),
    underWayMax,
  })
  return { counts, answers: answers.toSorted((a, b) => a.line - b.line) }
}

const good = (handoffId: string) =>
  JSON.stringify({ agentState: { handoffId, agent: {}, cost: {} }, targetAgentType: 'reader' })
const echo: Send = async (state) => sent(state.handoffId ?? '')

describe('sendLines', () => {
  it('answers each line with its number and skips empty ones', async () => {
    const { counts, answers } = await run([good('a'), '', '  ', good('b')], echo)
    expect(counts).toEqual({ sent: 2, refused: 0 })
    expect(answers).toMatchObject([
      { line: 1, handoffId: 'a' },
      { line: 4, handoffId: 'b' },
    ])
  })

  it.each([
    ['no JSON', '{"agentState"', 'pointer'],
    ['a repeated member', '{"agentState":{},"agentState":{},"targetAgentType":"x"}', 'pointer'],
    ['null', 'null', 'agentState'],
    ['a number', '7', 'agentState'],
    ['no target', '{"agentState":{}}', '/targetAgentType'],
    [
      'a state without its agent',
      '{"agentState":{"cost":{}},"targetAgentType":"x"}',
      '/agentState/agent',
    ],
    [
      'a state without its cost',
      '{"agentState":{"agent":{}},"targetAgentType":"x"}',
      '/agentState/cost',
    ],
    ['a state that is null', '{"agentState":null,"targetAgentType":"x"}', 'agentState'],
    ['a state that is a list', '{"agentState":[],"targetAgentType":"x"}', 'agentState'],
    [
      'constraints that are none',
      '{"agentState":{},"targetAgentType":"x","constraints":7}',
      '/constraints',
    ],
  ])('refuses %s with a code, a place and a fix, and goes on', async (_, line, words) => {
    const { counts, answers } = await run([line, good('a')], echo)
    expect(counts).toEqual({ sent: 1, refused: 1 })
    const [first] = answers
    expect(first).toMatchObject({
      line: 1,
      error: { code: 'BATON_LINE_INVALID', message: expect.any(String), fix: expect.any(String) },
    })
    expect(JSON.stringify(first)).toContain(words)
  })

  it('tells why a handoff was not sent', async () => {
    const { counts, answers } = await run([good('a')], async () => {
      throw permanent('BATON_TASK_ENDED', 'task t has ended', { fix: 'Start a new task.' })
    })
    expect(counts).toEqual({ sent: 0, refused: 1 })
    expect(answers).toEqual([
      {
        line: 1,
        error: { code: 'BATON_TASK_ENDED', message: 'task t has ended', fix: 'Start a new task.' },
      },
    ])
  })

  it('never has more lines under way than allowed', async () => {
    let underWay = 0
    let most = 0
    const { counts } = await run(
      Array.from({ length: 50 }, (_, index) => good(String(index))),
      async (state) => {
        underWay += 1
        most = Math.max(most, underWay)
        await new Promise((resolve) => setImmediate(resolve))
        underWay -= 1
        return sent(state.handoffId ?? '')
      },
      4,
    )
    expect(counts.sent).toBe(50)
    expect(most).toBeLessThanOrEqual(4)
  })
})
