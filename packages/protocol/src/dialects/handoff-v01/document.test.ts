// Changing a v0.1 handoff's text: the change is made, and all that other tools wrote there survives.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changeHandoff, timeAfter, writeHandoff } from './document.ts'
import { readHandoff, timeOf } from './handoff.ts'

const RUNS = 300
/** As the reference implementation's `json.dump(..., indent=2)` writes it, and with what others added. */
const TEXT = `{
  "task_id": "a1",
  "from_agent": "scanner",
  "to_agent": null,
  "status": "offered",
  "description": "Pr\\u00fcfen",
  "context": {
    "line": 42,
    "weight": 1.0,
    "account": 12345678901234567890,
    "ratio": 1e-07
  },
  "created_at": "2026-02-18T14:55:00.123456+00:00",
  "updated_at": "2026-02-18T14:55:00.123456+00:00",
  "x_team": {"__proto__": 1, "size": 3.50}
}`

describe('P05 what others wrote survives', () => {
  it('numbers as they are written, unknown fields, and their order', () => {
    const changed = changeHandoff(TEXT, { status: 'accepted', context: { accepted_by: 'b' } })
    expect(changed).toBe(
      TEXT.replace('"offered"', '"accepted"')
        .replace('\\u00fc', 'ü')
        .replace('1e-07\n', '1e-07,\n    "accepted_by": "b"\n')
        .replace('{"__proto__": 1, "size": 3.50}', '{\n    "__proto__": 1,\n    "size": 3.50\n  }'),
    )
  })
  it('members that are undefined are taken out of the context, and no others', () => {
    const changed = changeHandoff(TEXT, { context: { line: undefined, absent: undefined } })
    expect(JSON.parse(changed)).toEqual({
      ...JSON.parse(TEXT),
      context: { weight: 1, account: Number('12345678901234567890'), ratio: 1e-7 },
    })
  })
  it('a context that is absent begins with the note', () => {
    const bare = '{"task_id":"a","context":null}'
    expect(JSON.parse(changeHandoff(bare, { context: { reason: 'expired' } }))).toEqual({
      task_id: 'a',
      context: { reason: 'expired' },
    })
  })
  it('whatever the context holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (context) => {
        const text = writeHandoff({ ...FIELDS, context: context as never })
        const changed = changeHandoff(text, { status: 'rejected' })
        expect(changed).toBe(text.replace('"status": "offered"', '"status": "rejected"'))
      }),
      { numRuns: RUNS },
    )
  })
})

const FIELDS = {
  task_id: 'a',
  from_agent: 'b',
  to_agent: '',
  status: 'offered' as const,
  description: 'c',
  context: {},
  created_at: '2026-02-18T14:55:00+00:00',
  updated_at: '2026-02-18T14:55:00+00:00',
}

it('P01 a new text reads back as what was written', () => {
  expect(readHandoff(writeHandoff(FIELDS), 'strict')).toEqual({ ok: true, handoff: FIELDS })
})

describe('P04 the time of a change', () => {
  it('is now, in the form that Python reads', () => {
    expect(timeAfter('2026-02-18T14:55:00Z', Date.UTC(2026, 1, 18, 14, 56))).toBe(
      '2026-02-18T14:56:00.000+00:00',
    )
  })
  it.each(['2026-02-18T14:55:00.123456+00:00', '2099-01-01T00:00:00', '2026-02-18T16:55:00+02:00'])(
    'is later than %s, whatever the clock says',
    (before) => {
      const after = timeAfter(before, 0)
      expect(timeOf(after)).toBe((timeOf(before) ?? Number.NaN) + 1)
    },
  )
  it('is now where the last one is no time', () => {
    expect(timeAfter('', 0)).toBe('1970-01-01T00:00:00.000+00:00')
  })
})
