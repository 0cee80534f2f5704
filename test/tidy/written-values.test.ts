// No schema names a value that nothing writes: whoever reads a state, an event or an outcome can rely on it that it happens.
import { readFileSync } from 'node:fs'
import { EVENT_NUMBERS } from '@baton/ledger'
import { HANDOFF_STATES, TASK_STATUSES } from '@baton/protocol'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './source-files.ts'
import { COLUMN_VALUES, EVENT_WRITERS, RECORD_VALUES } from './written-values.ts'
import type { Place } from './written-values.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The values that checks of columns allow, by `table.column`, as the types that are generated of them say it. */
function columnValues(types: string): Record<string, readonly string[]> {
  const found: Record<string, readonly string[]> = {}
  for (const [, table = '', body = ''] of types.matchAll(/^ {2}'(\S+)': \{\n(.*?)^ {2}\}/gms)) {
    for (const [, column = '', type = ''] of body.matchAll(/^ {4}(\w+): (.*)$/gm)) {
      const values = [...type.matchAll(/'([^']+)'/g)].map(([, value]) => value ?? '')
      if (values.length > 0) found[`${table}.${column}`] = values
    }
  }
  return found
}

const inOrder = (values: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.toSorted()]))
const namesOf = (places: Readonly<Record<string, object>>) =>
  inOrder(Object.fromEntries(Object.entries(places).map(([name, of]) => [name, Object.keys(of)])))

const files = new Map(
  sourceFiles('.ts', '.sql').map(({ path, text }) => [path, text.replaceAll(/\s+/g, ' ')]),
)
const isThere = ([path, words]: Place): boolean => files.get(path)?.includes(words) === true

const notThere = (all: Readonly<Record<string, Readonly<Record<string, Place>>>>) =>
  Object.entries(all).flatMap(([name, values]) =>
    Object.entries(values)
      .filter(([, place]) => !isThere(place))
      .map(([value]) => `${name} ${value}`),
  )

describe('columns', () => {
  const generated = ['store', 'audit'].map((owner) =>
    read(`packages/${owner}/src/generated/tables.ts`),
  )
  const allowed = columnValues(generated.join('\n'))

  it('allow what is written, and nothing else', () => {
    expect(Object.values(allowed).flat().length).toBeGreaterThan(60)
    expect(namesOf(COLUMN_VALUES)).toEqual(inOrder(allowed))
  })

  it('are written where it is said', () => {
    expect(notThere(COLUMN_VALUES)).toEqual([])
  })

  it('have the states and statuses that everybody is told', () => {
    expect(allowed['handoff.state']?.toSorted()).toEqual(HANDOFF_STATES.toSorted())
    expect(allowed['task.status']?.toSorted()).toEqual(TASK_STATUSES.toSorted())
  })

  it('are found in the generated types', () => {
    const types = `  'job': {\n    id: string\n    state: Generated<'A' | 'B-c' | null>\n  }\n`
    expect(columnValues(types)).toEqual({ 'job.state': ['A', 'B-c'] })
  })
})

describe('records', () => {
  it('tell of events that somebody records', () => {
    expect(Object.keys(EVENT_WRITERS).toSorted()).toEqual(Object.keys(EVENT_NUMBERS).toSorted())
    const silent = Object.entries(EVENT_WRITERS).filter(
      ([event, path]) => !isThere([path, `'${event}'`]),
    )
    expect(silent).toEqual([])
  })

  it('have values that somebody writes', () => {
    const { $defs, properties } = JSON.parse(read('schemas/decision-record/1.2.json'))
    const allowed = {
      Check: $defs.Check.enum,
      'Safety.decision': $defs.Safety.properties.decision.enum,
      'Segment.kind': $defs.Segment.properties.kind.enum,
    }
    expect(namesOf(RECORD_VALUES)).toEqual(inOrder(allowed))
    expect(notThere(RECORD_VALUES)).toEqual([])
    expect(properties.event.enum.toSorted()).toEqual(Object.keys(EVENT_NUMBERS).toSorted())
  })
})
