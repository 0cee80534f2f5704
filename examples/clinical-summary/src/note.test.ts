// The example's note, by hand: what is unusual, what is taken, and nothing that the note does not say.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { measurementsIn, medicationsIn, sectionsOf, summarise } from './note.ts'

const { currentState } = JSON.parse(
  readFileSync(new URL('../note.json', import.meta.url), 'utf8'),
) as { currentState: { note: string } }
const NOTE = currentState.note

const summaryOf = (note: string) => {
  const sections = sectionsOf(note)
  return summarise(sections, measurementsIn(sections), medicationsIn(sections))
}

it('says in the words of the note what the next doctor must know', () => {
  expect(summaryOf(NOTE)).toMatchObject({
    problem: expect.stringMatching(/^Mr\. \[patient\] is a 64 yo M .* routine follow-up\.$/),
    fromElsewhere: [
      'Non-va fish oil cap/tab 1 cap/tab mouth every day',
      'Non-va ginkgo biloba small amount mouth every day',
      'Non-va kava cap/tab 1 cap/tab mouth every day',
      'Non-va lisinopril 5mg tab 2.5mg mouth every day',
    ],
    followUp: expect.stringMatching(/^Order a series of test to include a stress test/),
    missing: ['subjective', 'impression'],
  })
})

it('reads what was measured, and what of it is unusual', () => {
  const read = measurementsIn(sectionsOf(NOTE)).map((one) => [one.what, one.value, one.isUnusual])
  expect(read).toEqual([
    ['temperature', 36.9, false],
    ['systolic pressure', 190, true],
    ['pulse', 88, false],
    ['body mass index', 46.7, true],
    ['laboratory', 145, true],
    ['laboratory', 150, true],
    ['laboratory', 6.5, true],
  ])
  expect(summaryOf(NOTE).unusual[0]).toBe('190/70 (01/07/2013 15:27)')
})

it('reads each medication in one line, and who prescribed it', () => {
  const read = medicationsIn(sectionsOf(NOTE))
  expect(read.map(({ name, isPrescribedHere }) => [name, isPrescribedHere])).toEqual([
    ['Amlodipine besylate', true],
    ['Donepezil hcl', true],
    ['Fluoxetine hcl', true],
    ['Hctz 25/triamterene', true],
    ['fish oil', false],
    ['ginkgo biloba', false],
    ['kava', false],
    ['lisinopril', false],
  ])
  expect(summaryOf(NOTE).prescribed[1]).toBe(
    'Donepezil hcl 5mg tab take one tablet by mouth every morning',
  )
})

it('says nothing that no line of the note says', () => {
  const flat = (text: string) => text.replaceAll(/\s+/g, ' ')
  const { problem, unusual, prescribed, fromElsewhere, followUp } = summaryOf(NOTE)
  for (const said of [problem, ...unusual, ...prescribed, ...fromElsewhere, followUp])
    expect(flat(NOTE)).toContain(flat(said))
})

it('names what a summary needs and the note does not have', () => {
  expect(summaryOf('A cough.\nPLAN: rest')).toMatchObject({
    problem: 'A cough.',
    followUp: 'rest',
    missing: ['subjective', 'active medications', 'vitals', 'impression'],
  })
})
