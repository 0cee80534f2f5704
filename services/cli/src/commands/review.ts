// `dlq release`, `redact`, `discard`, `ask`: decisions about a dead letter, made under one person's name.
import { discardDecision, proposeOverride, proposeRedaction, voteDecision } from '@baton/engine'
import { BatonError, permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import type { Meant } from '../decide-signed.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { PEOPLE } from '../instance/secrets.ts'
import { short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { findDeadLetter } from './find-dead-letter.ts'
import type { DeadLetterCase } from './find-dead-letter.ts'
import { hasEnded, readTask } from './find-task.ts'
import type { WholeTask } from './find-task.ts'
import { follow } from './follow.ts'

export type Decision =
  | { readonly action: 'release'; readonly validHours?: number | undefined }
  | { readonly action: 'redact'; readonly at: readonly string[] }
  | { readonly action: 'discard' | 'ask-sender' }

interface Outcome {
  readonly outcome: 'waiting' | 'decided' | 'asked'
  readonly reviewers?: readonly string[]
  readonly needed?: number
  readonly resolution?: string
  readonly repeated?: boolean
}

/** Decides; where the handoff goes back to the queue, waits up to half a minute for the end of its task. */
export async function review(
  context: Context,
  deadLetterId: string,
  decision: Decision,
): Promise<ExitCode> {
  const { output } = context
  return withGateway(context, async (gateway) => {
    const deadLetter = await findDeadLetter(gateway, deadLetterId)
    const path = `/v2/dead-letters/${deadLetter.handoffId}/${decision.action}`
    const body = bodyOf(deadLetter, decision)
    const outcome = await (
      decision.action === 'ask-sender'
        ? gateway.post<Outcome>(path, body)
        : gateway.decide<Outcome>(path, body, meantBy(deadLetter, decision, body))
    ).catch((error: unknown) =>
      Promise.reject(withPerson(error, { context, deadLetter, decision })),
    )
    const goesOn = outcome.outcome === 'decided' && outcome.resolution !== 'DISCARDED'
    const task = goesOn ? await untilEnded(context, gateway, deadLetter.taskId) : undefined
    if (output.json)
      output.data(JSON.stringify({ ...outcome, handoffId: deadLetter.handoffId, task: task?.task }))
    output.words(describe(deadLetter, outcome))
    if (task !== undefined) output.words(describeTask(task))
    output.next(nextFor({ context, deadLetter, decision, outcome }))
    return EXIT.fine
  })
}

export interface DecisionBody {
  readonly validHours?: number
  readonly redactions?: readonly { readonly pointer: string }[]
  readonly proposal?: string
}

function bodyOf(deadLetter: DeadLetterCase, decision: Decision): DecisionBody {
  if (decision.action === 'release')
    return decision.validHours === undefined ? {} : { validHours: decision.validHours }
  if (decision.action !== 'redact') return {}
  if (decision.at.length > 0) return { redactions: decision.at.map((pointer) => ({ pointer })) }
  const proposed = deadLetter.proposals.filter(({ action }) => action === 'REDACT')
  const [only, other] = proposed
  if (only !== undefined && other === undefined) return { proposal: only.proposal }
  const places = new Set(
    deadLetter.details.flatMap(({ pointer = '' }) => (pointer === '' ? [] : pointer)),
  )
  return { redactions: [...places].map((pointer) => ({ pointer })) }
}

/** What this person signs, made of what the gateway shows of the dead letter. */
export function meantBy(deadLetter: DeadLetterCase, decision: Decision, body: DecisionBody): Meant {
  const { artefactId: rulesetVersion, round: quarantineAttempt, reason } = deadLetter
  const about = { ...deadLetter, rulesetVersion, quarantineAttempt }
  const subject = { ...deadLetter, person: '' }
  if (decision.action === 'discard') return discardDecision(subject, about)
  if (decision.action !== 'redact') {
    const { validHours = VALID_HOURS_DEFAULT } = body
    const hours = reason === 'SAFETY_VIOLATION' ? validHours : null
    return voteDecision(subject, proposeOverride(about, hours).sha256)
  }
  const { proposal, redactions = [] } = body
  return voteDecision(subject, proposal ?? proposeRedaction(about, redactions).sha256)
}

function describe(deadLetter: DeadLetterCase, outcome: Outcome): string {
  const what = `${deadLetter.reason} at ${deadLetter.toAgent}`
  const before = outcome.repeated === true ? ' before' : ''
  if (outcome.outcome === 'asked')
    return `Its sender was asked${before} for another message (${what}).`
  if (outcome.outcome === 'decided') return `${outcome.resolution ?? ''}${before}: ${what}.`
  const { reviewers = [], needed = 2 } = outcome
  const missing = needed - reviewers.length
  return `${reviewers.join(', ')} agreed (${what}); ${missing} more ${missing === 1 ? 'reviewer is' : 'reviewers are'} needed.`
}

const describeTask = (whole: WholeTask): string =>
  hasEnded(whole)
    ? `Its task is ${whole.task.status}.`
    : `Its task is ${whole.task.status}; it goes on while the services run.`

interface Following {
  readonly context: Context
  readonly deadLetter: DeadLetterCase
  readonly decision: Decision
  readonly outcome: Outcome
}

function nextFor({ context, deadLetter, decision, outcome }: Following): string {
  if (outcome.outcome !== 'waiting') return nextStep(`trace ${short(deadLetter.taskId)}`)
  return `one more reviewer is needed: ${asAnother({ context, deadLetter, decision }, outcome.reviewers)}`
}

/** The same command for somebody who may still decide. */
function asAnother(
  { context, deadLetter, decision }: Omit<Following, 'outcome'>,
  decided: readonly string[] = [],
): string {
  const name = decision.action === 'ask-sender' ? 'ask' : decision.action
  const command = nextStep(`dlq ${name} ${short(deadLetter.handoffId)}`)
  if (context.settings.BATON_GATEWAY_URL !== undefined) return `${command}, with a key of their own`
  const free = PEOPLE.filter((one) => !decided.includes(one) && one !== deadLetter.sentBy)
  return `${command} --as ${free.find((one) => one !== 'operator') ?? 'operator'}`
}

const withPerson = (error: unknown, about: Omit<Following, 'outcome'>): unknown =>
  error instanceof BatonError && error.code === 'BATON_REVIEW_OWN_HANDOFF'
    ? permanent(error.code, error.message, { fix: `Somebody else decides: ${asAnother(about)}` })
    : error

/** What the gateway takes where nothing is said. */
const VALID_HOURS_DEFAULT = 24
const WAIT_MS = 30_000
const LOOK_EVERY_MS = 200

const untilEnded = (context: Context, gateway: GatewayClient, taskId: string): Promise<WholeTask> =>
  follow(context, {
    look: () => readTask(gateway, taskId),
    ended: hasEnded,
    waitMs: WAIT_MS,
    everyMs: LOOK_EVERY_MS,
    progress: ({ task }, seconds) => `its task is ${task.status}, ${seconds} s`,
  })
