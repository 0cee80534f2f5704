// T01 to T17 in the hot store: what an attacker does to records and chains, and what finds it where.
import { truncateChain } from './audit-seals-rewrite.ts'
import { at, flipped, LAST, LONELY, MIDDLE, onlyOne, OPEN } from './tamper-matrix-case.ts'
import type { HotCase } from './tamper-matrix-case.ts'
import { rewrite } from './tamper-matrix-rewrite.ts'
import { SEALED, SIZE } from './tamper-matrix-world.ts'

export const RECORD_CASES: readonly HotCase[] = [
  ...[0, 57, 311, 600].map((byte): HotCase => {
    return {
      row: 'T01',
      attack: `bit 0 of byte ${byte} of a body`,
      tamper: ({ sql }) => sql(`update audit.record set ${flipped('body', byte)} ${at(0, MIDDLE)}`),
      found: [`RECORD_HASH@0:${MIDDLE}`],
    }
  }),
  {
    row: 'T02',
    attack: 'one bit of a stored hash',
    tamper: ({ sql }) =>
      sql(`update audit.record set ${flipped('record_hash', 9)} ${at(0, MIDDLE)}`),
    found: [`RECORD_HASH@0:${MIDDLE}`],
  },
  {
    row: 'T03',
    attack: 'the link inside a body, everything signed anew',
    tamper: onlyOne(() => ({ previousRecordHash: 'ab'.repeat(32) })),
    found: [`RECORD_LINK@0:${OPEN}`, `RECEIPT@0:${OPEN}`],
  },
  {
    row: 'T04',
    attack: 'a stored checkpoint',
    tamper: ({ sql }) =>
      sql(`update audit.seal set note = overlay(note placing
        case substr(note, length(note) - 20, 1) when 'A' then 'B' else 'A' end from length(note) - 20)
        where seq = (select max(seq) from audit.seal)`),
    found: ['SEAL_SIGNATURE@s:null'],
  },
  {
    row: 'T04',
    attack: 'the stored checkpoint of a chain',
    tamper: ({ sql }) => sql(`update audit.chain_checkpoint set note = 'none' where chain = 0`),
    found: ['SEAL_COPY@0:null'],
  },
  {
    row: 'T05',
    attack: 'a body with its hash, column and index',
    tamper: ({ fixture }) =>
      rewrite(fixture, { chain: 0, from: MIDDLE, hasKey: false, change: () => ({ attempt: 9 }) }),
    found: [`BATCH_SIGNATURE@0:${MIDDLE}`, `RECEIPT@0:${MIDDLE}`],
  },
  {
    row: 'T06',
    attack: 'the last, unsealed record with every hash, and the stolen key',
    tamper: ({ fixture }) =>
      rewrite(fixture, { chain: 0, from: LAST, hasKey: true, change: () => ({ attempt: 9 }) }),
    found: [`RECEIPT@0:${LAST}`],
  },
  ...[
    'task_id = gen_random_uuid()',
    'event = 2',
    'spent_micro = 1',
    'handoff_id = gen_random_uuid()',
  ].map((change): HotCase => {
    return {
      row: 'T07',
      attack: `only the column: ${change}`,
      tamper: ({ sql }) => sql(`update audit.record set ${change} ${at(0, MIDDLE)}`),
      found: [`RECORD_COLUMNS@0:${MIDDLE}`],
    }
  }),
  {
    row: 'T07',
    attack: 'only the index that makes appends idempotent',
    tamper: ({ sql }) => sql(`update audit.idem set task_seq = task_seq + 90 ${at(0, MIDDLE)}`),
    found: [`RECORD_INDEX@0:${MIDDLE}`],
  },
  {
    row: 'T08',
    attack: 'a record in the middle deleted',
    tamper: ({ sql }) => sql(`delete from audit.record ${at(0, MIDDLE)}`),
    found: [`RECORD_SEQ@0:${MIDDLE}`, `RECEIPT@0:${MIDDLE}`],
  },
  {
    row: 'T08',
    attack: 'the only record of a task, out of the middle of a batch',
    tamper: ({ sql }) => sql(`delete from audit.record ${at(0, LONELY)}`),
    found: [`RECORD_SEQ@0:${LONELY}`],
  },
  {
    row: 'T09',
    attack: 'the first record deleted',
    tamper: ({ sql }) => sql(`delete from audit.record ${at(0, 0)}`),
    found: ['RECORD_SEQ@0:0'],
  },
  {
    row: 'T10',
    attack: 'the last record deleted',
    tamper: ({ sql }) => sql(`delete from audit.record ${at(0, LAST)}`),
    found: [`HEAD@0:${LAST}`, `RECEIPT@0:${LAST}`],
  },
  {
    row: 'T11',
    attack: 'sealed records cut off, head set back',
    tamper: ({ fixture }) => truncateChain(fixture, { chain: 0, count: SIZE - SEALED + 2 }),
    found: [`SEAL_SIZE@0:${SEALED - 2}`],
  },
  {
    row: 'T11',
    attack: 'unsealed records cut off, head set back',
    tamper: ({ fixture }) => truncateChain(fixture, { chain: 0, count: 2 }),
    found: [`RECEIPT@0:${SIZE - 2}`, `RECEIPT@0:${LAST}`],
  },
  {
    row: 'T12',
    attack: 'a suffix rewritten with valid hashes and the stolen key',
    tamper: ({ fixture }) =>
      rewrite(fixture, { chain: 1, from: 5, hasKey: true, change: () => ({ attempt: 9 }) }),
    found: ['SEAL_ROOT@1', 'RECEIPT@1:5'],
  },
  {
    row: 'T13',
    attack: 'a chain rewritten from its first record with the stolen key',
    tamper: ({ fixture }) =>
      rewrite(fixture, { chain: 0, from: 0, hasKey: true, change: () => ({ attempt: 9 }) }),
    found: ['SEAL_ROOT@0:0', 'RECEIPT@0:0'],
  },
  {
    row: 'T14',
    attack: 'a whole chain removed, and the count of chains with it',
    async tamper({ sql }) {
      for (const table of ['record', 'payload', 'idem', 'batch_sig', 'head', 'chain_checkpoint']) {
        await sql(`delete from audit.${table} where chain = 1`)
      }
      await sql('update audit.head set shards = 1')
    },
    found: ['CHAIN_MISSING@1:null', 'RECEIPT@1:0'],
  },
  {
    row: 'T15',
    attack: 'a seq twice, in another partition',
    tamper: ({ sql }) =>
      sql(`insert into audit.record select chain, seq, recorded_at + interval '1 day', task_id,
        handoff_id, event, spent_micro, body, record_hash from audit.record ${at(0, MIDDLE)}`),
    found: [`RECORD_SEQ@0:${MIDDLE}`],
  },
  {
    row: 'T16',
    attack: 'two records swapped',
    tamper: ({ sql }) =>
      sql('update audit.record set seq = 5 - seq where chain = 0 and seq in (2, 3)'),
    found: ['RECORD_COLUMNS@0:2', 'RECORD_LINK@0:2'],
  },
  {
    row: 'T16',
    attack: 'two bodies swapped',
    tamper: ({ sql }) =>
      sql(`update audit.record r set body = o.body, record_hash = o.record_hash from audit.record o
        where r.chain = 0 and o.chain = 0 and r.seq in (2, 3) and o.seq = 5 - r.seq`),
    found: ['RECORD_LINK@0:2', 'RECORD_COLUMNS@0:2'],
  },
  {
    row: 'T17',
    attack: 'a record from the same place of another chain',
    tamper: ({ sql }) =>
      sql(`update audit.record r set body = o.body, record_hash = o.record_hash from audit.record o
        where r.chain = 0 and o.chain = 1 and r.seq = 2 and o.seq = 2`),
    found: ['RECORD_ORIGIN@0:2'],
  },
  {
    row: 'T17',
    attack: 'a record of another environment, signed with the stolen key',
    tamper: onlyOne(() => ({ origin: 'baton/production/1/s0' }), LONELY),
    found: [`RECORD_ORIGIN@0:${LONELY}`, `RECEIPT@0:${LONELY}`],
  },
]
