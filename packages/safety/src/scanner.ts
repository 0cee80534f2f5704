// Turns a message into a safety verdict, in one synchronous pass of bounded work.
import type { SafetyVerdict, Scanner } from './verdict.ts'

const OVERRIDE = /\b(?:ignore|disregard|forget) (?:all )?(?:previous|prior) instructions\b/iu

/** Creates the embedded scanner (E07). */
export function createScanner(): Scanner {
  const artefactId = '0'.repeat(64)
  return { artefactId, scan: (message) => scanText(JSON.stringify(message), artefactId) }
}

function scanText(text: string, artefactId: string): SafetyVerdict {
  const decision = OVERRIDE.test(text) ? 'reject' : 'allow'
  const score = decision === 'reject' ? 1 : 0
  return { decision, score, findings: [], artefactId, views: 1, bytes: text.length, elapsedUs: 0 }
}
