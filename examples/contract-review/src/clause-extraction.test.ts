// Clauses of the well-known licences are found, and quoted exactly as they stand.
import { describe, expect, it } from 'vitest'
import { extractClauses } from './clause-extraction.ts'
import { takeIn } from './intake.ts'
import { AGPL_3_NOTICE, APACHE_2, BSD_3, ISC, MIT, MPL_2 } from '../fixtures/samples.ts'

const sectionsOf = (text: string) => takeIn(text, 'sample@1.0.0').state.sections
const kindsOf = (text: string) =>
  [...new Set(extractClauses(sectionsOf(text)).map(({ kind }) => kind))].toSorted()

describe('extracting clauses', () => {
  it.each([
    ['MIT', MIT, ['attribution', 'condition', 'grant', 'liabilityLimit', 'warrantyDisclaimer']],
    ['ISC', ISC, ['attribution', 'condition', 'grant', 'liabilityLimit', 'warrantyDisclaimer']],
    [
      'BSD-3-Clause',
      BSD_3,
      [
        'attribution',
        'condition',
        'grant',
        'liabilityLimit',
        'noEndorsement',
        'warrantyDisclaimer',
      ],
    ],
    [
      'Apache-2.0',
      APACHE_2,
      [
        'attribution',
        'changesStated',
        'condition',
        'grant',
        'indemnity',
        'liabilityLimit',
        'patentGrant',
        'patentRetaliation',
        'trademark',
        'warrantyDisclaimer',
      ],
    ],
    ['AGPL-3.0', AGPL_3_NOTICE, ['networkCopyleft', 'strongCopyleft', 'warrantyDisclaimer']],
    ['MPL-2.0', MPL_2, ['cure', 'termination', 'weakCopyleft']],
  ])('finds those of %s', (spdx, text, kinds) => {
    expect(takeIn(text, 'sample').state.licence.spdx).toBe(spdx)
    expect(kindsOf(text)).toEqual(kinds)
  })

  it('quotes exactly what stands at the span', () => {
    const sections = sectionsOf(APACHE_2)
    for (const { section, span, quote } of extractClauses(sections)) {
      expect(sections.find(({ id }) => id === section)?.text.slice(...span)).toBe(quote)
      expect(quote.length).toBeGreaterThan(0)
      expect(quote.length).toBeLessThanOrEqual(600)
    }
  })

  it('stays bounded for a file of many licences', () => {
    const many = Array.from({ length: 200 }, () => `${MIT}\n\n---\n`).join('\n')
    expect(extractClauses(sectionsOf(many)).length).toBeLessThanOrEqual(5 * 24)
  })
})
