// Unknown errors are retried, and a code never carries words.
import { expect, it } from 'vitest'
import { codeOf, defect, kindOf, permanent, transient } from './errors.ts'

it('says what the thrower knows about trying again; an unknown error may be tried again', () => {
  expect(kindOf(transient('BATON_A', 'a'))).toBe('transient')
  expect(kindOf(permanent('BATON_A', 'a'))).toBe('permanent')
  expect(kindOf(defect('BATON_A', 'a'))).toBe('defect')
  expect(kindOf(new Error('x'))).toBe('transient')
  expect(kindOf(undefined)).toBe('transient')
})

it('answers a code for whatever was thrown, never a message', () => {
  expect(codeOf(permanent('BATON_A', 'words'))).toBe('BATON_A')
  expect(codeOf(Object.assign(new Error('words'), { code: 'ECONNRESET' }))).toBe('ECONNRESET')
  expect(codeOf(Object.assign(new Error('words'), { code: 'a sentence' }))).toBe('BATON_UNKNOWN')
  expect(codeOf('words')).toBe('BATON_UNKNOWN')
  expect(codeOf(null)).toBe('BATON_UNKNOWN')
})
