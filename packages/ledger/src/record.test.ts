// Record bytes are frozen per version: this golden record is never edited.
import { describe, expect, test } from 'vitest'
import { entryOf } from '../fixtures/entry.ts'
import { canonicalJson } from './canonical-json.ts'
import { formatInstant, parseInstant } from './instant.ts'
import { LedgerError } from './ledger-error.ts'
import { formatOrigin, shardOf } from './origin.ts'
import { buildRecord, GENESIS_HASH, readRecord, recordId } from './record.ts'

const TASK = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const HANDOFF = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const EXECUTION = '550e8400-e29b-41d4-a716-446655440000'

const entry = entryOf({
  taskId: TASK,
  handoffId: HANDOFF,
  fromAgent: { agentId: 'intake', agentVersion: '1.0.0', executionId: EXECUTION },
})
const place = {
  origin: 'baton/test/1/s0',
  seq: 0,
  previousRecordHash: GENESIS_HASH,
  taskSeq: 0,
  previousTaskRecordHash: GENESIS_HASH,
  recordedAtMicros: 1_700_000_000_000_001,
}
const payload = [
  { segment: 0, kind: 'message', subjectRef: EXECUTION, commitment: 'ab'.repeat(32), bytes: 5 },
] as const
const keyIds = { batch: '0011223344556677', wrap: '8899aabbccddeeff' }

const GOLDEN_BODY =
  '{"attempt":1,"cost":{"completionTokens":5,"promptTokens":10,"remainingMicroUSD":320000,' +
  '"spentMicroUSD":80000},"epoch":1,"event":"HANDOFF_ACCEPTED","fromAgent":{"agentId":"intake",' +
  '"agentVersion":"1.0.0","executionId":"550e8400-e29b-41d4-a716-446655440000"},' +
  '"handoffId":"7c9e6679-7425-40de-944b-e07fc1f90ae7","keyIds":{"batch":"0011223344556677",' +
  '"wrap":"8899aabbccddeeff"},"origin":"baton/test/1/s0","parentHandoffId":null,' +
  `"payload":[{"bytes":5,"commitment":"${'ab'.repeat(32)}","kind":"message","segment":0,` +
  '"subjectRef":"550e8400-e29b-41d4-a716-446655440000"}],' +
  `"previousRecordHash":"${'0'.repeat(64)}","previousTaskRecordHash":"${'0'.repeat(64)}",` +
  '"reason":null,"recordId":"faee58da-7146-802c-a0e0-62b34c7b20f2",' +
  '"recordedAt":"2023-11-14T22:13:20.000001Z","seq":0,' +
  '"taskId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","taskSeq":0,' +
  '"toAgent":{"agentType":"legal-analysis","agentVersion":null},' +
  '"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","v":1,' +
  '"verdicts":{"budget":"passed","completeness":"passed","safety":{"artefactId":"rules-1",' +
  '"decision":"allow","findings":0},"schema":"passed","signature":"passed","size":"passed"}}'
const GOLDEN_HASH = '4bbe8bddff2770b48b20ebb3e76795abc4ae9d3d1843430f557e7497d32981a8'

const GOLDEN_RESULT =
  '{"attempt":1,"cost":{"completionTokens":5,"promptTokens":10,"remainingMicroUSD":320000,' +
  '"spentMicroUSD":80000},"epoch":1,"event":"EXECUTION_COMPLETED","fromAgent":{"agentId":"intake",' +
  '"agentVersion":"1.0.0","executionId":"550e8400-e29b-41d4-a716-446655440000"},' +
  '"handoffId":"7c9e6679-7425-40de-944b-e07fc1f90ae7","keyIds":{"batch":"0011223344556677",' +
  '"wrap":"8899aabbccddeeff"},"model":"lexis-7b","origin":"baton/test/1/s0","parentHandoffId":null,' +
  `"payload":[{"bytes":5,"commitment":"${'ab'.repeat(32)}","kind":"result","segment":0,` +
  '"subjectRef":"550e8400-e29b-41d4-a716-446655440000"},' +
  `{"bytes":400,"commitment":"${'ab'.repeat(32)}","kind":"task-result","segment":1,` +
  '"subjectRef":"550e8400-e29b-41d4-a716-446655440000","zstdBytes":52}],' +
  `"previousRecordHash":"${'0'.repeat(64)}","previousTaskRecordHash":"${'0'.repeat(64)}",` +
  '"reason":null,"recordId":"5dd1bb4e-de07-841b-82fc-fa384571bf93",' +
  '"recordedAt":"2023-11-14T22:13:20.000001Z","seq":0,' +
  '"taskId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","taskSeq":0,' +
  '"toAgent":{"agentType":"legal-analysis","agentVersion":null},' +
  '"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","v":1,"verdicts":null}'
