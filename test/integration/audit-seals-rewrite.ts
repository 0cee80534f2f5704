// What a superuser does who also stole the key of the batches: history that is valid in itself.
import {
  buildRecord,
  canonicalBytes,
  createBatchSigner,
  EVENT_NUMBERS,
  recordHash,
  recordId,
} from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import type { AuditFixture } from './audit-fixture.ts'

interface Row {
  readonly seq: number
  readonly body: Buffer
}

/** Rewrites chain `chain` from record `from` on with fresh hashes, links, index rows and signatures. */
export async function rewriteSuffix(
  fixture: AuditFixture,
  { chain, from }: { readonly chain: number; readonly from: number },
): Promise<void> {
  const { superuser } = fixture
  const signer = createBatchSigner(fixture.signingKey)
  const { rows } = await superuser.query<Row>({
    text: 'select seq, body from audit.record where chain = $1 order by seq',
    values: [chain],
  })
  const tasks = new Map<string, string>()
  let previous = '00'.repeat(32)
  let origin = ''
  const hashes = new Map<number, Buffer>()
  for (const { seq, body } of rows) {
    const record = JSON.parse(body.toString()) as Record<string, unknown>
    origin = record['origin'] as string
    const taskId = record['taskId'] as string
    const changed = { ...record, attempt: 7, previousRecordHash: previous }
    const linked = { ...changed, previousTaskRecordHash: tasks.get(taskId) ?? '00'.repeat(32) }
    const bytes = seq < from ? body : Buffer.from(canonicalBytes(linked))
    const hash = recordHash(bytes)
    previous = hash.toString('hex')
    tasks.set(taskId, previous)
    hashes.set(seq, hash)
    if (seq < from) continue
    await superuser.query({
      text: 'update audit.record set body = $3, record_hash = $4 where chain = $1 and seq = $2',
      values: [chain, seq, bytes, hash],
    })
    await superuser.query({
      text: 'update audit.idem set record_hash = $3 where chain = $1 and seq = $2',
      values: [chain, seq, hash],
    })
  }
  const batches = await superuser.query<{ first: number; last: number }>({
    text: 'select first_seq as first, last_seq as last from audit.batch_sig where chain = $1',
    values: [chain],
  })
  for (const { first: firstSeq, last: lastSeq } of batches.rows) {
    const hash = hashes.get(lastSeq) as Buffer
    const signature = signer.sign({ origin, firstSeq, lastSeq, lastHash: hash.toString('hex') })
    await superuser.query({
      text: 'update audit.batch_sig set last_hash = $3, signature = $4 where chain = $1 and last_seq = $2',
      values: [chain, lastSeq, hash, signature],
    })
  }
  await superuser.query({
    text: 'update audit.head set last_hash = $2 where chain = $1',
    values: [chain, Buffer.from(previous, 'hex')],
  })
}

/** Cuts the last `count` records off with everything that refers to them, and sets the head back. */
export async function truncateChain(
  { superuser }: AuditFixture,
  { chain, count }: { readonly chain: number; readonly count: number },
): Promise<void> {
  const text = `
    delete from audit.record r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.seq >= h.size - ${count};
    delete from audit.idem r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.seq >= h.size - ${count};
    delete from audit.payload r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.seq >= h.size - ${count};
    delete from audit.batch_sig r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.last_seq >= h.size - ${count};
    update audit.head set size = size - ${count},
      last_hash = (select record_hash from audit.record where chain = ${chain} order by seq desc limit 1),
      last_recorded_at = (select recorded_at from audit.record where chain = ${chain} order by seq desc limit 1)
    where chain = ${chain}`
  await superuser.query({ text })
}

/**
 * Appends a record by SQL with everything that refers to it: index, head, and a batch signed with `signingKey`, which a
 * thief has from the auditor, or has made.
 */
export async function appendForged(
  { superuser }: AuditFixture,
  entry: AuditEntry,
  signingKey: string,
): Promise<void> {
  const signer = createBatchSigner(signingKey)
  const { rows } = await superuser.query<{
    chain: number
    origin: string
    size: number
    last_hash: Buffer
    task_seq: number
    record_hash: Buffer
  }>({
    text: `select h.chain, h.origin, h.size, h.last_hash, i.task_seq, i.record_hash
      from audit.idem i join audit.head h on h.chain = i.chain
      where i.task_id = $1 order by i.task_seq desc limit 1`,
    values: [entry.taskId],
  })
  const [at] = rows
  if (at === undefined) throw new TypeError('only a known task gets a forged record')
  const recordedAtMicros = Date.now() * 1_000
  const { body, hash } = buildRecord(
    entry,
    {
      origin: at.origin,
      seq: at.size,
      previousRecordHash: at.last_hash,
      taskSeq: at.task_seq + 1,
      previousTaskRecordHash: at.record_hash,
      recordedAtMicros,
    },
    { payload: [], keyIds: { batch: signer.keyId, wrap: '0000000000000000' } },
  )
  const seq = at.size
  const lastHash = hash.toString('hex')
  const statement = { origin: at.origin, firstSeq: seq, lastSeq: seq, lastHash }
  await superuser.query({
    text: `with moved as (
        update audit.head set size = size + 1, last_hash = $6, last_recorded_at = $3 where chain = $1
      ), signed as (
        insert into audit.batch_sig (chain, last_seq, first_seq, last_hash, key_id, signature)
        values ($1, $2, $2, $6, $10, $11)
      ), indexed as (
        insert into audit.idem (key, request_hash, chain, seq, recorded_at, record_hash, task_id, task_seq)
        values ($9, $6, $1, $2, $3, $6, $4, $12)
      )
      insert into audit.record (chain, seq, recorded_at, task_id, handoff_id, event, body, record_hash)
      values ($1, $2, $3, $4, $7, $8, $5, $6)`,
    values: [
      at.chain,
      seq,
      new Date(recordedAtMicros / 1_000),
      entry.taskId,
      body,
      hash,
      entry.handoffId,
      EVENT_NUMBERS[entry.event],
      recordId(entry),
      signer.keyId,
      signer.sign(statement),
      at.task_seq + 1,
    ],
  })
}
