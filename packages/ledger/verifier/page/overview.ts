// What the first page of the report says: title, facts, how it went and how well it is kept.
import { EXPORTED_AT, FILES } from '../../src/bundle/format.ts'
import type { BundleReport, CheckResult, SegmentStatus } from '../../src/bundle/report.ts'
import type { CheckId } from '../../src/bundle/checks.ts'
import { decodeUtf8, encodeUtf8, toHex } from '../../src/bytes.ts'
import { parseInstant } from '../../src/instant.ts'
import { splitNote } from '../../src/note/note.ts'
import { parseTlogProof } from '../../src/tlog/proof.ts'
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts'
import { costsOf } from './costs.ts'
import { isOfHandoff } from './read.ts'
import type { BundleFiles, ShownRecord } from './read.ts'
import { readMessage } from './message.ts'
import { numberHandoffs } from './story.ts'
import {
  capital,
  counted,
  dollars,
  durationWords,
  instantWords,
  listed,
  secondsWords,
} from './words.ts'

export interface Overview {
  readonly title: string
  /** What the first message says the task is; undefined where no text is shown. */
  readonly subject: string | undefined
  readonly facts: readonly (readonly [string, string])[]
  readonly summary: readonly string[]
}

interface Whole {
  readonly files: BundleFiles
  readonly report: BundleReport
  readonly records: readonly ShownRecord[]
  readonly hasOwnPolicy: boolean
}

export function overviewOf(whole: Whole): Overview {
  const { report, records } = whole
  const ofTask = records.filter(({ isErasure }) => !isErasure)
  const title =
    report.taskId === null ? 'Evidence of several tasks' : `Evidence of task ${report.taskId}`
  return {
    title,
    subject: subjectOf(ofTask),
    facts: [
      ['Task', report.taskId ?? 'Several, as their records say'],
      ['Period', periodOf(ofTask)],
      ['Outcome', outcomeOf(ofTask)],
      ...resultOfTask(ofTask),
      ['Agents', agentsOf(ofTask)],
      ['Cost', costOf(ofTask)],
      ['Records', recordsOf(records)],
      ['Texts', textsOf(report)],
      ['Trace', tracesOf(ofTask)],
      ['Exported', capital(exportOf(whole))],
      ['Sealed', sealOf(whole)],
      ['Witnesses', witnessesOf(whole)],
      ['Is anything missing at the end', capital(completeOf(whole))],
      ['How well it is kept', capital(keptOf(whole))],
    ],
    summary: summaryOf(records),
  }
}

function subjectOf(records: readonly ShownRecord[]): string | undefined {
  for (const { text } of records.flatMap(({ texts }) => texts)) {
    const stated = readMessage(text ?? '')?.['taskDescription']
    if (typeof stated === 'string') return stated
  }
  return undefined
}

function periodOf(records: readonly ShownRecord[]): string {
  const [first, last] = [records[0]?.body.recordedAt, records.at(-1)?.body.recordedAt]
  if (first === undefined || last === undefined) return 'No record'
  const micros = (parseInstant(last) ?? 0) - (parseInstant(first) ?? 0)
  return `From ${instantWords(first)} to ${instantWords(last)} (${durationWords(micros)})`
}

const ENDS: Readonly<Record<string, string>> = {
  EXECUTION_COMPLETED: 'carried out',
  HANDOFF_REJECTED: 'refused',
  HANDOFF_EXPIRED: 'expired',
  HANDOFF_CANCELED: 'canceled',
  HANDOFF_RETURNED: 'returned to its sender',
  ROLLED_BACK: 'rolled back',
  DEAD_LETTERED: 'waiting for a person',
  DEAD_LETTER_DISCARDED: 'discarded by a person',
  APPROVAL_REFUSED: 'refused by a person',
}
const ON_ITS_WAY: ReadonlySet<string> = new Set([
  'HANDOFF_ACCEPTED',
  'EXECUTION_STARTED',
  'HANDOFF_RELEASED',
  'HANDOFF_REDACTED',
  'HANDOFF_REVISED',
  'HANDOFF_APPROVED',
])

function outcomeOf(records: readonly ShownRecord[]): string {
  const ends = new Map<string, string>()
  for (const record of records) {
    const { handoffId, event } = record.body
    const end = ENDS[event] ?? (ON_ITS_WAY.has(event) ? 'without an end here' : undefined)
    if (isOfHandoff(record) && end !== undefined) ends.set(handoffId, end)
  }
  const groups = Map.groupBy(ends.values(), (end) => end)
  const parts = [...groups].map(([end, { length }]) => `${length} ${end}`)
  return parts.length === 0 ? 'No handoff' : `${counted(ends.size, 'handoff')}: ${listed(parts)}`
}

/** What the task came to, as its newest record that says so committed to it. */
function resultOfTask(records: readonly ShownRecord[]): (readonly [string, string])[] {
  const found = records
    .flatMap(({ texts }) => texts)
    .findLast(({ reference }) => reference.kind === 'task-result')
  if (found === undefined) return []
  const { status = 'withheld', text } = found
  return [['Result', text ?? capital(STATUS_WORDS[status])]]
}

