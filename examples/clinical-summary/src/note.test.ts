// The example's note, by hand: what is unusual, what changed, and nothing that the note does not say.
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
  expect(summaryOf(NOTE)).toEqual({
    problem: 'Pneumonia of the right lower lobe.',
    unusual: [
      'On admission temperature 39.1 C, pulse 112, saturation 90 % on room air.',
      'Creatinine 1.9 mg/dl, after two days of fluids creatinine 1.1 mg/dl.',
    ],
    changes: [
      '- new: amoxicillin 1000 mg three times a day until 12 October',
      '- stopped: ibuprofen 400 mg',
    ],
    followUp: ['Control of creatinine within one week.', 'X-ray of the chest after six weeks.'],
    missing: [],
  })
})

it('reads doses, and which medication is taken as before', () => {
  const read = medicationsIn(sectionsOf(NOTE)).map(({ name, dose, change }) => [name, dose, change])
  expect(read).toEqual([
    ['amoxicillin', '1000 mg three times a day until', 'new'],
    ['ibuprofen', '400 mg', 'stopped'],
    ['metoprolol', '50 mg in the morning', 'as before'],
  ])
})

it('names what a summary needs and the note does not have', () => {
  expect(summaryOf('PROBLEM:\nA cough.')).toMatchObject({
    problem: 'A cough.',
    missing: ['course', 'medication', 'follow up'],
  })
})
