// Operations on the installation as entries: whose, by what right, under which task; and none that says anything in words.
import { describe, expect, it } from 'vitest'
import { checkEntry } from './check-entry.ts'
import {
  earlierTaskOfSettings,
  fact,
  facts,
  operationEntry,
  taskOfOperations,
  taskOfRefusals,
  taskOfSettings,
} from './operation.ts'
import { buildRecord, GENESIS_HASH, readRecord, recordId } from './record.ts'

const ID = '0b5b5b3e-8f4e-4c1d-9d7e-3c9a0f6f6a11'
const AT = '2026-11-25T10:00:00.000Z'
const MADE = {
  event: 'API_KEY_MADE',
  id: ID,
  at: AT,
  actor: 'Ann Smith',
  by: 'cli',
  tenant: 'acme',
  subject: '3f2a9c1b7d40',
  right: 'database-owner',
  details: [{ code: 'SCOPE', value: 'handoffs:send' }],
} as const

describe('the entry of an operation', () => {
  it('says who did what to what, by what right, and whose it is', () => {
    expect(operationEntry(MADE)).toMatchObject({
      event: 'API_KEY_MADE',
      tenant: 'acme',
      act: { id: ID, actor: 'Ann Smith' },
      operation: {
        subject: '3f2a9c1b7d40',
        right: 'database-owner',
        address: null,
        details: [{ code: 'SCOPE', value: 'handoffs:send', sha256: null }],
      },
      segments: [],
    })
  })

  it('stands under one task for each tenant and day', () => {
    const { taskId } = operationEntry(MADE)
    expect(taskId).toBe(taskOfOperations('acme', '2026-11-25T23:59:59.999Z'))
    expect(taskId).not.toBe(taskOfOperations('acme', '2026-11-26T00:00:00.000Z'))
    expect(taskId).not.toBe(taskOfOperations('default', AT))
  })

  it('stands under a task that no message can name, and so does what processes begin with and refuse', () => {
    for (const taskId of [
      taskOfOperations('default', AT),
      taskOfRefusals(AT),
      taskOfSettings('gateway'),
    ])
      expect(taskId).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
    expect(earlierTaskOfSettings('gateway')).toBe('a11968a7-0e94-437a-925a-377f9dc1cf0b')
  })

  it('stands in the trace of the task whose text was read', () => {
    const about = { taskId: ID, handoffId: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }
    const read = operationEntry({ ...MADE, event: 'TEXT_READ', about })
    expect(read).toMatchObject(about)
  })

  it('becomes a record that is read back as it was', () => {
    const entry = operationEntry({ ...MADE, address: '192.0.2.7' })
    const place = { origin: 'baton/test/1/s0', seq: 0, previousRecordHash: GENESIS_HASH }
    const task = { taskSeq: 0, previousTaskRecordHash: GENESIS_HASH, recordedAtMicros: 1 }
    const keyIds = { batch: '0011223344556677', wrap: '8899aabbccddeeff' }
    const { body } = buildRecord(entry, { ...place, ...task }, { payload: [], keyIds })
    const { segments: _, ...structure } = entry
    expect(readRecord(body)).toMatchObject({ ...structure, recordId: recordId(entry) })
  })

  it.each([
    ['words as a fact', { details: [{ code: 'WHY', value: 'she has left us' }] }],
    ['a code that is none', { details: [{ code: 'why', value: 'left' }] }],
    ['a digest that is none', { details: [{ code: 'PEOPLE', sha256: 'abc' }] }],
    ['an actor that no record can name', { actor: 'J\u00f6rg' }],
    [
      'more facts than one record takes',
      { details: Array(65).fill({ code: 'SCOPE', value: 'x' }) },
    ],
  ])('refuses %s', (_, wrong) => {
    expect(() => operationEntry({ ...MADE, ...wrong })).toThrow(
      expect.objectContaining({ code: 'BATON_OPERATION_UNRECORDABLE' }),
    )
  })

  it('states names as they are, and by their digest what is none or too many', () => {
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(fact('AGENT', 'intake')).toEqual({ code: 'AGENT', value: 'intake', sha256: null })
    expect(fact('AGENT', 'legal analysis')).toEqual({ code: 'AGENT', value: null, sha256: digest })
    expect(facts('AGENT', ['a', 'b'])).toHaveLength(2)
    const many = Array.from({ length: 25 }, (_, at) => `agent-${at}`)
    expect(facts('AGENT', many)).toEqual([{ code: 'AGENT', value: '25', sha256: digest }])
  })

  it('is an entry that the log takes, and with a member more it is none', () => {
    const entry = operationEntry(MADE)
    expect(checkEntry(entry)).toMatchObject({ ok: true })
    const { operation } = entry
    expect(checkEntry({ ...entry, operation: { ...operation, note: 'x' } }).ok).toBe(false)
  })
})
