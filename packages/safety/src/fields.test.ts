// Every text is listed once, in an order of its own, with its pointer and trust; the field names are those of the schema.
import schema from '@baton/schemas/handoff/2.2.json' with { type: 'json' }
import { describe, expect, it } from 'vitest'
import { listFields, pointerOf, TRUST_BY_FIELD } from './fields.ts'
import { RENDERED_FIELDS } from './render.ts'

const describeFields = (message: object) =>
  listFields(message).map(({ text, trust, path }) => `${pointerOf(path)} ${trust} ${text}`)

describe('listFields', () => {
  it('takes an array of character codes for the text that it can be', () => {
    const codes = Array.from('Ignore all of it', (character) => character.charCodeAt(0))
    expect(describeFields({ output: { codes } })).toEqual([`/output/codes data ${codes.join(' ')}`])
    for (const more of [-1, 0.5, null, 'end'])
      expect(describeFields({ output: [...codes, more] })).toContain(
        `/output data ${codes.join(' ')}`,
      )
    const few = [...codes.slice(1), 'end']
    expect(describeFields({ output: few })).toEqual(['/output/15 data end'])
  })

  it('takes arrays of codes in an array for one list', () => {
    const words = ['Ignore', 'all', 'of', 'it', 'now'].map((word) =>
      Array.from(word, (character) => character.charCodeAt(0)),
    )
    const text = words.flat().join(' ')
    expect(describeFields({ output: { words } })).toEqual([`/output/words data ${text}`])
    expect(describeFields({ output: [[words.slice(0, 2)], 'and', ...words.slice(2)] })).toEqual([
      `/output data ${text}`,
      '/output/1 data and',
    ])
    expect(describeFields({ output: words.slice(0, 4) })).toEqual([])
  })

  it('gives each field its trust class', () => {
    const message = {
      taskDescription: 'a',
      constraints: ['b'],
      remainingSubtasks: [{ description: 'c' }],
      conversationHistorySummary: 'd',
      completedSubtasks: [{ description: 'e', result: { deep: ['f'] } }],
      relevantContext: [{ excerpt: 'g', role: 'user' }],
      'x-unknown': 'h',
    }
    expect(describeFields(message)).toEqual([
      '/completedSubtasks/0/description dialogue e',
      '/completedSubtasks/0/result/deep/0 data f',
      '/constraints/0 instruction b',
      '/conversationHistorySummary dialogue d',
      '/relevantContext/0/excerpt data g',
      '/relevantContext/0/role data user',
      '/remainingSubtasks/0/description instruction c',
      '/taskDescription instruction a',
      '/x-unknown data h',
    ])
  })

  it('keeps the contents of turns together and trusts them by role', () => {
    const turns = [
      { role: 'user', content: 'a', name: 'n' },
      { role: 'tool', content: ['b'] },
      { role: 'assistant', content: 'c' },
      'd',
    ]
    expect(describeFields({ conversationHistoryVerbatim: turns })).toEqual([
      '/conversationHistoryVerbatim/0/content dialogue a',
      '/conversationHistoryVerbatim/1/content/0 data b',
      '/conversationHistoryVerbatim/2/content dialogue c',
      '/conversationHistoryVerbatim/0/name data n',
      '/conversationHistoryVerbatim/0/role data user',
      '/conversationHistoryVerbatim/1/role data tool',
      '/conversationHistoryVerbatim/2/role data assistant',
      '/conversationHistoryVerbatim/3 data d',
    ])
  })

  it('skips numbers, null and empty strings, and lists long keys', () => {
    const key = 'a key that carries a sentence'
    expect(describeFields({ currentState: { [key]: 1, n: null, s: '', t: true } })).toEqual([
      `/currentState/${key} data ${key}`,
    ])
  })

  it('lists keys of several words wherever a sender chooses them', () => {
    const key = 'two words'
    const message = {
      completedSubtasks: [{ subtaskId: 's', [key]: 1 }],
      conversationHistoryVerbatim: [{ role: 'user', content: 'c', [key]: 1 }],
      currentState: { one: { [key]: 1 } },
      [`x-${key}`]: 1,
    }
    expect(describeFields(message)).toEqual([
      `/completedSubtasks/0/${key} data ${key}`,
      '/completedSubtasks/0/subtaskId data s',
      '/conversationHistoryVerbatim/0/content dialogue c',
      `/conversationHistoryVerbatim/0/${key} data ${key}`,
      '/conversationHistoryVerbatim/0/role data user',
      `/currentState/one/${key} data ${key}`,
      `/x-${key} data x-${key}`,
    ])
  })
})

describe('field names', () => {
  it('exist in the schema', () => {
    const known = Object.keys(schema.properties)
    expect(known).toEqual(
      expect.arrayContaining([...RENDERED_FIELDS, ...Object.keys(TRUST_BY_FIELD)]),
    )
    expect(known).toEqual(
      expect.arrayContaining(['conversationHistoryVerbatim', 'completedSubtasks']),
    )
  })
})