const GOLDEN_RESULT_HASH = '45455f869d5955d5eaa29c5a34e28d3c8b5bb4d8b6bfc97f213e0b76b620294d'

describe('record version 1', () => {
  test('has the golden bytes and hash', () => {
    const { body, hash } = buildRecord(entry, place, { payload, keyIds })
    expect(body.toString()).toBe(GOLDEN_BODY)
    expect(hash.toString('hex')).toBe(GOLDEN_HASH)
  })

  test('with what came out has the golden bytes and hash', () => {
    const ended = { ...entry, event: 'EXECUTION_COMPLETED' as const, verdicts: null }
    const answers = [
      { ...payload[0], kind: 'result' as const },
      { ...payload[0], segment: 1, kind: 'task-result' as const, bytes: 400, zstdBytes: 52 },
    ]
    const rest = { payload: answers, keyIds }
    const { body, hash } = buildRecord({ ...ended, model: 'lexis-7b' }, place, rest)
    expect(body.toString()).toBe(GOLDEN_RESULT)
    expect(hash.toString('hex')).toBe(GOLDEN_RESULT_HASH)
    expect(canonicalJson(readRecord(body))).toBe(GOLDEN_RESULT)
  })

  test('reads back as what was written, in canonical form', () => {
    const { body } = buildRecord(entry, place, { payload, keyIds })
    expect(canonicalJson(readRecord(body))).toBe(body.toString())
  })

  test('never carries the text of a segment', () => {
    const segments = [{ kind: 'message' as const, subject: 'jane', text: 'canary text' }]
    const { body } = buildRecord({ ...entry, segments }, place, { payload, keyIds })
    expect(body.includes('canary')).toBe(false)
    expect(body.includes('jane')).toBe(false)
  })

  test('is refused beyond 65,535 bytes', () => {
    const many = Array.from({ length: 500 }, (_, segment) => ({ ...payload[0], segment }))
    const build = () => buildRecord(entry, place, { payload: many, keyIds })
    expect(build).toThrow(LedgerError)
  })

  test.each([[''], ['null'], ['[]'], ['{"v":2,"payload":[]}'], ['{"v":1}'], ['\u0000']])(
    'is not read from %j',
    (text) => expect(readRecord(Buffer.from(text))).toBeUndefined(),
  )
  test('is not read from bytes that are not UTF-8', () => {
    expect(readRecord(Buffer.from([0x7b, 0xff, 0x7d]))).toBeUndefined()
  })
})

describe('identity and place', () => {
  test('the record id is a UUIDv8 of handoff, event, epoch and act alone', () => {
    expect(recordId(entry)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(recordId({ ...entry, attempt: 9, reason: 'X' } as typeof entry)).toBe(recordId(entry))
    expect(recordId({ ...entry, epoch: 2 })).not.toBe(recordId(entry))
    expect(recordId({ ...entry, event: 'ROLLED_BACK' })).not.toBe(recordId(entry))
    const act = { id: EXECUTION, actor: 'ann' }
    expect(recordId({ ...entry, act })).not.toBe(recordId(entry))
    expect(recordId({ ...entry, act: { ...act, actor: 'ben' } })).toBe(recordId({ ...entry, act }))
  })

  test('a task stays in one shard', () => {
    expect(shardOf(TASK, 4)).toBe(shardOf(TASK, 4))
    expect(shardOf(TASK, 1)).toBe(0)
  })

  test('instants keep microseconds both ways', () => {
    for (const micros of [0, 1, 999, 1_700_000_000_123_456, 1_700_000_000_000_000]) {
      expect(parseInstant(formatInstant(micros))).toBe(micros)
    }
    expect(parseInstant('2023-11-14T22:13:20.000Z')).toBeUndefined()
    expect(parseInstant('2023-13-14T22:13:20.000000Z')).toBeUndefined()
  })

  test('origins name base, environment, epoch and shard', () => {
    const origin = { base: 'baton.example.com/audit', environment: 'prod', epoch: 1, shard: 3 }
    expect(formatOrigin(origin)).toBe('baton.example.com/audit/prod/1/s3')
    expect(() => formatOrigin({ ...origin, base: 'A b' })).toThrow(LedgerError)
    expect(() => formatOrigin({ ...origin, environment: 'a/b' })).toThrow(LedgerError)
  })
})
