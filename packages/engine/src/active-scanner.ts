// The scanner by which a process judges now: another one takes its place at once, between two messages.
import { createScanner, EMBEDDED_MODEL, sharedWeights } from '@baton/safety'
import type { Model, Scanner } from '@baton/safety'

/** A scanner that a thread can be given: rules and code are in both, the weights in memory that they share. */
export interface ModelScanner extends Scanner {
  readonly model: Model
}

/** Judges by whichever scanner is active when it is asked. */
export interface ActiveScanner extends ModelScanner {
  replaceBy(next: ModelScanner): void
}

export const scannerOf = (model: Model): ModelScanner => ({ ...createScanner({ model }), model })

/** That of the package, until another one takes its place. */
export function createActiveScanner(): ActiveScanner {
  let active = scannerOf({ ...EMBEDDED_MODEL, weights: sharedWeights(EMBEDDED_MODEL.weights) })
  return {
    get rulesetVersion() {
      return active.rulesetVersion
    },
    get model() {
      return active.model
    },
    scan: (...asked) => active.scan(...asked),
    scanWithin: (...asked) => active.scanWithin(...asked),
    replaceBy(next) {
      active = next
    },
  }
}
