// A language model of the AI SDK that needs no key: it says what it is told to, and counts tokens.
import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

export type Said =
  | { readonly text: readonly string[] }
  | { readonly tool: string; readonly input: object }

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>
type Part = Streamed['stream'] extends ReadableStream<infer One> ? One : never

/** One answer after the other; `before` is called before each, with its number from 0. */
export function modelSaying(
  answers: readonly Said[],
  before: (index: number) => void,
): MockLanguageModelV4 {
  let asked = 0
  return new MockLanguageModelV4({
    doStream: async () => {
      before(asked)
      const answer = answers[asked % answers.length] ?? { text: [] }
      asked += 1
      return { stream: simulateReadableStream({ chunks: chunksOf(answer) }) }
    },
  })
}

const USAGE = {
  inputTokens: { total: 30, noCache: 30, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
}

function chunksOf(answer: Said): Part[] {
  const reason = 'tool' in answer ? ('tool-calls' as const) : ('stop' as const)
  return [
    { type: 'stream-start', warnings: [] },
    {
      type: 'response-metadata',
      id: crypto.randomUUID(),
      modelId: 'mock-1',
      timestamp: new Date(),
    },
    ...partsOf(answer),
    { type: 'finish', finishReason: { unified: reason, raw: reason }, usage: USAGE },
  ]
}

function partsOf(answer: Said): Part[] {
  if ('tool' in answer) {
    const { tool: toolName, input } = answer
    return [
      {
        type: 'tool-call',
        toolCallId: crypto.randomUUID(),
        toolName,
        input: JSON.stringify(input),
      },
    ]
  }
  return [
    { type: 'text-start', id: 't' },
    ...answer.text.map((delta) => ({ type: 'text-delta', id: 't', delta }) as const),
    { type: 'text-end', id: 't' },
  ]
}
