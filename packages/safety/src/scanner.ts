// Turns a message into a safety verdict, in one synchronous pass of bounded work.
import { createHash, hash } from 'node:crypto'
import { NORMALISER_VERSION } from './characters.ts'
import { CODE_DIGEST } from './generated/code-digest.ts'
import { decide, NEARBY, QUOTED_SHARE, THRESHOLDS } from './decision.ts'
import type { Evidence } from './decision.ts'
import { listFields, pointerOf } from './fields.ts'
import type { Field } from './fields.ts'
import { compileRules, ruleMatcher } from './matcher.ts'
import { EMBEDDED_MODEL, MODEL_FLAGS, MODEL_NOTES, MODEL_REJECTS } from './model/model.ts'
import type { Model } from './model/model.ts'
import { JOINED_ANCHORS, TRIGGERS } from './rules/triggers.ts'
import { HIDDEN_CHARACTERS, HIDDEN_TEXT, UNEXPLAINED_MIN } from './rules/hidden.ts'
import { SCAN_INCOMPLETE } from './rules/incomplete.ts'
import { RULE_GROUPS } from './rules/index.ts'
import type { Rule } from './rules/rule.ts'
import { lastUpTo } from './span-map.ts'
import type { Span } from './span-map.ts'
import type { ExemptionOf, Finding, SafetyVerdict, Scanner } from './verdict.ts'
import { readText } from './views.ts'
import type { Reading, ViewHit } from './views.ts'
import { HIDDEN_WORK, WORK_OF } from './work.ts'

/** Most findings a verdict lists; the decision counts all of them. */
export const FINDINGS_MAX = 128

export interface ScannerOptions {
  /** The second opinion; null leaves the rules alone. */
  readonly model: Model | null
}

/**
 * Creates the embedded scanner (E07): rules and a model over every text field of a message, in plain and in hidden form. The message
 * is never changed, and must be JSON within the protocol's limits (size and depth are checked before safety). A scan
 * compiles the rules that it is the first in its process to need, unless `prepareScanner` has.
 */
export function createScanner({ model }: ScannerOptions = { model: EMBEDDED_MODEL }): Scanner {
  const rulesetVersion = computeRulesetVersion(model)
  return {
    rulesetVersion,
    scan(message, exemptionOf) {
      const startedAt = performance.now()
      const text = joinFields(listFields(message))
      const reading = readText(text.text, { matcher: ruleMatcher(), model })
      return judge({ text, reading, startedAt }, { rulesetVersion, exemptionOf })
    },
    scanWithin(msMax, message, exemptionOf) {
      const startedAt = performance.now()
      const text = joinFields(listFields(message))
      const reading = readText(text.text, { matcher: ruleMatcher(), model }, msMax)
      return reading && judge({ text, reading, startedAt }, { rulesetVersion, exemptionOf })
    },
  }
}

/**
 * Compiles all rules, for a process that scans what arrives: between its other work, so that neither its start nor a scan waits for
 * all of them.
 */
export const prepareScanner = (): Promise<void> => compileRules()

/** SHA-256 (hex) over everything that decides; names and order of the properties below are part of it and never change. */
function computeRulesetVersion(model: Model | null): string {
  const ruleset = {
    schema: 'baton-safety/3',
    code: CODE_DIGEST,
    groups: RULE_GROUPS.map(({ id, anchors, rules }) => ({
      id,
      anchors,
      rules: rules.map((rule) => [rule.id, rule.category, rule.effect, rule.weight, rule.pattern]),
    })),
    hidden: [HIDDEN_TEXT, HIDDEN_CHARACTERS, UNEXPLAINED_MIN],
    incomplete: [SCAN_INCOMPLETE, WORK_OF, HIDDEN_WORK],
    gates: TRIGGERS.map(({ rewrite, anchors }) => ({ rewrite, anchors })),
    joined: JOINED_ANCHORS,
    model: model === null ? null : [digestOf(model.weights), model.flagAt, model.rejectAt],
    opinions: [MODEL_NOTES, MODEL_FLAGS, MODEL_REJECTS],
    thresholds: THRESHOLDS,
    nearby: NEARBY,
    quotedShare: QUOTED_SHARE,
    normaliserVersion: NORMALISER_VERSION,
    unicodeVersion: process.versions['unicode'] ?? 'none',
  }
  return createHash('sha256').update(JSON.stringify(ruleset)).digest('hex')
}

const digestOf = (weights: Int8Array): string => createHash('sha256').update(weights).digest('hex')

interface Judging {
  readonly rulesetVersion: string
  readonly exemptionOf: ExemptionOf | undefined
}

interface Read {
  readonly text: MessageText
  readonly reading: Reading
  readonly startedAt: number
}

function judge(
  { text, reading, startedAt }: Read,
  { rulesetVersion, exemptionOf }: Judging,
): SafetyVerdict {
  const found = reading.hits.map((hit) => place(hit, text)).filter((hit) => counts(hit))
  const placed = exemptionOf === undefined ? found : found.map((hit) => exempt(hit, exemptionOf))
  const unread = reading.incomplete ? [SCAN_INCOMPLETE] : []
  const deciding = placed.filter(({ exemption }) => exemption === undefined)
  const used = placed.flatMap(({ exemption }) => exemption ?? [])
  return {
    ...decide([...unread.map(evidenceOfWhole), ...deciding.map((hit) => evidenceOf(hit))]),
    ...(used.length === 0 ? {} : { exempted: [...new Set(used)].toSorted() }),
    findings: [
      ...unread.map(findingOfWhole),
      ...placed.slice(0, FINDINGS_MAX - unread.length).map((hit) => findingOf(hit, text)),
    ],
    rulesetVersion,
    incomplete: reading.incomplete,
    views: reading.views,
    bytes: reading.units,
    work: reading.work,
    elapsedUs: Math.round((performance.now() - startedAt) * 1000),
  }
}

