// `safety released`: what the scanner stopped and reviewers let go on as it was, a line for each finding, to learn from.
import { BatonError } from '@baton/runtime'
import { textsAt } from '@baton/safety'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway, withReadingGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { readPages, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import type { DeadLetter } from './find-dead-letter.ts'

interface ReleasedOptions {
  /** RFC 3339. */
  readonly since?: string | undefined
  readonly flags: PageFlags
  /** Also the text of each finding; who reads it is on record. */
  readonly text: boolean
}

interface Released extends DeadLetter {
  readonly artefactId: string | null
}

/** One finding that reviewers did not agree with. */
interface HardNegative {
  readonly handoffId: string
  readonly releasedAt: string | null
  readonly rule: string | null
  readonly pointer: string
  readonly span: readonly [number, number] | null
  readonly view: string | null
  readonly rulesetVersion: string | null
  /** Null where the message is gone, or the finding is about all of it; left out where no text was asked for. */
  readonly text?: string | null
}

/** With --json, JSON lines. Throws BATON_SCOPE_MISSING where the text is asked for by who may not read it. */
export async function safetyReleased(
  context: Context,
  { since, flags, text }: ReleasedOptions,
): Promise<ExitCode> {
  const { output } = context
  const asked = { path: '/v2/dead-letters/released', name: 'deadLetters', filter: { since }, flags }
  // Whoever reads the text is named in the log of the gateway that runs.
  const read = text ? withGateway : withReadingGateway
  const { listed, negatives } = await read(context, async (gateway) => {
    const page = await readPages<Released>(gateway, asked)
    const found: HardNegative[] = []
    for (const one of page.rows) {
      const message = text ? await readMessage(gateway, one.handoffId) : undefined
      found.push(...negativesOf(one, message))
    }
    return { listed: page, negatives: found }
  })
  if (output.json) for (const negative of negatives) output.data(JSON.stringify(negative))
  else if (negatives.length > 0) output.data(table(negatives))
  const last = listed.rows.at(-1)
  if (listed.total === 0) output.words('Nobody released what the scanner stopped.')
  sayShown(output, listed, `safety released${typedAgain({ since, limit: flags.limit })}`)
  output.next(
    nextStep(
      last === undefined
        ? 'dlq ls --reason SAFETY_VIOLATION'
        : `safety explain ${short(last.handoffId)}`,
    ),
  )
  return EXIT.fine
}

interface Message {
  readonly message: unknown
}

/** A message that was erased since has no text, and ends no list. */
const readMessage = (gateway: GatewayClient, handoffId: string): Promise<Message> =>
  gateway.get<Message>(`/v2/dead-letters/${handoffId}/message`).catch((error: unknown) => {
    if (error instanceof BatonError && error.code === 'BATON_DEAD_LETTER_UNKNOWN')
      return { message: null }
    throw error
  })

const negativesOf = (
  { handoffId, resolvedAt, artefactId, details }: Released,
  read: Message | undefined,
): readonly HardNegative[] =>
  details.map(({ rule = null, pointer = '', span = null, view = null }) => ({
    handoffId,
    releasedAt: resolvedAt,
    rule,
    pointer,
    span,
    view,
    rulesetVersion: artefactId,
    ...(read === undefined ? {} : { text: textUnder(read.message, pointer, span) }),
  }))

/** Null also where it may be a value or its key: a wrong one would be learned from. */
function textUnder(
  message: unknown,
  pointer: string,
  span: readonly [number, number] | null,
): string | null {
  if (span === null || span[0] === span[1]) return null
  const [text, other] = textsAt(message, pointer).filter(({ length }) => span[1] <= length)
  return other === undefined ? (text?.slice(...span).toWellFormed() ?? null) : null
}

const table = (negatives: readonly HardNegative[]): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'RELEASED (UTC)' },
      { title: 'RULE' },
      { title: 'WHERE', widthMax: 40 },
      { title: 'SPAN' },
      { title: 'READ AS' },
      { title: 'RULESET' },
      { title: 'TEXT', widthMax: 60 },
    ],
    negatives.map(({ handoffId, releasedAt, rule, pointer, span, view, rulesetVersion, text }) => [
      short(handoffId),
      releasedAt === null ? '' : instant(releasedAt),
      rule ?? '',
      pointer || 'the whole message',
      span?.join('-') ?? '',
      view ?? '',
      rulesetVersion?.slice(0, 12) ?? '',
      text ?? '',
    ]),
  )
