// Turns a message into a safety verdict, in one synchronous pass of bounded work.
import { createHash } from 'node:crypto'
import { computeArtefactId } from './artefact.ts'
import { decide } from './decision.ts'
import type { Evidence } from './decision.ts'
import { listFields, pointerOf } from './fields.ts'
import { createMatcher } from './matcher.ts'
import type { Matcher } from './matcher.ts'
import { fieldAt, joinFields } from './text.ts'
import type { FieldSpan, MessageText } from './text.ts'
import type { Finding, SafetyVerdict, Scanner } from './verdict.ts'
import { readText } from './views.ts'
import type { ViewHit } from './views.ts'

/** Most findings a verdict lists; the decision counts all of them. */
export const FINDINGS_MAX = 128

/**
 * Creates the embedded scanner (E07): rules over every text field of a message, in plain and in hidden form. The message
 * is never changed, and must be JSON within the protocol's limits (size and depth are checked before safety).
 */
export function createScanner(): Scanner {
  const artefactId = computeArtefactId()
  const matcher = createMatcher()
  return { artefactId, scan: (message) => scanMessage(message, { artefactId, matcher }) }
}

function scanMessage(
  message: object,
  { artefactId, matcher }: { artefactId: string; matcher: Matcher },
): SafetyVerdict {
  const startedAt = performance.now()
  const text = joinFields(listFields(message))
  const reading = readText(text.text, matcher)
  const placed = reading.hits.map((hit) => place(hit, text)).filter((hit) => counts(hit))
  return {
    ...decide(placed.map((hit) => evidenceOf(hit))),
    findings: placed.slice(0, FINDINGS_MAX).map((hit) => findingOf(hit)),
    artefactId,
    views: reading.views,
    bytes: reading.units,
    elapsedUs: Math.round((performance.now() - startedAt) * 1000),
  }
}

interface PlacedHit {
  readonly hit: ViewHit
  readonly at: FieldSpan
}

function place(hit: ViewHit, text: MessageText): PlacedHit {
  return { hit, at: fieldAt(text, hit.span) }
}

/** Orders are only remarkable where nobody gives any. */
function counts({ hit, at }: PlacedHit): boolean {
  return hit.rule.category !== 'instruction' || at.field.trust === 'data'
}

function evidenceOf({ hit, at }: PlacedHit): Evidence {
  const { id, effect, weight } = hit.rule
  return { ruleId: id, effect, weight, trust: at.field.trust, at: hit.span[0], quoted: hit.quoted }
}

function findingOf({ hit, at }: PlacedHit): Finding {
  const { field, span, crossed } = at
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
  }
}