const evidenceOfWhole = ({ id, effect, weight }: Rule): Evidence => ({
  ruleId: id,
  effect,
  weight,
  trust: 'data',
  at: 0,
  quoted: false,
})

const findingOfWhole = ({ id, category, weight }: Rule): Finding => ({
  ruleId: id,
  category,
  jsonPointer: '',
  view: 'raw',
  span: [0, 0],
  weight,
  hash: hash('sha256', ''),
  trust: 'data',
})

interface PlacedHit {
  readonly hit: ViewHit
  readonly at: FieldSpan
  readonly exemption?: string
}

/** What reaches beyond its field stands in no place that anybody exempted. */
function exempt(placed: PlacedHit, exemptionOf: ExemptionOf): PlacedHit {
  const { hit, at } = placed
  const isWhole = at.span[1] - at.span[0] === hit.span[1] - hit.span[0]
  if (!isWhole || hit.reasons !== undefined) return placed
  const { id: ruleId, effect } = hit.rule
  const exemption = exemptionOf({ ruleId, effect, jsonPointer: pointerOf(at.field.path) })
  return exemption === undefined ? placed : { ...placed, exemption }
}

function place(hit: ViewHit, text: MessageText): PlacedHit {
  return hit.reasons === undefined
    ? { hit, at: fieldAt(text, hit.span) }
    : placeOpinion(hit, hit.reasons, text)
}

/**
 * A window may reach over several fields: it is placed in the one of least trust that some of its reasons stand in, so that an order
 * beside a field does not lend it its trust.
 */
function placeOpinion(hit: ViewHit, reasons: readonly Span[], text: MessageText): PlacedHit {
  const [least = fieldAt(text, hit.span)] = reasons
    .map((reason) => fieldAt(text, reason))
    .toSorted((one, other) => rejectsFrom(one) - rejectsFrom(other))
  const at = partIn(text, least.index, hit.span)
  return at.field.trust === 'instruction' ? { hit: { ...hit, rule: MODEL_NOTES }, at } : { hit, at }
}

const rejectsFrom = ({ field }: FieldSpan): number => THRESHOLDS.reject[field.trust]

/** Orders are only remarkable where nobody gives any. */
function counts({ hit, at }: PlacedHit): boolean {
  return hit.rule.category !== 'instruction' || at.field.trust === 'data'
}

function evidenceOf({ hit, at }: PlacedHit): Evidence {
  const { id, effect, weight } = hit.rule
  return { ruleId: id, effect, weight, trust: at.field.trust, at: hit.span[0], quoted: hit.quoted }
}

function findingOf({ hit, at, exemption }: PlacedHit, text: MessageText): Finding {
  const { field, span, crossed } = at
  const reasons = hit.reasons?.map((reason) => fieldAt(text, reason))
  return {
    ruleId: hit.rule.id,
    category: hit.rule.category,
    jsonPointer: pointerOf(field.path),
    view: crossed && hit.view === 'raw' ? 'joined' : hit.view,
    span,
    weight: hit.rule.weight,
    hash: createHash('sha256')
      .update(field.text.slice(...span))
      .digest('hex'),
    trust: field.trust,
    ...(exemption === undefined ? {} : { exemption }),
    ...(reasons === undefined
      ? {}
      : { reasons: reasons.filter((one) => one.field === field).map((one) => one.span) }),
  }
}

/** All fields one after another, a line break between them. */
interface MessageText {
  readonly text: string
  readonly fields: readonly Field[]
  /** Where each field begins. */
  readonly starts: readonly number[]
}

/** A place in one field. */
interface FieldSpan {
  readonly field: Field
  /** Where it stands among the fields of the message, so that nobody looks for it among a hundred thousand. */
  readonly index: number
  readonly span: Span
  /** The span went on into the next field. */
  readonly crossed: boolean
}

// A payload that was split over fields is read as one.
function joinFields(fields: readonly Field[]): MessageText {
  const starts: number[] = []
  let length = 0
  for (const field of fields) {
    starts.push(length)
    length += field.text.length + 1
  }
  return { text: fields.map((field) => field.text).join('\n'), fields, starts }
}

/** The field in which a span of the text begins, and the part of the span inside it; a text with a span has a field. */
const fieldAt = (message: MessageText, span: Span): FieldSpan =>
  partIn(message, lastUpTo(message.starts, span[0]), span)

/** The part of a span inside the field at an index. */
function partIn({ fields, starts }: MessageText, index: number, [start, end]: Span): FieldSpan {
  const field = fields[index]
  if (field === undefined) throw new RangeError('A span was asked for in a message without text')
  const offset = starts[index] ?? 0
  const until = Math.min(field.text.length, end - offset)
  return {
    field,
    index,
    span: [Math.min(Math.max(0, start - offset), until), until],
    crossed: end - offset > field.text.length,
  }
}
