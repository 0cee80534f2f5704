// `safety shadow` counts what a candidate decided otherwise, lists it newest first, and says what to do where there is nothing.
import { randomUUID } from 'node:crypto'
import type { ListedDifference } from '@baton/store'
import { describe, expect, it } from 'vitest'
import { createOutput } from '../terminal/output.ts'
import { showDifferences } from './safety-shadow.ts'

const difference = (changes: Partial<ListedDifference> = {}): ListedDifference => ({
  handoffId: randomUUID(),
  taskId: '7f3c91de-0000-4000-8000-000000000002',
  tenant: 'acme',
  candidateVersion: 8,
  candidateRuleset: 'ab'.repeat(32),
  activeRuleset: 'cd'.repeat(32),
  activeDecision: 'reject',
  candidateDecision: 'flag',
  activeRules: 'model persona',
  candidateRules: 'persona',
  comparedAt: new Date('2026-11-27T10:00:00Z'),
  ...changes,
})

function show(differences: readonly ListedDifference[], limit = 10, json = false) {
  const written = { out: '', err: '' }
  const output = createOutput(
    {
      stdout: { write: (line: string | Uint8Array) => (written.out += String(line)) },
      stderr: { write: (line: string) => (written.err += line) },
    },
    json,
  )
  showDifferences({ output }, differences, limit)
  return written
}

describe('safety shadow', () => {
  it('counts by decision, and lists each by its ids and rules', () => {
    const flagged = difference({ activeDecision: 'allow', activeRules: '' })
    const { out, err } = show([difference(), difference(), flagged])
    expect(out).toContain('version 8: reject became flag, 2 times\nversion 8: allow became flag, 1')
    expect(out).toMatch(/2026-11-27 10:00:00 +acme +reject +model persona +flag +persona +8/)
    expect(err).toContain('trace 7f3c91de')
  })

  it('is JSON lines for programs, and says where the list was cut', () => {
    const listed = [difference(), difference()]
    const { out, err } = show(listed, 2, true)
    const lines = out.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).handoffId)).toEqual(
      listed.map(({ handoffId }) => handoffId),
    )
    expect(err).toContain('The newest 2 differences')
  })

  it('says how a candidate is named where nothing differs', () => {
    const { out, err } = show([])
    expect(out).toBe('')
    expect(err).toContain('BATON_SAFETY_SHADOW_FILE')
  })
})