function agentsOf(records: readonly ShownRecord[]): string {
  const agents = new Set<string>()
  for (const record of records.filter(isOfHandoff)) {
    agents.add(record.body.fromAgent.agentId)
    agents.add(record.body.toAgent.agentType)
  }
  return agents.size === 0 ? 'None' : [...agents].join(', ')
}

function costOf(records: readonly ShownRecord[]): string {
  const { totalMicroUSD, tokensRead, tokensWritten } = costsOf(records.map(({ body }) => body))
  const tokens = `${counted(tokensRead, 'token')} read and ${counted(tokensWritten, 'token')} written`
  return `${dollars(totalMicroUSD)} in all, ${tokens}`
}

function recordsOf(records: readonly ShownRecord[]): string {
  const erasures = records.filter(({ isErasure }) => isErasure).length
  const own = counted(records.length - erasures, 'record')
  return erasures === 0 ? own : `${own}, and ${counted(erasures, 'record')} of erasures`
}

const STATUS_WORDS: Readonly<Record<SegmentStatus, string>> = {
  present: 'shown below, each as its record committed to it',
  erased: 'erased, as a record says',
  withheld: 'left out by whoever exported this',
  missing: 'missing',
  mismatch: 'not what the record committed to',
}

function textsOf({ segments }: BundleReport): string {
  const groups = Map.groupBy(segments, ({ status }) => status)
  const parts = [...groups].map(([status, { length }]) => `${length} ${STATUS_WORDS[status]}`)
  return parts.length === 0 ? 'None' : parts.join('; ')
}

function tracesOf(records: readonly ShownRecord[]): string {
  const traces = new Set(
    records.filter(isOfHandoff).map(({ body }) => body.traceparent.split('-')[1] ?? ''),
  )
  return traces.size === 0 ? 'None' : `${[...traces].join(', ')} (W3C trace id)`
}

const resultOf = ({ checks }: BundleReport, id: CheckId): CheckResult | undefined =>
  checks.find((check) => check.id === id)?.result

type Outcomes = Readonly<Record<CheckResult, string>>

/** What a check said, where the reader's own policy was asked. */
function askedOf({ report, hasOwnPolicy }: Whole, id: CheckId, outcomes: Outcomes): string {
  return hasOwnPolicy
    ? outcomes[resultOf(report, id) ?? 'skipped']
    : 'not checked against a policy of yours'
}

const OF_EXPORTER: Outcomes = {
  ok: 'an exporter of your policy',
  failed: 'no exporter of your policy',
  incomplete: 'no exporter of your policy',
  skipped: 'your policy names no exporter',
}
const OF_WITNESSES: Outcomes = {
  ok: 'enough for your policy',
  failed: 'not enough for your policy',
  incomplete: 'not enough for your policy',
  skipped: 'your policy asks for none',
}

/** Whose signature the manifest bears, and when whoever exported says that it was. */
function exportOf(whole: Whole): string {
  const { files } = whole
  const note = splitNote(files.get(FILES.manifestNote) ?? encodeUtf8(''))
  const names = note?.signatures.map(({ name, keyId }) => `${name} (key ${keyId})`) ?? []
  const policy = decodeUtf8(files.get(FILES.policy) ?? encodeUtf8('')) ?? ''
  const at = EXPORTED_AT.exec(policy)?.[1]
  const when = at === undefined ? 'at a time that is not stated' : instantWords(at)
  if (names.length === 0) return `${when}; no exporter signed it`
  return `${when}, by ${listed(names)}: ${askedOf(whole, 'EXPORTER_SIGNATURE', OF_EXPORTER)}`
}

function sealOf({ files, report }: Whole): string {
  const proof = parseTlogProof(files.get(FILES.sealProof) ?? encodeUtf8(''))
  const note = proof && splitNote(encodeUtf8(proof.checkpoint))
  const head = note && parseCheckpoint(note.text)
  if (report.sealedAt === null || proof === undefined || head === undefined) return 'Not yet'
  return `${instantWords(report.sealedAt)}, as seal ${proof.index + 1} of ${head.size} in the log ${head.origin}`
}

const COSIGNATURE_BYTES = 72

function witnessesOf(whole: Whole): string {
  const { files } = whole
  const proof = parseTlogProof(files.get(FILES.sealProof) ?? encodeUtf8(''))
  const note = proof && splitNote(encodeUtf8(proof.checkpoint))
  const witnesses = (note?.signatures ?? [])
    .filter(({ bytes }) => bytes.length === COSIGNATURE_BYTES)
    .map(({ name, bytes }) => {
      const at = Number.parseInt(toHex(bytes.subarray(0, 8)), 16)
      return `${name} (${Number.isSafeInteger(at) && at < 1e11 ? secondsWords(at) : 'no time'})`
    })
  if (witnesses.length === 0) return 'None cosigned the seal log'
  return `${listed(witnesses)}: ${askedOf(whole, 'WITNESS_QUORUM', OF_WITNESSES)}`
}

