// Every way to tamper with a stored chain is found and located; an untouched one never alarms.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchKeys, chainOf, ORIGIN } from '../fixtures/chain.ts'
import type { FixtureChain } from '../fixtures/chain.ts'
import { entryOf } from '../fixtures/entry.ts'
import type { Finding } from './finding.ts'
import { recordHash } from './record.ts'
import type { StoredRecord } from './stored-record.ts'
import { createChainVerifier } from './verify-chain.ts'

const tasks = [randomUUID(), randomUUID()]
const segments = [{ kind: 'message' as const, subject: null, text: 'a message' }]
const eight = (): FixtureChain =>
  chainOf(
    Array.from({ length: 8 }, (_, at) => entryOf({ taskId: tasks[at % 2] as string, segments })),
  )

function verify({ records, head }: FixtureChain, keys = batchKeys): readonly Finding[] {
  const verifier = createChainVerifier({ origin: ORIGIN, batchKeys: keys })
  const findings = records.flatMap((record) => [...verifier.next(record)])
  return [...findings, ...verifier.finish(head)]
}

const rulesAt = (findings: readonly Finding[]): string[] =>
  findings.map((finding) => `${finding.rule}@${finding.seq}`)

function changed(
  chain: FixtureChain,
  at: number,
  change: (record: StoredRecord) => Partial<StoredRecord>,
): FixtureChain {
  const records = [...chain.records]
  const record = records[at] as StoredRecord
  records[at] = { ...record, ...change(record) }
  return { ...chain, records }
}

const editBody = (record: StoredRecord): Buffer =>
  Buffer.from(Buffer.from(record.body).toString().replace('"attempt":1', '"attempt":2'))

describe('an untouched chain', () => {
  test('has no finding in 1,000 of them, whatever their tasks, batches and payloads', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ task: fc.nat(3), texts: fc.array(fc.string(), { maxLength: 2 }) }), {
          maxLength: 24,
        }),
        fc.integer({ min: 1, max: 9 }),
        (plan, batchSize) => {
          const ids = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
          const entries = plan.map(({ task, texts }) =>
            entryOf({
              taskId: ids[task] as string,
              segments: texts.map((text) => ({
                kind: 'message',
                subject: null,
                text: text.toWellFormed(),
              })),
            }),
          )
          expect(verify(chainOf(entries, batchSize))).toEqual([])
        },
      ),
      { numRuns: 1_000 },
    )
  }, 60_000)
})

