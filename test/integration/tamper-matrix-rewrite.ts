// An attacker with the database and, where asked, the key of the batches: history that is valid in itself.
import {
  canonicalBytes,
  createBatchSigner,
  createNoteSigner,
  EVENT_NUMBERS,
  formatCheckpoint,
  formatSealEntry,
  hashLeaf,
  readSealEntry,
  recordHash,
  rootOf,
  sealLogOrigin,
  signNote,
} from '@baton/ledger'
import type { AuditEvent, SealEntry } from '@baton/ledger'
import type { AuditFixture } from './audit-fixture.ts'
import type { TamperWorld } from './tamper-matrix-world.ts'

type Members = Record<string, unknown>

interface Rewrite {
  readonly chain: number
  readonly from: number
  /** The new members of record `from`; the records after it are linked to what results. */
  readonly change: (record: Members) => Members
  /** The bytes, where they shall not be canonical. */
  readonly bytes?: (canonical: string) => string
  /** Whether the batches are signed again; without it their signatures stay. */
  readonly hasKey: boolean
}

interface Row {
  readonly seq: number
  readonly body: Buffer
}

/** Everything that refers to the records is made to fit: hashes, links, index, columns, head, batches. */
export async function rewrite(fixture: AuditFixture, options: Rewrite): Promise<void> {
  const { chain, from, change, bytes = (canonical) => canonical, hasKey } = options
  const run = (text: string, values: unknown[]) => fixture.superuser.query({ text, values })
  const { rows } = await fixture.superuser.query<Row>({
    text: 'select seq, body from audit.record where chain = $1 order by seq',
    values: [chain],
  })
  const hashes = new Map<number, Buffer>()
  const tasks = new Map<string, string>()
  for (const { seq, body } of rows) {
    const before = JSON.parse(body.toString()) as Members
    const linked = {
      ...before,
      previousRecordHash: (hashes.get(seq - 1) ?? Buffer.alloc(32)).toString('hex'),
      previousTaskRecordHash: tasks.get(String(before['taskId'])) ?? '00'.repeat(32),
    }
    const record: Members = seq === from ? { ...linked, ...change(linked) } : linked
    const canonical = Buffer.from(canonicalBytes(record)).toString()
    const made = seq < from ? body : Buffer.from(seq === from ? bytes(canonical) : canonical)
    const hash = recordHash(made)
    hashes.set(seq, hash)
    tasks.set(String(before['taskId']), hash.toString('hex'))
    if (seq < from) continue
    const values = [chain, seq, made, hash]
    await run(
      'update audit.record set body = $3, record_hash = $4 where chain = $1 and seq = $2',
      values,
    )
    await run('update audit.idem set record_hash = $3 where chain = $1 and seq = $2', [
      chain,
      seq,
      hash,
    ])
    if (seq === from) await moveRow(fixture, { chain, record })
  }
  await signAgain(fixture, { chain, hashes, origin: originOf(rows), hasKey })
}

const originOf = (rows: readonly Row[]): string =>
  String((JSON.parse(rows[0]?.body.toString() ?? '{}') as Members)['origin'])

// The columns and the index follow the body, so that only what the body itself says is wrong.
async function moveRow(
  { superuser }: AuditFixture,
  { chain, record }: { readonly chain: number; readonly record: Members },
): Promise<void> {
  const { seq, recordedAt, taskId, taskSeq, handoffId, recordId, event } = record
  const number = EVENT_NUMBERS[event as AuditEvent]
  await superuser.query({
    text: `update audit.record set recorded_at = $3, task_id = $4, handoff_id = $5, event = $6
      where chain = $1 and seq = $2`,
    values: [chain, seq, recordedAt, taskId, handoffId, number],
  })
  await superuser.query({
    text: `update audit.idem set recorded_at = $3, task_id = $4, task_seq = $5, key = $6
      where chain = $1 and seq = $2`,
    values: [chain, seq, recordedAt, taskId, taskSeq, recordId],
  })
  await superuser.query({
    text: 'update audit.payload set recorded_at = $3 where chain = $1 and seq = $2',
    values: [chain, seq, recordedAt],
  })
}

interface Signing {
  readonly chain: number
  readonly origin: string
  readonly hashes: ReadonlyMap<number, Buffer>
  readonly hasKey: boolean
}

async function signAgain(
  { superuser, signingKey }: AuditFixture,
  { chain, origin, hashes, hasKey }: Signing,
): Promise<void> {
  const signer = createBatchSigner(signingKey)
  const batches = await superuser.query<{ first: number; last: number }>({
    text: 'select first_seq as first, last_seq as last from audit.batch_sig where chain = $1',
    values: [chain],
  })
  for (const { first: firstSeq, last: lastSeq } of batches.rows) {
    const hash = hashes.get(lastSeq) as Buffer
    const signature = signer.sign({ origin, firstSeq, lastSeq, lastHash: hash.toString('hex') })
    await superuser.query({
      text: `update audit.batch_sig set last_hash = $3${hasKey ? ', signature = $4' : ''}
        where chain = $1 and last_seq = $2`,
      values: hasKey ? [chain, lastSeq, hash, signature] : [chain, lastSeq, hash],
    })
  }
  const last = hashes.get(hashes.size - 1)
  await superuser.query({
    text: 'update audit.head set last_hash = $2 where chain = $1',
    values: [chain, last],
  })
}

/** One more entry of the seal log, signed with the sealer's stolen key: no anchor can know better. */
export async function forgeSeal({ fixture, sealing }: TamperWorld): Promise<void> {
  const { rows } = await fixture.superuser.query<Row>({
    text: 'select seq, body from audit.seal order by seq',
  })
  const last = readSealEntry(rows.at(-1)?.body ?? Buffer.alloc(0)) as SealEntry
  const at = '2020-01-01T00:00:00.000000Z'
  const body = formatSealEntry({ ...last, at, ...(last.tasks && { tasks: { ...last.tasks, at } }) })
  const origin = sealLogOrigin(last.chains[0]?.origin ?? '')
  const leaves = [...rows.map((row) => row.body), body].map(hashLeaf)
  const text = formatCheckpoint({ origin, size: leaves.length, root: rootOf(leaves) })
  const note = signNote(text, [createNoteSigner({ name: origin, pkcs8: sealing.sealKey })])
  await fixture.superuser.query({
    text: 'insert into audit.seal (seq, sealed_at, body, note) values ($1, now(), $2, $3)',
    values: [rows.length, Buffer.from(body), note],
  })
}
