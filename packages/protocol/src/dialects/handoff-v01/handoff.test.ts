// Reading v0.1 handoffs: what the published schema takes is taken, everything else is refused with a reason.
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HANDOFF_LIMITS, readHandoff, readHandoffBytes, timeOf } from './handoff.ts'
import { STATUSES } from './transitions.ts'

const RUNS = 300
const SCHEMA = JSON.parse(
  readFileSync(new URL(import.meta.resolve('@baton/schemas/spec/handoff-v0.1.json')), 'utf8'),
)
const satisfies = new Ajv2020({ strict: true, ownProperties: true, allowUnionTypes: true }).compile(
  SCHEMA,
)

const OFFER = {
  task_id: '0b61caa3-a02e-4abd-a6f7-450e49b68fad',
  from_agent: 'scanner',
  to_agent: 'reviewer',
  status: 'offered',
  description: 'Review the auth module for timing attacks',
  context: { file: 'src/auth.py', line: 42 },
  created_at: '2026-02-18T14:55:00.123456+00:00',
  updated_at: '2026-02-18T14:55:00.123456+00:00',
} as const

const read = (value: unknown, validation: 'strict' | 'lenient' = 'strict') =>
  readHandoff(JSON.stringify(value), validation)

const without = (name: keyof typeof OFFER) =>
  Object.fromEntries(Object.entries(OFFER).filter(([key]) => key !== name))

describe('P01 reads the eight fields', () => {
  it('as they are published', () => {
    expect(read(OFFER)).toEqual({ ok: true, handoff: OFFER })
  })
  it.each(['task_id', 'from_agent', 'status', 'description', 'created_at', 'updated_at'] as const)(
    'and refuses one without %s',
    (name) => {
      expect(read(without(name))).toEqual({ ok: false, reason: expect.stringContaining(name) })
      expect(satisfies(without(name))).toBe(false)
    },
  )
  it('with receiver and context left out or null, as peers write them', () => {
    for (const given of [
      without('to_agent'),
      { ...OFFER, to_agent: null },
      { ...OFFER, to_agent: '' },
    ])
      expect(read(given)).toMatchObject({ ok: true, handoff: { to_agent: '' } })
    for (const given of [without('context'), { ...OFFER, context: null }])
      expect(read(given)).toMatchObject({ ok: true, handoff: { context: {} } })
  })
  it.each([
    ['any unique text as an id', { task_id: '../../etc/passwd' }],
    ['an id of 512 characters', { task_id: '😀'.repeat(512) }],
    [
      'times without an offset',
      { created_at: '2026-02-18T14:55:00', updated_at: '2026-02-18T14:55' },
    ],
    ['an empty description', { description: '' }],
  ])('takes %s', (_what, change) => {
    expect(read({ ...OFFER, ...change }).ok).toBe(true)
    expect(satisfies({ ...OFFER, ...change })).toBe(true)
  })
  it.each([
    ['an empty id', { task_id: '' }],
    ['an id of 513 characters', { task_id: 'a'.repeat(513) }],
    ['an id that is a number', { task_id: 7 }],
    ['nobody offering it', { from_agent: '' }],
    ['a status in capitals', { status: 'OFFERED' }],
    ['a context that is a list', { context: [] }],
    ['a receiver that is a number', { to_agent: 1 }],
    ['a date alone', { created_at: '2026-02-18' }],
    ['a month 13', { updated_at: '2026-13-18T14:55:00Z' }],
  ])('refuses %s', (_what, change) => {
    expect(read({ ...OFFER, ...change }).ok).toBe(false)
    expect(satisfies({ ...OFFER, ...change })).toBe(false)
  })
})