describe('a tampered chain', () => {
  test('T01 every flipped bit of a body is found at its record', () => {
    const chain = eight()
    const { body } = chain.records[4] as StoredRecord
    for (let bit = 0; bit < body.length * 8; bit += 7) {
      const flipped = changed(chain, 4, () => {
        const copy = Buffer.from(body)
        copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7))
        return { body: copy }
      })
      expect(rulesAt(verify(flipped))).toContain('RECORD_HASH@4')
    }
  })

  test('T02 a flipped stored hash', () => {
    const chain = changed(eight(), 2, () => ({ recordHash: Buffer.alloc(32, 1) }))
    expect(rulesAt(verify(chain))).toEqual(['RECORD_HASH@2'])
  })

  test('T05 a body and its hash changed together break the next link, the index and the task', () => {
    const chain = changed(eight(), 3, (record) => {
      const body = editBody(record)
      return { body, recordHash: recordHash(body) }
    })
    expect(rulesAt(verify(chain))).toEqual(['RECORD_INDEX@3', 'RECORD_LINK@4', 'TASK_LINK@5'])
  })

  test('T05 the last record changed with its hash and head fails its batch signature', () => {
    const chain = changed(eight(), 7, (record) => {
      const body = editBody(record)
      return { body, recordHash: recordHash(body) }
    })
    const lastHash = (chain.records[7] as StoredRecord).recordHash
    const rules = rulesAt(verify({ ...chain, head: { size: 8, lastHash } }))
    expect(rules).toContain('BATCH_SIGNATURE@7')
  })

  test.each([
    ['taskId', { taskId: randomUUID() }],
    ['handoffId', { handoffId: randomUUID() }],
    ['eventNumber', { eventNumber: 2 }],
    ['spentMicroUSD', { spentMicroUSD: 1 }],
  ])('T07 the column %s changed alone', (name, change) => {
    const chain = changed(eight(), 5, ({ columns }) => ({ columns: { ...columns, ...change } }))
    const findings = verify(chain)
    expect(rulesAt(findings)).toEqual(['RECORD_COLUMNS@5'])
    expect(findings[0]?.message).toContain(name)
  })

  test.each([[0], [3], [6]])('T08, T09 record %i deleted', (at) => {
    const chain = eight()
    expect(rulesAt(verify({ ...chain, records: chain.records.toSpliced(at, 1) }))).toContain(
      `RECORD_SEQ@${at}`,
    )
  })

  test('T10, T11 the last records deleted: the head knows', () => {
    const chain = eight()
    expect(rulesAt(verify({ ...chain, records: chain.records.slice(0, 6) }))).toEqual(['HEAD@6'])
  })

  test('T15 a seq that stands twice', () => {
    const chain = eight()
    const records = chain.records.toSpliced(4, 0, chain.records[3] as StoredRecord)
    expect(rulesAt(verify({ ...chain, records }))).toContain('RECORD_SEQ@3')
  })

  test('T16 two bodies swapped', () => {
    const chain = eight()
    const [third, fourth] = [chain.records[3] as StoredRecord, chain.records[4] as StoredRecord]
    const swapped = changed(
      changed(chain, 3, () => ({ body: fourth.body, recordHash: fourth.recordHash })),
      4,
      () => ({ body: third.body, recordHash: third.recordHash }),
    )
    const rules = rulesAt(verify(swapped))
    expect(rules).toContain('RECORD_COLUMNS@3')
    expect(rules).toContain('RECORD_LINK@3')
  })

  test('T17 a record of another chain', () => {
    const chain = eight()
    const verifier = createChainVerifier({ origin: 'baton/test/1/s1', batchKeys })
    expect(rulesAt(verifier.next(chain.records[0] as StoredRecord))).toContain('RECORD_ORIGIN@0')
  })

  test('T24, T25 a payload that is gone, edited, moved, added or without its key', () => {
    const chain = eight()
    const at = (change: (record: StoredRecord) => Partial<StoredRecord>) =>
      rulesAt(verify(changed(chain, 2, change)))
    const first = (record: StoredRecord) => (record.segments ?? [])[0]!
    expect(at(() => ({ segments: [] }))).toEqual(['PAYLOAD_MISSING@2'])
    expect(
      at((record) => ({ segments: [{ ...first(record), ciphertext: Buffer.alloc(80) }] })),
    ).toEqual(['PAYLOAD_MISMATCH@2'])
    expect(at(() => ({ segments: chain.records[3]?.segments }))).toEqual(['PAYLOAD_MISMATCH@2'])
    expect(
      at((record) => ({ segments: [first(record), { ...first(record), segment: 1 }] })),
    ).toEqual(['PAYLOAD_UNEXPECTED@2'])
    expect(at((record) => ({ segments: [{ ...first(record), key: undefined }] }))).toEqual([
      'PAYLOAD_KEY@2',
    ])
  })

  test('T26 records added without the signing key', () => {
    const chain = changed(eight(), 7, () => ({ batch: undefined }))
    expect(rulesAt(verify(chain))).toEqual(['BATCH_COVER@6'])
  })

  test('a key that is not known says nothing either way, once per key; a wrong last hash still does', () => {
    expect(rulesAt(verify(eight(), new Map()))).toEqual(['BATCH_KEY@2'])
    const chain = changed(eight(), 5, ({ batch }) => ({
      batch: batch && { ...batch, lastHash: Buffer.alloc(32) },
    }))
    expect(rulesAt(verify(chain, new Map()))).toEqual(['BATCH_KEY@2', 'BATCH_SIGNATURE@5'])
  })

  test('records of a key that nobody named are forged, unless a seal covers them', () => {
    const stranger = new Map([['0000000000000000', [...batchKeys.values()][0]!]])
    const { records } = eight()
    const rulesOf = (sealedTo?: number) => {
      const options = { origin: ORIGIN, batchKeys: stranger }
      const verifier = createChainVerifier(
        sealedTo === undefined ? options : { ...options, sealedTo },
      )
      return rulesAt(records.flatMap((record) => [...verifier.next(record)]))
    }
    expect(rulesOf()).toEqual(['BATCH_FORGED@2'])
    expect(rulesOf(8)).toEqual(['BATCH_KEY@2'])
    expect(rulesOf(3)).toEqual(['BATCH_KEY@2', 'BATCH_FORGED@5'])
  })

  test('a batch that names another key than its records, also where its signature is not looked at', () => {
    const { records } = changed(eight(), 5, ({ batch }) => ({
      batch: batch && { ...batch, keyId: '0000000000000000' },
    }))
    const verifier = createChainVerifier({ origin: ORIGIN, batchKeys, signaturesFrom: 8 })
    expect(rulesAt(records.flatMap((record) => [...verifier.next(record)]))).toEqual([
      'BATCH_KEY_ID@3',
    ])
  })

  test('a record that is dated after now is a wrong clock, once, and breaks nothing else', () => {
    const { records } = eight()
    const latestMicros = records[4]?.columns.recordedAtMicros as number
    const verifier = createChainVerifier({ origin: ORIGIN, batchKeys, latestMicros })
    const found = records.flatMap((record) => [...verifier.next(record)])
    expect(rulesAt(found)).toEqual(['CLOCK@5'])
    expect(found[0]?.message).toContain('dated later than now: this one by 1 s')
  })

  test('T35 a record that is earlier than the one before it', () => {
    const chain = changed(eight(), 5, ({ columns }) => ({
      columns: { ...columns, recordedAtMicros: 1_600_000_000_000_000 },
    }))
    expect(rulesAt(verify(chain))).toEqual(['RECORD_COLUMNS@5', 'RECORD_TIME@5'])
  })

  test('the idempotency index changed or gone', () => {
    const gone = changed(eight(), 1, () => ({ index: undefined }))
    expect(rulesAt(verify(gone))).toEqual(['RECORD_INDEX@1'])
    const moved = changed(eight(), 1, ({ index }) => ({ index: index && { ...index, seq: 6 } }))
    expect(rulesAt(verify(moved))).toEqual(['RECORD_INDEX@1'])
  })

  test('a body that is not a record', () => {
    const chain = changed(eight(), 1, () => ({ body: Buffer.from('{}') }))
    expect(rulesAt(verify(chain))).toContain('RECORD_UNREADABLE@1')
  })
})
