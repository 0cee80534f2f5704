// Intake gives the same for the same text, loses no word, and is quick on hostile input.
import { describe, expect, it } from 'vitest'
import { takeIn } from './intake.ts'
import { APACHE_2, MIT } from '../fixtures/samples.ts'

function takeInOrRefuse(text: string): void {
  try {
    takeIn(text, 'hostile@1.0.0')
  } catch (error) {
    if (codeOf(error) !== 'BATON_REVIEW_HOLDERS_TOO_MANY') throw error
  }
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code

describe('intake', () => {
  it('gives the same for the same text, also with other line ends and margins', () => {
    const quoted = MIT.split('\n')
      .map((line) => `> ${line}`)
      .join('\r\n')
    expect(takeIn(quoted, 'a@1').state).toEqual(takeIn(MIT, 'a@1').state)
    expect(takeIn(MIT, 'a@1')).toEqual(takeIn(MIT, 'a@1'))
  })

  it('splits numbered texts into sections with headings and loses no word', () => {
    const { sections, licence } = takeIn(APACHE_2, 'a@1').state
    expect(sections.map(({ heading }) => heading)).toContain(
      'Trademarks. This License does not grant permission to use the trade names.',
    )
    const words = (text: string) => text.split(/\s+/).filter((word) => word !== '')
    expect(words(sections.map(({ text }) => text).join(' '))).toEqual(words(APACHE_2))
    expect(licence).toMatchObject({ name: 'a@1', spdx: 'Apache-2.0', language: 'en' })
  })

  it.each([
    ['', 'has no words'],
    ['*** 123', 'has no words'],
    ['word '.repeat(200_000), 'has 1000000 characters'],
  ])('refuses a text it cannot review', (text, problem) => {
    expect(() => takeIn(text, 'a@1')).toThrow(
      expect.objectContaining({
        code: 'BATON_REVIEW_TEXT_INVALID',
        message: expect.stringContaining(problem),
      }),
    )
  })

  it.each([
    ['words', 'a'.repeat(500_000)],
    ['capitals', `Copyright (c) ${'A'.repeat(300_000)}`],
    ['years', `copyright (c) ${'1999-2001-'.repeat(50_000)}`],
    ['brackets', '(<'.repeat(250_000) + 'a'],
    ['separators', 'a; '.repeat(160_000)],
    ['paragraphs', 'a\n\n'.repeat(160_000)],
    ['grants', 'redistribution and use in source and binary forms '.repeat(10_000)],
    ['addresses', 'a.a@a.a.'.repeat(60_000)],
    ['quotation bars', '> '.repeat(250_000) + 'a'],
  ])('takes no longer for hostile %s', (_, text) => {
    const before = process.cpuUsage()
    takeInOrRefuse(text)
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000)
  })
})