describe('P05', () => {
  it('the schema and the reader take and refuse the same', () => {
    const some = <Value>(value: fc.Arbitrary<Value>) =>
      fc.oneof(
        { weight: 9, arbitrary: value },
        { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<never> },
      )
    const members = fc.record(
      {
        task_id: some(fc.string({ minLength: 1, maxLength: 40 })),
        from_agent: some(fc.string({ maxLength: 3 })),
        to_agent: some(fc.option(fc.string({ maxLength: 3 }))),
        status: some(fc.constantFrom(...STATUSES)),
        description: some(fc.string()),
        context: some(fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })))),
        created_at: some(
          fc.constantFrom('2026-02-18T14:55:00Z', '2026-02-18T14:55:00+0100', 'now'),
        ),
        updated_at: some(
          fc
            .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
            .map((at) => at.toISOString()),
        ),
        other: fc.jsonValue(),
      },
      { requiredKeys: ['task_id', 'from_agent', 'status'] },
    )
    fc.assert(
      fc.property(members, (value) => {
        const text = JSON.stringify(value)
        expect(readHandoff(text, 'strict').ok).toBe(satisfies(JSON.parse(text)))
      }),
      { numRuns: RUNS },
    )
  })
})

describe('P18 the validation switch', () => {
  it('lenient demands an id and a status, and defaults the rest', () => {
    expect(read({ task_id: 'a', status: 'failed', context: 3 }, 'lenient')).toEqual({
      ok: true,
      handoff: {
        task_id: 'a',
        from_agent: '',
        to_agent: '',
        status: 'failed',
        description: '',
        context: {},
        created_at: '',
        updated_at: '',
      },
    })
    expect(read({ task_id: 'a' }, 'lenient').ok).toBe(false)
    expect(read({ status: 'offered' }, 'lenient').ok).toBe(false)
  })
})

describe('whatever the bytes', () => {
  const reasonOf = (text: string | Uint8Array) => {
    const found =
      typeof text === 'string' ? readHandoff(text, 'strict') : readHandoffBytes(text, 'strict')
    return found.ok ? undefined : found.reason
  }
  it('says what is wrong with them, and nothing of what they hold', () => {
    expect(reasonOf('')).toBe('is not JSON')
    expect(reasonOf('{"task_id": "half a fi')).toBe('is not JSON')
    expect(reasonOf('\uFEFF{}')).toBe('is not JSON')
    expect(reasonOf('[]')).toBe('is not a JSON object')
    expect(reasonOf('null')).toBe('is not a JSON object')
    expect(reasonOf(Uint8Array.of(0xff, 0xfe))).toBe('is not UTF-8')
    expect(reasonOf(JSON.stringify({ ...OFFER, task_id: 'secret\ud800' }))).not.toContain('secret')
  })
  it('bounds size and depth before it parses', () => {
    const deep = (depth: number) =>
      JSON.stringify(OFFER).replace('"src/auth.py"', `${'['.repeat(depth)}${']'.repeat(depth)}`)
    expect(reasonOf(deep(HANDOFF_LIMITS.depthMax - 2))).toBeUndefined()
    expect(reasonOf(deep(HANDOFF_LIMITS.depthMax - 1))).toContain('deeper')
    expect(reasonOf(`"${'[{'.repeat(100)}\\""`)).toBe('is not a JSON object')
    expect(reasonOf('['.repeat(1_000_000))).toContain('deeper')
    expect(reasonOf(' '.repeat(HANDOFF_LIMITS.bytesMax + 1))).toContain('larger')
    expect(reasonOf(Buffer.alloc(HANDOFF_LIMITS.bytesMax + 1, ' '))).toContain('larger')
  })
  it('answers, and never throws', () => {
    const near = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })).map(([at, byte]) => {
      const bytes = Buffer.from(JSON.stringify(OFFER))
      bytes[at % bytes.length] = byte
      return bytes
    })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), near), (bytes) => {
        for (const validation of ['strict', 'lenient'] as const) {
          const found = readHandoffBytes(bytes, validation)
          const answer = found.ok ? `has ${found.handoff.task_id}` : found.reason
          expect(answer).toMatch(/^(?:is|has) ./)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

it.each<[string, number | undefined]>([
  ['2026-01-01T00:00:00Z', 1_767_225_600_000],
  ['2026-01-01T00:00:00', 1_767_225_600_000],
  ['2026-01-01T00:00', 1_767_225_600_000],
  ['2026-01-01T01:00:00.500999+0100', 1_767_225_600_500],
  ['2026-01-01', undefined],
  ['', undefined],
])('the time %j', (text, at) => {
  expect(timeOf(text)).toBe(at)
})
