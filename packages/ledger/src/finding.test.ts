// Exit code, alert and words of every rule, row by row: whoever changes one changes it here too.
import { describe, expect, it } from 'vitest'
import { bySeverity, FINDING_RULES, LOG_VERDICTS, verdictOf } from './finding.ts'
import type { FindingRule } from './finding.ts'

const TAMPER = 'audit.tamper_detected'
const ALTERED: readonly FindingRule[] = [
  'CHAIN_MISSING',
  'CHAIN_COUNT',
  'RECORD_UNREADABLE',
  'RECORD_HASH',
  'RECORD_ORIGIN',
  'RECORD_LINK',
  'RECORD_SEQ',
  'RECORD_TIME',
  'TASK_LINK',
  'HEAD',
  'RECORD_COLUMNS',
  'RECORD_INDEX',
  'DEFINITION',
  'STATE',
  'BATCH_SIGNATURE',
  'BATCH_COVER',
  'BATCH_FORGED',
  'BATCH_KEY_ID',
  'DECISION',
  'RECEIPT',
  'SEAL_SIZE',
  'SEAL_ROOT',
  'SEAL_LOG',
  'SEAL_SIGNATURE',
  'SEAL_KEY',
  'SEAL_GONE',
  'SEAL_COPY',
  'SEAL_STATE',
  'SEAL_ANCHOR',
  'ANCHOR_MISSING',
  'ANCHOR_CUT',
  'TASK_END',
  'TASK_MAP',
  'TILE_MISSING',
  'TILE_UNREADABLE',
  'TILE_HASH',
  'PAYLOAD_MISMATCH',
  'PAYLOAD_UNEXPECTED',
]
const ROWS: readonly (readonly [FindingRule, string, 3 | 4, string])[] = [
  ...ALTERED.map((rule) => [rule, 'altered', 3, TAMPER] as const),
  ['PAYLOAD_MISSING', 'lost', 3, TAMPER],
  ['PAYLOAD_KEY', 'lost', 3, TAMPER],
  ['CLOCK', 'clock', 4, 'audit.clock_wrong'],
  ['BATCH_KEY', 'incomplete', 4, 'audit.not_proven'],
  ['DECISION_UNPROVEN', 'incomplete', 4, 'audit.not_proven'],
  ['DEFINITION_VERSION', 'incomplete', 4, 'audit.not_proven'],
]

describe('the table of findings', () => {
  it.each(ROWS)('%s is %s: exit %i, %s', (rule, severity, exitCode, event) => {
    const verdict = verdictOf([rule])
    expect(verdict).toBe(severity)
    expect(LOG_VERDICTS[verdict]).toMatchObject({ exitCode, event })
    expect(FINDING_RULES[rule].consequence).toMatch(/^[a-z].*[^.]$/)
    const finding = { origin: 'o', seq: 1, rule, message: 'm' }
    expect([...bySeverity([finding])]).toEqual([[severity, [finding]]])
  })

  it('has no row that is not judged here', () => {
    expect(Object.keys(FINDING_RULES).toSorted()).toEqual(ROWS.map(([rule]) => rule).toSorted())
  })

  it('calls a log after the worst that was found', () => {
    expect(verdictOf([])).toBe('verified')
    expect(verdictOf(['BATCH_KEY', 'CLOCK'])).toBe('clock')
    expect(verdictOf(['CLOCK', 'PAYLOAD_KEY', 'BATCH_KEY'])).toBe('lost')
    expect(verdictOf(['BATCH_KEY', 'PAYLOAD_KEY', 'HEAD', 'CLOCK'])).toBe('altered')
  })

  it('never tells anybody to trust a key that the database names', () => {
    const { BATCH_FORGED, BATCH_KEY } = FINDING_RULES
    expect(BATCH_FORGED.consequence).not.toContain('BATON_AUDIT_TRUSTED_KEYS')
    expect(BATCH_KEY.consequence).toContain('never as the database names it')
  })

  it('calls a clock no tampering, and tampering no clock', () => {
    const { clock, altered, lost } = LOG_VERDICTS
    expect(clock.sentence).toContain('nothing was altered')
    expect([altered.sentence, lost.sentence].join()).not.toContain('clock')
  })
})
