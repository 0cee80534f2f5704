// The first agent of the review: brings a licence text into sections and takes the people out of it.
import { createHash } from 'node:crypto'
import { permanent } from '@baton/sdk'
import { detectLanguage, normaliseText } from './licence-text.ts'
import { separatePersonalData } from './personal-data.ts'
import type { SeparatedText } from './personal-data.ts'
import type { HolderReference, LicenceCard, Section } from './review-state.ts'
import { splitSections } from './sections.ts'
import { recogniseLicences, spdxExpression } from './spdx.ts'
import { estimateUsage } from './usage.ts'
import type { Usage } from './usage.ts'

/** Who sends the first handoff of a review. */
export const INTAKE = { agentId: 'intake', agentVersion: '1.0.0' } as const

/** What intake hands on. A type alias, so that it is a JSON object. */
export type IntakeState = {
  readonly licence: LicenceCard
  readonly holders: readonly HolderReference[]
  readonly sections: readonly Section[]
}

export interface Intake {
  readonly state: IntakeState
  readonly personalData: SeparatedText['personalData']
  readonly usage: Usage
}

const CHARACTERS_MAX = 524_288

/**
 * Reads a licence text; a pure function of the text and the name of what it licenses. Throws
 * BATON_REVIEW_TEXT_INVALID for a text without words or of more than 524,288 characters.
 */
export function takeIn(text: string, name: string): Intake {
  if (!/\p{L}/u.test(text))
    throw invalidText('has no words', 'Give the text of a licence or contract.')
  if (text.length > CHARACTERS_MAX)
    throw invalidText(`has ${text.length} characters`, `Give at most ${CHARACTERS_MAX}.`)
  const separated = separatePersonalData(normaliseText(text), packageNameOf(name))
  const sections = splitSections(separated.text)
  const licence: LicenceCard = {
    name,
    spdx: spdxExpression(recogniseLicences(separated.text)),
    language: detectLanguage(separated.text),
    characters: separated.text.length,
    sha256: createHash('sha256').update(separated.text).digest('hex'),
  }
  const state = { licence, holders: separated.holders, sections }
  return { state, personalData: separated.personalData, usage: estimateUsage(text, state) }
}

const invalidText = (problem: string, fix: string) =>
  permanent('BATON_REVIEW_TEXT_INVALID', `the text to review ${problem}`, { fix })

// 'name@version' and '@scope/name@version'.
const packageNameOf = (name: string): string => name.replace(/(?<=.)@[^@/]*$/, '')
