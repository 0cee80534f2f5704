// Examples written for the model: what no corpus has enough of, put together from parts, the same ones each time.
import { WRITTEN_ATTACKS } from './attack-examples.ts'
import { WRITTEN_ORDINARY } from './ordinary-examples.ts'
import { randomNumbers } from './random.ts'
import { writeTexts } from './written-texts.ts'

/** A text, and whether it attacks. */
export interface WrittenExample {
  readonly text: string
  readonly attack: boolean
}

const PER_KIND = 400
const SEED = 7

/** All examples, ordinary ones first. */
export function writtenExamples(): WrittenExample[] {
  const random = randomNumbers(SEED)
  return [
    ...writeTexts(WRITTEN_ORDINARY, PER_KIND, random).map((text) => ({ text, attack: false })),
    ...writeTexts(WRITTEN_ATTACKS, PER_KIND, random).map((text) => ({ text, attack: true })),
  ]
}