/** Whether the last records are here: by the map of tasks that the seal commits to, or by the word of whoever exported. */
function completeOf(whole: Whole): string {
  const { report, records, hasOwnPolicy } = whole
  const { end, verdict, taskId } = report
  if (verdict === 'tampered') return 'something differs from what was recorded: see the checks'
  if (end === null) {
    const exporter = askedOf(whole, 'EXPORTER_SIGNATURE', OF_EXPORTER)
    return `the bundle holds nothing that proves it: its end rests on the exporter (${exporter})`
  }
  const later = records.filter(({ isLater }) => isLater)
  const came =
    later.length === 0
      ? ''
      : ` ${capital(counted(later.length, 'record'))} came later (${paragraphs(later)}); whether others came with ${later.length === 1 ? 'it' : 'them'} is not said.`
  const absent =
    end.absent.length === 0 ? '' : ` Until then there was no record of ${listed(end.absent)}.`
  const whose = taskId === null ? 'these tasks' : 'this task'
  const proven = `complete until ${instantWords(end.until)}: nothing of ${whose} is missing, as the sealed map of tasks says.`
  return `${hasOwnPolicy ? '' : 'as far as the bundle itself can say, '}${proven}${came}${absent}`
}

function keptOf({ report, hasOwnPolicy }: Whole): string {
  if (report.verdict === 'tampered')
    return 'something differs from what was recorded: see the checks'
  if (report.sealedAt === null || resultOf(report, 'INCLUSION') !== 'ok') {
    return 'not every record is sealed yet: whoever runs the log could still change those'
  }
  const linked = 'each record names the digest of the one before it, and stands in a sealed tree'
  const kept =
    resultOf(report, 'WITNESS_QUORUM') === 'ok'
      ? `${linked} that witnesses cosigned: to change one, the log and its witnesses would have to agree`
      : `${linked}: to change one unseen, whoever seals would have to replace every copy of the seal log`
  return hasOwnPolicy ? kept : `as far as the bundle itself can say, ${kept}`
}

const PEOPLE: ReadonlySet<string> = new Set([
  'HANDOFF_APPROVED',
  'APPROVAL_REFUSED',
  'RELEASE_APPROVED',
  'DEAD_LETTER_DISCARDED',
  'SENDER_ASKED',
  'CANCEL_REQUESTED',
  'TASK_RESUMED',
  'REDRIVE_STARTED',
  'REDRIVE_STOPPED',
  'LEGAL_HOLD_SET',
  'LEGAL_HOLD_LIFTED',
  'ERASURE_REQUESTED',
  'ERASURE_COMPLETED',
  'ERASURE_DEFERRED',
])

/** What people did, by the name under which they did it. */
export const decisionsOf = (records: readonly ShownRecord[]): readonly ShownRecord[] =>
  records.filter(({ body }) => body.act !== undefined && PEOPLE.has(body.event))

function summaryOf(records: readonly ShownRecord[]): readonly string[] {
  const ofTask = records.filter(({ isErasure }) => !isErasure)
  const numbers = numberHandoffs(records)
  const hops = new Map<string, string>()
  for (const record of ofTask.filter(isOfHandoff)) {
    const { handoffId, fromAgent, toAgent } = record.body
    hops.set(handoffId, `${numbers.get(handoffId)}. ${fromAgent.agentId} to ${toAgent.agentType}`)
  }
  const people = new Set(decisionsOf(records).map(({ body }) => body.act?.actor ?? ''))
  const refused = ofTask.filter(({ body }) => body.event === 'HANDOFF_REJECTED')
  return [
    `The task was handed on as follows: ${[...hops.values()].join('; ')}.`,
    `${outcomeOf(ofTask)}. ${costOf(ofTask)}.`,
    refused.length === 0
      ? 'No message was refused.'
      : `Messages that were refused: ${refused.length} (${paragraphs(refused)}).`,
    people.size === 0
      ? 'No person decided anything that these records tell of.'
      : `People decided: ${listed([...people])} (${paragraphs(decisionsOf(records))}).`,
    erasuresOf(records),
  ]
}

function erasuresOf(records: readonly ShownRecord[]): string {
  const texts = records.flatMap((record) =>
    record.texts.filter(({ status }) => status === 'erased'),
  )
  if (texts.length === 0) return 'No text of this task was erased.'
  const erasures = records.filter(({ isErasure }) => isErasure)
  return `${counted(texts.length, 'text')} of this task ${texts.length === 1 ? 'was' : 'were'} erased (${paragraphs(erasures)}).`
}

const paragraphs = (records: readonly ShownRecord[]): string =>
  `paragraph${records.length === 1 ? '' : 's'} ${listed(records.map(({ number }) => String(number)))}`
