// What a statement is taken for, and what it weighs.
import { describe, expect, it } from 'vitest'
import { statementsOf } from './statements.ts'

const said = (content: string, role = 'assistant') => statementsOf([{ role, content }], '')

describe('statements', () => {
  it.each([
    ['We decided to leave the index alone.', 'decision'],
    ['Replies must stay short.', 'constraint'],
    ['Caution, the form is incomplete.', 'warning'],
    ['The office of Contoso Metals opened in 1998.', 'fact'],
  ])('%j is a %s', (text, kind) => {
    expect(said(text)).toMatchObject([{ kind, text }])
  })

  it('take a reason for part of the decision before it', () => {
    const statements = said('We decided to leave the index alone. This is because readers need it.')
    expect(statements.map(({ kind }) => kind)).toEqual(['decision', 'decision'])
  })

  it('take what a tool answers for a result', () => {
    expect(said('hall empty', 'tool')).toMatchObject([{ kind: 'tool' }])
    const answer = { role: 'assistant', content: 'hall empty', tool_call_id: 'call-1' }
    expect(statementsOf([answer], '')).toMatchObject([{ kind: 'tool' }])
  })

  it('leave small talk out and repetitions to the first time', () => {
    expect(said('Thanks, go on! Sounds good.')).toEqual([])
    expect(said('The limit is 5. the LIMIT is 5.')).toHaveLength(1)
  })

  it('weigh what an earlier summary kept above what was only said', () => {
    const [kept, spoken] = statementsOf(
      [{ role: 'user', content: 'It costs 6 EUR.' }],
      '- It costs 5 EUR.',
    )
    expect(kept?.weight).toBeGreaterThan(spoken?.weight ?? 0)
  })

  it('are never longer than 320 characters', () => {
    const long = said(`must ${'word, '.repeat(1000)}`)
    expect(long.every(({ text }) => text.length <= 320)).toBe(true)
  })
})
