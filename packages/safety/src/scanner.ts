// Turns a message into a safety verdict, in one synchronous pass of bounded work.
import { createHash } from 'node:crypto'
import { computeArtefactId } from './artefact.ts'
import { decide, type Evidence } from './decision.ts'
import { listFields, pointerOf } from './fields.ts'
import { fieldAt, joinFields, type MessageText } from './text.ts'
import type { Finding, SafetyVerdict, Scanner } from './verdict.ts'
import { readText, type ViewHit } from './views.ts'

/**
 * Creates the embedded scanner (E07): rules over every text field of a message, in plain and in hidden form. The message
 * is never changed, and must be JSON within the protocol's limits (size and depth are checked before safety).
 */
export function createScanner(): Scanner {
  const artefactId = computeArtefactId()
  return { artefactId, scan: (message) => scanMessage(message, artefactId) }
}

function scanMessage(message: object, artefactId: string): SafetyVerdict {
  const startedAt = performance.now()
  const text = joinFields(listFields(message))
  const reading = readText(text.text)
  const judged = reading.hits.flatMap((hit) => judge(hit, text))
  return {
    ...decide(judged.map(({ evidence }) => evidence)),
    findings: judged.map(({ finding }) => finding),
    artefactId,
    views: reading.views,
    bytes: reading.units,
    elapsedUs: Math.round((performance.now() - startedAt) * 1000),
  }
}

function judge(hit: ViewHit, text: MessageText): { evidence: Evidence; finding: Finding }[] {
  const place = fieldAt(text, hit.span)
  if (place === undefined) return []
  const { field, span, crossed } = place
  const { id: ruleId, category, weight, effect } = hit.rule
  if (category === 'instruction' && field.trust !== 'data') return []
  const { trust } = field
  return [
    {
      evidence: { ruleId, effect, weight, trust, at: hit.span[0], quoted: hit.quoted },
      finding: {
        ruleId,
        category,
        jsonPointer: pointerOf(field.path),
        view: crossed && hit.view === 'raw' ? 'joined' : hit.view,
        span,
        weight,
        hash: createHash('sha256').update(field.text.slice(...span)).digest('hex'),
        trust,
      },
    },
  ]
}
