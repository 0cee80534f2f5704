// Sends one handoff per input line and answers one line each, only after its commit.
import { parseMessage } from '@baton/protocol'
import type { Detail, GivenState, HandoffConstraints } from '@baton/protocol'
import { codeOf } from '@baton/runtime'
import type { Sender, Sent } from '@baton/sdk'

/** The answer to line `line` (from 1): the durable handoff, or what is wrong with the line. */
export type LineAnswer =
  | ({ readonly line: number } & Sent)
  | {
      readonly line: number
      readonly error: {
        readonly code: string
        readonly message: string
        readonly fix?: string
        readonly details?: readonly Detail[]
      }
    }

export interface SendLinesOptions {
  readonly lines: AsyncIterable<string>
  readonly sender: Pick<Sender, 'send'>
  readonly answer: (answer: LineAnswer) => void
  /** Most lines under way; reading pauses above it. */
  readonly underWayMax: number
}

interface LineRequest {
  readonly agentState: GivenState
  readonly targetAgentType: string
  readonly constraints?: HandoffConstraints
}

/** Resolves when every line has been answered; tells how many were sent and how many refused. */
export async function sendLines(
  options: SendLinesOptions,
): Promise<{ sent: number; refused: number }> {
  const { lines, sender, answer, underWayMax } = options
  const counts = { sent: 0, refused: 0 }
  const underWay = new Set<Promise<void>>()
  let line = 0

  async function sendOne(number: number, text: string): Promise<void> {
    const result = await sendLine(sender, number, text)
    if ('error' in result) counts.refused += 1
    else counts.sent += 1
    answer(result)
  }

  for await (const text of lines) {
    line += 1
    if (text.trim() === '') continue
    const sending = sendOne(line, text).finally(() => underWay.delete(sending))
    underWay.add(sending)
    if (underWay.size >= underWayMax) await Promise.race(underWay)
  }
  await Promise.all(underWay)
  return counts
}

async function sendLine(
  sender: Pick<Sender, 'send'>,
  line: number,
  text: string,
): Promise<LineAnswer> {
  const parsed = parseMessage(Buffer.from(text))
  if (!parsed.ok) return refused(line, { code: 'BATON_LINE_INVALID', details: parsed.details })
  const request = parsed.value as unknown
  const missing = whatIsMissing(request)
  if (missing !== undefined) {
    return refused(line, { code: 'BATON_LINE_INVALID', details: [missing] })
  }
  const { agentState, targetAgentType, constraints = {} } = request as LineRequest
  try {
    return { line, ...(await sender.send(agentState, targetAgentType, constraints)) }
  } catch (error) {
    const { details, fix, message } = error as {
      details?: readonly Detail[]
      fix?: string
      message: string
    }
    return refused(line, { code: codeOf(error), message, fix, details })
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// What the builder reads before it can say itself what is wrong.
function whatIsMissing(request: unknown): Detail | undefined {
  if (!isObject(request)) return missing('', 'an object')
  const { agentState, targetAgentType, constraints = {} } = request
  if (!isObject(agentState)) return missing('/agentState', 'an object')
  if (typeof targetAgentType !== 'string') return missing('/targetAgentType', 'a name')
  if (!isObject(constraints)) return missing('/constraints', 'an object')
  const member = ['agent', 'cost'].find((name) => !isObject(agentState[name]))
  return member === undefined ? undefined : missing(`/agentState/${member}`, 'an object')
}

const missing = (pointer: string, expected: string): Detail => ({
  pointer,
  rule: 'required',
  message: `The line needs ${expected} at "${pointer}"`,
  fix: 'Write {"agentState": {...}, "targetAgentType": "name", "constraints": {...}} on one line.',
})

interface Refusal {
  readonly code: string
  readonly message?: string
  readonly fix?: string | undefined
  readonly details?: readonly Detail[] | undefined
}

function refused(line: number, { code, message, fix, details }: Refusal): LineAnswer {
  const [first] = details ?? []
  const howToMend = fix ?? first?.fix
  return {
    line,
    error: {
      code,
      message: message ?? first?.message ?? code,
      ...(howToMend === undefined ? {} : { fix: howToMend }),
      ...(details === undefined ? {} : { details }),
    },
  }
}
