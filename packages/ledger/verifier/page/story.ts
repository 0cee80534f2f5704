// Tells each record in one paragraph: who handed what to whom, what was checked, who decided, what it cost.
import type { AuditEvent } from '../../src/audit-event.ts'
import type { PayloadReference, RecordBody } from '../../src/record.ts'
import { executedVersion, isOfHandoff } from './read.ts'
import type { ShownRecord } from './read.ts'
import { capital, counted, dollars, listed, reasonWords, sixChecks } from './words.ts'

/** A sentence in parts; names stand out. */
export type Phrase = readonly (string | { readonly name: string })[]

export interface Paragraph {
  readonly record: ShownRecord
  readonly phrase: Phrase
}

/** What the paragraphs before have told. */
interface Told {
  readonly handoffs: ReadonlyMap<string, number>
  /** What had been spent when a handoff was accepted. */
  readonly spentBefore: ReadonlyMap<string, number>
  /** Who voted on a handoff, and in which paragraph. */
  readonly votes: ReadonlyMap<string, readonly string[]>
  readonly refusals: ReadonlyMap<string, number>
}

/** Numbers by the order in which handoffs first appear. */
export function numberHandoffs(records: readonly ShownRecord[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  for (const record of records) {
    const { handoffId } = record.body
    if (isOfHandoff(record) && !numbers.has(handoffId)) numbers.set(handoffId, numbers.size + 1)
  }
  return numbers
}

export function tell(records: readonly ShownRecord[]): readonly Paragraph[] {
  const spentBefore = new Map<string, number>()
  const votes = new Map<string, readonly string[]>()
  const refusals = new Map<string, number>()
  const told = { handoffs: numberHandoffs(records), spentBefore, votes, refusals }
  return records.map((record) => {
    const { body, number } = record
    const { handoffId, event } = body
    const phrase = capitalized(PHRASES[event](record, told))
    if (event === 'HANDOFF_ACCEPTED' && body.cost)
      spentBefore.set(handoffId, body.cost.spentMicroUSD)
    if (event === 'HANDOFF_REJECTED') refusals.set(handoffId, number)
    if (event === 'DEAD_LETTERED') votes.delete(handoffId)
    if (event === 'RELEASE_APPROVED') {
      const vote = `${whoOf(body)} (paragraph ${number})`
      votes.set(handoffId, [...(votes.get(handoffId) ?? []), vote])
    }
    return { record, phrase }
  })
}

const capitalized = ([first = '', ...rest]: Phrase): Phrase =>
  typeof first === 'string' && first !== '' ? [capital(first), ...rest] : [first, ...rest]

type Teller = (record: ShownRecord, told: Told) => Phrase

function say(texts: TemplateStringsArray, ...values: readonly (string | Phrase)[]): Phrase {
  const parts = texts.flatMap((text, at): Phrase => {
    const value = values[at] ?? ''
    return [text, ...(typeof value === 'string' ? [value] : value)]
  })
  return parts.filter((part) => part !== '')
}

const named = (name: string): Phrase => [{ name }]
const whoOf = ({ act }: RecordBody): string =>
  act?.actor ?? 'somebody whom the record does not name'
const person = ({ body }: ShownRecord): Phrase => named(whoOf(body))
const handoffOf = ({ body }: ShownRecord, { handoffs }: Told): string =>
  `handoff ${handoffs.get(body.handoffId) ?? '?'}`

const sender = ({ body: { fromAgent } }: ShownRecord): Phrase =>
  say`${named(fromAgent.agentId)} (version ${fromAgent.agentVersion})`

const executor = (record: ShownRecord): Phrase => {
  const version = executedVersion(record.body)
  return version === undefined ? receiver(record) : say`${receiver(record)} (version ${version})`
}

const receiver = ({ body: { toAgent } }: ShownRecord): Phrase => named(toAgent.agentType)

const because = ({ body: { reason } }: ShownRecord): string =>
  reason === null ? '' : `, because ${reasonWords(reason)}`
const onGround = ({ body: { reason } }: ShownRecord): string =>
  reason === null ? ' No reason is recorded.' : ` Recorded reason: ${reasonWords(reason)}.`

const reasonOf = ({ body: { reason } }: ShownRecord): string =>
  reason === null ? '' : `; ${reasonWords(reason)}`

const attemptOf = ({ body: { attempt } }: ShownRecord): string =>
  attempt > 1 ? ` for the ${ordinal(attempt)} time` : ''

const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth']
const ordinal = (number: number): string => ORDINALS[number] ?? `${number}th`

function handedOver(record: ShownRecord, told: Told): Phrase {
  const { agentVersion } = record.body.toAgent
  const wanted = agentVersion === null ? '' : ` (asked for version ${agentVersion})`
  const parent = told.handoffs.get(record.body.parentHandoffId ?? '')
  const after = parent === undefined ? '' : `, following handoff ${parent}`
  return say`${sender(record)} handed the task to ${receiver(record)}${wanted}${attemptOf(record)}: ${handoffOf(record, told)}${after}.`
}

/** Every check with its outcome, in words. */
function checked({ body: { verdicts, classifier, exemptions, policy } }: ShownRecord): string {
  if (verdicts === null) return ' The record does not say which checks were made.'
  const outcomes = sixChecks(verdicts)
  const { artefactId, findings, decision } = verdicts.safety
  const rules =
    artefactId === null ? '' : ` The safety check used ruleset ${artefactId.slice(0, 16)}.`
  const found =
    findings === 0
      ? ''
      : ` The safety check itself said \u201c${decision}\u201d, with ${counted(findings, 'finding')}.`
  const groups = ['passed', 'flagged', 'failed', 'skipped'].flatMap((outcome) => {
    const names = outcomes.filter((one) => one[1] === outcome).map(([name]) => name)
    return names.length === 0 ? [] : [`${outcome}: ${listed(names)}`]
  })
  const all = outcomes.every(([, outcome]) => outcome === 'passed')
  const result = all
    ? ' All six checks of the message passed: size, signature, form, completeness, budget and safety.'
    : ` Checks of the message: ${groups.join('; ')}.`
  return `${result}${found}${rules}${exempted(exemptions)}${beside(classifier)}${raised(policy)}`
}

/** What people had taken out of the scanner's decision. */
const exempted = (exemptions: readonly string[] = []): string =>
  exemptions.length === 0
    ? ''
    : ` Findings did not count because of ${exemptions.length === 1 ? 'exemption' : 'exemptions'} ${listed(exemptions)}.`

const raised = (policy: string | undefined): string =>
  policy === undefined ? '' : ` A policy of the receiver judged worse than that (${policy}).`

/** Who else judged the text, and whether that made it worse. */
function beside(classifier: ShownRecord['body']['classifier']): string {
  if (classifier === undefined) return ''
  const { name, version, decision, scanner, failure } = classifier
  if (decision === null)
    return ` The classifier ${name} gave no answer that counts (${failure ?? 'UNKNOWN'}).`
  return ` The classifier ${name}, version ${version ?? 'unknown'}, said \u201c${decision}\u201d where the scanner alone said \u201c${scanner}\u201d.`
}

function spentSoFar({ body: { cost } }: ShownRecord): string {
  if (cost === null) return ''
  const { spentMicroUSD, remainingMicroUSD } = cost
  return ` Until then the task had cost ${dollars(spentMicroUSD)}; ${dollars(remainingMicroUSD)} of its budget was left.`
}

function stepCost({ body: { cost, handoffId } }: ShownRecord, { spentBefore }: Told): string {
  if (cost === null) return ''
  const { spentMicroUSD, promptTokens, completionTokens } = cost
  const before = spentBefore.get(handoffId)
  const own = before === undefined ? '' : ` The step cost ${dollars(spentMicroUSD - before)}`
  const tokens = ` (${counted(promptTokens, 'token')} read, ${counted(completionTokens, 'token')} written)`
  return `${own}${own === '' ? '' : `${tokens}.`} In all the task had cost ${dollars(spentMicroUSD)}.`
}

/** What it answered stands among the texts, where those are shown. */
function answered({ body: { payload } }: ShownRecord): string {
  const bytesOf = (kind: PayloadReference['kind']) =>
    payload.find((reference) => reference.kind === kind)?.bytes
  const [result, taskResult] = [bytesOf('result'), bytesOf('task-result')]
  if (result === undefined) return ''
  const ended =
    taskResult === undefined
      ? ''
      : ` With it the task ended, in a result of ${counted(taskResult, 'byte')}.`
  return ` It answered with ${counted(result, 'byte')}.${ended}`
}

const usedModel = ({ body: { model } }: ShownRecord): string =>
  model === undefined ? '' : ` It says that it used the language model ${model}.`

const refusals = ({ body: { times = 1 } }: ShownRecord): string =>
  times === 1 ? 'A message was refused' : `${times} messages were refused`

function released({ body: { handoffId, release } }: ShownRecord, told: Told): string {
  if (release === undefined) return ''
  const votes = told.votes.get(handoffId) ?? []
  const by = votes.length === 0 ? 'people gave' : `was given by ${listed(votes)}`
  const refusal = told.refusals.get(handoffId)
  const first =
    refusal === undefined
      ? ''
      : ` The first verdict, a refusal, is in paragraph ${refusal}; this is the second.`
  return ` It was accepted because of approval override ${release}, which ${by}.${first}`
}

function erased({ body: { erasure } }: ShownRecord): string {
  if (erasure === undefined) return ''
  const { segments, subjectRef } = erasure
  return ` It concerns ${counted(segments, 'text')} of the person known here as ${subjectRef}; this task holds those that are marked as erased below. Their digests stay, so that the log can still be checked.`
}

const PHRASES: Readonly<Record<AuditEvent, Teller>> = {
  HANDOFF_ACCEPTED: (record, told) =>
    say`${handedOver(record, told)}${checked(record)} It was accepted, and recorded here before any of it was executed.${released(record, told)}${spentSoFar(record)}`,
  HANDOFF_REJECTED: (record, told) =>
    say`${handedOver(record, told)} It was refused${because(record)}.${checked(record)} Nothing of it was executed.${spentSoFar(record)}`,
  SEND_REFUSED: (record) =>
    say`${refusals(record)} at the door${because(record)}. ${person(record)} sent ${record.body.times === 1 ? 'it' : 'them'}; nothing of it was stored or executed.`,
  HANDOFF_BLOCKED: (record, told) =>
    say`${handedOver(record, told)}${checked(record)} It passed its checks, but ${receiver(record)} could not take it${because(record)}. Nothing of it was executed.`,
  EXECUTION_STARTED: (record, told) =>
    say`${receiver(record)} began to work on ${handoffOf(record, told)}.`,
  EXECUTION_COMPLETED: (record, told) =>
    say`${executor(record)} finished its work on ${handoffOf(record, told)}.${usedModel(record)}${answered(record)}${stepCost(record, told)}`,
  EXECUTION_FAILED: (record, told) =>
    say`${executor(record)} failed in its work on ${handoffOf(record, told)}${because(record)}.`,
  ROLLED_BACK: (record, told) =>
    say`The task was set back to the saved state of ${named(record.body.fromAgent.agentId)}, as it was before ${handoffOf(record, told)}${because(record)}.`,
  DEAD_LETTERED: (record, told) =>
    say`The message of ${handoffOf(record, told)} was put aside for a person to decide${because(record)}.`,
  HUMAN_ESCALATED: (record, told) =>
    say`The task was put before a person after ${handoffOf(record, told)}${because(record)}.`,
  HANDOFF_EXPIRED: (record, told) =>
    say`${handoffOf(record, told)} to ${receiver(record)} ended without being carried out${because(record)}.`,
  HANDOFF_CANCELED: (record, told) =>
    say`${handoffOf(record, told)} to ${receiver(record)} was canceled.`,
  CANCEL_REQUESTED: (record, told) =>
    say`${person(record)} asked for ${handoffOf(record, told)} to be canceled.${onGround(record)}`,
  FAN_OUT_FAILED: (record, told) =>
    say`The branches that ${handoffOf(record, told)} had begun were given up${because(record)}.${branchesOf(record, told)}`,
  HANDOFF_RETURNED: (record, told) =>
    say`${handoffOf(record, told)} was given back to ${named(record.body.fromAgent.agentId)}${because(record)}.`,
  HANDOFF_REROUTED: (record, told) =>
    say`${handoffOf(record, told)} was sent on to ${receiver(record)} instead${because(record)}.`,
  HANDOFF_REVISED: (record, told) =>
    say`${named(record.body.fromAgent.agentId)} sent ${handoffOf(record, told)} again with a revised message.`,
  HANDOFF_APPROVED: (record, told) =>
    say`A person, ${person(record)}, approved ${handoffOf(record, told)}.${onGround(record)}`,
  APPROVAL_REFUSED: (record, told) =>
    say`A person, ${person(record)}, refused to approve ${handoffOf(record, told)}.${onGround(record)}`,
  RELEASE_APPROVED: (record, told) =>
    say`A person, ${person(record)}, looked at the message that was put aside and voted to let ${handoffOf(record, told)} go on. It had been put aside${because(record)}.`,
  HANDOFF_RELEASED: (record, told) =>
    say`${handoffOf(record, told)} was released${byVotes(record, told)}.${overrideOf(record)} It had been put aside${because(record)}.`,
  HANDOFF_REDACTED: (record, told) =>
    say`Parts of the message of ${handoffOf(record, told)} were taken out${byVotes(record, told)}, and it was sent on. It had been put aside${because(record)}.`,
  DEAD_LETTER_DISCARDED: (record, told) =>
    say`A person, ${person(record)}, discarded the message of ${handoffOf(record, told)} for good. It had been put aside${because(record)}.`,
  SENDER_ASKED: (record, told) =>
    say`A person, ${person(record)}, asked ${named(record.body.fromAgent.agentId)} about the message of ${handoffOf(record, told)}. It had been put aside${because(record)}.`,
  TASK_RESUMED: (record, told) =>
    say`${person(record)} resumed the task after ${handoffOf(record, told)}.${onGround(record)}`,
  REDRIVE_STARTED: (record, told) =>
    say`${person(record)} began to release many messages that had been put aside, beginning with that of ${handoffOf(record, told)}.`,
  REDRIVE_STOPPED: (record) =>
    say`${person(record)} stopped the release of many messages before it was through.`,
  LEGAL_HOLD_SET: (record) =>
    say`${person(record)} set a legal hold: from then on nothing of this task may be erased or deleted.`,
  LEGAL_HOLD_LIFTED: (record) => say`${person(record)} lifted the legal hold.`,
  ERASURE_REQUESTED: (record) =>
    say`At the request of ${person(record)}, a person\u2019s data was erased${groundOf(record)}.${erased(record)}`,
  ERASURE_COMPLETED: (record) =>
    say`The erasure that ${person(record)} had confirmed was completed${groundOf(record)}.${erased(record)}`,
  ERASURE_DEFERRED: (record) =>
    say`${person(record)} asked for the erasure of a person\u2019s data. It was put off${because(record)}.`,
  EVIDENCE_EXPORTED: (record) =>
    say`Evidence of this task was exported with the right of ${person(record)}${reasonOf(record)}.`,
  VERIFY_RUN: (record) =>
    say`The records of this task were rebuilt and verified with the right of ${person(record)}.${onGround(record)}`,
  PARTITION_DROPPED: () => say`A day of records was moved to the cold store.`,
  API_KEY_MADE: (record) => say`${person(record)} made the API key ${operatedOn(record)}.`,
  API_KEY_REVOKED: (record) => say`${person(record)} revoked the API key ${operatedOn(record)}.`,
  TENANT_ADDED: (record) => say`${person(record)} added the tenant ${operatedOn(record)}.`,
  GRANT_MADE: (record) =>
    say`${person(record)} let the tenant hand off to ${operatedOn(record)} as well.`,
  GRANT_REVOKED: (record) =>
    say`${person(record)} took back that the tenant may hand off to ${operatedOn(record)}.`,
  SETTINGS_CHANGED: (record) =>
    say`The process ${operatedOn(record)} began with other people, keys or witnesses than before.`,
  MIGRATIONS_APPLIED: (record) => say`${person(record)} brought the databases to another version.`,
  KEY_ROTATED: (record) => say`${person(record)} replaced the key ${operatedOn(record)}.`,
  TEXT_READ: (record, told) =>
    say`${person(record)} was shown protected text of ${handoffOf(record, told)} (${operatedOn(record)}), with the right of ${named(record.body.operation?.right ?? '?')}.`,
  RULESET_ACTIVATED: (record) =>
    say`The process ${operatedOn(record)} judges by another scanner than before.`,
  BACKUP_TAKEN: (record) => say`${person(record)} took the backup ${operatedOn(record)}.`,
  RESTORED: (record) =>
    say`${person(record)} restored the databases from the backup ${operatedOn(record)}.`,
  RESTORE_DRILLED: (record) =>
    say`${person(record)} restored the backup ${operatedOn(record)} beside the instance to see that it can be.`,
}

const operatedOn = ({ body: { operation } }: ShownRecord): Phrase =>
  named(operation?.subject ?? 'that the record does not name')

/** How each branch had ended: what those came to that were carried out stands where they finished. */
function branchesOf({ body: { fanOut } }: ShownRecord, { handoffs }: Told): string {
  const ends = (fanOut?.branches ?? []).map(({ handoffId, outcome, reason }) => {
    const number = handoffs.get(handoffId ?? '')
    const name = number === undefined ? 'a branch' : `the one up to handoff ${number}`
    return `${name} ${outcome}${reason === null ? '' : `, as ${reasonWords(reason)}`}`
  })
  return ends.length === 0 ? '' : ` Its branches had ended so: ${ends.join('; ')}.`
}

function byVotes({ body }: ShownRecord, { votes }: Told): string {
  const voters = votes.get(body.handoffId) ?? []
  if (voters.length > 0) return ` by the votes of ${listed(voters)}`
  return body.act === undefined ? '' : ` by ${body.act.actor}`
}

const overrideOf = ({ body: { release } }: ShownRecord): string =>
  release === undefined ? '' : ` The approval override is ${release}.`

const groundOf = ({ body: { reason } }: ShownRecord): string =>
  reason === null ? '' : `, on the ground of ${reason}`
