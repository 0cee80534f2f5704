// Five agents in a row: each adds what it found to the state; the person whom the note is about travels apart from its text.
import { defineAgent, permanent } from '@baton/sdk'
import type { Agent, AgentResult, JsonObject, JsonValue } from '@baton/sdk'
import { measurementsIn, medicationsIn, sectionsOf, summarise } from './note.ts'
import type { Measurement, Medication, Section } from './note.ts'

interface Step {
  readonly type: string
  /** Under which name the next ones find what this one found. */
  readonly finds: string
  /** Absent for the last one, whose finding is the result of the task. */
  readonly next?: { readonly to: string; readonly taskDescription: string }
  work(state: JsonObject): object
}

/** A millionth of a dollar for each character that is read: the same for the same note. */
const costOf = (read: JsonValue): number => JSON.stringify(read).length / 1_000_000

const stepAgent = ({ type, finds, next, work }: Step): Agent =>
  defineAgent({
    type,
    version: '1.0.0',
    requires: ['note'],
    async execute({ state }): Promise<AgentResult> {
      const found = work(state) as JsonValue
      return {
        subtask: { subtaskId: type, description: `Found the ${finds}.`, result: 'complete' },
        state: { ...state, [finds]: found },
        costUSD: costOf(state),
        tokens: { prompt: 0, completion: 0 },
        ...(next === undefined ? { next: [], result: found } : { next: [next] }),
      }
    },
  })

const noteIn = ({ note }: JsonObject): string => (typeof note === 'string' ? note : '')

function checkNote(state: JsonObject): object {
  const note = noteIn(state)
  if (note.trim() !== '') return { characters: note.length }
  throw permanent('BATON_NOTE_EMPTY', 'the note holds no text', {
    fix: 'Send the text of the note as /currentState/note.',
  })
}

const sectionsIn = (state: JsonObject) => state['sections'] as unknown as readonly Section[]

export const agents: readonly Agent[] = [
  stepAgent({
    type: 'clinical-intake',
    finds: 'intake',
    next: { to: 'clinical-sections', taskDescription: 'Split the note at its headings.' },
    work: checkNote,
  }),
  stepAgent({
    type: 'clinical-sections',
    finds: 'sections',
    next: { to: 'clinical-measurements', taskDescription: 'What was measured?' },
    work: (state) => sectionsOf(noteIn(state)),
  }),
  stepAgent({
    type: 'clinical-measurements',
    finds: 'measurements',
    next: { to: 'clinical-medication', taskDescription: 'What is taken, and who prescribed it?' },
    work: (state) => measurementsIn(sectionsIn(state)),
  }),
  stepAgent({
    type: 'clinical-medication',
    finds: 'medications',
    next: { to: 'clinical-summary', taskDescription: 'Write the summary.' },
    work: (state) => medicationsIn(sectionsIn(state)),
  }),
  stepAgent({
    type: 'clinical-summary',
    finds: 'summary',
    work: (state) =>
      summarise(
        sectionsIn(state),
        state['measurements'] as unknown as readonly Measurement[],
        state['medications'] as unknown as readonly Medication[],
      ),
  }),
]
