// T18 to T35 in the hot store: what an attacker does to seals, texts, signatures and times.
import { recordId } from '@baton/ledger'
import { at, flipped, LAST, LONELY, onlyOne, OPEN } from './tamper-matrix-case.ts'
import type { HotCase } from './tamper-matrix-case.ts'
import { forgeSeal, rewrite } from './tamper-matrix-rewrite.ts'

export const LOG_CASES: readonly HotCase[] = [
  {
    row: 'T18',
    attack: 'an old but authenticated seal served as the newest',
    tamper: ({ sql }) =>
      sql('delete from audit.seal where seq = (select max(seq) from audit.seal)'),
    found: ['SEAL_ANCHOR@s'],
  },
  {
    row: 'T19',
    attack: 'a copy of the seal log with another history',
    tamper: ({ sql }) =>
      sql(`update audit.seal set body = convert_to(regexp_replace(convert_from(body, 'UTF8'),
        '"size":', '"size":1'), 'UTF8') where seq = 1`),
    found: ['SEAL_LOG@s'],
  },
  {
    row: 'T19',
    attack: 'a seal that is older than the one before it, signed with the sealer’s stolen key',
    tamper: forgeSeal,
    found: ['SEAL_LOG@s'],
  },
  {
    row: 'T21',
    attack: 'yesterday’s database restored, seals and all',
    tamper: ({ restore }) => restore('yesterday'),
    found: ['SEAL_ANCHOR@s', 'RECEIPT@0:4'],
  },
  {
    row: 'T21',
    attack: 'yesterday’s records restored under today’s seals',
    tamper: ({ restore }) => restore('yesterday', 'log'),
    found: ['SEAL_SIZE@0:4', 'SEAL_SIZE@1:4'],
  },
  {
    row: 'T24',
    attack: 'a payload deleted without an erasure',
    tamper: ({ sql }) => sql(`delete from audit.payload ${at(0, 2)}`),
    found: ['PAYLOAD_MISSING@0:2'],
  },
  ...(['ciphertext', 'nonce'] as const).map((column): HotCase => {
    return {
      row: 'T25',
      attack: `one bit of a payload’s ${column}`,
      tamper: ({ sql }) => sql(`update audit.payload set ${flipped(column, 3)} ${at(0, 2)}`),
      found: ['PAYLOAD_MISMATCH@0:2'],
    }
  }),
  {
    row: 'T25',
    attack: 'the commitment in a record, signed with the stolen key',
    tamper: onlyOne(({ payload }) => {
      const commitment = 'ab'.repeat(32)
      return { payload: (payload as object[]).map((one) => ({ ...one, commitment })) }
    }, LAST),
    found: [`PAYLOAD_MISMATCH@0:${LAST}`],
  },
  {
    row: 'T25',
    attack: 'a text put beside a record that names none',
    tamper: ({ sql }) =>
      sql(`insert into audit.payload select chain, seq, segment + 7, recorded_at, subject_ref, nonce,
        ciphertext from audit.payload ${at(0, 2)}`),
    found: ['PAYLOAD_UNEXPECTED@0:2'],
  },
  {
    row: 'T26',
    attack: 'a record signed with somebody else’s signature',
    tamper: ({ sql }) =>
      sql(
        `update audit.batch_sig set ${flipped('signature', 4)} where chain = 0 and last_seq = ${OPEN}`,
      ),
    found: [`BATCH_SIGNATURE@0:${OPEN}`],
  },
  {
    row: 'T26',
    attack: 'records that no batch covers',
    tamper: ({ sql }) => sql(`delete from audit.batch_sig where chain = 0 and last_seq = ${LAST}`),
    found: [`BATCH_COVER@0:${LAST}`],
  },
  {
    row: 'T27',
    attack: 'a hop left out of its task, everything signed anew',
    tamper: onlyOne((record) => ({ taskSeq: Number(record['taskSeq']) + 90 })),
    found: [`TASK_LINK@0:${OPEN}`, `RECEIPT@0:${OPEN}`],
  },
  {
    row: 'T30',
    attack: 'a number written in another way, signed with the stolen key',
    tamper: ({ fixture }) =>
      rewrite(fixture, {
        chain: 0,
        from: OPEN,
        hasKey: true,
        change: () => ({}),
        bytes: (canonical) => canonical.replace('"v":1,', '"v":1.0,'),
      }),
    found: [`RECEIPT@0:${OPEN}`],
  },
  {
    row: 'T30',
    attack: 'a member that no record has, signed with the stolen key',
    tamper: onlyOne(() => ({ note: 'free text' }), LONELY),
    found: [`RECORD_UNREADABLE@0:${LONELY}`],
  },
  {
    row: 'T35',
    attack: 'a record moved back an hour, signed with the stolen key',
    tamper: onlyOne((record) => {
      const earlier = Date.parse(String(record['recordedAt'])) - 3_600_000
      const handoffId = String(record['handoffId'])
      const id = recordId({ handoffId, event: 'HANDOFF_ACCEPTED', epoch: 1 })
      return { recordedAt: new Date(earlier).toISOString().replace('Z', '000Z'), recordId: id }
    }),
    found: [`RECORD_TIME@0:${OPEN}`, `RECEIPT@0:${OPEN}`],
  },
]
