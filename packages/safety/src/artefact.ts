// An artefact of the scanner: weights, thresholds and a version that only rises, as a text to be signed. Rules and code are those of
// the package, whatever an artefact holds.
import type { Model } from './model/model.ts'

/** A signed artefact is no larger: weights of 256 KiB in base64 and their signatures fit. */
export const ARTEFACT_BYTES_MAX = 524_288

export interface Artefact {
  /** 1 to 2,147,483,647; the model of the package has none and counts as 0. */
  readonly version: number
  readonly model: Model
}

const FORM = 'baton-safety-artefact/1'
const VERSION_MAX = 2_147_483_647
/** How far above the one before it a version may be: one at the end of all versions would leave none that may follow it. */
export const ARTEFACT_STEP_MAX = 1_000
/**
 * Thresholds are 1 <= flag-at <= reject-at <= 2 x flag-at: a ratio, since scores grow with the weights. How high flag-at may be, the golden
 * attacks bound, which must be flagged; without a bound to reject-at a model that never rejects alone would pass all the same. Five of those
 * six score beyond 2 x flag-at of the model of the package, which rejects from 1.3 x flag-at on.
 */
const REJECT_PER_FLAG_MAX = 2
const WEIGHTS_MIN = 1_024
const WEIGHTS_MAX = 262_144
const LINES =
  /^baton-safety-artefact\/1\nversion (\d{1,10})\nflag-at (\d{1,15})\nreject-at (\d{1,15})\nweights ([A-Za-z0-9+/]+={0,2})\n$/

/** The text of an artefact, the same for the same artefact; it ends in a line feed. */
export const formatArtefact = ({ version, model }: Artefact): string =>
  [
    FORM,
    `version ${version}`,
    `flag-at ${model.flagAt}`,
    `reject-at ${model.rejectAt}`,
    `weights ${Buffer.from(model.weights).toString('base64')}`,
    '',
  ].join('\n')

/** Reads what `formatArtefact` writes and nothing else; a string says what is wrong with it. */
export function readArtefact(text: string): Artefact | string {
  const [, version, flagAt, rejectAt, weights = ''] = LINES.exec(text) ?? []
  if (version === undefined) return `it does not have the form ${FORM}`
  const artefact: Artefact = {
    version: Number(version),
    model: {
      weights: sharedWeights(Buffer.from(weights, 'base64')),
      flagAt: Number(flagAt),
      rejectAt: Number(rejectAt),
    },
  }
  return faultOf(artefact) ?? (formatArtefact(artefact) === text ? artefact : OTHER_SPELLING)
}

const OTHER_SPELLING = 'its numbers or its base64 are not spelled as they are written'

function faultOf({ version, model }: Artefact): string | undefined {
  const { flagAt, rejectAt, weights } = model
  if (version < 1 || version > VERSION_MAX) return `its version is not 1 to ${VERSION_MAX}`
  if (flagAt < 1 || rejectAt < flagAt || rejectAt > REJECT_PER_FLAG_MAX * flagAt)
    return `its thresholds are not 1 <= flag-at <= reject-at <= ${REJECT_PER_FLAG_MAX} x flag-at`
  const { length } = weights
  const isPower = (length & (length - 1)) === 0
  if (!isPower || length < WEIGHTS_MIN || length > WEIGHTS_MAX)
    return `its weights are no power of two from ${WEIGHTS_MIN} to ${WEIGHTS_MAX}`
  return undefined
}

/** Weights in memory that the threads of a process share: they are given to each, and copied for none. */
export function sharedWeights(weights: Uint8Array | Int8Array): Int8Array {
  const shared = new Int8Array(new SharedArrayBuffer(weights.length))
  shared.set(weights instanceof Int8Array ? weights : Int8Array.from(weights))
  return shared
}
